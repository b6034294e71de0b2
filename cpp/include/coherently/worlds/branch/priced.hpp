// Energies in which breaking a law has a price, so that proofs about all truth assignments hold for possible worlds.
#pragma once

#include <cstdint>
#include <vector>

#include "coherently/worlds/energy.hpp"
#include "coherently/worlds/space.hpp"

namespace coherently {

// The events' sum of coefficients plus penalties for broken rules, up to a constant. In possible worlds the penalties
// are 0, so whatever they are, the minimum over all truth assignments is a lower bound for possible worlds.
class PricedEnergy {
public:
    PricedEnergy(const EventView& events, const Space& space);

    // Whether no event and no rule is about more than two variables, and every block is exclusive or a chain.
    bool is_quadratic() const { return quadratic_; }
    void set(std::span<const double> coefficients);
    // Doubles the penalties from now on.
    void raise() { factor_ *= 2; }
    const Energy& energy() const { return energy_; }
    // The constant to be added to a sum.
    double constant() const { return constant_; }
    // What a broken rule costs: a multiple of the truth of a function of one or two variables (the second is -1 then).
    struct Fine {
        std::int32_t first, second;
        std::uint64_t table;
        double amount;
    };
    std::vector<Fine> fines() const;

private:
    struct Term {  // adds factor times the penalty of a rule where a function holds
        std::size_t rule;
        double factor;
    };
    struct Rules;
    PricedEnergy(const EventView& events, Rules rules);

    Functions functions_;
    std::vector<Term> terms_;
    std::vector<std::vector<std::uint32_t>> events_of_;  // of a rule
    std::vector<double> constants_;                      // of penalties
    std::size_t n_events_;
    bool quadratic_;
    Energy energy_;
    double factor_ = 1, constant_ = 0;
    std::vector<double> coefficients_;
};

}  // namespace coherently
