// Proofs that no possible world's energy is below a cutoff.
#pragma once

#include <memory>

#include "coherently/worlds/branch/diagonal.hpp"
#include "coherently/worlds/branch/priced.hpp"
#include "owned_events.hpp"

namespace coherently::bindings {

class Proof {
public:
    // Of an energy over all truth assignments or, where there is a space, of the events in its worlds.
    Proof(const Energy& energy, const Space* space, std::uint64_t seed) {
        if (space) priced_ = std::make_unique<PricedEnergy>(energy.events(), *space);
        bound_ = std::make_unique<DiagonalBound>(space ? priced_->energy() : energy, seed);
    }
    bool is_possible() const { return !priced_ || priced_->is_quadratic(); }
    void start(double cutoff, std::span<const double> coefficients, double seconds = 0) {
        if (priced_) priced_->set(coefficients);
        bound_->start(cutoff - constant(), seconds);
    }
    const char* run(double seconds) {
        const auto outcome = bound_->run(after(seconds));
        if (outcome == DiagonalBound::Outcome::better) return "better";
        return outcome == DiagonalBound::Outcome::proved ? "proved" : "unfinished";
    }
    double bound() const { return bound_->bound() + constant(); }
    DiagonalBound& inner() const { return *bound_; }
    // Makes breaking laws dearer, from the next start.
    void raise() {
        if (priced_) priced_->raise();
    }

private:
    double constant() const { return priced_ ? priced_->constant() : 0.0; }

    std::unique_ptr<PricedEnergy> priced_;
    std::unique_ptr<DiagonalBound> bound_;
};

}  // namespace coherently::bindings
