// The least energy of all worlds, exactly, variable by variable, where every truth assignment is possible.
#pragma once

#include <cstdint>
#include <vector>

#include "coherently/worlds/elimination/elimination.hpp"
#include "coherently/worlds/energy.hpp"

namespace coherently {

// Dynamic programming over a tree of cliques: the cost is the sum of 2^size over the cliques (few variables: one table
// of all worlds). Bertele and Brioschi (1972), Nonserial dynamic programming.
class FreeElimination final : public Elimination {
public:
    static double cost(const EventView& events, double limit);

    explicit FreeElimination(EventView events);

    World minimise(std::span<const double> coefficients) override;
    std::vector<World> others(double, std::size_t) const override { return {}; }

private:
    struct Monomial {
        std::uint32_t event, row;
        double factor;
    };
    struct Clique {
        std::vector<std::int32_t> variables;  // the one to eliminate first, then in the order of elimination
        std::vector<Monomial> monomials;
        std::vector<std::pair<std::size_t, std::uint32_t>> inputs;  // messages: the clique, and its variables here
        std::vector<double> message;                                // over the variables after the first
        std::vector<std::uint8_t> choice;
    };
    void assign(const EventView& events, const std::vector<std::size_t>& rank);
    void gather(std::size_t c, std::span<const double> coefficients);
    void trace(std::size_t row, World& world) const;

    std::vector<Clique> cliques_;  // in the order of elimination; all variables of the last one go together
    std::size_t n_variables_;
    std::vector<double> table_;
};

}  // namespace coherently
