#include "coherently/worlds/elimination/elimination.hpp"

#include "coherently/worlds/elimination/free_elimination.hpp"
#include "coherently/worlds/elimination/space_elimination.hpp"

namespace coherently {

double Elimination::cost(const EventView& events, const Space* space, double limit) {
    return space ? SpaceElimination::cost(events, *space, limit) : FreeElimination::cost(events, limit);
}

std::unique_ptr<Elimination> Elimination::make(const EventView& events, const Space* space) {
    if (space) return std::make_unique<SpaceElimination>(events, *space);
    return std::make_unique<FreeElimination>(events);
}

}  // namespace coherently
