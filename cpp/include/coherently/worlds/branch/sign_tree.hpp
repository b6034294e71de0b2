// The tree of a proof over signs, kept while it grows and written once it is whole.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace coherently {

// What a checker needs of branch and bound: on which variables it split, at which points tangents bound its leaves, and
// the diagonals that made the form convex. Points are on a grid, so that they are written as they were used.
class SignTree {
public:
    static constexpr double grid = 4096;  // points have 12 binary digits
    static constexpr std::size_t most_entries = std::size_t{1} << 27;

    struct Form {
        std::vector<std::int8_t> fixed;  // 1, -1, or 0 where free
        std::vector<double> y;           // of the free variables
    };
    // The tree in preorder. Code 0 or 1: a split, then its variable (2 bytes) and the branches, first that of the sign
    // -1 or 1. Code 2: a leaf, bounded at the last point. Code 3: a point, 2 bytes for each variable that is free here;
    // others have their signs. Code 4: the next of the forms, for this node and all below.
    struct Written {
        std::vector<std::uint8_t> bytes;
        std::vector<std::int64_t> forms;  // the byte after each code 4, the forms being in this order
        std::vector<std::int32_t> form;
    };

    // A node of the tree; `add` gives its number, the first one is the root.
    std::int32_t add();
    void begin_form(std::int32_t node, std::span<const std::int8_t> fixed, std::span<const double> y);
    void split(std::int32_t node, std::int32_t variable, std::int32_t lower, std::int32_t upper);
    // Where a variable is left one sign, as at the node's point the other is above the cutoff.
    void narrow(std::int32_t node, std::int32_t variable, int side);
    // Points have one entry per variable that is free; the first point of a node counts.
    void set_point(std::int32_t node, std::span<const std::int16_t> point);

    // Whether it has outgrown the memory it may take; it is of no use then.
    bool is_cut() const { return cut_; }
    const std::vector<Form>& forms() const { return forms_; }
    Written written() const;

private:
    static constexpr std::int32_t none = -1;
    struct Visited {
        std::int32_t form = none, variable = none, lower = none, upper = none;
        std::size_t point = 0, narrowed = 0;
        std::uint32_t entries = 0, narrowings = 0;
        bool has_point = false;
    };
    struct Narrowing {
        std::int32_t variable;
        std::int8_t side;
    };

    std::vector<Visited> nodes_;
    std::vector<Form> forms_;
    std::vector<Narrowing> narrowed_;
    std::vector<std::int16_t> points_;
    bool cut_ = false;
};

}  // namespace coherently
