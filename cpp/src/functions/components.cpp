#include "coherently/functions/components.hpp"

#include <numeric>

namespace coherently {

std::vector<std::int32_t> connected_rows(std::span<const std::int64_t> starts, std::span<const std::int32_t> members,
                                         std::size_t n_members) {
    std::vector<std::int32_t> parent(n_members);
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](std::int32_t node) {
        while (parent[static_cast<std::size_t>(node)] != node) {
            auto& above = parent[static_cast<std::size_t>(node)];
            node = above = parent[static_cast<std::size_t>(above)];
        }
        return node;
    };
    const std::size_t rows = starts.size() - 1;
    const auto first = [&](std::size_t row) { return members[static_cast<std::size_t>(starts[row])]; };
    for (std::size_t row = 0; row < rows; ++row)
        for (auto i = starts[row] + 1; i < starts[row + 1]; ++i)
            parent[static_cast<std::size_t>(root(members[static_cast<std::size_t>(i)]))] = root(first(row));

    std::vector<std::int32_t> labels(rows), label_of(n_members, -1);
    std::int32_t next = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        if (starts[row] == starts[row + 1]) {
            labels[row] = next++;
            continue;
        }
        std::int32_t& label = label_of[static_cast<std::size_t>(root(first(row)))];
        if (label < 0) label = next++;
        labels[row] = label;
    }
    return labels;
}

}  // namespace coherently
