// The nearest coherent forecasts by column generation: a mixture of worlds that grows by those that improve it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "coherently/deadline.hpp"
#include "coherently/mixture/mixture.hpp"
#include "coherently/random.hpp"
#include "coherently/worlds/energy.hpp"
#include "coherently/worlds/oracle.hpp"
#include "coherently/worlds/space.hpp"

namespace coherently {

// Minimises sum_j weight_j (x_j - target_j)^2 over the mixtures of worlds. Every x on the way is coherent.
// With a space, which has a witness, only its worlds are used.
class NearestMixture {
public:
    NearestMixture(EventView events, std::span<const double> weight, std::span<const double> target, std::uint64_t seed,
                   const Space* space = nullptr);

    // Takes in worlds that local search finds; true when it finds none that improves, false at the deadline. The effort
    // is how often the length of a search is doubled before giving up, if a round of searches has not reduced the
    // objective by the part `enough`, and by `part` of the reduction of all rounds. Here and below, the work ends once
    // the objective is at most `goal`. Work that a deadline stopped is continued: the answer is the same.
    static constexpr int most_effort = 8;
    bool search(Deadline deadline, int effort = most_effort, double enough = 0, double part = 0, double goal = 0);
    // Takes in the best of all worlds, by elimination, until none improves; false at the deadline.
    bool eliminate(Deadline deadline, double goal = 0);
    // Takes in a given world; false if it does not improve.
    bool offer(const World& world);

    // States that no world has a smaller sum of the gradient than this.
    void certify(double least);

    // Takes in worlds all at once, better or not.
    void include(const std::vector<World>& worlds);

    double objective() const { return objective_; }
    // The proved lower bound on the objective, and the most by which a world's sum lies below the level.
    double lower_bound() const { return lower_bound_; }
    double shortfall() const { return shortfall_; }
    // The x, and the coefficients, half of the gradient, whose sum is below `level` in an improving world.
    const std::vector<double>& x() const { return x_; }
    const std::vector<double>& gradient() const { return gradient_; }
    double level() const { return level_; }
    const Mixture& mixture() const { return mixture_; }
    WorldOracle& oracle() { return oracle_; }
    const WorldOracle& oracle() const { return oracle_; }
    const World& lowest() const { return lowest_; }

private:
    void begin();
    void update();
    double look(std::span<const double> x);
    void polish();
    bool take(std::size_t most);
    double find_best();
    void attempt();
    World cross();
    void evaluate(const World& world) { oracle_.energy().evaluate(world, bits_); }
    double slack() const;

    WorldOracle oracle_;
    std::span<const double> weight_, target_;
    Mixture mixture_;
    Random random_;
    double total_weight_ = 0, objective_ = 0, level_ = 0, lower_bound_ = 0;
    double shortfall_ = std::numeric_limits<double>::infinity();  // for the present x
    std::vector<double> x_, gradient_;
    std::vector<std::uint8_t> bits_;
    std::vector<Found> found_;
    std::size_t attempt_ = 0;  // of the round of searches
    std::size_t rounds_ = 0;
    int pass_ = 0, idle_ = 0;                                  // of elimination
    double before_ = std::numeric_limits<double>::infinity();  // the objective before its last world
    double begun_at_ = 0;                                      // the objective before the first round
    int effort_ = 0;                                           // grows when a round finds little
    World lowest_;                                             // the last world that was the best to take in
};

}  // namespace coherently
