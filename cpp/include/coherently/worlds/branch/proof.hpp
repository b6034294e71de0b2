// Proofs that no possible world's energy is below a cutoff, whichever worlds are possible.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "coherently/deadline.hpp"
#include "coherently/worlds/branch/diagonal.hpp"
#include "coherently/worlds/branch/priced.hpp"
#include "coherently/worlds/energy.hpp"
#include "coherently/worlds/space.hpp"

namespace coherently {

class Proof {
public:
    using Outcome = DiagonalBound::Outcome;

    // Of an energy over all truth assignments or, where there is a space, over its worlds; both must outlive the proof.
    Proof(const Energy& energy, const Space* space, std::uint64_t seed);

    // Whether every law is about at most two variables, and every block has a kind with known prices.
    bool is_possible() const { return !priced_ || priced_->is_quadratic(); }
    // Begins with the energy's present coefficients. `seconds` sharpen the first bound, and `open` nodes at most are
    // visited in the order of their bounds. With `keep` the tree is kept.
    void start(double cutoff, double seconds = 0, std::size_t open = DiagonalBound::most_open, bool keep = false);
    Outcome run(Deadline deadline, std::size_t nodes) { return bound_->run(deadline, nodes); }
    // A valid bound on the energy of every possible world, at most the cutoff.
    double bound() const { return bound_->bound() + constant(); }
    // Worlds below the cutoff, if the outcome is better. Under laws they may break some.
    const std::vector<World>& better() const { return bound_->better(); }
    std::size_t nodes() const { return bound_->nodes(); }
    // The tree of a proof that was kept and has ended with the outcome proved; else null.
    const SignTree* tree() const { return bound_->tree(); }
    // The penalties in the energy that the tree is about, null if there is no space.
    const PricedEnergy* priced() const { return priced_.get(); }
    // Raises the penalties of laws from the next start.
    void raise();

private:
    double constant() const { return priced_ ? priced_->constant() : 0.0; }

    const Energy& energy_;
    std::unique_ptr<PricedEnergy> priced_;  // if there is a space
    std::unique_ptr<DiagonalBound> bound_;
};

}  // namespace coherently
