// The forms of a tree of signs as integers: written with what shows that they are convex, and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace coherently {

// Trees, as SignTree writes them, are about 8 E = constant + h s + s' A s over n signs s, in integers. A form, which
// follows a code 4, is for the m variables that are free there: Y (8 bytes each), k (1 byte) and the lower triangle of
// C (4 bytes each), all with the lowest byte first. If 4^k (A - diag Y) - C C' is diagonally dominant with a diagonal
// that is not negative, A - diag Y is positive semidefinite.
struct SignEnergy {
    std::int64_t constant;
    std::span<const std::int64_t> h, a;
    std::size_t size() const { return h.size(); }
};

// A tree with its forms. Form i belongs at byte places[i]; its variables are those that are 0 in row i of `fixed`, and
// `y` has the diagonals one after the other, which may be lowered a little. None if no factor shows a form to be
// convex.
std::optional<std::vector<std::uint8_t>> with_forms(std::span<const std::uint8_t> tree,
                                                    std::span<const std::int64_t> places,
                                                    std::span<const std::int8_t> fixed, std::span<const std::int64_t> a,
                                                    std::span<const std::int64_t> y);

// What a tree proves: no world with these signs (0: any) has an E below `least`, at so much `work`. None if it proves
// nothing, or if numbers may leave 64 bits: then it says nothing about the tree.
struct SignBound {
    std::int64_t least;
    std::int64_t work;
};
std::optional<SignBound> check_signs(const SignEnergy& energy, std::span<const std::int8_t> signs,
                                     std::span<const std::uint8_t> tree);

}  // namespace coherently
