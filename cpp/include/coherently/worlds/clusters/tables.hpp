// Sums of tables of few nodes, each node with a number of states; the least of a sum by elimination.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace coherently {

using Scope = std::vector<std::int32_t>;  // nodes, ascending

// A number for each combination of states of a scope, the last node fastest. All numbers are whole, so that sums of
// them are exact as long as they stay below 2^53; infinity is what laws forbid.
struct Table {
    static constexpr double forbidden = std::numeric_limits<double>::infinity();

    Scope scope;
    std::vector<double> entries;

    double least() const;
};

constexpr double largest_whole = 4503599627370496.0;  // 2^52: sums of two such whole numbers are exact

// The sum of two whole numbers, or a number below it if that is larger than 2^52.
double sum_below(double a, double b);
// The number of combinations, as a double because it may be large.
double cells_of(std::span<const std::int32_t> scope, std::span<const std::int32_t> states);
// For each combination of `outer`, the place of those states in a table about `inner`, which is a part of it.
std::vector<std::uint32_t> places(const Scope& outer, const Scope& inner, std::span<const std::int32_t> states);
bool contains(const Scope& outer, const Scope& inner);
// The table where a node has one state, without that node; the same if it is not about it.
Table at_state(const Table& table, std::int32_t node, std::int32_t state, std::span<const std::int32_t> states);

// An order of elimination in which tables stay small, and the number of their entries; `limit` if there are more.
struct EliminationOrder {
    std::vector<std::int32_t> nodes;
    double entries = 0;
};
EliminationOrder small_order(std::span<const Scope> scopes, std::span<const std::int32_t> states, double limit);

// The least of a sum of tables, and states at which it is attained, for the nodes of the order; others are left alone.
double least_by_elimination(std::vector<Table> tables, std::span<const std::int32_t> order,
                            std::span<const std::int32_t> states, std::span<std::int32_t> best);

}  // namespace coherently
