#include "coherently/worlds/elimination/counted_elimination.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace coherently {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Worlds of neighbouring numbers differ little: of more than two at a time a mixture drops most again.
constexpr std::size_t most_others = 1;

// Goes through the values of counters, the first fastest; false after the last.
bool advance(std::vector<std::size_t>& values, const std::vector<Counter>& counters) {
    for (std::size_t k = 0; k < values.size(); ++k) {
        if (++values[k] < counters[k].size) return true;
        values[k] = 0;
    }
    return false;
}

// The index of counters at given numbers of true literals by set; beyond its size a counter does not tell them apart.
std::size_t index_of(const std::vector<Counter>& counters, const std::vector<std::size_t>& by_set) {
    std::size_t index = 0;
    for (std::size_t k = counters.size(); k-- > 0;)
        index = index * counters[k].size + std::min(by_set[counters[k].sets[0]], counters[k].size - 1);
    return index;
}

// Writes the values of counters to the sets that they count for.
void spread(const std::vector<Counter>& counters, const std::vector<std::size_t>& values,
            std::vector<std::size_t>& by_set) {
    for (std::size_t k = 0; k < counters.size(); ++k)
        for (const std::size_t set : counters[k].sets) by_set[set] += values[k];
}

}  // namespace

std::unique_ptr<CountedElimination> CountedElimination::make(const EventView& events, const Space* space,
                                                             double limit) {
    std::shared_ptr<const Space> own(space, [](const Space*) {});
    if (!space)
        own = std::make_shared<const Space>(events.n_variables, std::vector<Block>{}, Functions{},
                                            std::vector<std::uint8_t>{});
    auto plan = std::make_unique<CountPlan>(events, *own, limit, false);
    if (!plan->has_sets()) return nullptr;
    auto turned = std::make_unique<CountPlan>(events, *own, std::min(limit, plan->cost()), true);
    if (turned->cost() < plan->cost()) plan = std::move(turned);
    if (!(plan->cost() <= limit)) return nullptr;
    return std::unique_ptr<CountedElimination>(new CountedElimination(events, std::move(own), std::move(plan)));
}

CountedElimination::CountedElimination(const EventView& events, std::shared_ptr<const Space> space,
                                       std::unique_ptr<CountPlan> plan)
    : space_(std::move(space)),
      plan_(std::move(plan)),
      n_variables_(events.n_variables),
      scopes_(plan_->scopes().size()),
      tables_(plan_->operations().size()),
      prices_(plan_->sets().size()),
      singles_(n_variables_),
      sorted_(plan_->classes().size()) {
    const EventView laws = space_->laws();
    for (const bool is_law : {false, true}) {
        const EventView& view = is_law ? laws : events;
        for (std::size_t j = 0; j < view.size(); ++j) {
            const auto variables = view.variables_of(j);
            if (plan_->is_in_scope(is_law, j)) {
                const auto nodes = plan_->nodes().touched(variables);
                const auto& all = plan_->scopes();
                const auto at = std::lower_bound(all.begin(), all.end(), nodes) - all.begin();
                fill_scope(function_of(view, j), static_cast<std::size_t>(at), is_law ? space_->truth(j) : -1);
            } else if (variables.size() == 1) {
                singles_[static_cast<std::size_t>(variables[0])].push_back(static_cast<std::uint32_t>(j));
            }
        }
    }
    for (std::size_t i = 0; i < tables_.size(); ++i) prepare(i);
}

// Where an event (truth -1) holds, or where a law does not have its truth, along the entries of its scope.
void CountedElimination::fill_scope(const LargeEvent& function, std::size_t scope, int truth) {
    const Nodes& nodes = plan_->nodes();
    const auto& own = plan_->scopes()[scope];
    std::vector<std::uint32_t> places;
    std::vector<std::size_t> state(own.size());
    std::size_t size = 1;
    for (const std::int32_t node : own) size *= nodes.states(static_cast<std::size_t>(node));
    for (std::size_t place = 0; place < size; ++place) {
        std::uint32_t row = 0;
        for (std::size_t i = 0; i < function.variables.size(); ++i) {
            const std::int32_t v = function.variables[i];
            const auto k = static_cast<std::size_t>(std::lower_bound(own.begin(), own.end(), nodes.of(v)) - own.begin());
            row += function.part(i, nodes.value(v, state[k]));
        }
        const bool holds = !function.variables.empty() && function.holds(row);
        if (truth < 0 ? holds : holds != (truth == 1)) places.push_back(static_cast<std::uint32_t>(place));
        for (std::size_t k = 0; k < state.size() && ++state[k] == nodes.states(static_cast<std::size_t>(own[k])); ++k)
            state[k] = 0;
    }
    Scope& into = scopes_[scope];
    if (truth < 0) into.events.push_back({static_cast<std::uint32_t>(function.event), std::move(places)});
    else into.forbidden.insert(into.forbidden.end(), places.begin(), places.end());
}

// For each joint state of the nodes of a shape, that of the nodes of a source; nodes that are not in both are in state 0.
void CountedElimination::index_nodes(const CountShape& shape, const CountShape& source,
                                     std::vector<std::uint32_t>& places) const {
    const Nodes& nodes = plan_->nodes();
    std::vector<std::size_t> stride(shape.nodes.size()), state(shape.nodes.size());
    for (std::size_t k = 0; k < stride.size(); ++k) {
        std::size_t step = 1, i = 0;
        while (i < source.nodes.size() && source.nodes[i] != shape.nodes[k])
            step *= nodes.states(static_cast<std::size_t>(source.nodes[i++]));
        stride[k] = i < source.nodes.size() ? step : 0;
    }
    places.resize(static_cast<std::size_t>(shape.node_states));
    for (std::uint32_t& place : places) {
        std::size_t sum = 0;
        for (std::size_t k = 0; k < state.size(); ++k) sum += stride[k] * state[k];
        place = static_cast<std::uint32_t>(sum);
        for (std::size_t k = 0;
             k < state.size() && ++state[k] == nodes.states(static_cast<std::size_t>(shape.nodes[k])); ++k)
            state[k] = 0;
    }
}

void CountedElimination::prepare(std::size_t i) {
    const CountOperation& operation = plan_->operations()[i];
    Table& table = tables_[i];
    table.nodes = static_cast<std::size_t>(operation.shape.node_states);
    table.counters = static_cast<std::size_t>(operation.shape.counter_states);
    table.values.resize(table.nodes * table.counters);
    if (operation.kind == CountStep::group) prepare_group(operation, table);
    else if (operation.kind == CountStep::join) prepare_join(operation, table);
    else if (operation.kind != CountStep::scope) prepare_rest(operation, table);
}

void CountedElimination::prepare_group(const CountOperation& operation, Table& table) const {
    const VariableClass& own = plan_->classes()[operation.first];
    const std::size_t size = own.literals.size();
    std::vector<std::size_t> by_set(plan_->sets().size());
    for (std::size_t k = 0; k <= size; ++k) {
        for (std::size_t s = 0; s < own.sets.size(); ++s) by_set[own.sets[s]] = own.against[s] ? size - k : k;
        table.to.push_back(static_cast<std::uint32_t>(index_of(operation.shape.counters, by_set)));
    }
}

void CountedElimination::prepare_join(const CountOperation& operation, Table& table) const {
    const CountShape& a = plan_->operations()[operation.first].shape;
    const CountShape& b = plan_->operations()[operation.second].shape;
    index_nodes(operation.shape, a, table.first);
    index_nodes(operation.shape, b, table.second);
    table.from = static_cast<std::size_t>(a.counter_states), table.other = static_cast<std::size_t>(b.counter_states);
    std::vector<std::size_t> x(a.counters.size()), y(b.counters.size()), by_set(plan_->sets().size());
    do {
        std::uint32_t run = 0;
        const std::size_t begin = table.to.size();
        do {
            std::fill(by_set.begin(), by_set.end(), std::size_t{0});
            spread(a.counters, x, by_set);
            spread(b.counters, y, by_set);
            table.to.push_back(static_cast<std::uint32_t>(index_of(operation.shape.counters, by_set)));
            if (begin + run + 1 == table.to.size() && table.to.back() == table.to[begin] + run) ++run;
        } while (advance(y, b.counters));
        table.run.push_back(run);
    } while (advance(x, a.counters));
}

// A node that goes, or a set that is closed.
void CountedElimination::prepare_rest(const CountOperation& operation, Table& table) const {
    const CountShape& source = plan_->operations()[operation.first].shape;
    const bool is_node = operation.kind == CountStep::remove;
    index_nodes(operation.shape, source, table.first);
    table.from = static_cast<std::size_t>(source.counter_states);
    if (is_node) {
        table.states = plan_->nodes().states(operation.what), table.stride = 1;
        for (std::size_t k = 0; source.nodes[k] != static_cast<std::int32_t>(operation.what); ++k)
            table.stride *= plan_->nodes().states(static_cast<std::size_t>(source.nodes[k]));
    }
    std::vector<std::size_t> x(source.counters.size()), by_set(plan_->sets().size());
    for (std::size_t state = 0; state < table.states; ++state) {
        do {
            std::fill(by_set.begin(), by_set.end(), std::size_t{0});
            spread(source.counters, x, by_set);
            if (is_node)
                for (std::size_t s = 0; s < by_set.size(); ++s) by_set[s] += plan_->count(s, operation.what, state);
            else table.number.push_back(static_cast<std::uint32_t>(by_set[operation.what]));
            table.to.push_back(static_cast<std::uint32_t>(index_of(operation.shape.counters, by_set)));
        } while (advance(x, source.counters));
    }
}

// The sum of what a set's events cost at each number of true literals; infinite where a law forbids it.
void CountedElimination::price(std::span<const double> coefficients) {
    for (std::size_t s = 0; s < prices_.size(); ++s) {
        const CountedSet& set = plan_->sets()[s];
        prices_[s].assign(set.literals.size() + 1, 0.0);
        for (const CountedPart& part : set.parts)
            for (std::size_t k = 0; k < part.holds.size(); ++k) {
                if (part.is_law && (part.holds[k] != 0) != part.truth) prices_[s][k] = infinity;
                if (!part.is_law && part.holds[k]) prices_[s][k] += coefficients[part.function];
            }
    }
}

// The least sum for each number of true literals of a class: that of the cheapest ones.
void CountedElimination::sort_class(std::size_t number, Table& table, std::span<const double> coefficients) {
    std::vector<std::pair<double, std::int32_t>> gains;
    double sum = 0;
    for (const std::int32_t literal : plan_->classes()[number].literals) {
        double cost = 0;  // of the variable if it is true; a turned literal holds where that is saved
        for (const std::uint32_t event : singles_[static_cast<std::size_t>(variable_of(literal))])
            cost += coefficients[event];
        const bool is_turned = !is_true(literal, true);
        if (is_turned) sum += cost;
        gains.emplace_back(is_turned ? -cost : cost, literal);
    }
    std::sort(gains.begin(), gains.end());
    Sorted& sorted = sorted_[number];
    sorted = {{}, {sum}};
    for (const auto& [gain, literal] : gains) {
        sorted.literals.push_back(literal);
        sorted.sums.push_back(sum += gain);
    }
    std::fill(table.values.begin(), table.values.end(), infinity);
    for (std::size_t k = 0; k < sorted.sums.size(); ++k) {
        double& least = table.values[table.to[k]];
        least = std::min(least, sorted.sums[k]);
    }
}

// For each sum of counters the least of all pairs: along a run, the next entry of the second leads to the next here.
void CountedElimination::join(const CountOperation& operation, Table& table) const {
    std::fill(table.values.begin(), table.values.end(), infinity);
    const double *first = tables_[operation.first].values.data(), *second = tables_[operation.second].values.data();
    for (std::size_t node = 0; node < table.nodes; ++node) {
        const double* a = first + table.first[node] * table.from;
        const double* b = second + table.second[node] * table.other;
        double* into = table.values.data() + node * table.counters;
        for (std::size_t i = 0; i < table.from; ++i) {
            const double own = a[i];
            if (own == infinity) continue;
            const std::uint32_t* to = table.to.data() + i * table.other;
            const std::size_t run = table.run[i];
            double* along = into + to[0];
            for (std::size_t j = 0; j < run; ++j) along[j] = std::min(along[j], own + b[j]);
            for (std::size_t j = run; j < table.other; ++j) into[to[j]] = std::min(into[to[j]], own + b[j]);
        }
    }
}

double CountedElimination::priced(const CountOperation& operation, const Table& table, std::size_t counters) const {
    return operation.kind == CountStep::close ? prices_[operation.what][table.number[counters]] : 0.0;
}

void CountedElimination::reduce(const CountOperation& operation, Table& table) const {
    std::fill(table.values.begin(), table.values.end(), infinity);
    const double* source = tables_[operation.first].values.data();
    for (std::size_t node = 0; node < table.nodes; ++node) {
        double* into = table.values.data() + node * table.counters;
        for (std::size_t state = 0; state < table.states; ++state) {
            const double* own = source + (table.first[node] + state * table.stride) * table.from;
            const std::uint32_t* to = table.to.data() + state * table.from;
            for (std::size_t c = 0; c < table.from; ++c)
                into[to[c]] = std::min(into[to[c]], own[c] + priced(operation, table, c));
        }
    }
}

void CountedElimination::fill(std::size_t i, std::span<const double> coefficients) {
    const CountOperation& operation = plan_->operations()[i];
    Table& table = tables_[i];
    if (operation.kind == CountStep::group) return sort_class(operation.first, table, coefficients);
    if (operation.kind == CountStep::join) return join(operation, table);
    if (operation.kind != CountStep::scope) return reduce(operation, table);
    std::fill(table.values.begin(), table.values.end(), 0.0);
    for (const Truth& truth : scopes_[operation.first].events)
        for (const std::uint32_t place : truth.places) table.values[place] += coefficients[truth.event];
    for (const std::uint32_t place : scopes_[operation.first].forbidden) table.values[place] = infinity;
}

World CountedElimination::minimise(std::span<const double> coefficients) {
    price(coefficients);
    for (std::size_t i = 0; i < tables_.size(); ++i) fill(i, coefficients);
    apart_ = 0;
    for (const std::size_t i : plan_->ends()) {
        if (tables_[i].values[0] == infinity) throw Contradiction();
        if (i + 1 < tables_.size()) apart_ += tables_[i].values[0];
    }
    return trace(source(tables_.size() - 1, 0));
}

// The entry of the source from which an entry of a table comes.
std::size_t CountedElimination::source(std::size_t i, std::size_t entry) const {
    const CountOperation& operation = plan_->operations()[i];
    const Table& table = tables_[i];
    const std::size_t node = entry / table.counters, counters = entry % table.counters;
    std::size_t best = 0;
    double least = infinity;
    for (std::size_t state = 0; state < table.states; ++state) {
        const std::size_t begin = (table.first[node] + state * table.stride) * table.from;
        for (std::size_t c = 0; c < table.from; ++c) {
            if (table.to[state * table.from + c] != counters) continue;
            const double value = tables_[operation.first].values[begin + c] + priced(operation, table, c);
            if (value < least) least = value, best = begin + c;
        }
    }
    return best;
}

// The entries of the two sources from which an entry of their sum comes.
std::pair<std::size_t, std::size_t> CountedElimination::sources(std::size_t i, std::size_t entry) const {
    const CountOperation& operation = plan_->operations()[i];
    const Table& table = tables_[i];
    const std::size_t node = entry / table.counters, counters = entry % table.counters;
    const std::size_t a = table.first[node] * table.from, b = table.second[node] * table.other;
    std::pair<std::size_t, std::size_t> best;
    double least = infinity;
    const auto look = [&](std::size_t x, std::size_t y) {
        const double value = tables_[operation.first].values[a + x] + tables_[operation.second].values[b + y];
        if (value < least) least = value, best = {a + x, b + y};
    };
    for (std::size_t x = 0; x < table.from; ++x) {
        const std::uint32_t* to = table.to.data() + x * table.other;
        const std::size_t run = table.run[x];
        if (to[0] <= counters && counters - to[0] < run) look(x, counters - to[0]);
        for (std::size_t y = run; y < table.other; ++y)
            if (to[y] == counters) look(x, y);
    }
    return best;
}

// The best world at an entry of the source of the last table.
World CountedElimination::trace(std::size_t last) const {
    World world(n_variables_);
    std::vector<std::size_t> entry(tables_.size());
    for (std::size_t i = tables_.size(); i-- > 0;) {
        const CountOperation& operation = plan_->operations()[i];
        const Table& table = tables_[i];
        if (operation.kind == CountStep::join) {
            std::tie(entry[operation.first], entry[operation.second]) = sources(i, entry[i]);
        } else if (operation.kind == CountStep::group) {
            const Sorted& sorted = sorted_[operation.first];
            std::size_t best = sorted.sums.size();
            for (std::size_t k = 0; k < sorted.sums.size(); ++k)
                if (table.to[k] == entry[i] && (best == sorted.sums.size() || sorted.sums[k] < sorted.sums[best])) best = k;
            for (std::size_t k = 0; k < sorted.literals.size(); ++k) {
                const std::int32_t literal = sorted.literals[k];
                world[static_cast<std::size_t>(variable_of(literal))] = is_true(literal, true) == (k < best);
            }
        } else if (operation.kind != CountStep::scope) {
            const std::size_t from = i + 1 == tables_.size() ? last : source(i, entry[i]);
            entry[operation.first] = from;
            if (operation.kind == CountStep::remove)
                plan_->nodes().put(operation.what, from / table.from / table.stride % table.states, world);
        }
    }
    return world;
}

std::vector<World> CountedElimination::others(double level, std::size_t most) const {
    const std::size_t last = tables_.size() - 1, best = source(last, 0);
    const CountOperation& operation = plan_->operations()[last];
    const Table& table = tables_[last];
    const auto& values = tables_[operation.first].values;
    std::vector<std::pair<double, std::size_t>> ends;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double value = values[i] + priced(operation, table, i % table.from);
        if (i != best && value + apart_ < level) ends.emplace_back(value, i);
    }
    const std::size_t count = std::min({most, most_others, ends.size()});
    std::partial_sort(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(count), ends.end());
    std::vector<World> worlds;
    for (std::size_t i = 0; i < count; ++i) worlds.push_back(trace(ends[i].second));
    return worlds;
}

}  // namespace coherently
