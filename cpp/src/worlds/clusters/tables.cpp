#include "coherently/worlds/clusters/tables.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace coherently {
namespace {

constexpr double widest = 0x1p48;  // beyond it, an order does without the links that elimination would add

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

Scope without(Scope scope, std::int32_t node) {
    std::erase(scope, node);
    return scope;
}

Scope joined(const Scope& one, const Scope& other) {
    Scope both;
    std::set_union(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(both));
    return both;
}

}  // namespace

double Table::least() const { return entries.empty() ? forbidden : *std::min_element(entries.begin(), entries.end()); }

double cells_of(std::span<const std::int32_t> scope, std::span<const std::int32_t> states) {
    double cells = 1;
    for (const std::int32_t node : scope) cells *= states[at(node)];
    return cells;
}

std::vector<std::uint32_t> places(const Scope& outer, const Scope& inner, std::span<const std::int32_t> states) {
    std::vector<std::uint32_t> step(outer.size());
    std::uint32_t stride = 1;
    for (std::size_t k = inner.size(), i = outer.size(); k-- > 0;) {
        while (outer[--i] != inner[k]) {
        }
        step[i] = stride;
        stride *= static_cast<std::uint32_t>(states[at(inner[k])]);
    }
    std::vector<std::uint32_t> found{0}, next;
    for (std::size_t i = 0; i < outer.size(); ++i) {
        next.clear();
        for (const std::uint32_t place : found)
            for (std::int32_t s = 0; s < states[at(outer[i])]; ++s)
                next.push_back(place + step[i] * static_cast<std::uint32_t>(s));
        found.swap(next);
    }
    return found;
}

double sum_below(double a, double b) {
    const double sum = a + b;
    // Only sums of this size are rounded; the next smaller number is below what was lost.
    return std::abs(sum) > largest_whole && sum < Table::forbidden ? std::nextafter(sum, -Table::forbidden) : sum;
}

bool contains(const Scope& outer, const Scope& inner) {
    return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

Table at_state(const Table& table, std::int32_t node, std::int32_t state, std::span<const std::int32_t> states) {
    const auto found = std::lower_bound(table.scope.begin(), table.scope.end(), node);
    if (found == table.scope.end() || *found != node) return table;
    std::size_t inner = 1;
    for (auto other = found + 1; other != table.scope.end(); ++other) inner *= at(states[at(*other)]);
    const std::size_t block = inner * at(states[at(node)]);
    Table left{without(table.scope, node), {}};
    left.entries.reserve(table.entries.size() / at(states[at(node)]));
    for (std::size_t from = inner * at(state); from < table.entries.size(); from += block) {
        const auto row = table.entries.begin() + static_cast<std::ptrdiff_t>(from);
        left.entries.insert(left.entries.end(), row, row + static_cast<std::ptrdiff_t>(inner));
    }
    return left;
}

EliminationOrder small_order(std::span<const Scope> scopes, std::span<const std::int32_t> states, double limit) {
    std::vector<Scope> near(states.size());
    for (const Scope& scope : scopes)
        for (const std::int32_t node : scope) near[at(node)] = joined(near[at(node)], scope);
    std::vector<double> size(states.size(), Table::forbidden);
    for (std::size_t v = 0; v < states.size(); ++v)
        if (!near[v].empty()) size[v] = cells_of(near[v], states);
    EliminationOrder order;
    while (true) {
        const auto least = std::min_element(size.begin(), size.end());
        if (least == size.end() || *least == Table::forbidden) return order;
        order.entries += *least;
        if (order.entries > limit) return {{}, limit};
        const auto v = static_cast<std::int32_t>(least - size.begin());
        order.nodes.push_back(v);
        const bool is_wide = *least > widest;  // tables are not to be made of such an order
        *least = Table::forbidden;
        for (const std::int32_t other : near[at(v)]) {
            if (other == v) continue;
            near[at(other)] = without(is_wide ? near[at(other)] : joined(near[at(other)], near[at(v)]), v);
            size[at(other)] = cells_of(near[at(other)], states);
        }
    }
}

double least_by_elimination(std::vector<Table> tables, std::span<const std::int32_t> order,
                            std::span<const std::int32_t> states, std::span<std::int32_t> best) {
    struct Eliminated {
        std::int32_t node;
        Scope rest;
        std::vector<std::int32_t> choice;
    };
    std::vector<Eliminated> eliminated;
    std::vector<Table> touched, others;
    for (const std::int32_t node : order) {
        touched.clear(), others.clear();
        Scope all;
        for (Table& table : tables) {
            const bool about = std::binary_search(table.scope.begin(), table.scope.end(), node);
            if (about) all = joined(all, table.scope);
            (about ? touched : others).push_back(std::move(table));
        }
        Eliminated step{node, without(all, node), {}};
        Table least{step.rest,
                    std::vector<double>(static_cast<std::size_t>(cells_of(step.rest, states)), Table::forbidden)};
        step.choice.assign(least.entries.size(), 0);
        for (std::int32_t state = 0; state < states[at(node)]; ++state) {
            std::vector<double> total(least.entries.size());
            for (const Table& table : touched) {
                const Table slice = at_state(table, node, state, states);
                const auto place = places(step.rest, slice.scope, states);
                for (std::size_t i = 0; i < total.size(); ++i) total[i] += slice.entries[place[i]];
            }
            for (std::size_t i = 0; i < total.size(); ++i)
                if (total[i] < least.entries[i]) least.entries[i] = total[i], step.choice[i] = state;
        }
        eliminated.push_back(std::move(step));
        others.push_back(std::move(least));
        tables.swap(others);
    }
    std::reverse(eliminated.begin(), eliminated.end());
    for (const Eliminated& step : eliminated) {
        std::size_t place = 0;
        for (const std::int32_t other : step.rest) place = place * at(states[at(other)]) + at(best[at(other)]);
        best[at(step.node)] = step.choice[place];
    }
    double sum = 0;
    for (const Table& table : tables) sum += table.least();
    return sum;
}

}  // namespace coherently
