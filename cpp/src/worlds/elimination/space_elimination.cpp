#include "coherently/worlds/elimination/space_elimination.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace coherently {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double most_entries = 1 << 26;  // maximum number of entries of the truth of all events

using Scopes = std::vector<std::vector<std::int32_t>>;

double joint(const Nodes& nodes, std::span<const std::int32_t> some) {
    double size = 1;
    for (const std::int32_t node : some) size *= static_cast<double>(nodes.states(static_cast<std::size_t>(node)));
    return size;
}

// The distinct sets of nodes that events and laws are about; empty where they have too many entries.
Scopes scopes_of(const EventView& events, const Space& space, const Nodes& nodes, double limit) {
    Scopes scopes;
    double entries = 0;
    for (const EventView& view : {events, space.laws()}) {
        for (std::size_t j = 0; j < view.size(); ++j) {
            scopes.push_back(nodes.touched(view.variables_of(j)));
            const double size = joint(nodes, scopes.back());
            entries += size;
            if (size > limit || entries > most_entries) return {};
        }
    }
    std::sort(scopes.begin(), scopes.end());
    scopes.erase(std::unique(scopes.begin(), scopes.end()), scopes.end());
    if (scopes.empty()) scopes.emplace_back();
    return scopes;
}

// Eliminates nodes one by one, that of the smallest table first. The cliques, each with its node first and the others
// as they come; empty where their tables would pass the limit.
Scopes eliminate(const Scopes& scopes, const Nodes& nodes, double limit) {
    const std::size_t n = nodes.size();
    std::vector<std::vector<std::int32_t>> near(n);
    const auto join = [](std::vector<std::int32_t>& into, std::span<const std::int32_t> more, std::int32_t without) {
        std::vector<std::int32_t> both;
        std::set_union(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(both));
        std::erase(both, without);
        into = std::move(both);
    };
    for (const auto& scope : scopes)
        for (const std::int32_t node : scope) join(near[static_cast<std::size_t>(node)], scope, node);
    const auto table = [&](std::size_t v) { return static_cast<double>(nodes.states(v)) * joint(nodes, near[v]); };
    std::vector<double> size(n);
    for (std::size_t v = 0; v < n; ++v) size[v] = table(v);
    Scopes cliques;
    double cost = 0;
    for (std::size_t step = 0; step < n; ++step) {
        const auto least = static_cast<std::size_t>(std::min_element(size.begin(), size.end()) - size.begin());
        cost += size[least];
        if (!(cost <= limit)) return {};
        const auto v = static_cast<std::int32_t>(least);
        for (const std::int32_t w : near[least]) {
            auto& own = near[static_cast<std::size_t>(w)];
            join(own, near[least], w);
            std::erase(own, v);
            size[static_cast<std::size_t>(w)] = table(static_cast<std::size_t>(w));
        }
        size[least] = infinity;
        cliques.push_back({v});
        cliques.back().insert(cliques.back().end(), near[least].begin(), near[least].end());
    }
    return cliques;
}

// Adds a table to another, through which it goes by its strides.
void spread(double* table, const double* data, const std::size_t* sizes, const std::size_t* strides, std::size_t depth,
            std::size_t step) {
    if (depth == 0) {
        table[0] += data[0];
    } else if (depth == 1) {
        for (std::size_t i = 0; i < sizes[0]; ++i) table[i] += data[i * strides[0]];
    } else {
        const std::size_t top = depth - 1, inner = step / sizes[top];
        for (std::size_t i = 0; i < sizes[top]; ++i)
            spread(table + i * inner, data + i * strides[top], sizes, strides, top, inner);
    }
}

}  // namespace

double SpaceElimination::cost(const EventView& events, const Space& space, double limit) {
    const Nodes nodes(space);
    const Scopes scopes = scopes_of(events, space, nodes, limit);
    const Scopes cliques = scopes.empty() ? Scopes{} : eliminate(scopes, nodes, limit);
    if (cliques.size() < nodes.size()) return infinity;
    double cost = 0;
    for (const auto& clique : cliques) cost += joint(nodes, clique);
    return cost;
}

SpaceElimination::SpaceElimination(const EventView& events, const Space& space)
    : nodes_(space), n_variables_(events.n_variables) {
    const Scopes found = scopes_of(events, space, nodes_, infinity);
    std::map<std::vector<std::int32_t>, std::size_t> number;
    for (const auto& scope : found) {
        number.emplace(scope, scopes_.size());
        Scope own{scope, static_cast<std::size_t>(joint(nodes_, scope)), 1, {}, {}};
        std::stable_sort(own.nodes.begin(), own.nodes.end(), [&](std::int32_t a, std::int32_t b) {
            return nodes_.states(static_cast<std::size_t>(a)) > nodes_.states(static_cast<std::size_t>(b));
        });
        if (!scope.empty()) own.run = nodes_.states(static_cast<std::size_t>(own.nodes[0]));
        scopes_.push_back(std::move(own));
    }
    for (std::size_t j = 0; j < events.size(); ++j)
        fill_scope(function_of(events, j), scopes_[number[nodes_.touched(events.variables_of(j))]], -1);
    const EventView laws = space.laws();
    for (std::size_t i = 0; i < laws.size(); ++i)
        fill_scope(function_of(laws, i), scopes_[number[nodes_.touched(laws.variables_of(i))]], space.truth(i));

    const Scopes cliques = eliminate(found, nodes_, infinity);
    std::vector<std::size_t> rank(nodes_.size());
    for (std::size_t i = 0; i < cliques.size(); ++i) rank[static_cast<std::size_t>(cliques[i][0])] = i;
    std::size_t largest = 1;
    for (auto nodes : cliques) {
        std::sort(nodes.begin(), nodes.end(), [&](std::int32_t a, std::int32_t b) {
            return rank[static_cast<std::size_t>(a)] < rank[static_cast<std::size_t>(b)];
        });
        Clique clique{nodes, static_cast<std::size_t>(joint(nodes_, nodes)), {}, {}, {}};
        clique.message.resize(clique.size / nodes_.states(static_cast<std::size_t>(nodes[0])));
        clique.choice.resize(clique.message.size());
        largest = std::max(largest, clique.size);
        cliques_.push_back(std::move(clique));
    }
    table_.resize(largest);
    place_scopes(rank);
}

// The truth of an event (truth -1), or where a law does not have its truth, along the entries of its scope.
void SpaceElimination::fill_scope(const LargeEvent& function, Scope& scope, int truth) const {
    // What the variables of each node add to the row, by the node's state.
    std::vector<std::vector<std::uint32_t>> parts(scope.nodes.size());
    for (std::size_t k = 0; k < parts.size(); ++k)
        parts[k].resize(nodes_.states(static_cast<std::size_t>(scope.nodes[k])));
    for (std::size_t i = 0; i < function.variables.size(); ++i) {
        const std::int32_t v = function.variables[i];
        auto& own = parts[static_cast<std::size_t>(std::find(scope.nodes.begin(), scope.nodes.end(), nodes_.of(v)) -
                                                   scope.nodes.begin())];
        for (std::size_t s = 0; s < own.size(); ++s) own[s] += function.part(i, nodes_.value(v, s));
    }
    std::vector<std::size_t> state(parts.size());
    bool before = false;
    for (std::size_t place = 0; place < scope.size; ++place) {
        std::uint32_t row = 0;
        for (std::size_t k = 0; k < parts.size(); ++k) row += parts[k][state[k]];
        const bool holds = !parts.empty() && function.holds(row);
        if (truth < 0) {
            if (place % scope.run == 0) before = false;
            if (holds != before)
                scope.steps.push_back({static_cast<std::uint32_t>(function.event), static_cast<std::uint32_t>(place),
                                       holds ? 1.0 : -1.0});
            before = holds;
        } else if (holds != (truth == 1)) {
            scope.forbidden.push_back(static_cast<std::uint32_t>(place));
        }
        for (std::size_t k = 0;
             k < state.size() && ++state[k] == nodes_.states(static_cast<std::size_t>(scope.nodes[k])); ++k)
            state[k] = 0;
    }
}

// Gives each scope, and each message, to the clique of the first of its nodes to go.
void SpaceElimination::place_scopes(const std::vector<std::size_t>& rank) {
    const auto home = [&](std::span<const std::int32_t> nodes) -> Clique& {
        std::size_t least = rank.size() - 1;
        for (const std::int32_t node : nodes) least = std::min(least, rank[static_cast<std::size_t>(node)]);
        return cliques_[least];
    };
    if (cliques_.empty()) return;
    for (std::size_t s = 0; s < scopes_.size(); ++s) {
        Clique& clique = home(scopes_[s].nodes);
        clique.inputs.push_back(input(false, s, scopes_[s].nodes, clique));
    }
    for (std::size_t c = 0; c < cliques_.size(); ++c) {
        const auto rest = std::span<const std::int32_t>(cliques_[c].nodes).subspan(1);
        if (rest.empty()) continue;
        Clique& parent = home(rest);
        parent.inputs.push_back(input(true, c, rest, parent));
    }
}

SpaceElimination::Input SpaceElimination::input(bool message, std::size_t from, std::span<const std::int32_t> nodes,
                                                const Clique& clique) const {
    Input input{message, from, {}, {}};
    for (const std::int32_t node : clique.nodes) {
        std::size_t stride = 1, k = 0;
        while (k < nodes.size() && nodes[k] != node) stride *= nodes_.states(static_cast<std::size_t>(nodes[k++]));
        if (k == nodes.size()) stride = 0;
        const std::size_t states = nodes_.states(static_cast<std::size_t>(node));
        if (!input.sizes.empty() && stride == input.strides.back() * input.sizes.back()) input.sizes.back() *= states;
        else input.sizes.push_back(states), input.strides.push_back(stride);
    }
    return input;
}

void SpaceElimination::evaluate(const Scope& scope, std::span<const double> coefficients) {
    scratch_.assign(scope.size, 0.0);
    for (const Step& step : scope.steps) scratch_[step.place] += step.sign * coefficients[step.event];
    for (std::size_t begin = 0; begin < scope.size; begin += scope.run)
        for (std::size_t i = begin + 1; i < begin + scope.run; ++i) scratch_[i] += scratch_[i - 1];
    for (const std::uint32_t place : scope.forbidden) scratch_[place] = infinity;
}

void SpaceElimination::gather(const Clique& clique, std::span<const double> coefficients) {
    std::fill_n(table_.begin(), clique.size, 0.0);
    for (const Input& input : clique.inputs) {
        if (!input.message) evaluate(scopes_[input.from], coefficients);
        const double* data = input.message ? cliques_[input.from].message.data() : scratch_.data();
        spread(table_.data(), data, input.sizes.data(), input.strides.data(), input.sizes.size(), clique.size);
    }
}

World SpaceElimination::minimise(std::span<const double> coefficients) {
    apart_ = 0;
    for (Clique& clique : cliques_) {
        gather(clique, coefficients);
        const std::size_t states = clique.size / clique.message.size();
        for (std::size_t i = 0; i < clique.message.size(); ++i) {
            const double* row = table_.data() + i * states;
            const double* least = std::min_element(row, row + states);
            clique.message[i] = *least;
            clique.choice[i] = static_cast<std::int32_t>(least - row);
        }
        if (clique.nodes.size() > 1) continue;
        if (clique.message[0] == infinity) throw Contradiction();
        if (&clique != &cliques_.back()) apart_ += clique.message[0];
    }
    return trace(cliques_.empty() ? 0 : static_cast<std::size_t>(cliques_.back().choice[0]));
}

// The best world in which the last block has a given state.
World SpaceElimination::trace(std::size_t last) const {
    World world(n_variables_);
    std::vector<std::size_t> state(nodes_.size());
    for (std::size_t c = cliques_.size(); c-- > 0;) {
        const Clique& clique = cliques_[c];
        std::size_t row = 0;
        for (std::size_t k = clique.nodes.size(); k-- > 1;) {
            const auto node = static_cast<std::size_t>(clique.nodes[k]);
            row = row * nodes_.states(node) + state[node];
        }
        const auto node = static_cast<std::size_t>(clique.nodes[0]);
        state[node] = c + 1 == cliques_.size() ? last : static_cast<std::size_t>(clique.choice[row]);
        nodes_.put(node, state[node], world);
    }
    return world;
}

std::vector<World> SpaceElimination::others(double level, std::size_t most) const {
    std::vector<World> worlds;
    if (cliques_.empty()) return worlds;
    std::vector<std::pair<double, std::size_t>> ends;
    for (std::size_t s = 0; s < cliques_.back().size; ++s)
        if (static_cast<std::int32_t>(s) != cliques_.back().choice[0] && table_[s] + apart_ < level)
            ends.emplace_back(table_[s], s);
    const std::size_t count = std::min(most, ends.size());
    std::partial_sort(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(count), ends.end());
    for (std::size_t i = 0; i < count; ++i) worlds.push_back(trace(ends[i].second));
    return worlds;
}

}  // namespace coherently
