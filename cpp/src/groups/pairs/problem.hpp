// The problem of a connected set of groups about two variables each, and its answer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coherently/groups/pairs.hpp"
#include "groups/pairs/costs.hpp"

namespace coherently {

struct PairProblem {
    std::vector<double> weight, target;    // of each variable; the target is 0.5 where the weight is 0
    std::vector<std::int32_t> coordinate;  // where a variable's answer goes; -1 where nobody forecast it
    std::vector<Single> singles;           // groups of one event
    std::vector<PairEvent> events;         // of the other groups
    std::vector<std::int64_t> starts{0};   // group g of those has the events starts[g] .. starts[g + 1] - 1

    std::size_t n_others() const { return starts.size() - 1; }

    std::span<const PairEvent> other(std::size_t g) const {
        return {events.data() + starts[g], static_cast<std::size_t>(starts[g + 1] - starts[g])};
    }

    double variables_value(const std::vector<double>& x) const {
        double value = 0;
        for (std::size_t v = 0; v < x.size(); ++v) value += weight[v] * (x[v] - target[v]) * (x[v] - target[v]);
        return value;
    }
};

// What is known of an answer; the events' probabilities follow from those of the variables.
struct PairAnswer {
    std::vector<double> variables;
    double objective = 0, lower_bound = 0;
    int iterations = 0;

    double gap() const { return objective - lower_bound; }
    bool is_proved(double tolerance) const { return gap() <= tolerance * (objective > 1e-3 ? objective : 1e-3); }
};

PairProblem pose_pairs(const MergedEvents& merged, bool by_pair, bool auxiliary);

// The connected parts of a problem. Variables in no group are left out, unless there is only one part with all of them.
std::vector<PairProblem> split(PairProblem&& problem);

}  // namespace coherently
