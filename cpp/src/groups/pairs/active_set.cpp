#include "groups/pairs/active_set.hpp"

#include <algorithm>
#include <cmath>

namespace coherently {
namespace {

constexpr int approach_steps = 2;         // on rounded kinks, before any is held
constexpr double approach_radius = 0.35;  // where the next point is expected, relative to the last step
constexpr int return_steps = 10;          // on rounded kinks, once it is clear that they will not settle
constexpr int patience = 20;              // steps with kinks that are held
constexpr double settled = 1e-6;          // moves of a kink's share that do not count
constexpr double entangled = 0.5;         // kinks held, relative to the variables, that will not settle
constexpr int max_halvings = 40;
constexpr std::size_t factorised = 96;  // variables up to which a step factorises its matrix

}  // namespace

PairActiveSet::PairActiveSet(PairModel& model)
    : model_(model), system_(model.n), x_(model.problem.target), trial_(model.n) {}

void PairActiveSet::run(PairAnswer& answer, double tolerance, int max_iterations) {
    approach(answer, std::min(approach_steps, max_iterations), 1e-2);
    if (!settle_kinks(answer, tolerance, std::min(answer.iterations + patience, max_iterations)))
        approach(answer, std::min(answer.iterations + return_steps, max_iterations), 1e-5);
    answer.variables = x_;
}

void PairActiveSet::approach(PairAnswer& answer, int until, double enough) {
    round(x_);
    while (answer.iterations < until && !model_.is_stopped()) {
        ++answer.iterations;
        const double value = model_.function.value, decrease = system_.solve(model_.function, x_, factorised);
        if (!line_search(value, decrease) || decrease < enough * value) break;
    }
    model_.measure_give();
    model_.each_list([&](auto& list) {
        for (auto& item : list.near) {
            const auto& group = list.groups[item.number];
            group.hold(item.kinks, model_.first(group), model_.second(group), model_.width(group));
        }
    });
}

// Full Newton steps; kinks that are crossed are held shut until their multiplier says no.
bool PairActiveSet::settle_kinks(PairAnswer& answer, double tolerance, int max_iterations) {
    while (answer.iterations < max_iterations && !model_.is_stopped()) {
        ++answer.iterations;
        double moved = 0;
        std::size_t held = 0;
        model_.pass(x_, radius_, Mode::held, [&](const auto& group, auto& kinks, double a, double b) {
            moved = std::max(moved, group.update(kinks, a, b, model_.stiffness(group)));
            held += group.held(kinks);
        });
        if (static_cast<double>(held) > entangled * static_cast<double>(model_.n) + 10) return false;
        const double decrease = system_.solve(model_.function, x_, factorised);
        radius_ = step(1, x_);
        if (decrease <= tolerance * std::max(1e-3, model_.function.value) && moved < settled) return true;
    }
    return false;
}

void PairActiveSet::round(const std::vector<double>& x) {
    model_.pass(x, radius_, Mode::rounded, [](const auto&, auto&, double, double) {});
}

// Leaves the model at the new point.
bool PairActiveSet::line_search(double value, double decrease) {
    double length = 1;
    for (int halvings = 0; halvings < max_halvings; ++halvings, length *= 0.5) {
        radius_ = approach_radius * step(length, trial_);
        round(trial_);
        if (model_.function.value > value - 1e-4 * length * decrease) continue;
        x_.swap(trial_);
        return true;
    }
    return false;
}

// Returns how far the variable that moves most goes.
double PairActiveSet::step(double length, std::vector<double>& to) const {
    double largest = 0;
    for (std::size_t v = 0; v < to.size(); ++v) {
        const double change = length * system_.step[v];
        to[v] = std::clamp(x_[v] + change, 0.0, 1.0);
        largest = std::max(largest, std::abs(change));
    }
    return largest;
}

}  // namespace coherently
