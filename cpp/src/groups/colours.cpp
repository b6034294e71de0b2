#include "coherently/groups/colours.hpp"

#include <bit>

namespace coherently {

std::vector<std::int32_t> colour_groups(std::span<const std::int64_t> starts, std::span<const std::int32_t> members,
                                        std::size_t n_members) {
    std::vector<std::int32_t> count(n_members), colour(starts.size() - 1);
    for (const std::int32_t member : members) ++count[static_cast<std::size_t>(member)];
    std::vector<std::vector<std::uint64_t>> used(n_members);  // bits of the colours of each member's groups
    for (std::size_t g = 0; g < colour.size(); ++g) {
        const auto own =
            members.subspan(static_cast<std::size_t>(starts[g]), static_cast<std::size_t>(starts[g + 1] - starts[g]));
        std::size_t word = 0;
        for (;; ++word) {
            std::uint64_t taken = 0;
            for (const std::int32_t member : own)
                if (const auto& bits = used[static_cast<std::size_t>(member)]; word < bits.size()) taken |= bits[word];
            if (taken == ~std::uint64_t{0}) continue;
            colour[g] = static_cast<std::int32_t>(64 * word) + std::countr_one(taken);
            break;
        }
        for (const std::int32_t member : own) {
            if (count[static_cast<std::size_t>(member)] < 2) continue;  // in no other group
            auto& bits = used[static_cast<std::size_t>(member)];
            if (bits.size() <= word) bits.resize(word + 1);
            bits[word] |= std::uint64_t{1} << (static_cast<unsigned>(colour[g]) % 64);
        }
    }
    return colour;
}

}  // namespace coherently
