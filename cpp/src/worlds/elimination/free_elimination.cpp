#include "coherently/worlds/elimination/free_elimination.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "coherently/functions/boolean_function.hpp"

namespace coherently {
namespace {

using Cliques = std::vector<std::vector<std::int32_t>>;

// Eliminates variables one by one, of least degree first, until those that are left are all linked. The cliques, each
// with its variable first and the others as they come, and what is left as the last one; empty where their tables would
// pass the limit.
Cliques eliminate(const EventView& events, double limit) {
    const std::size_t n = events.n_variables;
    std::vector<std::vector<std::int32_t>> near(n);
    const auto join = [](std::vector<std::int32_t>& into, std::span<const std::int32_t> more, std::int32_t without) {
        std::vector<std::int32_t> both;
        std::set_union(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(both));
        std::erase(both, without);
        into = std::move(both);
    };
    for (std::size_t j = 0; j < events.size(); ++j) {
        const auto variables = events.variables_of(j);
        if (variables.size() > max_table_variables) return {};
        for (const std::int32_t v : variables) join(near[static_cast<std::size_t>(v)], variables, v);
    }
    Cliques cliques;
    std::vector<bool> gone(n);
    double cost = 0;
    for (std::size_t step = 0; step < n; ++step) {
        std::size_t least = n;
        for (std::size_t v = 0; v < n; ++v)
            if (!gone[v] && (least == n || near[v].size() < near[least].size())) least = v;
        const auto v = static_cast<std::int32_t>(least);
        cost += std::ldexp(2.0, static_cast<int>(near[least].size()));
        if (cost > limit) return {};
        cliques.push_back({v});
        cliques.back().insert(cliques.back().end(), near[least].begin(), near[least].end());
        if (step + cliques.back().size() == n) break;
        gone[least] = true;
        for (const std::int32_t w : near[least]) {
            auto& own = near[static_cast<std::size_t>(w)];
            join(own, near[least], w);
            std::erase(own, v);
        }
    }
    return cliques;
}

// Adds the message, a function of the variables of the mask, to the table of 2^size.
void spread(double* table, std::size_t size, const double* message, std::uint32_t mask) {
    const std::size_t count = std::size_t{1} << size;
    if (mask + std::uint64_t{1} == count) {
        for (std::size_t i = 0; i < count; ++i) table[i] += message[i];
    } else if (mask == 0) {
        for (std::size_t i = 0; i < count; ++i) table[i] += *message;
    } else {
        const std::uint32_t top = std::uint32_t{1} << (size - 1), rest = mask & ~top;
        spread(table, size - 1, message, rest);
        spread(table + count / 2, size - 1, mask & top ? message + (std::size_t{1} << std::popcount(rest)) : message,
               rest);
    }
}

// From the coefficients of products of variables to values: the sum over subsets.
void sum_subsets(double* table, std::size_t size) {
    const std::size_t count = std::size_t{1} << size;
    std::size_t step = 1;
    if (size >= 2) {
        for (double* four = table; four < table + count; four += 4) {
            four[1] += four[0];
            four[3] += four[2] + four[1];
            four[2] += four[0];
        }
        step = 4;
    }
    for (; step < count; step *= 2)
        for (std::size_t block = 0; block < count; block += 2 * step)
            for (std::size_t i = block; i < block + step; ++i) table[i + step] += table[i];
}

// The coefficients of an event's products of variables.
std::vector<double> expand(std::span<const std::uint64_t> words, std::size_t size) {
    std::vector<double> values(std::size_t{1} << size);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = bit_at(words, i);
    for (std::size_t step = 1; step < values.size(); step *= 2)
        for (std::size_t i = 0; i < values.size(); ++i)
            if (i & step) values[i] -= values[i ^ step];
    return values;
}

}  // namespace

double FreeElimination::cost(const EventView& events, double limit) {
    const Cliques cliques = eliminate(events, limit);
    if (cliques.empty() && events.n_variables > 0) return std::numeric_limits<double>::infinity();
    double cost = 0;
    for (const auto& clique : cliques) cost += std::ldexp(1.0, static_cast<int>(clique.size()));
    return cost;
}

FreeElimination::FreeElimination(EventView events) : n_variables_(events.n_variables) {
    const Cliques found = eliminate(events, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> rank(n_variables_);  // of the clique that a variable goes with
    for (std::size_t i = 0; i < found.size(); ++i)
        for (const std::int32_t v : found[i])
            if (i + 1 == found.size() || v == found[i][0]) rank[static_cast<std::size_t>(v)] = i;
    std::size_t largest = 0;
    for (auto variables : found) {
        std::stable_sort(variables.begin(), variables.end(), [&](std::int32_t a, std::int32_t b) {
            return rank[static_cast<std::size_t>(a)] < rank[static_cast<std::size_t>(b)];
        });
        Clique clique;
        if (cliques_.size() + 1 < found.size()) {
            clique.message.resize(std::size_t{1} << (variables.size() - 1));
            clique.choice.resize(clique.message.size());
        }
        largest = std::max(largest, variables.size());
        clique.variables = std::move(variables);
        cliques_.push_back(std::move(clique));
    }
    table_.resize(std::size_t{1} << largest);
    assign(events, rank);
}

// Gives each event, and each message, to the clique of the first of its variables to go.
void FreeElimination::assign(const EventView& events, const std::vector<std::size_t>& rank) {
    const auto first_of = [&](std::span<const std::int32_t> variables) {
        std::size_t least = n_variables_;
        for (const std::int32_t v : variables) least = std::min(least, rank[static_cast<std::size_t>(v)]);
        return least;
    };
    const auto place = [&](const Clique& clique, std::int32_t v) {
        return std::uint32_t{1} << (std::find(clique.variables.begin(), clique.variables.end(), v) -
                                    clique.variables.begin());
    };
    for (std::size_t j = 0; j < events.size(); ++j) {
        const auto variables = events.variables_of(j);
        if (variables.empty()) continue;
        Clique& clique = cliques_[first_of(variables)];
        const auto factors = expand(events.words_of(j), variables.size());
        for (std::size_t i = 0; i < factors.size(); ++i) {
            if (factors[i] == 0) continue;
            std::uint32_t row = 0;
            for (std::size_t k = 0; k < variables.size(); ++k)
                if (i >> k & 1) row |= place(clique, variables[k]);
            clique.monomials.push_back({static_cast<std::uint32_t>(j), row, factors[i]});
        }
    }
    for (std::size_t c = 0; c + 1 < cliques_.size(); ++c) {
        const auto rest = std::span<const std::int32_t>(cliques_[c].variables).subspan(1);
        if (rest.empty()) continue;
        Clique& parent = cliques_[first_of(rest)];
        std::uint32_t mask = 0;
        for (const std::int32_t v : rest) mask |= place(parent, v);
        parent.inputs.emplace_back(c, mask);
    }
}

void FreeElimination::gather(std::size_t c, std::span<const double> coefficients) {
    const Clique& clique = cliques_[c];
    const std::size_t size = clique.variables.size();
    std::fill_n(table_.begin(), std::size_t{1} << size, 0.0);
    for (const Monomial& monomial : clique.monomials)
        table_[monomial.row] += monomial.factor * coefficients[monomial.event];
    sum_subsets(table_.data(), size);
    for (const auto& [child, mask] : clique.inputs) spread(table_.data(), size, cliques_[child].message.data(), mask);
}

World FreeElimination::minimise(std::span<const double> coefficients) {
    World world(n_variables_);
    if (cliques_.empty()) return world;
    const std::size_t last = cliques_.size() - 1;
    for (std::size_t c = 0; c < last; ++c) {
        gather(c, coefficients);
        Clique& clique = cliques_[c];
        for (std::size_t i = 0; i < clique.message.size(); ++i) {
            clique.choice[i] = table_[2 * i + 1] < table_[2 * i];
            clique.message[i] = std::min(table_[2 * i], table_[2 * i + 1]);
        }
    }
    gather(last, coefficients);
    const auto end = table_.begin() + (std::ptrdiff_t{1} << cliques_[last].variables.size());
    trace(static_cast<std::size_t>(std::min_element(table_.begin(), end) - table_.begin()), world);
    return world;
}

// The world of an entry of the last table.
void FreeElimination::trace(std::size_t row, World& world) const {
    const Clique& end = cliques_.back();
    for (std::size_t k = 0; k < end.variables.size(); ++k)
        world[static_cast<std::size_t>(end.variables[k])] = row >> k & 1;
    for (std::size_t c = cliques_.size() - 1; c-- > 0;) {
        const Clique& clique = cliques_[c];
        row = 0;
        for (std::size_t k = 1; k < clique.variables.size(); ++k)
            row |= std::size_t{world[static_cast<std::size_t>(clique.variables[k])]} << (k - 1);
        world[static_cast<std::size_t>(clique.variables[0])] = clique.choice[row];
    }
}

}  // namespace coherently
