// Implications between events: the world of the least sum, and isotonic regression.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace coherently {

// An implication: where the first event happens, the second does.
struct Implication {
    std::int32_t from, to;
};

// A world of the least sum of costs, one truth value per event; no world has a sum below `bound`.
struct LeastWorld {
    std::vector<std::uint8_t> world;
    double bound = 0;
};

// Events 0 .. size - 1 with implications; events that imply each other are one node.
class Order {
public:
    Order(std::size_t size, std::span<const Implication> implications);

    std::size_t size() const { return node_.size(); }
    std::size_t n_nodes() const { return n_nodes_; }
    // The node of each event; an implication leads from a lower to a higher node.
    std::span<const std::int32_t> nodes() const { return node_; }
    // The implications between nodes, each once, ascending.
    std::span<const Implication> implications() const { return implications_; }
    // Whether the implications between nodes, taken without direction, make no cycle.
    bool is_forest() const { return is_forest_; }

    LeastWorld least(std::span<const double> cost) const;

    // The values x with x[from] <= x[to] of which the sum of weight (x - value)^2 is least; an event of weight 0 has a
    // value that the others leave. Empty if stopped.
    std::vector<double> isotonic(std::span<const double> value, std::span<const double> weight) const;

    // Values of nodes strictly between 0 and 1 that rise along every implication.
    std::vector<double> inner_levels() const;

    // Ends the work that another thread is at; a bound stays a bound.
    void stop() { stopped_ = true; }

private:
    std::vector<std::int32_t> node_;
    std::vector<Implication> implications_;
    std::size_t n_nodes_ = 0;
    bool is_forest_ = true, is_chains_ = true;
    std::atomic<bool> stopped_{false};
};

}  // namespace coherently
