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
    bool extend(std::size_t point);
    void drop(std::size_t place);

    std::size_t size_ = 0;         // coordinates
    double scale_ = 1;             // the largest squared length of a shifted point
    std::vector<double> shifted_;  // points minus y, scaled by the root of the weights
    std::vector<double> nearest_;
    std::vector<std::size_t> corral_;
    std::vector<double> share_, trial_;
    std::vector<std::vector<double>> factor_;  // Cholesky factor, one row per point of the corral
};

// {p, q, r} with r the conjunction of literals of p and q, or its complement; y inside the unit cube.
// Predd, Kulkarni, Poor and Osherson (2006), the "deterministic rules" of section 4.
void project_conjunction(const double* weights, double* y, bool negate_first, bool negate_second, bool negate_last);

// Exactly one event is true, or at most one (`complete` or not): the sum is 1, or at most 1, and none is negative. Any
// real y, positive weights. Held, Wolfe and Crowder (1974), Validation of subgradient optimization, the weighted form.
void project_one_of(std::span<const double> weights, std::span<double> y, bool complete,
                    std::vector<std::size_t>& order);

// Each event implies the next, in the given order of coordinates: 0 <= y <= ... <= 1. Any real y, positive weights.
// Isotonic regression by pooling adjacent violators (Ayer, Brunk, Ewing, Reid and Silverman 1955), cut off at 0 and 1.
void project_chain(std::span<const double> weights, std::span<double> y, std::span<const std::size_t> order);

// The weighted means of the blocks of isotonic regression in the place of y.
void pool_violators(std::span<const double> weights, std::span<double> y, std::span<const std::size_t> order);

struct GroupView {
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> members, pattern;
};

enum class Shape { hull, conjunction, exactly_one, at_most_one, chain };

// The points of a pattern, and the closed form that applies.
struct Pattern {
    std::vector<double> points;
    Shape shape = Shape::hull;
    bool negate_first = false, negate_second = false, negate_last = false;  // of a conjunction
    std::vector<std::size_t> order;                                         // of a chain

    Pattern(std::vector<double> rows, std::size_t size);
    // Whether a projection takes little time however many events there are, or there are few.
    bool is_quick() const { return shape != Shape::hull || points.size() <= 4096; }

private:
    bool is_conjunction();
    bool is_one_of(std::size_t size);
    bool is_chain(std::size_t size);
};

class GroupProjector {
public:
    GroupProjector(GroupView groups, std::vector<Pattern> patterns, std::span<const double> weights);

    // Von Neumann and Halperin: x becomes its projection on one group after the other, from `first` up to `end`.
    // Returns the weighted sum of the squared moves.
    double sweep(std::span<double> x, std::size_t first, std::size_t end);
    // Dykstra: the same with an increment for each member of each group.
    void sweep(std::span<double> x, std::span<double> increments, std::size_t first, std::size_t end);
    // The largest distance of a coordinate of x from the point of its group's set that is nearest without weights.
    double violation(std::span<const double> x);
    // Whether every pattern is quick.
    bool is_quick() const;

private:
    void load(std::size_t group, std::span<const double> x);
    void project(std::size_t group, bool inside_cube);

    GroupView groups_;
    std::vector<Pattern> patterns_;
    std::span<const double> weights_;
    HullProjector hull_;
    std::vector<double> local_, local_weights_;
    std::vector<std::size_t> order_;
};

}  // namespace coherently
