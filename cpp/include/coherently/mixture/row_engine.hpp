// The best mixture of all possible worlds for a model of rows, by column generation.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "coherently/deadline.hpp"
#include "coherently/mixture/row_mixture.hpp"
#include "coherently/random.hpp"
#include "coherently/worlds/energy.hpp"
#include "coherently/worlds/oracle.hpp"
#include "coherently/worlds/space.hpp"

namespace coherently {

// As NearestMixture, for models that change: worlds and shares survive a change. Phase 1 comes first, until
// the pins are satisfied.
class RowEngine {
public:
    RowEngine(EventView events, std::uint64_t seed, const Space* space, Sums pins, std::vector<std::uint8_t> equal);

    void set(RowModel model);
    // Takes in worlds all at once, better or not.
    void include(const std::vector<World>& worlds);

    // Takes in worlds that local search finds; true when it finds none that lies below the level by `enough`, or when
    // the objective is at most `goal`; false at the deadline. The effort is how often the length of a search is doubled
    // before giving up, if a round of searches has not reduced the objective by `worth`, or by a part of the way to the
    // goal.
    bool search(Deadline deadline, double enough, int effort, double worth, double goal);
    // Takes in the best of all worlds, by elimination, until none lies below the level by `enough`; false at the
    // deadline.
    bool eliminate(Deadline deadline, double enough);

    // The world of the least sum of other coefficients over the events that hold, by elimination.
    Found minimise(std::span<const double> coefficients);
    // The least sum over all worlds, of the gradient when elimination last found it; else minus infinity.
    double least() const { return least_; }
    const RowMixture& mixture() const { return mixture_; }

private:
    // How far the work has come: passes at full accuracy, rounds since the objective fell, and what it was then.
    struct Passes {
        int done = 0;
        std::size_t idle = 0;
        double before = std::numeric_limits<double>::infinity();
    };
    void update();
    void begin();
    void attempt();
    bool improve(double enough);
    void count_idle(bool was_in_phase_1);
    bool is_idle() const;
    bool take(std::size_t most);
    double find_best();
    World cross();
    double slack(double enough) const;
    const std::vector<std::uint8_t>& evaluate(const World& world);

    WorldOracle oracle_;
    RowMixture mixture_;
    Random random_;
    std::vector<std::uint8_t> bits_, truth_;
    std::vector<Found> found_;
    World lowest_;
    double rounding_ = 0, threshold_ = 0, least_ = -std::numeric_limits<double>::infinity();
    std::size_t attempt_ = 0;
    int effort_ = 0;
    Passes passes_;
};

}  // namespace coherently
