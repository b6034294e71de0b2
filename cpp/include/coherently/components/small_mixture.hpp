// The mixture of at most 64 worlds that loses least, and a lower bound on what any mixture of them loses.
//
// Worlds are bits, and a forecast knows in which of them its event holds. The objective f is the sum of what the
// forecasts lose, a convex function of the shares a. A step minimises the quadratic model of f at a, with its gradient
// and second derivatives, over all mixtures, and goes towards its minimum as far as f falls (Levitin and Polyak 1966);
// under the Brier loss the first model is f itself. The bound is that of the planes that touch each term at a,
//
//     f(any mixture) >= the least, over worlds v, of the sum of planes at v,
//
// because each plane is below its term and a mixture's sum of planes is a mean of those of its worlds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coherently/components/forecast_loss.hpp"
#include "coherently/components/model_minimum.hpp"

namespace coherently {

inline constexpr std::size_t most_small_worlds = 64;

// A forecast `target` of E given H: `joint` has the worlds of E & H and `rest` those of H & ~E, all others if it is
// about an event alone. `linear`: it loses weight (P(E & H) - target P(H))^2.
struct ForecastTerm {
    std::uint64_t joint = 0, rest = 0;
    double weight = 0, target = 0;
    bool conditional = false, linear = false;
};

class SmallMixture {
public:
    // Mixes `worlds` worlds; false if there is no answer, which a general method must find then.
    bool solve(ForecastLoss loss, std::span<const ForecastTerm> terms, std::size_t worlds);

    // The objective, the bound and the shortfall at any shares, which need not be good ones.
    void look_at(ForecastLoss loss, std::span<const ForecastTerm> terms, std::span<const double> shares);

    // Gives the same probabilities to some events, by as few worlds as these and one more.
    void thin(std::span<const std::uint64_t> events);

    std::span<const double> shares() const { return {share_.data(), worlds_}; }
    double objective() const { return objective_; }
    double bound() const { return bound_; }
    // The most by which a world lies below the planes at the answer.
    double shortfall() const { return shortfall_; }
    int steps() const { return steps_; }
    double sum(std::uint64_t worlds) const { return sum_of(share_, worlds); }

private:
    struct Bent {
        ForecastTerm term;
        double joint = 0, rest = 0;  // their probabilities at the present shares
    };

    static double sum_of(std::span<const double> share, std::uint64_t worlds);
    void begin(ForecastLoss loss, std::span<const ForecastTerm> terms, std::size_t worlds);
    void sort_terms(std::span<const ForecastTerm> terms);
    bool is_alone();
    void start();
    void measure(std::span<const double> share);
    double value(const ForecastTerm& term, double joint, double rest) const;
    double value_at(std::span<const double> share) const;
    void touch();
    void fill_model();
    bool step(bool is_last);
    double reach(std::span<const double> aim) const;

    ForecastLoss loss_ = ForecastLoss::brier;
    std::size_t worlds_ = 0;
    std::vector<Bent> bent_;          // terms that bend
    std::vector<double> linear_;      // what each world costs by terms whose ratio the worlds leave no choice
    double total_ = 0, largest_ = 0;  // of the weights; of the linear costs
    double constant_ = 0;             // what events cost that are true in all worlds, or in none
    std::vector<double> share_, trial_, slope_;
    ModelMinimum model_;
    double objective_ = 0, bound_ = 0, shortfall_ = 0;
    int steps_ = 0;
};

}  // namespace coherently
