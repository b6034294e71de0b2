// What an answer to a pair problem is worth.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "groups/pairs/model.hpp"

namespace coherently {

// A lower bound on the objective from a linear minorant of each group's cost.
class LinearBound {
public:
    explicit LinearBound(const PairProblem& problem) : problem_(problem), force_(problem.weight.size(), 0.0) {}

    // A minorant in the probabilities of a group's literals, at x.
    template <typename Group>
    void add(const Group& group, const std::vector<double>& x, const Slope& slope) {
        const std::size_t i = variable_of(group.first), j = variable_of(group.second);
        const double gi = sign_of(group.first) * slope.ga, gj = sign_of(group.second) * slope.gb;
        force_[i] += gi, force_[j] += gj;
        constant_ += slope.value - gi * x[i] - gj * x[j];
    }

    // That of a convex function at x which includes the variables' own costs.
    void add(const Quadratic& function, const std::vector<double>& x) {
        constant_ += function.value;
        for (std::size_t v = 0; v < x.size(); ++v) {
            const double c = problem_.weight[v], away = x[v] - problem_.target[v];
            const double force = function.gradient[v] - 2 * c * away;
            force_[v] += force;
            constant_ -= c * away * away + force * x[v];
        }
    }

    double total() const {
        double bound = constant_;
        for (std::size_t v = 0; v < force_.size(); ++v) {
            const double c = problem_.weight[v], q = problem_.target[v];
            const double best = c > 0 ? std::clamp(q - force_[v] / (2 * c), 0.0, 1.0) : (force_[v] < 0 ? 1.0 : 0.0);
            bound += c * (best - q) * (best - q) + force_[v] * best;
        }
        return bound;
    }

private:
    const PairProblem& problem_;
    std::vector<double> force_;
    double constant_ = 0;
};

inline double literal_at(const std::vector<double>& x, std::int32_t literal) {
    const double value = x[variable_of(literal)];
    return literal & 1 ? 1 - value : value;
}

// The possible choice of m that is next to the free one.
template <typename Group>
double possible(const Group& group, double a, double b) {
    const double low = std::max(0.0, a + b - 1);
    return std::clamp(group.free_at(a, b), low, std::max(low, std::min(a, b)));
}

// Write a group's events to x; return what they cost.
inline double write(const PairProblem&, const Single& group, double a, double b, std::span<double> x) {
    const double m = possible(group, a, b), away = m - group.free;
    x[static_cast<std::size_t>(group.coordinate)] = group.first & group.second & 1 ? 1 - m : m;
    return group.curvature * away * away;
}

inline double write(const PairProblem& problem, const Several& group, double a, double b, std::span<double> x) {
    const double m = possible(group, a, b);
    double cost = 0;
    for (const PairEvent& event : problem.other(static_cast<std::size_t>(group.number))) {
        const auto [on_both, on_first, on_second] = coefficients_of(event.form);
        const double p = std::clamp(on_both * m + on_first * a + on_second * b, 0.0, 1.0);
        cost += event.weight * (p - event.target) * (p - event.target);
        x[static_cast<std::size_t>(event.coordinate)] = p;
    }
    return cost;
}

// Judges the answer's variables, and writes all events to x. Calls near(list, item, a, b, bound) to add the minorant
// of a group near a border.
template <typename Minorant>
void judge(PairModel& model, PairAnswer& answer, std::span<double> x, Minorant&& near) {
    const PairProblem& problem = model.problem;
    const std::vector<double>& at = answer.variables;
    LinearBound bound(problem);
    bound.add(model.base_at(at), at);
    answer.objective = problem.variables_value(at);
    model.each_list([&]<typename Group>(const GroupList<Group>& list) {
        auto item = list.near.data(), end = item + list.near.size();
        for (std::size_t g = 0; g < list.groups.size(); ++g) {
            const Group& group = list.groups[g];
            const double a = literal_at(at, group.first), b = literal_at(at, group.second);
            answer.objective += write(problem, group, a, b, x);
            if (item != end && item->number == g) near(list, *item++, a, b, bound);
            else bound.add(group, at, group.slope(a, b));
        }
    });
    for (std::size_t v = 0; v < at.size(); ++v)
        if (problem.coordinate[v] >= 0) x[static_cast<std::size_t>(problem.coordinate[v])] = at[v];
    answer.lower_bound = std::clamp(bound.total(), 0.0, answer.objective);
}

}  // namespace coherently
