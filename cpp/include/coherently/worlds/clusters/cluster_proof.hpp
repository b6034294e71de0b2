// Proofs that no possible world's sum of coefficients is far below the lowest known one: branching on nodes, each
// branch bounded over clusters, or minimised by elimination once that is cheap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "coherently/functions/event_view.hpp"
#include "coherently/worlds/clusters/cluster_dual.hpp"
#include "coherently/worlds/clusters/tables.hpp"
#include "coherently/worlds/space.hpp"

namespace coherently {

class ClusterProof {
public:
    static constexpr double most_cells = 256;     // of a cluster of several tables
    static constexpr double all_cells = 1 << 22;  // of all clusters, about
    // An event with a larger table is bounded by its sign alone; the second limit holds if tables are too many.
    static constexpr double largest_table = 1 << 16, smaller_table = 1 << 10;
    static constexpr double elimination_cells = 1 << 16;              // of all tables of a branch that is eliminated
    static constexpr std::size_t most_kept = std::size_t{1} << 26;    // values of messages of a tree
    static constexpr std::size_t most_stored = std::size_t{1} << 25;  // entries of branches that are still open

    // Of events over the worlds of a space, or over all; both must outlive the proof.
    // A branch is eliminated if that takes tables of at most `elimination` entries in all.
    ClusterProof(const EventView& events, const Space* space, double cells = most_cells,
                 double elimination = elimination_cells);

    // Begins the proof that no world is lower than the lowest one found, which is `known` at first, less `slack`. With
    // `keep` the tree is kept.
    void start(std::span<const double> coefficients, const World& known, double slack, bool keep);
    // Makes the clusters, the first time, and works until the proof is done, which is returned, or a limit is met: that
    // of branches, of memory, or if `hasty` four times the branches that led to a world below the known one less the
    // slack.
    bool run(std::size_t nodes, bool hasty);
    // Ends the work that another thread is at, or the next one. If that was before the first branch, the bound is that
    // of all negative coefficients.
    void stop() { stopped_ = true; }

    // No possible world's sum is below it.
    double bound() const;
    std::size_t nodes() const { return visited_; }
    // Ever lower worlds than the known one.
    const std::vector<World>& better() const { return better_; }

    // A branch as it was proved, in preorder. Messages are whole numbers of 2^shift units each.
    struct Branch {
        std::int32_t node = -1;  // on which it splits into its states, -1 for a leaf
        std::int32_t shift = 0;
        bool is_eliminated = false;
        std::vector<std::int32_t> order;  // of its elimination
        std::vector<ClusterDual::Message> messages;
        std::vector<std::int32_t> children;
    };
    // The kept tree by its numbers, 0 being the root; empty unless the proof is done and was kept.
    const std::vector<Branch>& tree() const;
    const ClusterGraph& graph() const { return graph_; }
    double unit() const { return unit_; }
    const Nodes& places() const { return nodes_; }

private:
    struct Open {
        std::unique_ptr<ClusterDual> dual;
        std::vector<Table> tables;
        std::vector<std::int32_t> states;  // of each node, -1 where it is open
        std::int32_t kept = -1;
    };
    bool prepare();
    bool begin();
    void visit(Open open);
    bool eliminate(const Open& open);
    bool tighten(Open& open);
    void coarsen(Open& open, bool is_leaf);
    void branch(Open open);
    std::int32_t branching_node(const Open& open) const;
    double cutoff() const { return best_ - slack_; }
    double whole(const World& world) const;
    double lowest() const;
    Branch* kept(const Open& open);

    EventView events_;
    Space free_;
    const Space* space_;
    Nodes nodes_;
    std::vector<std::int32_t> states_;
    std::vector<std::size_t> narrow_;  // the events that have tables
    std::vector<Table> truth_, laws_;
    bool has_wide_ = false, is_prepared_ = false;
    double cells_, elimination_;
    ClusterGraph graph_;

    std::vector<double> coefficients_;  // in units, whole
    double unit_ = 1, slack_ = 0, best_ = 0, first_cutoff_ = 0, rest_ = 0, proved_ = 0;
    bool keep_ = false, has_begun_ = false;
    std::vector<Open> open_;
    std::vector<World> better_;
    std::size_t visited_ = 0, enough_ = 0, kept_cells_ = 0, stored_ = 0;
    std::atomic<bool> stopped_{false};
    std::vector<Branch> tree_;
};

}  // namespace coherently
