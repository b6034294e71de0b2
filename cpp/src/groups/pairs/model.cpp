#include "groups/pairs/model.hpp"

#include <limits>

namespace coherently {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double narrower = 0.5;  // radius, relative to the last one, that is worth another look at what is near
constexpr double few = 0.08;      // share of groups near a border that is not worth another look

constexpr std::size_t all_near = 256;  // groups up to which all are taken to be near a border
constexpr double everything = 2;

}  // namespace

PairModel::PairModel(const PairProblem& problem, const Stop* stop)
    : problem(problem),
      n(problem.weight.size()),
      function(n),
      stop_(stop),
      base_(n),
      sure_(n),
      give_(n),
      literals_(2 * n),
      at_(n),
      low_(n, infinity),
      high_(n, -infinity) {
    for (std::size_t v = 0; v < n; ++v) base_.diagonal[v] = 2 * problem.weight[v];
    several_groups_.reserve(problem.n_others());
    for (std::size_t g = 0; g < problem.n_others(); ++g) {
        several_groups_.emplace_back(problem.other(g), static_cast<std::int32_t>(g));
        add_base(problem.other(g), several_groups_.back().curvature);
    }
    singles_.groups = problem.singles;
    severals_.groups = several_groups_;
    // A guess at the curvature: about a third of the groups pull.
    function.diagonal = base_.diagonal;
    each_list([&](const auto& list) {
        for (const auto& group : list.groups)
            for (const std::int32_t i : {group.first, group.second})
                function.diagonal[variable_of(i)] += 0.6 * group.curvature;
    });
    measure_give();
}

// The least of a sum of c (g m + l)^2 over m is that of c c' (g l' - g' l)^2 / sum of c g^2 over pairs.
void PairModel::add_base(std::span<const PairEvent> events, double curvature) {
    if (curvature == 0) return;
    const auto i = static_cast<std::size_t>(events[0].first), j = static_cast<std::size_t>(events[0].second);
    const double a = problem.target[i], b = problem.target[j];
    Local sum{};
    for (std::size_t e = 0; e < events.size(); ++e) {
        const auto [m, on_a, on_b] = coefficients_of(events[e].form);
        const double rest = on_a * a + on_b * b - events[e].target;
        for (std::size_t f = 0; f < e; ++f) {
            const auto [other_m, other_a, other_b] = coefficients_of(events[f].form);
            const double other_rest = other_a * a + other_b * b - events[f].target;
            const double c = 2 * events[e].weight * events[f].weight / curvature, d = m * other_rest - other_m * rest;
            const double da = m * other_a - other_m * on_a, db = m * other_b - other_m * on_b;
            sum.value += 0.5 * c * d * d, sum.ga += c * d * da, sum.gb += c * d * db;
            sum.haa += c * da * da, sum.hab += c * da * db, sum.hbb += c * db * db;
        }
    }
    base_.value += sum.value;
    base_.add(i, j, sum.ga, sum.gb, sum.haa, sum.hab, sum.hbb);
}

Quadratic PairModel::base_at(const std::vector<double>& x) const {
    Quadratic base = base_;
    std::vector<double> moved(n);
    for (std::size_t v = 0; v < n; ++v) moved[v] = x[v] - problem.target[v];
    base.carry(moved);
    return base;
}

void PairModel::measure_give() {
    double largest = 0;
    for (const double value : function.diagonal) largest = std::max(largest, value);
    for (std::size_t v = 0; v < n; ++v) give_[v] = 1 / std::max(function.diagonal[v], 1e-9 * largest + 1e-300);
}

void PairModel::move_to(const std::vector<double>& x, double radius) {
    if (n_groups() <= all_near) radius = everything;
    bool inside = true;
    for (std::size_t v = 0; v < n; ++v) inside &= x[v] >= low_[v] && x[v] <= high_[v];
    if (!inside) return move_anew(x, std::max(radius, radius_));
    std::vector<double> moved(n);
    for (std::size_t v = 0; v < n; ++v) moved[v] = x[v] - at_[v];
    sure_.carry(moved);
    set_point(x);
    if (radius >= narrower * radius_ || static_cast<double>(n_near()) < few * static_cast<double>(n_groups())) return;
    each_list([&](auto& list) {
        std::erase_if(list.near, [&](const auto& item) {
            return !is_open(list, item) && add_if_sure(list.groups[item.number], radius);
        });
    });
    surround(radius);
}

void PairModel::move_anew(const std::vector<double>& x, double radius) {
    set_point(x);
    sure_ = base_at(x);
    std::fill(low_.begin(), low_.end(), -infinity);
    std::fill(high_.begin(), high_.end(), infinity);
    each_list([&](auto& list) { survey(list, radius); });
    surround(radius);
}

void PairModel::set_point(const std::vector<double>& x) {
    at_ = x;
    for (std::size_t v = 0; v < n; ++v) literals_[2 * v] = x[v], literals_[2 * v + 1] = 1 - x[v];
}

void PairModel::surround(double radius) {
    for (std::size_t v = 0; v < n; ++v) {
        low_[v] = std::max(low_[v], at_[v] - radius);
        high_[v] = std::min(high_[v], at_[v] + radius);
    }
    radius_ = radius;
}

template <typename Group>
void PairModel::survey(GroupList<Group>& list, double radius) {
    using Near = typename GroupList<Group>::Near;
    candidates_.resize(std::max(candidates_.size(), list.groups.size()));
    std::size_t count = 0;
    for (std::size_t g = 0; g < list.groups.size(); ++g) {
        const Group& group = list.groups[g];
        candidates_[count] = static_cast<std::uint32_t>(g);
        count += !(group.slack(first(group), second(group)) > 4 * radius);
    }
    const auto before = std::move(list.near);
    list.near.clear();
    auto known = before.begin();
    for (std::size_t c = 0; c < count; ++c) {
        const std::size_t g = candidates_[c];
        while (known != before.end() && known->number < g) ++known;
        const bool is_known = known != before.end() && known->number == g;
        const Group& group = list.groups[g];
        if ((is_known && is_open(list, *known)) || !add_if_sure(group, radius))
            list.near.push_back(is_known ? *known : Near{g, Group::sides(first(group), second(group))});
    }
}

// Whether kinks await a decision.
template <typename Group>
bool PairModel::is_open(const GroupList<Group>& list, const typename GroupList<Group>::Near& item) const {
    const Group& group = list.groups[item.number];
    return Group::held(item.kinks) || Group::differ(item.kinks, Group::sides(first(group), second(group)));
}

// Adds a group to the sure quadratic unless it is near a border.
template <typename Group>
bool PairModel::add_if_sure(const Group& group, double radius) {
    const double a = first(group), b = second(group);
    if (group.margin(a, b, width(group)) <= 2 * radius) return false;
    if (group.slack(a, b) < 0) add(sure_, group, group.local(Group::sides(a, b), a, b, 0, 0, Mode::exact));
    return true;
}

}  // namespace coherently
