#include "coherently/worlds/search/world_search.hpp"

#include "coherently/worlds/search/block_search.hpp"
#include "coherently/worlds/search/tabu_search.hpp"

namespace coherently {

std::unique_ptr<WorldSearch> WorldSearch::make(const Energy& energy, const Space* space, std::uint64_t seed) {
    if (space) return std::make_unique<BlockSearch>(energy.events(), *space, seed);
    return std::make_unique<TabuSearch>(energy, seed);
}

}  // namespace coherently
