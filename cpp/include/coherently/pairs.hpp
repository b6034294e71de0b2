// The relaxed problem where every group is about at most two variables: a Newton method on the variables alone.
//
// Given the probabilities a and b of two variables, that of their conjunction may be any m with
// max(0, a + b - 1) <= m <= min(a, b), and every event about the two is affine in (a, b, m). Each group's m is
// minimised out, which leaves a convex, piecewise quadratic function of the variables. Its kinks, where min(a, b)
// or max(0, a + b - 1) binds from both sides, are held shut by stiff springs with multipliers (an active set
// method); a line search on rounded kinks comes first, to find out which they are, and last, should that cycle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace coherently {

// One event of a group: its probability is on_both * m + on_first * a + on_second * b.
struct PairEvent {
    double weight, target;
    double on_both, on_first, on_second;
};

struct PairProblem {
    std::span<const double> weight, target;       // of each variable; the target is ignored where the weight is 0
    std::span<const std::int32_t> first, second;  // the variables of each group
    std::span<const std::int64_t> starts;         // group g has the events starts[g] .. starts[g + 1] - 1
    std::span<const PairEvent> events;
};

struct PairAnswer {
    std::vector<double> variables, events;  // probabilities
    double objective = 0;
    double lower_bound = 0;  // on the least objective; valid wherever the iteration stopped
    int iterations = 0;
};

// Components that share no variable are solved apart, on up to `threads` threads; the answer does not depend on how many.
PairAnswer solve_pairs(const PairProblem& problem, double tolerance, int max_iterations, unsigned threads);

}  // namespace coherently
