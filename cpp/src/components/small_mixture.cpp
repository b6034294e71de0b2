#include "coherently/components/small_mixture.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace coherently {
namespace {

constexpr int most_steps = 60;
// The largest curvature, times the weight, in the model at the forecasts.
constexpr double mild = 200;
// The share of all worlds, evenly, in the first mixture, so that no probability is 0.
constexpr double spread = 0.02;
// A step goes at most this part of the way to where a probability, or its complement, is 0.
constexpr double inside = 0.999;
constexpr double shortest = 1e-9;
// Steps whose value differs by less than this part of the weights differ by rounding.
constexpr double steady = 1e-15;
// The shortfall, relative to the weights, after which one more step is the last; below which one that does not fall by
// half is rounding; and how many steps without that are too many.
constexpr double finished = 1e-14, standing = 1e-13;
constexpr int patience = 8;
// Half a unit in the last place.
constexpr double half_ulp = std::numeric_limits<double>::epsilon() / 2;

template <typename Work>
void for_each(std::uint64_t worlds, Work&& work) {
    for (; worlds; worlds &= worlds - 1) work(static_cast<std::size_t>(std::countr_zero(worlds)));
}

Ratio ratio_of(double joint, double rest) {
    const double whole = joint + rest;
    return {joint / whole, rest / whole};
}

}  // namespace

bool SmallMixture::solve(ForecastLoss loss, std::span<const ForecastTerm> terms, std::size_t worlds) {
    begin(loss, terms, worlds);
    if (is_alone()) return true;
    start();
    double before = std::numeric_limits<double>::infinity();
    bool polished = false;
    int idle = 0;
    for (steps_ = 1;; ++steps_) {
        touch();
        if (!std::isfinite(shortfall_)) return false;
        const double weights = total_ + largest_;
        idle = shortfall_ < 0.5 * before ? 0 : idle + 1;
        if (polished || idle > (shortfall_ <= standing * weights ? 0 : patience) || steps_ > most_steps) return true;
        // A shortfall g leaves errors of its root in probabilities, which one more step squares.
        polished = shortfall_ <= finished * weights;
        before = std::min(before, shortfall_);
        if (!step(polished)) return true;
    }
}

void SmallMixture::look_at(ForecastLoss loss, std::span<const ForecastTerm> terms, std::span<const double> shares) {
    begin(loss, terms, shares.size());
    std::copy(shares.begin(), shares.end(), share_.begin());
    touch();
}

void SmallMixture::begin(ForecastLoss loss, std::span<const ForecastTerm> terms, std::size_t worlds) {
    loss_ = loss, worlds_ = worlds, steps_ = 0, bound_ = 0;
    share_.assign(worlds, 0.0), slope_.resize(worlds), trial_.resize(worlds);
    sort_terms(terms);
}

// The nearest mixture to the probabilities of events that the shares give them is at no distance, and of few worlds.
void SmallMixture::thin(std::span<const std::uint64_t> events) {
    model_.reset(worlds_, events.size());
    for (std::size_t row = 0; row < events.size(); ++row) {
        const double x = sum(events[row]);
        for (std::size_t world = 0; world < worlds_; ++world)
            model_.column(world)[row] = (events[row] >> world & 1 ? 1 : 0) - x;
    }
    model_.minimise();
    std::copy(model_.shares().begin(), model_.shares().end(), share_.begin());
    touch();
}

// Terms whose ratio is 0 or 1 in all worlds cost each world something; all others bend.
void SmallMixture::sort_terms(std::span<const ForecastTerm> terms) {
    bent_.clear(), linear_.assign(worlds_, 0.0), total_ = largest_ = constant_ = 0;
    for (const ForecastTerm& term : terms) {
        total_ += term.weight;
        if (term.joint && term.rest) {
            bent_.push_back({term, 0, 0});
            continue;
        }
        if (term.linear) {  // a square of P(H) alone bends
            if (term.joint || term.rest) bent_.push_back({term, 0, 0});
            continue;
        }
        const Ratio settled = term.joint ? Ratio{1, 0} : Ratio{0, 1};
        const double cost = term.weight * divergence(loss_, settled, term.target);
        if (!term.conditional) {
            constant_ += cost;
            continue;
        }
        for_each(term.joint | term.rest, [&](std::size_t world) { linear_[world] += cost; });
    }
    for (const double cost : linear_) largest_ = std::max(largest_, cost);
}

// A single event that may be true or false: its forecast, exactly. A single world: itself.
bool SmallMixture::is_alone() {
    if (worlds_ == 1) {
        share_[0] = 1;
        measure(share_);
        bound_ = objective_, shortfall_ = 0;
        return true;
    }
    if (bent_.size() > 1 || largest_ > 0 || (bent_.size() == 1 && bent_[0].term.conditional)) return false;
    objective_ = bound_ = constant_, shortfall_ = 0;
    if (bent_.empty()) {
        share_[0] = 1;
        return true;
    }
    const ForecastTerm& term = bent_[0].term;
    share_[static_cast<std::size_t>(std::countr_zero(term.rest))] = 1 - term.target;
    share_[static_cast<std::size_t>(std::countr_zero(term.joint))] = term.target;
    return true;
}

// The best mixture for the model at the forecasts; where ratios of 0 and 1 have no slope, all worlds get some share.
void SmallMixture::start() {
    model_.reset(worlds_, bent_.size());
    for (std::size_t row = 0; row < bent_.size(); ++row) {
        const ForecastTerm& term = bent_[row].term;
        const double bends = term.linear ? 2 : std::min(curvature(loss_, {term.target, 1 - term.target}), mild);
        const double root = std::sqrt(term.weight * bends);
        for (std::size_t world = 0; world < worlds_; ++world) {
            const bool joint = term.joint >> world & 1, condition = joint || (term.rest >> world & 1);
            model_.column(world)[row] = root * ((joint ? 1 : 0) - (condition ? term.target : 0));
        }
    }
    std::copy(linear_.begin(), linear_.end(), model_.cost().begin());
    model_.minimise();
    std::copy(model_.shares().begin(), model_.shares().end(), share_.begin());
    const bool smooth = loss_ != ForecastLoss::log &&
                        std::none_of(bent_.begin(), bent_.end(), [](const Bent& one) { return one.term.conditional; });
    if (smooth) return;
    for (double& share : share_) share = (1 - spread) * share + spread / static_cast<double>(worlds_);
}

double SmallMixture::sum_of(std::span<const double> share, std::uint64_t worlds) {
    double sum = 0;
    for_each(worlds, [&](std::size_t world) { sum += share[world]; });
    return sum;
}

double SmallMixture::value(const ForecastTerm& term, double joint, double rest) const {
    const double whole = term.conditional ? joint + rest : 1;
    if (term.linear) {
        const double away = joint - term.target * whole;
        return term.weight * away * away;
    }
    if (!(joint + rest > 0)) return 0;
    return term.weight * whole * divergence(loss_, ratio_of(joint, rest), term.target);
}

// The objective, and the probabilities of all terms.
void SmallMixture::measure(std::span<const double> share) {
    objective_ = constant_;
    for (Bent& one : bent_) {
        one.joint = sum_of(share, one.term.joint), one.rest = sum_of(share, one.term.rest);
        objective_ += value(one.term, one.joint, one.rest);
    }
    for (std::size_t world = 0; world < worlds_; ++world) objective_ += share[world] * linear_[world];
}

double SmallMixture::value_at(std::span<const double> share) const {
    double sum = constant_;
    for (const Bent& one : bent_) sum += value(one.term, sum_of(share, one.term.joint), sum_of(share, one.term.rest));
    for (std::size_t world = 0; world < worlds_; ++world) sum += share[world] * linear_[world];
    return sum;
}

// The sum of the touching planes in each world, and the bound that follows. `margin` covers rounding: each plane's
// values are off by a few units in their last place, sums of them by as many as there are terms, and where a ratio and
// its complement do not sum to 1 exactly, the plane of a loss that is not squared may lie above it by that much of the
// weight.
void SmallMixture::touch() {
    measure(share_);
    std::copy(linear_.begin(), linear_.end(), slope_.begin());
    double constant = constant_, size = constant_ + largest_;
    for (const Bent& one : bent_) {
        const ForecastTerm& term = one.term;
        TouchingPlane plane{};
        if (term.linear) {
            const double away = one.joint - term.target * (one.joint + one.rest);
            plane = {2 * away * (1 - term.target), -2 * away * term.target};
            constant -= term.weight * away * away;
        } else {
            plane = touching_plane(loss_, ratio_of(one.joint, one.rest), term.target);
        }
        const double yes = term.weight * plane.yes, no = term.weight * plane.no;
        size += std::abs(yes) + std::abs(no);
        for_each(term.joint, [&](std::size_t world) { slope_[world] += yes; });
        for_each(term.rest, [&](std::size_t world) { slope_[world] += no; });
    }
    shortfall_ = std::numeric_limits<double>::infinity();
    if (!std::isfinite(size)) return;  // a ratio has no slope: nothing is known
    const double whole = loss_ == ForecastLoss::brier ? 0 : 8 * total_;
    const double margin = half_ulp * (static_cast<double>(bent_.size() + 16) * size + whole);
    const double least = *std::min_element(slope_.begin(), slope_.end()) + constant;
    bound_ = std::max(bound_, std::min(objective_, least - margin));
    for (double& slope : slope_) slope += constant - objective_;
    shortfall_ = std::max(0.0, objective_ - least);
}

// The model at the present shares: the slopes of the planes, and squares of u - r h with the second derivatives.
void SmallMixture::fill_model() {
    for (std::size_t row = 0; row < bent_.size(); ++row) {
        const Bent& one = bent_[row];
        const ForecastTerm& term = one.term;
        const double whole = term.conditional ? one.joint + one.rest : 1;
        const Ratio ratio = ratio_of(one.joint, one.rest);
        double root = std::sqrt(2 * term.weight), yes = ratio.no, no = -ratio.yes, neither = 0;
        if (term.linear) {
            const double away = one.joint - term.target * whole;
            yes = 1 - term.target - away, no = -term.target - away, neither = -away;
        } else {
            root = std::sqrt(term.weight * curvature(loss_, ratio) / whole);
        }
        for (std::size_t world = 0; world < worlds_; ++world) {
            const bool joint = term.joint >> world & 1, rest = term.rest >> world & 1;
            model_.column(world)[row] = root * (joint ? yes : rest ? no : neither);
        }
    }
    std::copy(slope_.begin(), slope_.end(), model_.cost().begin());
}

// How far the way to the aim may be gone: not to where a ratio, or a condition, is 0.
double SmallMixture::reach(std::span<const double> aim) const {
    for (const Bent& one : bent_) {
        const ForecastTerm& term = one.term;
        if (term.linear || (loss_ != ForecastLoss::log && !term.conditional)) continue;
        const double joint = sum_of(aim, term.joint), rest = sum_of(aim, term.rest);
        const bool vanishes = joint + rest < (1 - inside) * (one.joint + one.rest);
        const bool is_steep = loss_ == ForecastLoss::log;
        if (vanishes || (is_steep && (joint < (1 - inside) * one.joint || rest < (1 - inside) * one.rest)))
            return inside;
    }
    return 1;
}

// One step; false if rounding allows none. The last one must not make conditions impossible that are possible.
bool SmallMixture::step(bool is_last) {
    fill_model();
    model_.minimise();
    const std::span<const double> aim = model_.shares();
    if (is_last && reach(aim) < 1) return false;
    double slope = 0;
    for (std::size_t world = 0; world < worlds_; ++world) slope += slope_[world] * (aim[world] - share_[world]);
    for (double length = reach(aim); length > shortest; length *= 0.5) {
        double total = 0;
        for (std::size_t world = 0; world < worlds_; ++world) {
            trial_[world] = length == 1 ? aim[world] : share_[world] + length * (aim[world] - share_[world]);
            total += trial_[world];
        }
        for (double& share : trial_) share /= total;
        if (value_at(trial_) <= objective_ + 1e-4 * length * std::min(0.0, slope) + steady * total_) {
            std::swap(share_, trial_);
            return true;
        }
    }
    return false;
}

}  // namespace coherently
