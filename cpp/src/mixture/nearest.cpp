#include "coherently/mixture/nearest.hpp"

#include <algorithm>
#include <utility>

namespace coherently {
namespace {

constexpr std::size_t batch = 8;          // worlds to take in at a time
constexpr std::size_t many = 64;          // the same if each costs nothing to find
constexpr std::size_t round = 8;          // searches before their worlds are taken in
constexpr std::size_t first_rounds = 10;  // which need not reach their part
constexpr std::size_t least_sweeps = 16;
constexpr int refinements = 2;
constexpr int patience = 8;  // rounds of elimination whose gain is lost in rounding: a gap g is worth g^2
constexpr double relative_slack = 1e-10, rounding = 1e-15;

}  // namespace

NearestMixture::NearestMixture(EventView events, std::span<const double> weight, std::span<const double> target,
                               std::uint64_t seed, const Space* space)
    : oracle_(events, space, seed, 0),
      weight_(weight),
      target_(target),
      mixture_(weight, target),
      random_(seed + 1),
      x_(events.size()),
      gradient_(events.size()),
      bits_((events.size() + 7) / 8) {
    for (const double w : weight) total_weight_ += w;
    begin();
}

void NearestMixture::begin() {
    look(std::vector<double>(x_.size(), 0.5));
    oracle_.set(gradient_);
    WorldSearch& search = oracle_.search();
    const World first = search.first();
    search.run(first, 2 * first.size(), -total_weight_, found_);
    found_.clear();
    lowest_ = search.best().empty() ? first : search.best();
    evaluate(lowest_);
    mixture_.add(lowest_, bits_);
    update();
}

void NearestMixture::update() {
    mixture_.blend(x_);
    shortfall_ = std::numeric_limits<double>::infinity();
    objective_ = look(x_);
    level_ = 0;
    for (std::size_t j = 0; j < x_.size(); ++j) level_ += gradient_[j] * x_[j];
    oracle_.set(gradient_);
}

// Half of the gradient at x; the objective.
double NearestMixture::look(std::span<const double> x) {
    double objective = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
        const double away = x[j] - target_[j];
        gradient_[j] = weight_[j] * away;
        objective += gradient_[j] * away;
    }
    return objective;
}

// With f = |x - q|^2 and g = max <x - q, x - s> over worlds s, in the metric of the weights, every coherent
// point lies beyond a hyperplane at the distance (f - g) / sqrt(f) from q.
void NearestMixture::certify(double least) {
    shortfall_ = std::min(shortfall_, std::max(0.0, level_ - least));
    const double reach = objective_ - shortfall_;
    if (reach > 0) lower_bound_ = std::max(lower_bound_, reach * reach / objective_);
}

double NearestMixture::slack() const { return relative_slack * objective_ + rounding * total_weight_; }

// One search for better worlds: alternately tabu search from known worlds and annealing from random ones.
void NearestMixture::attempt() {
    WorldSearch& search = oracle_.search();
    if (attempt_ % 2 == 1) {
        search.anneal(least_sweeps << effort_);
        if (search.best_energy() < level_ - slack()) found_.push_back({search.best_energy(), search.best()});
    } else {
        const World from = attempt_ == 0 ? lowest_ : cross();
        const std::size_t patience = (search.is_sparse() ? search.size() / 2 : 2 * search.size()) + 20;
        search.run(from, patience << effort_, level_ - slack(), found_);
    }
}

// A world that has each variable, or each block, from one of two of the mixture.
World NearestMixture::cross() {
    World world = mixture_.world(random_.below(mixture_.size()));
    oracle_.search().cross(world, mixture_.world(random_.below(mixture_.size())), random_);
    return world;
}

bool NearestMixture::search(Deadline deadline, int effort, double enough, double part, double goal) {
    while (effort_ <= effort && objective_ > goal) {
        if (has_passed(deadline)) return false;
        attempt();
        if (++attempt_ < round && (oracle_.search().is_sparse() || found_.size() < batch)) continue;
        attempt_ = 0;
        const std::size_t found = found_.size();
        const double before = objective_;
        if (rounds_++ == 0) begun_at_ = before;
        const bool better = found > 0 && take(batch) && before - objective_ >= enough * before &&
                            (rounds_ < first_rounds || before - objective_ >= part * (begun_at_ - objective_));
        found_.clear();
        if (!better || (found < round / 2 && effort_ < effort)) ++effort_;
    }
    polish();
    return true;
}

void NearestMixture::polish() {
    mixture_.refine();
    mixture_.refine();
    update();
}

// Takes in the lowest of the worlds found; false if none is new.
bool NearestMixture::take(std::size_t most) {
    auto found = std::exchange(found_, {});
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.energy < b.energy; });
    lowest_ = found.front().world;
    std::size_t taken = 0;
    for (std::size_t i = 0; i < found.size() && taken < most; ++i) {
        if (i > 0 && found[i].world == found[i - 1].world) continue;
        evaluate(found[i].world);
        taken += mixture_.add(found[i].world, bits_);
    }
    if (taken == 0) return false;
    mixture_.settle();
    update();
    return true;
}

bool NearestMixture::offer(const World& world) {
    const double energy = oracle_.energy().value(world);
    if (!(energy < level_)) return false;
    found_.assign(1, {energy, world});
    effort_ = std::min(effort_, most_effort - 2);
    return take(batch);
}

void NearestMixture::include(const std::vector<World>& worlds) {
    for (const World& world : worlds) {
        evaluate(world);
        mixture_.add(world, bits_);
    }
    mixture_.settle();
    update();
}

// The least energy of all worlds. Leaves the world in `found_`, where others that improve may follow.
double NearestMixture::find_best() {
    Elimination& elimination = oracle_.elimination();
    const Energy& energy = oracle_.energy();
    World world = elimination.minimise(gradient_);
    const double least = energy.value(world);
    found_.assign(1, {least, std::move(world)});
    for (World& other : elimination.others(level_ - slack(), many - 1)) {
        const double value = energy.value(other);
        found_.push_back({value, std::move(other)});
    }
    return least;
}

bool NearestMixture::eliminate(Deadline deadline, double goal) {
    for (;; ++pass_) {
        while (idle_ <= patience) {
            if (has_passed(deadline)) return false;
            idle_ = objective_ < before_ * (1 - rounding) ? 0 : idle_ + 1;
            before_ = objective_;
            const double least = find_best();
            certify(least);
            if (objective_ <= goal || !(least < level_ - rounding * total_weight_) || !take(many)) break;
        }
        before_ = std::numeric_limits<double>::infinity();
        idle_ = 0;
        if (pass_ == refinements || objective_ <= goal) {
            pass_ = 0;
            return true;
        }
        mixture_.refine();
        update();
    }
}

}  // namespace coherently
