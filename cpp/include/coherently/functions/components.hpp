// Connected components of events that share variables.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace coherently {

// Row i has the members members[starts[i]] .. members[starts[i + 1]] - 1, each below `n_members`.
// Returns one label per row, counted from 0 in order of first appearance; a row without members has its own.
std::vector<std::int32_t> connected_rows(std::span<const std::int64_t> starts, std::span<const std::int32_t> members,
                                         std::size_t n_members);

}  // namespace coherently
