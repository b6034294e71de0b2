// Local search for possible worlds of low energy, whichever worlds are possible.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "coherently/random.hpp"
#include "coherently/worlds/energy.hpp"
#include "coherently/worlds/space.hpp"

namespace coherently {

// A world, and its energy.
struct Found {
    double energy;
    World world;
};

class WorldSearch {
public:
    // Tabu search over all truth assignments or, where there is a space, over the states of its blocks. The energy is
    // that of all events, and the space has a witness; both must outlive the search.
    static std::unique_ptr<WorldSearch> make(const Energy& energy, const Space* space, std::uint64_t seed);

    virtual ~WorldSearch() = default;

    // Sets the coefficients of the energy.
    virtual void set(std::span<const double> coefficients) = 0;
    // Walks from the world until `patience` moves in a row found nothing better. Appends minima below the threshold.
    virtual void run(const World& from, std::size_t patience, double threshold, std::vector<Found>& found) = 0;
    // Cools from a random world (Kirkpatrick, Gelatt and Vecchi 1983), then descends to a minimum.
    virtual void anneal(std::size_t sweeps) = 0;
    // Copies some blocks or variables from the other world.
    virtual void cross(World& world, const World& other, Random& random) const = 0;

    // A first possible world.
    virtual World first() const = 0;
    // The lowest possible world that the last run or annealing has seen. If there was none it is empty, and its
    // energy infinite.
    virtual const World& best() const = 0;
    virtual double best_energy() const = 0;
    // How many variables or blocks may move, and whether a move changes the gains of few others.
    virtual std::size_t size() const = 0;
    virtual bool is_sparse() const = 0;
};

}  // namespace coherently
