// UTF-8 text as Python sees it.
#pragma once

#include <cstddef>
#include <string_view>

namespace coherently {

// What `str.strip()` of Python leaves of valid UTF-8.
std::string_view strip(std::string_view text);
// The number of leading bytes that are valid UTF-8. The first character that is not may be broken or only cut off:
// `cut_off` says which.
std::size_t valid_prefix(std::string_view bytes, bool& cut_off);

}  // namespace coherently
