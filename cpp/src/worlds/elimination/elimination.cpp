#include "coherently/worlds/elimination/elimination.hpp"

#include <algorithm>
#include <limits>

#include "coherently/worlds/elimination/counted_elimination.hpp"
#include "coherently/worlds/elimination/free_elimination.hpp"
#include "coherently/worlds/elimination/space_elimination.hpp"

namespace coherently {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double most_counted = 1 << 24;  // maximum cost of counters

double plain_cost(const EventView& events, const Space* space, double limit) {
    return space ? SpaceElimination::cost(events, *space, limit) : FreeElimination::cost(events, limit);
}

// Counters, where there are counts and tables without counters cost more.
std::unique_ptr<CountedElimination> counted(const EventView& events, const Space* space, double limit) {
    auto found = CountedElimination::make(events, space, std::min(limit, most_counted));
    if (found && plain_cost(events, space, found->cost()) <= found->cost()) return nullptr;
    return found;
}

}  // namespace

EliminationCost Elimination::cost(const EventView& events, const Space* space, double limit) {
    const auto found = counted(events, space, limit);
    return {found ? found->cost() : plain_cost(events, space, limit), found != nullptr};
}

std::unique_ptr<Elimination> Elimination::make(const EventView& events, const Space* space) {
    if (auto found = counted(events, space, infinity)) return found;
    if (space) return std::make_unique<SpaceElimination>(events, *space);
    return std::make_unique<FreeElimination>(events);
}

}  // namespace coherently
