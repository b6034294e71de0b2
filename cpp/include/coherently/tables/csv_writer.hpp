// Cells of CSV as Python's csv module writes them.
#pragma once

#include <string>
#include <string_view>

namespace coherently {

// The shortest digits that read back as the same number, in the form of repr(float) of Python; nothing for NaN.
void write_number(double value, std::string& out);
// In quotes if it contains the delimiter, a quote or a line feed.
void write_text(std::string_view text, char delimiter, std::string& out);

}  // namespace coherently
