// The relaxed problem where every group is about at most two variables: a Newton method on the variables only.
//
// Given the probabilities a and b of two variables, that of their conjunction may be any m with
// max(0, a + b - 1) <= m <= min(a, b), and every event about the two is affine in (a, b, m). Each group's m is
// minimised out, which leaves a convex, piecewise quadratic function of the variables. Its kinks, where min(a, b)
// or max(0, a + b - 1) binds from both sides, are held shut by stiff springs with multipliers (an active set
// method); a line search on rounded kinks comes first, to find out which they are. Where they are too entangled, an
// interior point method takes over.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coherently/stop.hpp"

namespace coherently {

// Events about at most two variables each: event e is about variables[starts[e] .. starts[e + 1] - 1], and its truth
// table, if they are two, is tables[table_starts[e]]. The mean is ignored where the weight is 0.
struct MergedEvents {
    std::span<const double> weight, mean;
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> variables;
    std::size_t n_variables;
    std::span<const std::int64_t> table_starts;
    std::span<const std::uint64_t> tables;
};

struct PairOptions {
    bool by_pair;    // events about the same two variables are one group; else each is its own
    bool auxiliary;  // a variable that nobody forecast is shared by its groups; else each has its own
    double tolerance;
    int max_iterations;
    unsigned threads;            // 0: one per processor
    const Stop* stop = nullptr;  // ends the work with the best answer so far
};

struct PairSolution {
    std::vector<double> x;  // the events' probabilities
    double objective = 0;
    double lower_bound = 0;  // on the least objective; valid wherever the iteration stopped
    int iterations = 0;
};

// Components that share no variable are solved apart; the answer does not depend on the number of threads.
PairSolution solve_pairs(const MergedEvents& merged, const PairOptions& options);

}  // namespace coherently
