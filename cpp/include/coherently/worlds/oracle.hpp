// The world of the least sum of coefficients over the events that hold.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "coherently/deadline.hpp"
#include "coherently/worlds/branch/proof.hpp"
#include "coherently/worlds/elimination/elimination.hpp"
#include "coherently/worlds/energy.hpp"
#include "coherently/worlds/search/world_search.hpp"
#include "coherently/worlds/space.hpp"

namespace coherently {

// Low worlds by local search, the lowest one by elimination, and proofs that none is lower; among the worlds of a space
// with a witness, if there is one. Each part is made when it is first needed.
class WorldOracle {
public:
    WorldOracle(const EventView& events, const Space* space, std::uint64_t seed, std::uint64_t proof_seed);
    WorldOracle(const WorldOracle&) = delete;
    WorldOracle& operator=(const WorldOracle&) = delete;

    void set(std::span<const double> coefficients);
    const Energy& energy() const { return energy_; }

    WorldSearch& search() { return *search_; }
    const WorldSearch& search() const { return *search_; }
    // The lowest world of several searches, alternately from the best so far and from a random one. At least one is
    // made.
    World search(std::size_t attempts, Deadline deadline);
    Elimination& elimination();
    Proof& proof();

private:
    Energy energy_;
    const Space* space_;
    std::uint64_t proof_seed_;
    std::unique_ptr<WorldSearch> search_;
    std::unique_ptr<Elimination> elimination_;
    std::unique_ptr<Proof> proof_;
};

}  // namespace coherently
