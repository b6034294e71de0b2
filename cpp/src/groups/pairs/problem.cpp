#include "groups/pairs/problem.hpp"

#include <algorithm>
#include <numeric>

namespace coherently {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

bool same_pair(const PairEvent& one, const PairEvent& other) {
    return one.first == other.first && one.second == other.second;
}

// The variables that were forecast; returns their numbers, -1 for others.
std::vector<std::int32_t> take_variables(const MergedEvents& merged, PairProblem& problem) {
    std::vector<std::int32_t> number(merged.n_variables, -1);
    for (std::size_t e = 0; e < merged.weight.size(); ++e) {
        if (merged.starts[e + 1] - merged.starts[e] != 1) continue;
        number[at(merged.variables[at(merged.starts[e])])] = static_cast<std::int32_t>(problem.weight.size());
        problem.weight.push_back(merged.weight[e]);
        problem.target.push_back(merged.weight[e] > 0 ? merged.mean[e] : 0.5);
        problem.coordinate.push_back(static_cast<std::int32_t>(e));
    }
    return number;
}

// The event e, about two variables as they are numbered in `merged`.
PairEvent event_of(const MergedEvents& merged, std::size_t e) {
    const double weight = merged.weight[e];
    const std::int32_t* variables = merged.variables.data() + merged.starts[e];
    const auto form = static_cast<std::int32_t>(merged.tables[at(merged.table_starts[e])] & 15);
    return {weight, weight > 0 ? merged.mean[e] : 0, variables[0], variables[1], static_cast<std::int32_t>(e), form};
}

template <typename Take>
void each_pair_event(const MergedEvents& merged, Take&& take) {
    for (std::size_t e = 0; e < merged.weight.size(); ++e)
        if (merged.starts[e + 1] - merged.starts[e] == 2) take(event_of(merged, e));
}

// Calls take(place, item) with each item's place in the stable order by a key below n.
template <typename Item, typename Key, typename Take>
void place_by(const std::vector<Item>& items, std::size_t n, Key key, Take&& take) {
    std::vector<std::size_t> place(n + 1);
    for (const Item& item : items) ++place[at(key(item)) + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    for (const Item& item : items) take(place[at(key(item))]++, item);
}

std::vector<PairEvent> sorted_by_pair(const MergedEvents& merged) {
    std::vector<PairEvent> events;
    events.reserve(merged.weight.size());
    each_pair_event(merged, [&](const PairEvent& event) { events.push_back(event); });
    std::vector<PairEvent> spare(events.size());
    const auto sort_by = [&](auto key) {
        place_by(events, merged.n_variables, key, [&](std::size_t to, const PairEvent& event) { spare[to] = event; });
        events.swap(spare);
    };
    sort_by([](const PairEvent& event) { return event.second; });
    sort_by([](const PairEvent& event) { return event.first; });
    return events;
}

// Adds groups to a problem. A variable that nobody forecast gets a number for each group, or one for all.
class Grouping {
public:
    Grouping(const MergedEvents& merged, PairProblem& problem, bool auxiliary)
        : problem_(problem), number_(take_variables(merged, problem)), auxiliary_(auxiliary) {}

    void add(std::span<const PairEvent> events) {
        const std::int32_t first = number(events[0].first), second = number(events[0].second);
        for (PairEvent event : events) {
            event.first = first, event.second = second;
            if (events.size() == 1 && Single::fits(event)) {
                problem_.singles.emplace_back(event);
                return;
            }
            problem_.events.push_back(event);
        }
        problem_.starts.push_back(static_cast<std::int64_t>(problem_.events.size()));
    }

private:
    std::int32_t number(std::int32_t variable) {
        std::int32_t& known = number_[at(variable)];
        if (known >= 0) return known;
        const auto fresh = static_cast<std::int32_t>(problem_.weight.size());
        problem_.weight.push_back(0);
        problem_.target.push_back(0.5);
        problem_.coordinate.push_back(-1);
        if (auxiliary_) known = fresh;
        return fresh;
    }

    PairProblem& problem_;
    std::vector<std::int32_t> number_;
    bool auxiliary_;
};

}  // namespace

PairProblem pose_pairs(const MergedEvents& merged, bool by_pair, bool auxiliary) {
    PairProblem problem;
    Grouping grouping(merged, problem, auxiliary);
    if (!by_pair) {
        problem.singles.reserve(merged.weight.size());
        each_pair_event(merged, [&](const PairEvent& event) { grouping.add({&event, 1}); });
        return problem;
    }
    const std::vector<PairEvent> events = sorted_by_pair(merged);
    problem.events.reserve(events.size());
    for (std::size_t e = 0; e < events.size();) {
        std::size_t end = e + 1;
        while (end < events.size() && same_pair(events[e], events[end])) ++end;
        grouping.add({&events[e], end - e});
        e = end;
    }
    return problem;
}

namespace {

// Which variables are connected by groups.
class Union {
public:
    explicit Union(std::size_t n) : parent_(n), parts_(n) { std::iota(parent_.begin(), parent_.end(), 0); }

    std::size_t parts() const { return parts_; }

    std::size_t root(std::size_t node) {
        while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
        return node;
    }

    void join(std::size_t one, std::size_t other) {
        one = root(one), other = root(other);
        if (one == other) return;
        parent_[one] = other;
        --parts_;
    }

private:
    std::vector<std::size_t> parent_;
    std::size_t parts_;
};

Union connect(const PairProblem& problem) {
    Union joined(problem.weight.size());
    for (std::size_t g = 0; g < problem.singles.size() && joined.parts() > 1; ++g)
        joined.join(variable_of(problem.singles[g].first), variable_of(problem.singles[g].second));
    for (std::size_t g = 0; g < problem.n_others() && joined.parts() > 1; ++g)
        joined.join(at(problem.other(g).front().first), at(problem.other(g).front().second));
    return joined;
}

// Gives groups to the part that has their variables, renumbered.
class Distribution {
public:
    Distribution(const PairProblem& whole, Union&& joined)
        : whole_(whole), joined_(std::move(joined)), part_(whole.weight.size(), -1), local_(whole.weight.size(), -1) {}

    PairProblem& part_of(std::int32_t variable) {
        std::int64_t& number = part_[joined_.root(at(variable))];
        if (number < 0) number = static_cast<std::int64_t>(parts.size()), parts.emplace_back();
        return parts[at(number)];
    }

    std::int32_t local(PairProblem& part, std::int32_t variable) {
        const std::size_t v = at(variable);
        if (local_[v] < 0) {
            local_[v] = static_cast<std::int32_t>(part.weight.size());
            part.weight.push_back(whole_.weight[v]);
            part.target.push_back(whole_.target[v]);
            part.coordinate.push_back(whole_.coordinate[v]);
        }
        return local_[v];
    }

    std::vector<PairProblem> parts;

private:
    const PairProblem& whole_;
    Union joined_;
    std::vector<std::int64_t> part_;
    std::vector<std::int32_t> local_;
};

}  // namespace

std::vector<PairProblem> split(PairProblem&& problem) {
    Union joined = connect(problem);
    if (joined.parts() == 1) {
        std::vector<PairProblem> whole;
        whole.push_back(std::move(problem));
        return whole;
    }
    Distribution to(problem, std::move(joined));
    for (Single single : problem.singles) {
        PairProblem& part = to.part_of(single.first / 2);
        single.first = 2 * to.local(part, single.first / 2) + single.first % 2;
        single.second = 2 * to.local(part, single.second / 2) + single.second % 2;
        part.singles.push_back(single);
    }
    for (std::size_t g = 0; g < problem.n_others(); ++g) {
        PairProblem& part = to.part_of(problem.other(g).front().first);
        for (PairEvent event : problem.other(g)) {
            event.first = to.local(part, event.first), event.second = to.local(part, event.second);
            part.events.push_back(event);
        }
        part.starts.push_back(static_cast<std::int64_t>(part.events.size()));
    }
    return std::move(to.parts);
}

}  // namespace coherently
