#include "coherently/worlds/elimination/count_plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace coherently {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool contains(const std::vector<std::size_t>& some, std::size_t one) {
    return std::find(some.begin(), some.end(), one) != some.end();
}

// The parts of the sets of a shape.
std::map<std::size_t, std::size_t> parts_of(const CountShape& shape) {
    std::map<std::size_t, std::size_t> parts;
    for (const Counter& counter : shape.counters)
        for (const std::size_t set : counter.sets) parts.emplace(set, counter.part);
    return parts;
}

}  // namespace

CountPlan::CountPlan(const EventView& events, const Space& space, double limit, bool is_turned) : nodes_(space) {
    find_sets(events, space, is_turned);
    if (sets_.empty()) {
        cost_ = infinity;
        return;
    }
    find_classes(events, space);
    find_scopes(events, space);
    begin(limit);
    if (cost_ <= limit) order(limit);
}

// Turns counts so that their literals agree as far as possible: sets that share literals share counters.
void CountPlan::orient(std::vector<CountFunction>& counts, bool is_turned) const {
    std::vector<std::size_t> largest(counts.size());
    std::iota(largest.begin(), largest.end(), std::size_t{0});
    std::stable_sort(largest.begin(), largest.end(), [&](std::size_t a, std::size_t b) {
        return counts[a].literals.size() > counts[b].literals.size();
    });
    std::map<std::int32_t, std::int32_t> known;
    for (const std::size_t i : largest) {
        std::int64_t votes = known.empty() && is_turned ? -1 : 0;
        for (const std::int32_t literal : counts[i].literals) {
            const auto found = known.find(variable_of(literal));
            if (found != known.end()) votes += found->second == literal ? 1 : -1;
        }
        if (votes < 0) counts[i].turn();
        for (const std::int32_t literal : counts[i].literals) known.emplace(variable_of(literal), literal);
    }
}

void CountPlan::find_sets(const EventView& events, const Space& space, bool is_turned) {
    std::vector<CountFunction> counts;
    std::vector<CountedPart> parts;
    const EventView laws = space.laws();
    for (const bool is_law : {false, true}) {
        const EventView& view = is_law ? laws : events;
        in_scope_[is_law].assign(view.size(), 1);
        for (std::size_t j = 0; j < view.size(); ++j) {
            auto count = count_of(view, j);
            if (!count) continue;
            in_scope_[is_law][j] = 0;
            parts.push_back({j, is_law, is_law && space.truth(j), {}});
            counts.push_back(std::move(*count));
        }
    }
    orient(counts, is_turned);
    std::map<std::vector<std::int32_t>, std::size_t> number;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto [at, is_new] = number.emplace(counts[i].literals, sets_.size());
        if (is_new) sets_.push_back({counts[i].literals, {}, 0});
        CountedSet& set = sets_[at->second];
        parts[i].holds = std::move(counts[i].holds);
        for (std::size_t k = 1; k < parts[i].holds.size(); ++k)
            if (parts[i].holds[k] != parts[i].holds[k - 1]) set.cap = std::max(set.cap, k);
        set.parts.push_back(std::move(parts[i]));
    }
}

void CountPlan::find_classes(const EventView& events, const Space& space) {
    const std::size_t n = events.n_variables;
    std::vector<std::uint8_t> tied(n);
    for (const Block& block : space.blocks())
        for (const std::int32_t v : block.variables) tied[static_cast<std::size_t>(v)] = 1;
    const EventView laws = space.laws();
    for (const bool is_law : {false, true}) {
        const EventView& view = is_law ? laws : events;
        for (std::size_t j = 0; j < view.size(); ++j)
            if (in_scope_[is_law][j] && (is_law || view.variables_of(j).size() > 1))
                for (const std::int32_t v : view.variables_of(j)) tied[static_cast<std::size_t>(v)] = 1;
    }
    // By variable: its sets, and its literal in each, relative to that in the first.
    std::vector<std::vector<std::pair<std::size_t, std::int32_t>>> home(n);
    std::vector<std::int32_t> first(n, -1);
    for (std::size_t s = 0; s < sets_.size(); ++s)
        for (const std::int32_t literal : sets_[s].literals) {
            const auto v = static_cast<std::size_t>(variable_of(literal));
            if (first[v] < 0) first[v] = literal;
            home[v].emplace_back(s, literal ^ first[v]);
        }
    std::map<std::vector<std::pair<std::size_t, std::int32_t>>, std::size_t> number;
    in_class_.assign(n, 0);
    for (std::size_t v = 0; v < n; ++v) {
        if (tied[v] || home[v].empty()) continue;
        const auto [at, is_new] = number.emplace(home[v], classes_.size());
        if (is_new) {
            classes_.emplace_back();
            for (const auto& [set, other] : home[v]) {
                classes_.back().sets.push_back(set);
                classes_.back().against.push_back(other != 0);
            }
        }
        classes_[at->second].literals.push_back(first[v]);
        in_class_[v] = 1;
    }
    for (std::size_t j = 0; j < events.size(); ++j) {
        const auto variables = events.variables_of(j);
        if (variables.size() == 1 && in_class_[static_cast<std::size_t>(variables[0])]) in_scope_[0][j] = 0;
    }
}

void CountPlan::find_scopes(const EventView& events, const Space& space) {
    const EventView laws = space.laws();
    std::vector<std::uint8_t> covered(nodes_.size());
    for (const bool is_law : {false, true}) {
        const EventView& view = is_law ? laws : events;
        for (std::size_t j = 0; j < view.size(); ++j) {
            if (!in_scope_[is_law][j]) continue;
            scopes_.push_back(nodes_.touched(view.variables_of(j)));
            for (const std::int32_t node : scopes_.back()) covered[static_cast<std::size_t>(node)] = 1;
        }
    }
    for (std::size_t v = 0; v < events.n_variables; ++v) {
        const std::int32_t node = nodes_.of(static_cast<std::int32_t>(v));
        if (in_class_[v] || covered[static_cast<std::size_t>(node)]) continue;
        covered[static_cast<std::size_t>(node)] = 1;
        scopes_.push_back({node});
    }
    std::sort(scopes_.begin(), scopes_.end());
    scopes_.erase(std::unique(scopes_.begin(), scopes_.end()), scopes_.end());
}

std::size_t CountPlan::count(std::size_t set, std::size_t node, std::size_t state) const {
    const auto found = node_part_[node].find(set);
    if (found == node_part_[node].end()) return 0;
    std::size_t count = 0;
    for (const std::int32_t literal : part_literals_[found->second])
        count += is_true(literal, nodes_.value(variable_of(literal), state));
    return count;
}

std::size_t CountPlan::part_of(std::vector<std::int32_t> literals, std::size_t most) {
    const auto [at, is_new] = part_number_.emplace(std::move(literals), part_literals_.size());
    if (is_new) {
        part_literals_.push_back(at->first);
        part_most_.push_back(most);
    }
    return at->second;
}

std::size_t CountPlan::both(std::size_t a, std::size_t b) {
    const auto key = std::minmax(a, b);
    const auto found = both_.find(key);
    if (found != both_.end()) return found->second;
    std::vector<std::int32_t> literals;
    std::set_union(part_literals_[a].begin(), part_literals_[a].end(), part_literals_[b].begin(),
                   part_literals_[b].end(), std::back_inserter(literals));
    return both_[key] = part_of(std::move(literals), part_most_[a] + part_most_[b]);
}

void CountPlan::measure(CountShape& shape) const {
    shape.node_states = shape.counter_states = 1;
    for (const std::int32_t node : shape.nodes)
        shape.node_states *= static_cast<double>(nodes_.states(static_cast<std::size_t>(node)));
    for (Counter& counter : shape.counters) {
        std::size_t cap = 0;
        for (const std::size_t set : counter.sets) cap = std::max(cap, sets_[set].cap);
        counter.size = std::min(part_most_[counter.part], cap) + 1;
        shape.counter_states *= static_cast<double>(counter.size);
    }
}

CountShape CountPlan::shape_of(std::vector<std::int32_t> nodes, const std::map<std::size_t, std::size_t>& parts) const {
    CountShape shape{std::move(nodes), {}, 1, 1};
    for (const auto& [set, part] : parts) {
        const auto same = std::find_if(shape.counters.begin(), shape.counters.end(),
                                       [&, own = part](const Counter& counter) { return counter.part == own; });
        if (same == shape.counters.end()) shape.counters.push_back({part, 0, {set}});
        else same->sets.push_back(set);
    }
    measure(shape);
    return shape;
}

CountShape CountPlan::joined(const CountShape& a, const CountShape& b) {
    std::vector<std::int32_t> nodes;
    std::set_union(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), std::back_inserter(nodes));
    auto parts = parts_of(a);
    for (const auto& [set, part] : parts_of(b)) {
        const auto [at, is_new] = parts.emplace(set, part);
        if (!is_new) at->second = both(at->second, part);
    }
    return shape_of(std::move(nodes), parts);
}

CountShape CountPlan::without_node(const CountShape& shape, std::size_t node) {
    std::vector<std::int32_t> nodes = shape.nodes;
    std::erase(nodes, static_cast<std::int32_t>(node));
    auto parts = parts_of(shape);
    for (const auto& [set, part] : node_part_[node]) {
        const auto [at, is_new] = parts.emplace(set, part);
        if (!is_new) at->second = both(at->second, part);
    }
    return shape_of(std::move(nodes), parts);
}

CountShape CountPlan::without_set(const CountShape& shape, std::size_t set) const {
    auto parts = parts_of(shape);
    parts.erase(set);
    return shape_of(shape.nodes, parts);
}

// The tables before anything goes.
void CountPlan::begin(double limit) {
    node_part_.resize(nodes_.size());
    std::vector<std::map<std::size_t, std::vector<std::int32_t>>> own(nodes_.size());
    for (std::size_t s = 0; s < sets_.size(); ++s)
        for (const std::int32_t literal : sets_[s].literals) {
            const auto v = static_cast<std::size_t>(variable_of(literal));
            if (!in_class_[v]) own[static_cast<std::size_t>(nodes_.of(static_cast<std::int32_t>(v)))][s].push_back(literal);
        }
    for (std::size_t node = 0; node < own.size(); ++node)
        for (auto& [set, literals] : own[node]) {
            std::size_t most = 0;
            for (std::size_t state = 0; state < nodes_.states(node); ++state) {
                std::size_t count = 0;
                for (const std::int32_t literal : literals)
                    count += is_true(literal, nodes_.value(variable_of(literal), state));
                most = std::max(most, count);
            }
            std::sort(literals.begin(), literals.end());
            node_part_[node].emplace(set, part_of(std::move(literals), most));
        }
    for (std::size_t i = 0; i < scopes_.size(); ++i)
        operations_.push_back({CountStep::scope, i, 0, 0, shape_of(scopes_[i], {})});
    for (std::size_t i = 0; i < classes_.size(); ++i) {
        std::map<std::size_t, std::size_t> parts;
        for (std::size_t k = 0; k < classes_[i].sets.size(); ++k) {
            std::vector<std::int32_t> literals = classes_[i].literals;
            if (classes_[i].against[k])
                for (std::int32_t& literal : literals) literal ^= 1;
            std::sort(literals.begin(), literals.end());
            const std::size_t most = literals.size();
            parts.emplace(classes_[i].sets[k], part_of(std::move(literals), most));
        }
        operations_.push_back({CountStep::group, i, 0, 0, shape_of({}, parts)});
    }
    for (std::size_t i = 0; i < operations_.size(); ++i) {
        alive_.push_back(i);
        cost_ += operations_[i].shape.size();
        if (!(cost_ <= limit)) cost_ = infinity;
    }
}

// Candidates are the nodes, then the sets.
bool CountPlan::touches(const CountShape& shape, std::size_t candidate) const {
    if (candidate < nodes_.size())
        return std::binary_search(shape.nodes.begin(), shape.nodes.end(), static_cast<std::int32_t>(candidate));
    for (const Counter& counter : shape.counters)
        if (contains(counter.sets, candidate - nodes_.size())) return true;
    return false;
}

// What it takes to remove a node or to close a set: tables are joined, the smallest first.
CountPlan::Attempt CountPlan::attempt(std::size_t candidate, double limit) {
    Attempt found;
    for (const std::size_t i : alive_)
        if (touches(operations_[i].shape, candidate)) found.used.push_back(i);
    std::stable_sort(found.used.begin(), found.used.end(), [&](std::size_t a, std::size_t b) {
        return operations_[a].shape.size() < operations_[b].shape.size();
    });
    const std::size_t begin = operations_.size();
    CountShape shape = operations_[found.used[0]].shape;
    std::size_t last = found.used[0];
    for (std::size_t k = 1; k < found.used.size(); ++k) {
        const CountShape& other = operations_[found.used[k]].shape;
        CountShape next = joined(shape, other);
        found.cost += next.node_states * shape.counter_states * other.counter_states;
        if (!(found.cost <= limit)) return found;
        shape = next;
        found.operations.push_back({CountStep::join, last, found.used[k], 0, std::move(next)});
        last = begin + found.operations.size() - 1;
    }
    found.cost += shape.size();
    const bool is_node = candidate < nodes_.size();
    const std::size_t what = is_node ? candidate : candidate - nodes_.size();
    CountShape rest = is_node ? without_node(shape, what) : without_set(shape, what);
    found.cost += rest.size();
    found.operations.push_back({is_node ? CountStep::remove : CountStep::close, last, 0, what, std::move(rest)});
    return found;
}

// Again and again the candidate of the least cost; a set is one once all its nodes are gone.
void CountPlan::order(double limit) {
    const std::size_t n = nodes_.size();
    std::vector<std::size_t> open(sets_.size());
    std::vector<std::uint8_t> waits(n + sets_.size());
    for (const auto& scope : scopes_)
        for (const std::int32_t node : scope) waits[static_cast<std::size_t>(node)] = 1;
    for (std::size_t s = 0; s < sets_.size(); ++s) waits[n + s] = 1;
    for (const auto& parts : node_part_)
        for (const auto& [set, part] : parts) ++open[set];
    std::vector<double> cost(waits.size(), -1);
    std::size_t left = static_cast<std::size_t>(std::count(waits.begin(), waits.end(), 1));
    for (; left > 0; --left) {
        std::size_t best = waits.size();
        for (std::size_t i = 0; i < waits.size(); ++i) {
            if (!waits[i] || (i >= n && open[i - n] > 0)) continue;
            if (cost[i] < 0) cost[i] = attempt(i, limit).cost;
            if (best == waits.size() || cost[i] < cost[best]) best = i;
        }
        Attempt next = attempt(best, limit);
        cost_ += next.cost;
        if (!(cost_ <= limit)) {
            cost_ = infinity;
            return;
        }
        for (const std::size_t i : next.used) std::erase(alive_, i);
        for (CountOperation& operation : next.operations) operations_.push_back(std::move(operation));
        alive_.push_back(operations_.size() - 1);
        waits[best] = 0;
        if (best < n)
            for (const auto& [set, part] : node_part_[best]) --open[set];
        for (std::size_t i = 0; i < waits.size(); ++i)
            if (waits[i] && touches(operations_.back().shape, i)) cost[i] = -1;
    }
}

}  // namespace coherently
