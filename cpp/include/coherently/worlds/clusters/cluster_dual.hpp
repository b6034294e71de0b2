// A lower bound on the least of a sum of tables: clusters of nodes, and messages between them.
//
// Each table is in one cluster that contains it. A message over nodes that two clusters share is added to one of them
// and taken from the other, so that the sum of all clusters stays what it is; it is at least the sum of their least
// entries. Messages go where they raise that: both clusters get the mean of their least entries for each combination of
// the shared nodes (max-sum diffusion: Werner 2007, A linear programming approach to max-sum problem, IEEE Transactions
// on Pattern Analysis and Machine Intelligence 29). The clusters are those of mini-buckets (Dechter and Rish 2003;
// Ihler, Flerova, Dechter and Otten 2012, Join-graph based cost-shifting schemes).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "coherently/worlds/clusters/tables.hpp"

namespace coherently {

// Clusters of nodes; an edge joins two clusters that contain its scope.
struct ClusterGraph {
    struct Edge {
        std::int32_t a, b;
        Scope scope;
    };
    std::vector<Scope> clusters;
    std::vector<Edge> edges;

    // Clusters of at most so many combinations, or of one of the scopes that has more. Unfinished once stopped.
    ClusterGraph(std::span<const Scope> scopes, std::span<const std::int32_t> states, double cells,
                 const std::atomic<bool>& stopped);
    ClusterGraph() = default;
};

class ClusterDual {
public:
    static constexpr double heaviest = 17592186044416.0;  // 2^44: the sum of all sizes of entries must not be above it

    // Tables count once; laws have entries 0 and Table::forbidden, and count in every cluster that contains them. Once
    // stopped, a dual is unfinished, and so is a sweep: its bound is that of before.
    ClusterDual(const ClusterGraph& graph, std::span<const Table> tables, std::span<const Table> laws,
                std::vector<std::int32_t> states, const std::atomic<bool>& stopped);

    // The sum of least entries.
    double bound() const { return bound_; }
    // Sends messages along all edges, forth and back.
    void sweep(const std::atomic<bool>& stopped);
    // Rounds what was sent to whole multiples of a step; false if some of it could not be.
    bool coarsen(double step);
    // The number of entries of all clusters.
    std::size_t size() const;
    // The dual where a node has one state; nothing has been sent in it.
    ClusterDual fixed(std::int32_t node, std::int32_t state) const;

    // A message since this dual was made: added to cluster b and taken from a.
    struct Message {
        std::int32_t a, b;
        Scope scope;
        std::vector<double> values;
    };
    std::vector<Message> sent() const;
    const std::vector<Table>& clusters() const { return clusters_; }

private:
    struct Edge {
        std::int32_t a, b;
        Scope scope;
        std::shared_ptr<const std::vector<std::uint32_t>> at_a, at_b;
        std::size_t cells;
        std::vector<double> sent;  // empty if nothing was
    };
    ClusterDual() = default;
    void place(Edge& edge) const;
    void send(Edge& edge);
    void move(const Edge& edge);
    bool has_room(std::int32_t cluster, double more);
    void add_up();

    std::vector<std::int32_t> states_;
    std::vector<Table> clusters_;
    std::vector<double> reach_;  // no finite entry of a cluster is larger
    std::vector<Edge> edges_;
    double bound_ = 0;
    std::vector<double> of_a_, of_b_;
};

}  // namespace coherently
