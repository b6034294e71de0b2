#include "groups/pairs/interior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace coherently {
namespace {

constexpr int max_iterations = 100;
constexpr std::size_t factorised = 4000;  // variables up to which a step factorises its matrix
constexpr double lag = 0.2;               // minimum of the barrier, relative to the mean product
constexpr double facet[4][3] = {{-1, 1, 0}, {-1, 0, 1}, {1, 0, 0}, {1, -1, -1}};  // in m, a, b

void slacks(double m, double a, double b, double* s) { s[0] = a - m, s[1] = b - m, s[2] = m, s[3] = m - a - b + 1; }

}  // namespace

PairInterior::PairInterior(PairModel& model)
    : model_(model), system_(model.n), sure_(model.n), x_(model.n, 0.5), interior_(model.n, 0.5) {}

void PairInterior::run(PairAnswer& answer, double radius, double tolerance) {
    begin(answer.variables, radius);
    double best = std::numeric_limits<double>::infinity();
    for (int iteration = 0; iteration < max_iterations && best > tolerance; ++iteration, ++answer.iterations) {
        if (model_.is_stopped()) return;
        assemble();
        system_.solve(model_.function, interior_, factorised);
        const double length = std::min(1.0, 0.995 * longest_step());
        move(length);
        const double gap = relative_gap();
        if (!std::isfinite(gap)) return;
        if (gap < best) best = gap, keep(answer);
        // Where multipliers and slacks vanish together their products fall slowly; a barrier far below them would harm.
        barrier_ = std::max(barrier_ * (length > 0.9 ? 0.1 : length > 0.5 ? 0.4 : 0.9), lag * complementarity());
    }
}

void PairInterior::keep(PairAnswer& answer) {
    for (std::size_t v = 0; v < model_.n; ++v) answer.variables[v] = std::clamp(x_[v], 0.0, 1.0);
    for (std::size_t k = 0; k < states_.size(); ++k) std::copy_n(states_[k].z, 4, multipliers_[k].begin());
}

void PairInterior::begin(const std::vector<double>& at, double radius) {
    model_.move_anew(at, radius);
    model_.each_list([&](const auto& list) {
        for (const auto& item : list.near) states_.emplace_back(list.groups[item.number]);
    });
    double weight = 0;
    for (const State& state : states_) weight += state.curvature;
    barrier_ = 0.01 * weight / static_cast<double>(std::max<std::size_t>(1, states_.size()));
    for (State& state : states_) std::fill_n(state.z, 4, barrier_ / 0.25);
    multipliers_.resize(states_.size());
    sure_ = model_.sure();
    std::vector<double> moved(model_.n);
    for (std::size_t v = 0; v < model_.n; ++v) moved[v] = x_[v] - at[v];
    sure_.carry(moved);
}

// The group's Lagrangian, least over m, is convex in (a, b) and below its cost.
void PairInterior::add_minorant(const State& state, const double* z, const std::vector<double>& x, LinearBound& bound) {
    if (state.curvature == 0) return;
    const double a = literal_at(x, state.first), b = literal_at(x, state.second);
    const double away = -(z[0] + z[1] - z[2] - z[3]) / (2 * state.curvature), m = state.free_at(a, b) + away;
    const double cost = state.curvature * away * away, slope = -2 * state.curvature * away;
    bound.add(state, x,
              {cost - z[0] * (a - m) - z[1] * (b - m) - z[2] * m - z[3] * (m - a - b + 1),
               slope * state.free_a - z[0] + z[3], slope * state.free_b - z[1] + z[3]});
}

// The gradient and second derivatives of a group with its barrier, in m, a, b.
void PairInterior::block(const State& state, double a, double b, double* g, double (*h)[3]) const {
    const double c = 2 * state.curvature, d = state.m - state.free_at(a, b);
    const double along[3] = {1, -state.free_a, -state.free_b};
    for (int j = 0; j < 3; ++j) {
        g[j] = c * d * along[j];
        for (int k = j; k < 3; ++k) h[j][k] = c * along[j] * along[k];
    }
    double s[4];
    slacks(state.m, a, b, s);
    for (int i = 0; i < 4; ++i) {
        const double inverse = 1 / s[i], weight = state.z[i] * inverse;
        for (int j = 0; j < 3; ++j) {
            g[j] -= barrier_ * inverse * facet[i][j];
            for (int k = j; k < 3; ++k) h[j][k] += weight * facet[i][j] * facet[i][k];
        }
    }
}

void PairInterior::assemble() {
    model_.function = sure_;
    for (const State& state : states_) {
        double g[3], h[3][3];
        block(state, literal_at(x_, state.first), literal_at(x_, state.second), g, h);
        const double ra = h[0][1] / h[0][0], rb = h[0][2] / h[0][0];
        const double sa = sign_of(state.first), sb = sign_of(state.second);
        model_.function.add(variable_of(state.first), variable_of(state.second), sa * (g[1] - ra * g[0]),
                            sb * (g[2] - rb * g[0]), h[1][1] - ra * h[0][1], sa * sb * (h[1][2] - ra * h[0][2]),
                            h[2][2] - rb * h[0][2]);
    }
}

// Finds each group's own step; returns how far all may go together.
double PairInterior::longest_step() {
    double longest = 1e300;
    const auto limit = [&](double value, double change) {
        if (change < 0) longest = std::min(longest, -value / change);
    };
    for (State& state : states_) {
        const double a = literal_at(x_, state.first), b = literal_at(x_, state.second);
        const double da = sign_of(state.first) * system_.step[variable_of(state.first)];
        const double db = sign_of(state.second) * system_.step[variable_of(state.second)];
        double g[3], h[3][3], s[4];
        block(state, a, b, g, h);
        state.dm = -(g[0] + h[0][1] * da + h[0][2] * db) / h[0][0];
        slacks(state.m, a, b, s);
        const double d[3] = {state.dm, da, db};
        for (int f = 0; f < 4; ++f) {
            const double ds = facet[f][0] * d[0] + facet[f][1] * d[1] + facet[f][2] * d[2];
            state.dz[f] = (barrier_ - state.z[f] * ds) / s[f] - state.z[f];
            limit(s[f], ds);
            limit(state.z[f], state.dz[f]);
        }
    }
    return longest;
}

void PairInterior::move(double length) {
    std::vector<double> moved(model_.n);
    for (std::size_t v = 0; v < model_.n; ++v) {
        moved[v] = length * system_.step[v];
        x_[v] += moved[v];
    }
    sure_.carry(moved);
    for (State& state : states_) {
        state.m += length * state.dm;
        for (int f = 0; f < 4; ++f) state.z[f] += length * state.dz[f];
    }
}

// The mean product of a slack and its multiplier.
double PairInterior::complementarity() const {
    double sum = 0;
    for (const State& state : states_) {
        double s[4];
        slacks(state.m, literal_at(x_, state.first), literal_at(x_, state.second), s);
        for (int f = 0; f < 4; ++f) sum += s[f] * state.z[f];
    }
    return sum / (4 * static_cast<double>(std::max<std::size_t>(1, states_.size())));
}

// Of the objective, if the groups away from borders are as assumed.
double PairInterior::relative_gap() const {
    double objective = sure_.value;
    LinearBound bound(model_.problem);
    bound.add(sure_, x_);
    for (const State& state : states_) {
        const double a = literal_at(x_, state.first), b = literal_at(x_, state.second);
        const double away = possible(state, a, b) - state.free_at(a, b);
        objective += state.curvature * away * away;
        add_minorant(state, state.z, x_, bound);
    }
    return (objective - bound.total()) / std::max(1e-3, objective);
}

}  // namespace coherently
