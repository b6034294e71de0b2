// Local search for worlds of low energy.
#pragma once

#include <cstdint>
#include <vector>

#include "coherently/energy.hpp"
#include "coherently/random.hpp"

namespace coherently {

// A world with the change of energy that each flip would bring.
class Walk {
public:
    explicit Walk(const Energy& energy);

    void start(const World& world);
    void flip(std::size_t v);
    double energy() const { return value_; }
    const World& world() const { return world_; }
    const std::vector<double>& gains() const { return gain_; }

private:
    void disturb(const Energy::Place& place, bool value);

    const Energy& energy_;
    World world_;
    double value_ = 0;
    std::vector<double> gain_, sign_;  // sign is 1 where a variable is false, -1 where it is true
    std::vector<std::uint32_t> row_;   // of the large events
};

// Tabu search (Glover 1989): the best flip that was not made of late, even uphill. Collects minima below a threshold.
class TabuSearch {
public:
    struct Found {
        double energy;
        World world;
    };
    TabuSearch(const Energy& energy, std::uint64_t seed);

    // Walks from the world until `patience` moves have brought nothing better.
    void run(const World& from, std::size_t patience, double threshold, std::vector<Found>& found);
    // The lowest world that the last run has seen.
    const World& best() const { return best_; }
    double best_energy() const { return best_energy_; }

private:
    Walk walk_;
    Random random_;
    std::vector<std::size_t> free_at_;  // the move from which a variable may be flipped again
    World best_;
    double best_energy_ = 0;
};

}  // namespace coherently
