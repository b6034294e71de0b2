// All components of a problem that have few worlds, solved one after the other without leaving the core.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "coherently/components/small_mixture.hpp"
#include "coherently/deadline.hpp"
#include "coherently/functions/event_view.hpp"

namespace coherently {

// The most states of blocks and free variables together, before laws, that are tried.
inline constexpr std::size_t most_raw_worlds = 1024;
// Weights that differ more are solved in layers, elsewhere.
inline constexpr double widest_weights = 8589934592.0;  // 2^33
// A condition below `absent`, or above 1 - absent, is told to the user; below `unlikely` it is smoothed: both
// elsewhere.
inline constexpr double absent_condition = 1e-6, unlikely_condition = 1e-4;

// Sides of events: the complement where `turned`.
struct SideColumns {
    std::vector<std::int32_t> coordinate;
    std::vector<std::uint8_t> turned;
};

// A problem as arrays. `component` has a label for each event, then each block, then each law. `barred` lists events
// whose components are solved elsewhere (those with intervals and pins).
struct PosedComponents {
    Functions events, laws;
    std::size_t n_variables = 0;
    std::vector<double> weight, mean;
    std::vector<std::int32_t> component;
    std::vector<std::int64_t> block_starts, state_starts;
    std::vector<std::int32_t> block_variables;
    std::vector<std::uint8_t> states, law_truth;
    SideColumns joint, condition;
    std::vector<double> given_weight, given_mean;
    std::vector<std::int32_t> barred;
    ForecastLoss loss = ForecastLoss::brier;
    bool linearised = false;
    std::size_t most_worlds = most_small_worlds;
};

// Rows of different lengths.
struct Rows {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> items;
    std::span<const std::int32_t> of(std::size_t row) const {
        return {items.data() + starts[row], items.data() + starts[row + 1]};
    }
};

struct ComponentAnswer {
    bool solved = false;
    std::vector<double> x, share;
    std::vector<std::uint64_t> worlds;  // bit v: the v-th variable of the component
    double objective = 0, bound = 0, shortfall = 0, saved = 0;
    int steps = 0;
};

class ComponentTable {
public:
    explicit ComponentTable(PosedComponents posed);

    std::size_t size() const { return answers_.size(); }
    // Solves more components, over threads, until all are done (true) or the deadline has passed.
    bool solve(Deadline deadline, unsigned threads);

    // The events and the variables of each component, ascending.
    const Rows& events() const { return events_; }
    const Rows& variables() const { return variables_; }
    const std::vector<ComponentAnswer>& answers() const { return answers_; }

private:
    struct Desk;
    void solve_one(std::size_t component, Desk& desk);
    bool list_worlds(std::size_t component, Desk& desk) const;
    bool list_truth(std::size_t component, Desk& desk) const;
    bool are_level(std::size_t component) const;
    void list_terms(std::size_t component, Desk& desk) const;
    void keep(std::size_t component, Desk& desk);
    double saved(const Desk& desk) const;
    bool has_odd_condition(std::size_t component, const Desk& desk) const;
    std::uint64_t side(const SideColumns& sides, std::size_t i, const Desk& desk) const;

    PosedComponents posed_;
    Rows events_, variables_, blocks_, laws_, given_;
    std::vector<std::int32_t> number_;  // of a variable in its component
    std::vector<std::int32_t> place_;   // of an event in its component
    std::vector<std::uint8_t> barred_;
    std::vector<ComponentAnswer> answers_;
    std::size_t done_ = 0;
};

}  // namespace coherently
