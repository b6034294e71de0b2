#include "coherently/mixture/row_engine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace coherently {
namespace {

constexpr std::size_t batch = 8;        // worlds to take in at a time
constexpr std::size_t many = 64;        // the same if each costs nothing to find
constexpr std::size_t round = 8;        // searches before their worlds are taken in
constexpr std::size_t short_round = 4;  // the same on the way to a goal
constexpr std::size_t least_sweeps = 16;
constexpr std::size_t most_idle = 20;  // maximum number of idle rounds, in addition to one per pin
constexpr int refinements = 2;
constexpr double progress = 1e-2;       // the part of the way to a goal that a round must take
constexpr double kept = 1e-9;           // violation of pins at which phase 1 ends: later steps correct it
constexpr double first_enough = 1e-12;  // in phase 1

}  // namespace

RowEngine::RowEngine(EventView events, std::uint64_t seed, const Space* space, Sums pins,
                     std::vector<std::uint8_t> equal)
    : oracle_(events, space, seed, seed),
      mixture_(events.size(), std::move(pins), std::move(equal)),
      random_(seed + 1),
      bits_((events.size() + 7) / 8),
      truth_(events.size()) {}

const std::vector<std::uint8_t>& RowEngine::evaluate(const World& world) {
    oracle_.energy().evaluate(world, bits_);
    for (std::size_t j = 0; j < truth_.size(); ++j) truth_[j] = bits_[j / 8] >> (j % 8) & 1;
    return truth_;
}

void RowEngine::set(RowModel model) {
    mixture_.set(std::move(model));
    if (mixture_.size() == 0) include({oracle_.search().first()});
    mixture_.settle(1);
    update();
    begin();
}

// The next search or elimination is a new one; if a deadline stops it, the next call continues it.
void RowEngine::begin() {
    found_.clear();
    effort_ = 0, attempt_ = 0;
    passes_ = {};
}

void RowEngine::include(const std::vector<World>& worlds) {
    for (const World& world : worlds) {
        mixture_.add(world, evaluate(world));
        lowest_ = world;
    }
    mixture_.settle(1);
    update();
    begin();
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
    oracle_.set(mixture_.gradient());
}

double RowEngine::slack(double enough) const {
    return std::max(rounding_, mixture_.is_in_phase_1() ? std::min(enough, first_enough) : enough);
}

// One search for better worlds: alternately tabu search from known worlds and annealing from random ones.
void RowEngine::attempt() {
    WorldSearch& search = oracle_.search();
    if (attempt_ % 2 == 1) {
        search.anneal(least_sweeps << effort_);
        if (search.best_energy() < threshold_) found_.push_back({search.best_energy(), search.best()});
        return;
    }
    const std::size_t patience = (search.is_sparse() ? search.size() / 2 : 2 * search.size()) + 20;
    search.run(attempt_ == 0 ? lowest_ : cross(), patience << effort_, threshold_, found_);
}

// A world that has each variable, or each block, from one of two of the mixture.
World RowEngine::cross() {
    std::vector<std::size_t> worlds;
    for (std::size_t i = 0; i < mixture_.size(); ++i)
        if (mixture_.is_world(i)) worlds.push_back(i);
    World world = mixture_.world(worlds[random_.below(worlds.size())]);
    oracle_.search().cross(world, mixture_.world(worlds[random_.below(worlds.size())]), random_);
    return world;
}

bool RowEngine::search(Deadline deadline, double enough, int effort, double worth, double goal) {
    while (effort_ <= effort && (mixture_.is_in_phase_1() || mixture_.objective() > goal)) {
        if (has_passed(deadline)) return false;
        threshold_ = mixture_.level() - slack(enough);
        attempt();
        const std::size_t searches = std::isfinite(goal) ? short_round : round;
        if (++attempt_ < searches && (oracle_.search().is_sparse() || found_.size() < batch)) continue;
        attempt_ = 0;
        const std::size_t found = found_.size();
        const double before = mixture_.objective();
        const bool first = mixture_.is_in_phase_1();
        bool better = found > 0 && take(batch);
        if (better && first) {
            count_idle(first);
            better = !is_idle();
        } else if (better) {
            const double due = std::isfinite(goal) ? std::max(worth, progress * (before - goal)) : worth;
            better = before - mixture_.objective() >= due;
        }
        found_.clear();
        if (!better || (found < searches / 2 && effort_ < effort)) ++effort_;
    }
    mixture_.settle(refinements);
    update();
    return true;
}

// Takes in the lowest of the worlds found; false if none is new.
bool RowEngine::take(std::size_t most) {
    auto found = std::exchange(found_, {});
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.energy < b.energy; });
    lowest_ = found.front().world;
    std::size_t taken = 0;
    for (std::size_t i = 0; i < found.size() && taken < most; ++i) {
        if (i > 0 && found[i].world == found[i - 1].world) continue;
        taken += mixture_.add(found[i].world, evaluate(found[i].world));
    }
    if (taken == 0) return false;
    mixture_.settle(0);
    update();
    return true;
}

// The least energy of all worlds. Leaves the world in `found_`, where others that improve may follow.
double RowEngine::find_best() {
    found_.assign(1, minimise(mixture_.gradient()));
    const double least = found_[0].energy;
    for (World& other : oracle_.elimination().others(threshold_, many - 1)) {
        const double value = oracle_.energy().value(other);
        found_.push_back({value, std::move(other)});
    }
    return least;
}

Found RowEngine::minimise(std::span<const double> coefficients) {
    World world = oracle_.elimination().minimise(coefficients);
    evaluate(world);
    double sum = 0;
    for (std::size_t j = 0; j < truth_.size(); ++j) sum += truth_[j] ? coefficients[j] : 0.0;
    return {sum, std::move(world)};
}

bool RowEngine::eliminate(Deadline deadline, double enough) {
    while (!has_passed(deadline)) {
        if (improve(enough)) continue;
        if (passes_.done == refinements || enough > rounding_ || mixture_.is_in_phase_1()) {
            passes_ = {};
            return true;
        }
        passes_ = {passes_.done + 1};
        mixture_.settle(1);
        update();
    }
    return false;
}

// Takes in the best of all worlds; false if it is not better, or has not been for long.
bool RowEngine::improve(double enough) {
    threshold_ = mixture_.level() - slack(enough);
    const double best = find_best();
    least_ = best;
    if (!(best < threshold_) || is_idle()) return false;
    const bool first = mixture_.is_in_phase_1();
    if (!take(many)) return false;
    count_idle(first);
    return true;
}

// Worlds that change nothing may be taken in and dropped for ever, in phase 1 above all.
void RowEngine::count_idle(bool was_in_phase_1) {
    const bool better = was_in_phase_1 != mixture_.is_in_phase_1() || mixture_.objective() < passes_.before - rounding_;
    passes_.idle = better ? 0 : passes_.idle + 1;
    if (better) passes_.before = mixture_.objective();
}

bool RowEngine::is_idle() const { return passes_.idle > most_idle + mixture_.prices().size(); }

}  // namespace coherently
