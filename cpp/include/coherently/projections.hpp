// Weighted projections on the local coherent sets of groups, one group after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace coherently {

// The nearest point to y, in the metric of the weights, of the convex hull of some points (rows of `points`, each as
// long as y). Exact up to rounding for any real y; coordinates of weight 0 do not count. Wolfe (1976), Finding the
// nearest point in a polytope.
class HullProjector {
public:
    void project(std::span<const double> points, std::span<const double> weights, std::span<double> y);

private:
    void affine_minimiser();

    std::size_t size_ = 0;                 // coordinates
    std::vector<double> shifted_;          // points less y, scaled by the root of the weights
    std::vector<double> nearest_;
    std::vector<std::size_t> corral_;
    std::vector<double> share_, trial_, system_;
};

// {p, q, r} with r the conjunction of literals of p and q, or its complement; y inside the unit cube.
// Predd, Kulkarni, Poor and Osherson (2006), the "deterministic rules" of section 4.
void project_conjunction(const double* weights, double* y, bool negate_first, bool negate_second, bool negate_last);

struct GroupView {
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> members, pattern;
};

// The points of a pattern, and whether the closed form applies.
struct Pattern {
    std::vector<double> points;
    bool conjunction = false, negate_first = false, negate_second = false, negate_last = false;

    Pattern(std::vector<double> points, std::size_t size);
};

class GroupProjector {
public:
    GroupProjector(GroupView groups, std::vector<Pattern> patterns, std::span<const double> weights);

    // Von Neumann and Halperin: x becomes its projection on one group after the other.
    // Returns the weighted sum of the squared moves.
    double sweep(std::span<double> x);
    // Dykstra: the same with an increment for each member of each group.
    void sweep(std::span<double> x, std::span<double> increments);
    // The largest distance of a coordinate of x from the point of its group's set that is nearest without weights.
    double violation(std::span<const double> x);

private:
    void load(std::size_t group, std::span<const double> x);
    void project(std::size_t group, bool inside_cube);

    GroupView groups_;
    std::vector<Pattern> patterns_;
    std::span<const double> weights_;
    HullProjector hull_;
    std::vector<double> local_, local_weights_;
};

}  // namespace coherently
