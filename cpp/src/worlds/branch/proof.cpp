#include "coherently/worlds/branch/proof.hpp"

namespace coherently {

Proof::Proof(const Energy& energy, const Space* space, std::uint64_t seed) : energy_(energy) {
    if (space) priced_ = std::make_unique<PricedEnergy>(energy.events(), *space);
    bound_ = std::make_unique<DiagonalBound>(space ? priced_->energy() : energy, seed);
}

void Proof::start(double cutoff, double seconds, std::size_t open, bool keep) {
    if (priced_) priced_->set(energy_.coefficients());
    bound_->start(cutoff - constant(), seconds, open, keep);
}

void Proof::raise() {
    if (priced_) priced_->raise();
}

}  // namespace coherently
