// Bregman projections on the local coherent sets of groups: other losses than the squared one.
//
// A loss is given by a convex phi on [0, 1]; its divergence d(x, p) = phi(x) - phi(p) - phi'(p) (x - p) is what a
// forecast p loses against x. The projection of p is the x of the group's hull with the least sum of w d(x, p). Only
// z = phi'(p) enters: x minimises the sum of w (phi(x) - z x), for any real z. So the state of every algorithm here is
// z, the dual of x. Where a hull holds a coordinate at 0 or 1, the coordinate leaves the problem and its dual becomes
// phi'(0) or phi'(1): -1 or 1 under the spherical loss, -certain or certain, for infinity, under the log loss.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coherently/groups/projections.hpp"

namespace coherently {

enum class Loss {
    log,        // phi(x) = x ln x + (1-x) ln(1-x): duals are log-odds
    spherical,  // phi(x) = sqrt(x^2 + (1-x)^2): duals of [0, 1] lie in [-1, 1]
};

// The log-odds that stand for certainty: their probabilities are exactly 0 and 1 in floating point.
inline constexpr double certain = 1000;

// A probability and its complement: under the log loss each has its full relative precision.
struct Chance {
    double yes, no;
};

// The probability of a dual; a spherical dual must lie within the root of 2.
Chance chance(Loss loss, double dual);
double dual(Loss loss, Chance x);
// d(x, p), where p has the given dual.
double divergence(Loss loss, Chance x, double dual);

// The projection on the convex hull of some 0/1 points (rows of `points`, each as long as y), with the dual of the
// answer in the place of y. Coordinates of weight 0 do not count: theirs is one of possibly many values. Wolfe's
// nearest point method (1976) with Newton's method in the place of his linear systems: weights on affinely independent
// points are optimised, points whose weight runs out leave, and points against the gradient enter until none is left.
class BregmanHull {
public:
    void project(Loss loss, std::span<const double> points, std::span<const double> weights, std::span<double> y);

private:
    void load(std::span<const double> weights, std::span<const double> y);
    void start();
    void solve();
    bool extend(std::size_t point);
    void find_direction();
    double find_length() const;
    double rise(double length) const;
    double noise() const;
    bool may_leave(double length) const;
    Chance chance_after(std::size_t coordinate, double length) const;
    double reach() const;
    double share_after(std::size_t member, double length) const;
    bool move(double length);
    bool enter();
    void mix();
    Chance mixture(std::size_t coordinate) const;
    bool holds(std::size_t point, std::size_t coordinate) const { return points_[point * size_ + coordinate] == 1; }

    Loss loss_ = Loss::log;
    std::span<const double> points_;
    std::size_t size_ = 0, count_ = 0;           // coordinates, points
    std::vector<std::size_t> active_;            // coordinates that vary and have a weight; the next four go with it
    std::vector<double> weight_, tilt_, force_;  // w, z and w (phi'(x) - z)
    std::vector<Chance> x_;
    std::vector<std::size_t> corral_;  // affinely independent points; the next two go with it
    std::vector<double> share_, direction_;
    std::vector<double> basis_;              // orthonormal, of the span of the differences of the corral
    std::vector<double> shift_;              // the change of x along the direction
    double decrement_ = 0, dual_shift_ = 0;  // squared length of the Newton step; its largest change of a dual
    double gap_ = 0;                         // bound on the remaining decrease
    // scratch
    std::vector<std::size_t> order_;
    std::vector<double> scale_, system_, right_, column_, price_;
};

// {p, q, r} with r the conjunction of literals of p and q, or its complement, y the duals of a point of the unit cube.
void project_conjunction(Loss loss, const double* weights, double* y, bool negate_first, bool negate_second,
                         bool negate_last);

// Exactly one event is true, or at most one; any real y. With the multiplier l of the sum, duals are z - l/w.
void project_one_of(Loss loss, std::span<const double> weights, std::span<double> y, bool complete);

// GroupProjector for such a loss. All vectors are duals.
class BregmanProjector {
public:
    BregmanProjector(Loss loss, GroupView groups, std::vector<Pattern> patterns, std::span<const double> weights);

    // z becomes the dual of its projection on one group after the other, from `first` up to `end`. Returns the weighted
    // sum of the divergences of each projection from what was projected: in every world the loss falls by at least as
    // much.
    double sweep(std::span<double> z, std::size_t first, std::size_t end);
    // Dykstra's algorithm in the dual: the same with an increment for each member of each group.
    void sweep(std::span<double> z, std::span<double> increments, std::size_t first, std::size_t end);
    // The largest distance of a probability from its group's projection without weights.
    double violation(std::span<const double> z);

private:
    void load(std::size_t group, std::span<const double> z);
    void project(std::size_t group);

    Loss loss_;
    GroupView groups_;
    std::vector<Pattern> patterns_;
    std::span<const double> weights_;
    BregmanHull hull_;
    std::vector<double> local_, local_weights_;
};

}  // namespace coherently
