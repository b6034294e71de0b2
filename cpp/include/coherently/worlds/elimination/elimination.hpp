// The least energy of all possible worlds, exactly, whichever worlds are possible.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coherently/worlds/energy.hpp"
#include "coherently/worlds/space.hpp"

namespace coherently {

struct EliminationCost {
    double entries;  // of all tables for the best order found; infinite above a limit
    bool counts;     // whether some digits of the tables are numbers of true literals
};

class Elimination {
public:
    static EliminationCost cost(const EventView& events, const Space* space, double limit);
    static std::unique_ptr<Elimination> make(const EventView& events, const Space* space);

    virtual ~Elimination() = default;

    // The possible world of the least sum of coefficients over the events that hold. Throws Contradiction.
    virtual World minimise(std::span<const double> coefficients) = 0;
    // After that, up to `most` other good worlds whose sums are below the level, if they cost nothing to find.
    virtual std::vector<World> others(double level, std::size_t most) const = 0;
};

}  // namespace coherently
