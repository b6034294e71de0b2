#include "coherently/groups/pairs.hpp"

#include <algorithm>

#include "groups/pairs/active_set.hpp"
#include "groups/pairs/bound.hpp"
#include "groups/pairs/interior.hpp"
#include "groups/pairs/model.hpp"
#include "groups/pairs/problem.hpp"
#include "groups/parallel.hpp"

namespace coherently {
namespace {

constexpr std::size_t small_problem = 5000;  // groups
constexpr double vicinity = 0.008;           // of what was found last, where the interior point method looks first
constexpr int attempts = 2;                  // to do so

// Judges what the interior point method finds within a radius, and keeps the better answer.
void try_interior(PairModel& model, double radius, double tolerance, PairAnswer& best, std::span<double> x) {
    PairInterior interior(model);
    PairAnswer answer = best;
    interior.run(answer, radius, tolerance);
    std::size_t k = 0;
    judge(model, answer, x, [&](const auto&, const auto&, double, double, LinearBound& bound) {
        interior.add_minorant(k++, answer.variables, bound);
    });
    best.iterations = answer.iterations;
    if (answer.gap() < best.gap()) best = std::move(answer);
    else judge(model, answer = best, x, [](const auto&, const auto&, double, double, LinearBound&) {});
}

// Probabilities are off by about the root of the gap, so small problems are finished to the last digit.
void solve_by_interior(PairModel& model, double tolerance, PairAnswer& best, std::span<double> x) {
    const bool small = model.n_groups() <= small_problem;
    for (int i = 0; i < attempts && !small && !best.is_proved(tolerance) && !model.is_stopped(); ++i)
        try_interior(model, vicinity, tolerance, best, x);
    if (!best.is_proved(tolerance) && !model.is_stopped())
        try_interior(model, 1, small ? 1e-6 * tolerance : tolerance, best, x);
}

PairAnswer solve_part(const PairProblem& problem, const PairOptions& options, std::span<double> x) {
    PairAnswer answer;
    PairModel model(problem, options.stop);
    PairActiveSet(model).run(answer, options.tolerance, options.max_iterations);
    judge(model, answer, x, [&](const auto& list, const auto& item, double a, double b, LinearBound& bound) {
        const auto& group = list.groups[item.number];
        if (group.slack(a, b) >= 0) return;
        const Local minorant = group.local(item.kinks, a, b, 0, 0, Mode::exact);
        bound.add(group, answer.variables, {minorant.value, minorant.ga, minorant.gb});
    });
    if (!answer.is_proved(options.tolerance) && !model.is_stopped())
        solve_by_interior(model, options.tolerance, answer, x);
    return answer;
}

}  // namespace

PairSolution solve_pairs(const MergedEvents& merged, const PairOptions& options) {
    PairSolution solution;
    solution.x.resize(merged.weight.size());
    PairProblem problem = pose_pairs(merged, options.by_pair, options.auxiliary);
    for (std::size_t v = 0; v < problem.coordinate.size(); ++v)
        if (problem.coordinate[v] >= 0) solution.x[static_cast<std::size_t>(problem.coordinate[v])] = problem.target[v];
    for (std::size_t e = 0; e < merged.weight.size(); ++e)  // what is never true
        if (merged.starts[e + 1] == merged.starts[e] && merged.weight[e] > 0)
            solution.objective += merged.weight[e] * merged.mean[e] * merged.mean[e];
    solution.lower_bound = solution.objective;
    const std::vector<PairProblem> parts = split(std::move(problem));
    std::vector<PairAnswer> answers(parts.size());
    in_parallel(parts.size(), options.threads,
                [&](std::size_t i) { answers[i] = solve_part(parts[i], options, solution.x); });
    for (const PairAnswer& answer : answers) {
        solution.objective += answer.objective;
        solution.lower_bound += answer.lower_bound;
        solution.iterations = std::max(solution.iterations, answer.iterations);
    }
    return solution;
}

}  // namespace coherently
