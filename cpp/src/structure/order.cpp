// A world is a closed set: with an event it has all that the event implies. For any flow f >= 0 on implications i -> j,
//
//     sum of cost_i v_i >= sum of cost_i v_i + f_ij (v_i - v_j) = sum of r_i v_i >= sum of min(0, r_i),
//
// where r_i = cost_i + (flow out of i) - (flow into i): any flow proves a bound, and a greatest one proves the least
// sum (Picard 1976, Maximal closure of a graph, Management Science 22). In a forest the flow is found from the leaves
// on.
//
// Isotonic regression: a block of nodes with the weighted mean c has one value if no closed set U of it has a negative
// sum of weight (c - value); otherwise every fitted value of U is above c and every other one below, so that both parts
// are fitted separately (Luss, Rosset and Shahar 2012, Efficient regularized isotonic regression, Annals of Applied
// Statistics 6). Chains go by pooling adjacent violators (Ayer et al. 1955).
#include "coherently/structure/order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace coherently {
namespace {

constexpr double EPSILON = std::numeric_limits<double>::epsilon();
constexpr std::int32_t NONE = -1;

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

// The implications at each node: those that begin there (`outward`) or end there.
struct Neighbours {
    std::vector<std::int32_t> starts, edge;

    Neighbours(std::size_t size, std::span<const Implication> edges) : starts(size + 1), edge(2 * edges.size()) {
        for (const Implication& one : edges) ++starts[at(one.from) + 1], ++starts[at(one.to) + 1];
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        std::vector<std::int32_t> next(starts.begin(), starts.end() - 1);
        for (std::size_t e = 0; e < edges.size(); ++e) {
            edge[at(next[at(edges[e].from)]++)] = static_cast<std::int32_t>(e);
            edge[at(next[at(edges[e].to)]++)] = static_cast<std::int32_t>(e);
        }
    }

    std::span<const std::int32_t> of(std::size_t node) const {
        return {edge.data() + starts[node], static_cast<std::size_t>(starts[node + 1] - starts[node])};
    }
};

// The bound that a flow proves, less what rounding may have added to the sums at nodes.
double proved(std::span<const double> cost, std::span<const Implication> edges, std::span<const double> flow) {
    std::vector<double> rest(cost.begin(), cost.end()), size(cost.size());
    std::vector<std::int32_t> count(cost.size(), 2);
    for (std::size_t i = 0; i < cost.size(); ++i) size[i] = std::abs(cost[i]);
    for (std::size_t e = 0; e < edges.size(); ++e) {
        rest[at(edges[e].from)] += flow[e], rest[at(edges[e].to)] -= flow[e];
        for (const std::int32_t end : {edges[e].from, edges[e].to}) size[at(end)] += flow[e], ++count[at(end)];
    }
    double sum = 0, lost = 0;
    for (std::size_t i = 0; i < cost.size(); ++i) {
        const double least = std::min(0.0, rest[i]);
        sum += least;
        lost += EPSILON * (count[i] * size[i] - sum);  // of this node, and of the sum so far
    }
    return sum - lost;
}

// The closed set of the least cost, and a flow that proves it.
class Closure {
public:
    Closure(std::span<const double> cost, std::span<const Implication> edges, const std::atomic<bool>& stopped)
        : world(cost.size()), flow(edges.size()), cost_(cost), edges_(edges), stopped_(stopped) {}

    std::vector<std::uint8_t> world;
    std::vector<double> flow;

    void by_leaves();
    void by_flow();

private:
    bool find_levels();
    double advance();
    double residual(std::size_t edge, bool backwards) const {
        return backwards ? flow[edge] : std::numeric_limits<double>::infinity();
    }

    std::span<const double> cost_;
    std::span<const Implication> edges_;
    const std::atomic<bool>& stopped_;
    // For flows: what each node can still give or take, its distance from those that give, and its next edge.
    std::vector<double> give_, take_;
    std::vector<std::int32_t> level_, next_, queue_;
    const Neighbours* near_ = nullptr;
};

// Each node hands on what it would do to its parent: a leaf i with i -> parent that wants to be true adds its negative
// rest to the parent; one with parent -> i that wants to be false adds its positive rest.
void Closure::by_leaves() {
    const std::size_t size = cost_.size();
    const Neighbours near(size, edges_);
    std::vector<std::int32_t> order, up(size, NONE);
    std::vector<std::uint8_t> seen(size);
    order.reserve(size);
    for (std::size_t root = 0; root < size; ++root) {
        if (seen[root]) continue;
        seen[root] = 1;
        order.push_back(static_cast<std::int32_t>(root));
        for (std::size_t k = order.size() - 1; k < order.size(); ++k) {
            const std::int32_t i = order[k];
            for (const std::int32_t e : near.of(at(i))) {
                const std::int32_t other = edges_[at(e)].from == i ? edges_[at(e)].to : edges_[at(e)].from;
                if (seen[at(other)]) continue;
                seen[at(other)] = 1, up[at(other)] = e;
                order.push_back(other);
            }
        }
    }
    std::vector<double> rest(cost_.begin(), cost_.end());
    for (std::size_t k = size; k-- > 0;) {
        const std::int32_t i = order[k], e = up[at(i)];
        if (e == NONE) continue;
        const bool below = edges_[at(e)].from == i;
        const std::int32_t parent = below ? edges_[at(e)].to : edges_[at(e)].from;
        if (below == (rest[at(i)] < 0)) flow[at(e)] = std::abs(rest[at(i)]), rest[at(parent)] += rest[at(i)];
    }
    for (const std::int32_t i : order) {
        const std::int32_t e = up[at(i)];
        bool holds = rest[at(i)] < 0;
        if (e != NONE) {
            const bool below = edges_[at(e)].from == i;
            const bool parent = world[at(below ? edges_[at(e)].to : edges_[at(e)].from)] != 0;
            holds = below ? parent && holds : parent || holds;
        }
        world[at(i)] = holds;
    }
}

// A greatest flow by shortest augmenting paths (Dinic 1970) from nodes of negative cost to nodes of positive cost. What
// the flow does not reach of the positive ones, and all that still leads on from the negative ones, is the closed set.
void Closure::by_flow() {
    const std::size_t size = cost_.size();
    const Neighbours near(size, edges_);
    near_ = &near;
    give_.resize(size), take_.resize(size), level_.resize(size), next_.resize(size);
    for (std::size_t i = 0; i < size; ++i) give_[i] = std::max(0.0, -cost_[i]), take_[i] = std::max(0.0, cost_[i]);
    while (find_levels() && !stopped_) {
        std::copy(near.starts.begin(), near.starts.end() - 1, next_.begin());
        while (advance() > 0 && !stopped_) continue;
    }
    for (std::size_t i = 0; i < size; ++i) world[i] = level_[i] != NONE;
}

// Distances from the nodes that still give; whether one that takes is reached.
bool Closure::find_levels() {
    queue_.clear();
    bool reached = false;
    for (std::size_t i = 0; i < level_.size(); ++i) {
        level_[i] = give_[i] > 0 ? 0 : NONE;
        if (give_[i] > 0) queue_.push_back(static_cast<std::int32_t>(i));
    }
    for (std::size_t k = 0; k < queue_.size(); ++k) {
        const std::int32_t i = queue_[k];
        reached = reached || take_[at(i)] > 0;
        for (const std::int32_t e : near_->of(at(i))) {
            const bool backwards = edges_[at(e)].to == i;
            const std::int32_t other = backwards ? edges_[at(e)].from : edges_[at(e)].to;
            if (level_[at(other)] != NONE || !(residual(at(e), backwards) > 0)) continue;
            level_[at(other)] = level_[at(i)] + 1;
            queue_.push_back(other);
        }
    }
    return reached;
}

// Sends flow along one path of rising levels, and returns how much; 0 if there is none.
double Closure::advance() {
    std::vector<std::int32_t> path;  // edges
    for (const std::int32_t source : queue_) {
        if (level_[at(source)] != 0) break;
        if (!(give_[at(source)] > 0)) continue;
        std::int32_t i = source;
        path.clear();
        while (true) {
            if (take_[at(i)] > 0) {
                double amount = std::min(give_[at(source)], take_[at(i)]);
                std::int32_t from = source;
                for (const std::int32_t e : path) {
                    const bool backwards = edges_[at(e)].to == from;
                    amount = std::min(amount, residual(at(e), backwards));
                    from = backwards ? edges_[at(e)].from : edges_[at(e)].to;
                }
                from = source;
                for (const std::int32_t e : path) {
                    const bool backwards = edges_[at(e)].to == from;
                    flow[at(e)] += backwards ? -amount : amount;
                    from = backwards ? edges_[at(e)].from : edges_[at(e)].to;
                }
                give_[at(source)] -= amount, take_[at(i)] -= amount;
                return amount;
            }
            bool went = false;
            for (; next_[at(i)] < near_->starts[at(i) + 1]; ++next_[at(i)]) {
                const std::int32_t e = near_->edge[at(next_[at(i)])];
                const bool backwards = edges_[at(e)].to == i;
                const std::int32_t other = backwards ? edges_[at(e)].from : edges_[at(e)].to;
                if (level_[at(other)] != level_[at(i)] + 1 || !(residual(at(e), backwards) > 0)) continue;
                path.push_back(e);
                i = other;
                went = true;
                break;
            }
            if (went) continue;
            if (path.empty()) break;  // nothing leads on from this source
            const std::int32_t e = path.back();
            path.pop_back();
            i = edges_[at(e)].from == i ? edges_[at(e)].to : edges_[at(e)].from;
            ++next_[at(i)];
        }
    }
    return 0;
}

// Nodes that are fitted together, with the implications between them.
struct Pool {
    std::vector<std::int32_t> nodes;
    std::vector<Implication> edges;  // by their places in `nodes`
    bool uneven = false;             // made by cutting off a small part: a split at the middle value may be better
};

struct Mean {
    double sum = 0, weight = 0;
    double value() const { return sum / weight; }
    void add(double v, double w) { sum += w * v, weight += w; }
};

constexpr std::size_t UNEVEN = 16;

class Fit {
public:
    Fit(std::span<const double> value, std::span<const double> weight, bool is_forest, const std::atomic<bool>& stopped)
        : fitted(value.size(), 0.5), value_(value), weight_(weight), is_forest_(is_forest), stopped_(stopped) {}

    std::vector<double> fitted;

    void run(Pool whole) {
        waiting_.push_back(std::move(whole));
        while (!waiting_.empty() && !stopped_) {
            Pool pool = std::move(waiting_.back());
            waiting_.pop_back();
            divide(std::move(pool));
        }
    }

private:
    void divide(Pool pool) {
        const double mean = mean_of(pool);
        if (std::isnan(mean)) return;
        if (pool.uneven && pool.nodes.size() > UNEVEN && split(pool, middle_of(pool))) return;
        if (split(pool, mean)) return;
        for (const std::int32_t i : pool.nodes) fitted[at(i)] = mean;
    }

    double mean_of(const Pool& pool) const {
        Mean mean;
        for (const std::int32_t i : pool.nodes) mean.add(value_[at(i)], weight_[at(i)]);
        return mean.weight > 0 ? mean.value() : std::numeric_limits<double>::quiet_NaN();
    }

    double middle_of(const Pool& pool) const {
        std::vector<double> values;
        for (const std::int32_t i : pool.nodes)
            if (weight_[at(i)] > 0) values.push_back(value_[at(i)]);
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        return *middle;
    }

    // Cuts a pool into what is fitted above a level and what is not; false if one of them would have no weight.
    bool split(Pool& pool, double level) {
        std::vector<double> cost(pool.nodes.size());
        for (std::size_t k = 0; k < cost.size(); ++k)
            cost[k] = weight_[at(pool.nodes[k])] * (level - value_[at(pool.nodes[k])]);
        Closure closure(cost, pool.edges, stopped_);
        if (is_forest_) closure.by_leaves();
        else closure.by_flow();
        Mean above, below;
        for (std::size_t k = 0; k < cost.size(); ++k)
            (closure.world[k] ? above : below).add(value_[at(pool.nodes[k])], weight_[at(pool.nodes[k])]);
        if (!(above.weight > 0 && below.weight > 0)) return false;
        if (!(above.value() - below.value() > 4 * EPSILON * (std::abs(above.value()) + std::abs(below.value()))))
            return false;
        divide(pool, closure.world);
        return true;
    }

    void divide(const Pool& pool, const std::vector<std::uint8_t>& above) {
        Pool parts[2];
        std::vector<std::int32_t> place(above.size());
        for (std::size_t k = 0; k < above.size(); ++k) {
            place[k] = static_cast<std::int32_t>(parts[above[k]].nodes.size());
            parts[above[k]].nodes.push_back(pool.nodes[k]);
        }
        for (const auto& [from, to] : pool.edges)
            if (above[at(from)] == above[at(to)])
                parts[above[at(from)]].edges.push_back({place[at(from)], place[at(to)]});
        const std::size_t least = std::min(parts[0].nodes.size(), parts[1].nodes.size());
        for (Pool& part : parts) {
            part.uneven = !pool.uneven && UNEVEN * least < pool.nodes.size();
            waiting_.push_back(std::move(part));
        }
    }

    std::span<const double> value_, weight_;
    bool is_forest_;
    const std::atomic<bool>& stopped_;
    std::vector<Pool> waiting_;
};

// Pools adjacent violators along each chain; nodes of weight 0 have the value before them, or the first one after.
std::vector<double> pool_chains(std::span<const double> value, std::span<const double> weight,
                                std::span<const Implication> edges) {
    std::vector<std::int32_t> next(value.size(), NONE), chain;
    std::vector<std::uint8_t> inner(value.size());
    for (const auto& [from, to] : edges) next[at(from)] = to, inner[at(to)] = 1;
    std::vector<double> fitted(value.size(), 0.5);
    std::vector<std::pair<Mean, std::size_t>> pools;  // with the number of nodes
    for (std::size_t first = 0; first < value.size(); ++first) {
        if (inner[first]) continue;
        chain.clear(), pools.clear();
        std::size_t empty = 0;  // nodes of weight 0 before the first pool
        for (std::int32_t i = static_cast<std::int32_t>(first); i != NONE; i = next[at(i)]) {
            chain.push_back(i);
            if (!(weight[at(i)] > 0)) {
                ++(pools.empty() ? empty : pools.back().second);
                continue;
            }
            pools.push_back({Mean{}, 1 + std::exchange(empty, 0)});
            pools.back().first.add(value[at(i)], weight[at(i)]);
            while (pools.size() > 1 && pools[pools.size() - 2].first.value() >= pools.back().first.value()) {
                const auto [mean, count] = pools.back();
                pools.pop_back();
                pools.back().first.sum += mean.sum, pools.back().first.weight += mean.weight;
                pools.back().second += count;
            }
        }
        std::size_t k = 0;
        for (const auto& [mean, count] : pools)
            for (std::size_t end = k + count; k < end; ++k) fitted[at(chain[k])] = mean.value();
    }
    return fitted;
}

// Nodes of events that imply each other, numbered so that an implication leads from a lower to a higher number
// (Tarjan 1972, without recursion: it numbers what is implied first, so that the numbers are turned round).
std::pair<std::vector<std::int32_t>, std::size_t> strong_components(std::size_t size,
                                                                    std::span<const Implication> edges) {
    std::vector<std::int32_t> starts(size + 1), target(edges.size());
    for (const Implication& one : edges) ++starts[at(one.from) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::int32_t> next(starts.begin(), starts.end() - 1);
    for (const Implication& one : edges) target[at(next[at(one.from)]++)] = one.to;
    std::copy(starts.begin(), starts.end() - 1, next.begin());
    std::vector<std::int32_t> node(size, NONE), index(size, NONE), low(size), stack, path;
    std::int32_t count = 0, found = 0;
    for (std::size_t root = 0; root < size; ++root) {
        if (index[root] != NONE) continue;
        path.push_back(static_cast<std::int32_t>(root));
        while (!path.empty()) {
            const std::int32_t i = path.back();
            if (index[at(i)] == NONE) index[at(i)] = low[at(i)] = count++, stack.push_back(i);
            bool deeper = false;
            while (next[at(i)] < starts[at(i) + 1]) {
                const std::int32_t other = target[at(next[at(i)])];
                if (index[at(other)] == NONE) {
                    path.push_back(other);
                    deeper = true;
                    break;
                }
                if (node[at(other)] == NONE) low[at(i)] = std::min(low[at(i)], low[at(other)]);
                ++next[at(i)];
            }
            if (deeper) continue;
            path.pop_back();
            if (low[at(i)] != index[at(i)]) continue;
            while (node[at(i)] == NONE) node[at(stack.back())] = found, stack.pop_back();
            ++found;
        }
    }
    for (std::int32_t& one : node) one = found - 1 - one;
    return {std::move(node), at(found)};
}

}  // namespace

Order::Order(std::size_t size, std::span<const Implication> implications) {
    std::tie(node_, n_nodes_) = strong_components(size, implications);
    for (const auto& [from, to] : implications)
        if (node_[at(from)] != node_[at(to)]) implications_.push_back({node_[at(from)], node_[at(to)]});
    const auto key = [](const Implication& one) { return std::pair(one.from, one.to); };
    std::ranges::sort(implications_, {}, key);
    const auto repeated = std::ranges::unique(implications_, {}, key);
    implications_.erase(repeated.begin(), repeated.end());
    std::vector<std::int32_t> home(n_nodes_), into(n_nodes_), out(n_nodes_);
    std::iota(home.begin(), home.end(), 0);
    const auto root = [&](std::int32_t i) {
        while (home[at(i)] != i) i = home[at(i)] = home[at(home[at(i)])];
        return i;
    };
    for (const auto& [from, to] : implications_) {
        is_chains_ = is_chains_ && ++out[at(from)] == 1 && ++into[at(to)] == 1;
        const std::int32_t a = root(from), b = root(to);
        is_forest_ = is_forest_ && a != b;
        home[at(a)] = b;
    }
}

LeastWorld Order::least(std::span<const double> cost) const {
    std::vector<double> own(n_nodes_);
    double rounding = 0;
    for (std::size_t i = 0; i < cost.size(); ++i) {
        own[at(node_[i])] += cost[i];
        rounding += EPSILON * std::abs(own[at(node_[i])]);
    }
    Closure closure(own, implications_, stopped_);
    if (is_forest_) closure.by_leaves();
    else closure.by_flow();
    LeastWorld found{.world = std::vector<std::uint8_t>(cost.size()),
                     .bound = proved(own, implications_, closure.flow) - (n_nodes_ < cost.size() ? rounding : 0.0)};
    for (std::size_t i = 0; i < cost.size(); ++i) found.world[i] = closure.world[at(node_[i])];
    return found;
}

// By the longest ways d from below and h to above, each at least 1: d / (d + h) rises with d and falls with h.
std::vector<double> Order::inner_levels() const {
    std::vector<double> depth(n_nodes_, 1.0), height(n_nodes_, 1.0);
    for (const auto& [from, to] : implications_) depth[at(to)] = std::max(depth[at(to)], depth[at(from)] + 1);
    for (std::size_t e = implications_.size(); e-- > 0;) {
        const auto& [from, to] = implications_[e];
        height[at(from)] = std::max(height[at(from)], height[at(to)] + 1);
    }
    for (std::size_t i = 0; i < n_nodes_; ++i) depth[i] /= depth[i] + height[i];
    return depth;
}

std::vector<double> Order::isotonic(std::span<const double> value, std::span<const double> weight) const {
    std::vector<Mean> mean(n_nodes_);
    for (std::size_t i = 0; i < value.size(); ++i)
        if (weight[i] > 0) mean[at(node_[i])].add(value[i], weight[i]);
    std::vector<double> own(n_nodes_), mass(n_nodes_);
    for (std::size_t i = 0; i < n_nodes_; ++i)
        own[i] = mean[i].weight > 0 ? mean[i].value() : 0.0, mass[i] = mean[i].weight;
    std::vector<double> fitted;
    if (is_chains_) {
        fitted = pool_chains(own, mass, implications_);
    } else {
        Fit fit(own, mass, is_forest_, stopped_);
        Pool whole{.nodes = std::vector<std::int32_t>(n_nodes_), .edges = implications_};
        std::iota(whole.nodes.begin(), whole.nodes.end(), 0);
        fit.run(std::move(whole));
        if (stopped_) return {};
        fitted = std::move(fit.fitted);
    }
    // Rounding may leave a value above what it implies. Nodes are numbered along the implications, which are sorted.
    for (const auto& [from, to] : implications_) fitted[at(to)] = std::max(fitted[at(to)], fitted[at(from)]);
    std::vector<double> result(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) result[i] = fitted[at(node_[i])];
    return result;
}

}  // namespace coherently
