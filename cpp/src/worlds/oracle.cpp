#include "coherently/worlds/oracle.hpp"

#include <limits>
#include <vector>

namespace coherently {
namespace {

constexpr std::size_t sweeps = 300;                // of one annealing
constexpr std::size_t patience_per_variable = 20;  // moves of one run without anything better
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

WorldOracle::WorldOracle(const EventView& events, const Space* space, std::uint64_t seed, std::uint64_t proof_seed)
    : energy_(events), space_(space), proof_seed_(proof_seed), search_(WorldSearch::make(energy_, space, seed)) {}

void WorldOracle::set(std::span<const double> coefficients) {
    energy_.set(coefficients);
    search_->set(coefficients);
}

World WorldOracle::search(std::size_t attempts, Deadline deadline) {
    World best;
    double least = infinity;
    std::vector<Found> unused;
    for (std::size_t i = 0; i < attempts && (i == 0 || !has_passed(deadline)); ++i) {
        const bool anywhere = i % 2 == 1;
        if (anywhere) search_->anneal(sweeps);
        else
            search_->run(best.empty() ? search_->first() : best, patience_per_variable * (energy_.n_variables() + 1),
                         -infinity, unused);
        if (search_->best_energy() < least) least = search_->best_energy(), best = search_->best();
    }
    return best.empty() ? search_->first() : best;
}

Elimination& WorldOracle::elimination() {
    if (!elimination_) elimination_ = Elimination::make(energy_.events(), space_);
    return *elimination_;
}

Proof& WorldOracle::proof() {
    if (!proof_) proof_ = std::make_unique<Proof>(energy_, space_, proof_seed_);
    return *proof_;
}

}  // namespace coherently
