// Local search for worlds of low energy, where every truth assignment is possible.
#pragma once

#include <cstdint>
#include <vector>

#include "coherently/random.hpp"
#include "coherently/worlds/energy.hpp"
#include "coherently/worlds/search/world_search.hpp"

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
    // The row that a large event is in.
    std::uint32_t row(std::size_t large) const { return row_[large]; }

private:
    void disturb(const Energy::Place& place, bool value);

    const Energy& energy_;
    World world_;
    double value_ = 0;
    std::vector<double> gain_, sign_;  // sign is 1 where a variable is false, -1 where it is true
    std::vector<std::uint32_t> row_;   // of the large events
};

// The place of the least of some values that change one at a time: a tournament.
class Tournament {
public:
    void reset(std::size_t size);
    void set(std::size_t i, double value);
    std::size_t least() const { return winner_[1]; }
    double value(std::size_t i) const { return value_[i]; }

private:
    std::size_t leaves_ = 1;
    std::vector<double> value_;
    std::vector<std::size_t> winner_;  // of the subtree at a node; the root is 1
};

// Tabu search (Glover 1989): the best flip that was not made recently, even uphill. Collects minima below a threshold.
class TabuSearch final : public WorldSearch {
public:
    TabuSearch(const Energy& energy, std::uint64_t seed);

    void set(std::span<const double>) override {}  // the energy has them
    void run(const World& from, std::size_t patience, double threshold, std::vector<Found>& found) override;
    void anneal(std::size_t sweeps) override;
    void cross(World& world, const World& other, Random& random) const override;
    World first() const override { return World(energy_.n_variables()); }
    const World& best() const override { return best_; }
    double best_energy() const override { return best_energy_; }
    std::size_t size() const override { return energy_.n_variables(); }
    bool is_sparse() const override { return sparse_; }

private:
    struct Choice {
        std::size_t variable;
        bool minimum;  // no flip at all is downhill
    };
    void start(const World& from);
    Choice choose(std::size_t move);
    Choice choose_by_tournament(std::size_t move);
    void flip(std::size_t v, std::size_t move);
    void refresh(std::size_t v);

    Walk walk_;
    const Energy& energy_;
    Random random_;
    bool sparse_;                       // a flip changes so few gains that a tournament pays
    Tournament tournament_;             // of the gains of the free variables
    std::vector<std::size_t> free_at_;  // the move from which a variable may be flipped again
    std::vector<std::size_t> tabu_;     // the variables that may not, in sparse problems
    World best_;
    double best_energy_ = 0;
};

}  // namespace coherently
