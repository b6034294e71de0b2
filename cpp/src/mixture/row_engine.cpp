#include "coherently/mixture/row_engine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace coherently {
namespace {

constexpr std::size_t batch = 8;  // worlds to take in at a time
constexpr std::size_t many = 64;  // the same where each costs nothing to find
constexpr std::size_t round = 8;  // searches before their worlds are taken in
constexpr std::size_t least_sweeps = 16;
constexpr std::size_t most_idle = 20;  // rounds that may bring nothing, beside one for each pin
constexpr int refinements = 2;
constexpr double kept = 1e-10;      // what pins may be missed by when phase 1 ends: later steps mend it
constexpr double first_enough = 1e-12;  // in phase 1

}  // namespace

RowEngine::RowEngine(EventView events, std::uint64_t seed, const Space* space, Sums pins, std::vector<std::uint8_t> equal)
    : energy_(events),
      space_(space),
      mixture_(events.size(), std::move(pins), std::move(equal)),
      tabu_(energy_, seed),
      random_(seed + 1),
      bits_((events.size() + 7) / 8),
      truth_(events.size()) {
    if (space_) blocks_ = std::make_unique<BlockSearch>(events, *space_, seed);
}

void RowEngine::set(RowModel model) {
    mixture_.set(std::move(model));
    if (mixture_.size() == 0) include({space_ ? space_->witness() : World(energy_.n_variables())});
    mixture_.settle(1);
    update();
    effort_ = 0, attempt_ = 0;
}

void RowEngine::include(const std::vector<World>& worlds) {
    for (const World& world : worlds) {
        energy_.evaluate(world, bits_);
        for (std::size_t j = 0; j < truth_.size(); ++j) truth_[j] = bits_[j / 8] >> (j % 8) & 1;
        mixture_.add(world, truth_);
        lowest_ = world;
    }
    mixture_.settle(1);
    update();
}

void RowEngine::restart(const std::vector<World>& worlds, std::span<const double> shares) {
    std::vector<std::vector<std::uint8_t>> truths;
    for (const World& world : worlds) {
        energy_.evaluate(world, bits_);
        for (std::size_t j = 0; j < truth_.size(); ++j) truth_[j] = bits_[j / 8] >> (j % 8) & 1;
        truths.push_back(truth_);
    }
    mixture_.restart(worlds, truths, shares);
    lowest_ = worlds.front();
    mixture_.settle(1);
    update();
}

void RowEngine::update() {
    if (mixture_.is_in_phase_1() && mixture_.missing() <= kept) {
        mixture_.finish_phase_1();
        mixture_.settle(1);
    }
    least_ = -std::numeric_limits<double>::infinity();
    rounding_ = 0;
    for (const double g : mixture_.gradient()) rounding_ += std::abs(g);
    rounding_ *= 0x1p-50;
    energy_.set(mixture_.gradient());
    if (blocks_) blocks_->set(mixture_.gradient());
}

double RowEngine::slack(double enough) const {
    return std::max(rounding_, mixture_.is_in_phase_1() ? std::min(enough, first_enough) : enough);
}

// One search for better worlds: by turns tabu search from known worlds and annealing from anywhere.
void RowEngine::attempt() {
    const std::size_t n = blocks_ ? blocks_->n_blocks() : energy_.n_variables();
    if (attempt_ % 2 == 1) {
        if (blocks_) blocks_->anneal(least_sweeps << effort_);
        else tabu_.anneal(least_sweeps << effort_);
        const double least = blocks_ ? blocks_->best_energy() : tabu_.best_energy();
        if (least < threshold_) found_.push_back({least, blocks_ ? blocks_->best() : tabu_.best()});
        return;
    }
    const World from = attempt_ == 0 ? lowest_ : cross();
    const std::size_t patience = ((is_sparse() ? n / 2 : 2 * n) + 20) << effort_;
    if (blocks_) blocks_->run(from, patience, threshold_, found_);
    else tabu_.run(from, patience, threshold_, found_);
}

// A world that has each variable, or each block, from one of two of the mixture.
World RowEngine::cross() {
    std::vector<std::size_t> worlds;
    for (std::size_t i = 0; i < mixture_.size(); ++i)
        if (mixture_.is_world(i)) worlds.push_back(i);
    World world = mixture_.world(worlds[random_.below(worlds.size())]);
    const World& other = mixture_.world(worlds[random_.below(worlds.size())]);
    if (blocks_) {
        blocks_->mix(world, other, random_);
        return world;
    }
    for (std::size_t v = 0; v < world.size(); ++v)
        if (random_.next() >> 63) world[v] = other[v];
    return world;
}

bool RowEngine::search(Deadline deadline, int effort, double enough, double worth) {
    while (effort_ <= effort) {
        if (std::chrono::steady_clock::now() >= deadline) return false;
        threshold_ = mixture_.level() - slack(enough);
        attempt();
        if (++attempt_ < round && (is_sparse() || found_.size() < batch)) continue;
        attempt_ = 0;
        const std::size_t found = found_.size();
        const double before = mixture_.objective();
        const bool first = mixture_.is_in_phase_1();
        const bool better = found > 0 && take(batch) && (first || before - mixture_.objective() >= worth);
        found_.clear();
        if (!better || (found < round / 2 && effort_ < effort)) ++effort_;
    }
    mixture_.settle(refinements);
    update();
    return true;
}

// Takes in the lowest of the worlds found; false where none is new.
bool RowEngine::take(std::size_t most) {
    auto found = std::exchange(found_, {});
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.energy < b.energy; });
    lowest_ = found.front().world;
    std::size_t taken = 0;
    for (std::size_t i = 0; i < found.size() && taken < most; ++i) {
        if (i > 0 && found[i].world == found[i - 1].world) continue;
        energy_.evaluate(found[i].world, bits_);
        for (std::size_t j = 0; j < truth_.size(); ++j) truth_[j] = bits_[j / 8] >> (j % 8) & 1;
        taken += mixture_.add(found[i].world, truth_);
    }
    if (taken == 0) return false;
    mixture_.settle(0);
    update();
    return true;
}

// The least energy of all worlds. Leaves the world in `found_`, where others that improve may follow.
double RowEngine::find_best() {
    World world;
    const double least = minimise(mixture_.gradient(), world);
    found_.assign(1, {least, std::move(world)});
    if (!space_) return least;
    for (World& other : space_elimination_->others(threshold_, many - 1)) {
        const double value = energy_.value(other);
        found_.push_back({value, std::move(other)});
    }
    return least;
}

double RowEngine::minimise(std::span<const double> coefficients, World& world) {
    if (!space_) {
        if (!elimination_) elimination_ = std::make_unique<Elimination>(energy_.events());
        elimination_->minimise(coefficients, world);
    } else {
        if (!space_elimination_) space_elimination_ = std::make_unique<SpaceElimination>(energy_.events(), *space_);
        space_elimination_->minimise(coefficients, world);
    }
    energy_.evaluate(world, bits_);
    double sum = 0;
    for (std::size_t j = 0; j < truth_.size(); ++j) sum += bits_[j / 8] >> (j % 8) & 1 ? coefficients[j] : 0.0;
    return sum;
}

bool RowEngine::eliminate(Deadline deadline, double enough) {
    for (int pass = 0;; ++pass) {
        std::size_t idle = 0;
        double before = std::numeric_limits<double>::infinity();
        for (;;) {
            if (std::chrono::steady_clock::now() >= deadline) return false;
            threshold_ = mixture_.level() - slack(enough);
            const double best = find_best();
            least_ = best;
            if (!(best < threshold_) || idle > most_idle + mixture_.prices().size()) break;
            const bool first = mixture_.is_in_phase_1();
            if (!take(many)) break;
            const bool better = first != mixture_.is_in_phase_1() || mixture_.objective() < before - rounding_;
            idle = better ? 0 : idle + 1;
            if (better) before = mixture_.objective();
        }
        if (pass == refinements || enough > rounding_ || mixture_.is_in_phase_1()) return true;
        mixture_.settle(1);
        update();
    }
}

}  // namespace coherently
