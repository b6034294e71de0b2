#include "coherently/worlds/clusters/cluster_dual.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace coherently {
namespace {

constexpr double steep = 4 * ClusterDual::heaviest;  // what one cluster asks of another for what laws forbid in it

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

// What is left in a bucket: a scope, and the cluster it comes from, -1 for a table.
struct Item {
    Scope scope;
    std::int32_t from;
};

void least_entries(const Table& table, const std::vector<std::uint32_t>& place, std::vector<double>& found,
                   std::size_t cells) {
    found.assign(cells, Table::forbidden);
    for (std::size_t i = 0; i < place.size(); ++i) found[place[i]] = std::min(found[place[i]], table.entries[i]);
}

}  // namespace

ClusterGraph::ClusterGraph(std::span<const Scope> scopes, std::span<const std::int32_t> states, double cells,
                           const std::atomic<bool>& stopped) {
    const auto order = small_order(scopes, states, Table::forbidden).nodes;
    std::vector<std::size_t> turn(states.size());
    for (std::size_t i = 0; i < order.size(); ++i) turn[at(order[i])] = i;
    std::vector<std::vector<Item>> buckets(order.size());
    const auto put = [&](Item item) {
        std::size_t first = order.size();
        for (const std::int32_t node : item.scope) first = std::min(first, turn[at(node)]);
        if (first < order.size()) buckets[first].push_back(std::move(item));
    };
    std::vector<Scope> distinct(scopes.begin(), scopes.end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (const Scope& scope : distinct) put({scope, -1});
    for (std::size_t i = 0; i < order.size() && !stopped; ++i) {
        auto& bucket = buckets[i];
        std::stable_sort(bucket.begin(), bucket.end(),
                         [](const Item& x, const Item& y) { return x.scope.size() > y.scope.size(); });
        std::vector<std::vector<Item>> parts;
        std::vector<Scope> unions;
        for (Item& item : bucket) {
            std::size_t k = 0;
            Scope both;
            for (; k < parts.size(); ++k) {
                both.clear();
                std::set_union(unions[k].begin(), unions[k].end(), item.scope.begin(), item.scope.end(),
                               std::back_inserter(both));
                if (both.size() == unions[k].size() || cells_of(both, states) <= cells) break;
            }
            if (k == parts.size()) parts.emplace_back(), unions.emplace_back(), both = item.scope;
            unions[k] = both;
            parts[k].push_back(std::move(item));
        }
        std::int32_t before = -1;
        for (std::size_t k = 0; k < parts.size(); ++k) {
            std::int32_t own = -1;
            for (const Item& item : parts[k])
                if (item.from >= 0 && item.scope == unions[k]) own = item.from;
            if (own < 0) own = static_cast<std::int32_t>(clusters.size()), clusters.push_back(unions[k]);
            for (const Item& item : parts[k])
                if (item.from >= 0 && item.from != own) edges.push_back({item.from, own, item.scope});
            if (before >= 0 && before != own) {
                Scope common;
                std::set_intersection(unions[k - 1].begin(), unions[k - 1].end(), unions[k].begin(), unions[k].end(),
                                      std::back_inserter(common));
                edges.push_back({before, own, common});
            }
            before = own;
            Scope rest = unions[k];
            std::erase(rest, order[i]);
            if (!rest.empty()) put({std::move(rest), own});
        }
    }
}

ClusterDual::ClusterDual(const ClusterGraph& graph, std::span<const Table> tables, std::span<const Table> laws,
                         std::vector<std::int32_t> states, const std::atomic<bool>& stopped)
    : states_(std::move(states)) {
    std::vector<std::vector<std::int32_t>> near(states_.size());
    for (std::size_t k = 0; k < graph.clusters.size(); ++k) {
        const Scope& scope = graph.clusters[k];
        clusters_.push_back({scope, std::vector<double>(static_cast<std::size_t>(cells_of(scope, states_)))});
        for (const std::int32_t node : scope) near[at(node)].push_back(static_cast<std::int32_t>(k));
    }
    reach_.assign(clusters_.size(), 0.0);
    const auto add = [&](const Table& table, bool everywhere) {
        if (stopped) return;
        for (const std::int32_t k : near[at(table.scope[0])]) {
            Table& cluster = clusters_[at(k)];
            if (!contains(cluster.scope, table.scope)) continue;
            const auto place = places(cluster.scope, table.scope, states_);
            for (std::size_t i = 0; i < place.size(); ++i) cluster.entries[i] += table.entries[place[i]];
            if (everywhere) continue;
            double most = 0;
            for (const double entry : table.entries) most = std::max(most, std::abs(entry));
            reach_[at(k)] += most;
            return;
        }
    };
    for (const Table& table : tables) add(table, false);
    for (const Table& law : laws) add(law, true);
    for (const auto& [a, b, scope] : graph.edges) {
        if (stopped) return;
        edges_.push_back({a, b, scope, nullptr, nullptr, 0, {}});
        place(edges_.back());
    }
    add_up();
}

void ClusterDual::place(Edge& edge) const {
    const auto shared = [&](std::int32_t cluster) {
        return std::make_shared<const std::vector<std::uint32_t>>(
            places(clusters_[at(cluster)].scope, edge.scope, states_));
    };
    edge.at_a = shared(edge.a), edge.at_b = shared(edge.b);
    edge.cells = static_cast<std::size_t>(cells_of(edge.scope, states_));
}

void ClusterDual::sweep(const std::atomic<bool>& stopped) {
    const std::size_t size = edges_.size();
    for (std::size_t i = 0; i < 2 * size; ++i) {
        if (stopped) return;
        send(edges_[std::min(i, 2 * size - 1 - i)]);
    }
    add_up();
}

void ClusterDual::send(Edge& edge) {
    const Table &a = clusters_[at(edge.a)], &b = clusters_[at(edge.b)];
    least_entries(a, *edge.at_a, of_a_, edge.cells);
    least_entries(b, *edge.at_b, of_b_, edge.cells);
    double most = 0;
    for (std::size_t s = 0; s < edge.cells; ++s) {
        const double in_a = of_a_[s], in_b = of_b_[s];
        double moved = 0;  // from a to b
        if (in_a < Table::forbidden && in_b < Table::forbidden) moved = std::floor(0.5 * (in_a - in_b));
        else if (in_a == Table::forbidden && in_b < steep) moved = steep - in_b;
        else if (in_b == Table::forbidden && in_a < steep) moved = in_a - steep;
        of_a_[s] = moved;
        most = std::max(most, std::abs(moved));
    }
    if (most == 0 || !has_room(edge.a, most) || !has_room(edge.b, most)) return;
    edge.sent.resize(edge.cells);
    for (std::size_t s = 0; s < edge.cells; ++s) edge.sent[s] += of_a_[s];
    move(edge);
}

// Takes `of_a_` from a, and adds it to b.
void ClusterDual::move(const Edge& edge) {
    Table &a = clusters_[at(edge.a)], &b = clusters_[at(edge.b)];
    for (std::size_t i = 0; i < a.entries.size(); ++i) a.entries[i] -= of_a_[(*edge.at_a)[i]];
    for (std::size_t i = 0; i < b.entries.size(); ++i) b.entries[i] += of_a_[(*edge.at_b)[i]];
}

bool ClusterDual::coarsen(double step) {
    for (Edge& edge : edges_) {
        if (edge.sent.empty()) continue;
        if (!has_room(edge.a, step) || !has_room(edge.b, step)) return false;
        of_a_.resize(edge.cells);
        for (std::size_t s = 0; s < edge.cells; ++s) {
            const double rounded = step * std::round(edge.sent[s] / step);
            of_a_[s] = rounded - edge.sent[s];
            edge.sent[s] = rounded;
        }
        move(edge);
    }
    add_up();
    return true;
}

std::size_t ClusterDual::size() const {
    std::size_t size = 0;
    for (const Table& cluster : clusters_) size += cluster.entries.size();
    return size;
}

bool ClusterDual::has_room(std::int32_t cluster, double more) {
    double& reach = reach_[at(cluster)];
    if (reach + more >= largest_whole) {
        reach = 0;
        for (const double entry : clusters_[at(cluster)].entries)
            if (std::abs(entry) < Table::forbidden) reach = std::max(reach, std::abs(entry));
    }
    if (reach + more >= largest_whole) return false;
    reach += more;
    return true;
}

void ClusterDual::add_up() {
    bound_ = 0;
    for (const Table& cluster : clusters_) bound_ = sum_below(bound_, cluster.least());
}

ClusterDual ClusterDual::fixed(std::int32_t node, std::int32_t state) const {
    ClusterDual child;
    child.states_ = states_, child.reach_ = reach_;
    std::vector<bool> changed(clusters_.size());
    for (std::size_t k = 0; k < clusters_.size(); ++k) {
        child.clusters_.push_back(at_state(clusters_[k], node, state, states_));
        changed[k] = child.clusters_[k].scope.size() < clusters_[k].scope.size();
    }
    child.edges_ = edges_;
    for (Edge& edge : child.edges_) {
        edge.sent.clear();
        std::erase(edge.scope, node);
        if (changed[static_cast<std::size_t>(edge.a)] || changed[static_cast<std::size_t>(edge.b)]) child.place(edge);
    }
    child.add_up();
    return child;
}

std::vector<ClusterDual::Message> ClusterDual::sent() const {
    std::vector<Message> found;
    for (const Edge& edge : edges_)
        if (!edge.sent.empty()) found.push_back({edge.a, edge.b, edge.scope, edge.sent});
    return found;
}

}  // namespace coherently
