// The least energy of the possible worlds, exactly, where blocks and laws restrict them.
#pragma once

#include <cstdint>
#include <vector>

#include "coherently/worlds/elimination/elimination.hpp"
#include "coherently/worlds/energy.hpp"
#include "coherently/worlds/space.hpp"

namespace coherently {

// As FreeElimination, block by block: a block of k states is one digit of base k, and what laws forbid is infinite.
class SpaceElimination final : public Elimination {
public:
    static double cost(const EventView& events, const Space& space, double limit);

    SpaceElimination(const EventView& events, const Space& space);

    World minimise(std::span<const double> coefficients) override;
    // The best worlds for the other states of the last block.
    std::vector<World> others(double level, std::size_t most) const override;

private:
    struct Step {  // where an event's truth changes along the first node of a scope
        std::uint32_t event, place;
        double sign;
    };
    // The events and laws about the same nodes: a table with the first node fastest.
    struct Scope {
        std::vector<std::int32_t> nodes;
        std::size_t size, run;  // entries; states of the first node
        std::vector<Step> steps;
        std::vector<std::uint32_t> forbidden;
    };
    struct Input {  // a table that is added to a clique's: a scope's or another clique's message
        bool message;
        std::size_t from;
        std::vector<std::size_t> sizes, strides;  // of the clique's digits, those joined that go on evenly
    };
    struct Clique {
        std::vector<std::int32_t> nodes;  // the one to eliminate first, then in the order of elimination
        std::size_t size;
        std::vector<Input> inputs;
        std::vector<double> message;  // over the nodes after the first
        std::vector<std::int32_t> choice;
    };
    void fill_scope(const LargeEvent& function, Scope& scope, int truth) const;
    void place_scopes(const std::vector<std::size_t>& rank);
    Input input(bool message, std::size_t from, std::span<const std::int32_t> nodes, const Clique& clique) const;
    void evaluate(const Scope& scope, std::span<const double> coefficients);
    void gather(const Clique& clique, std::span<const double> coefficients);
    World trace(std::size_t last) const;

    Nodes nodes_;
    std::size_t n_variables_;
    std::vector<Scope> scopes_;
    std::vector<Clique> cliques_;  // in the order of elimination
    std::vector<double> table_, scratch_;
    double apart_ = 0;  // the least sums of parts that are not connected to the last block
};

}  // namespace coherently
