#include "coherently/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coherently/components.hpp"
#include "newton_system.hpp"
#include "parallel.hpp"

namespace coherently {
namespace {

constexpr int approach_steps = 2;   // on rounded kinks, before the active-set method
constexpr int patience = 20;        // steps of the active-set method, before the rounded kinks come back
constexpr double reach = 3;         // how far sides may cross to be held, relative to what their pull could undo
constexpr double stiff = 1e4;       // springs, relative to the curvature of what they hold
constexpr double settled = 1e-6;    // moves of a kink's share that do not count
constexpr int max_halvings = 40;
constexpr std::size_t factorised = 96;          // variables up to which a Newton step factorises its matrix
constexpr std::size_t interior_factorised = 4000;  // the same for the interior point method, whose matrices are worse
constexpr int interior_iterations = 100;
constexpr std::size_t small_problem = 5000;  // groups

// Where a bound changes sides. `share` is that of the side which binds where the difference is positive.
struct Kink {
    double share = 0.5;
    bool held = false;
};

struct Share {
    double value, bend;
};

double side_of(double difference) { return difference > 0 ? 1 : difference < 0 ? 0 : 0.5; }

Share rounded_share(const Kink& kink, double difference, double width) {
    const double share = kink.share + difference / width;
    if (share <= 0) return {0, 0};
    if (share >= 1) return {1, 0};
    return {share, 1 / width};
}

// Value and derivatives of a group's least cost as a function of (a, b).
struct Local {
    double value, ga, gb, haa, hab, hbb;
};

// How a kink is treated: as it is, held by a spring, or rounded off.
enum class Mode { exact, held, rounded };

// Moves a kink to the side where it is, holds it shut where its sides have just crossed, or lets it go where the
// multiplier of its spring, of stiffness k, says so. `pull` is the force that the sides share. Returns how far the
// share moved.
double settle(Kink& kink, double difference, double pull, double k) {
    const double before = kink.share;
    if (kink.held) {
        const double multiplier = pull > 0 ? kink.share + k * difference / pull : -1;
        kink.share = std::clamp(multiplier, 0.0, 1.0);
        kink.held = multiplier > 0 && multiplier < 1;
    } else if (side_of(difference) != before) {
        kink.held = std::abs(difference) * k < reach * stiff * pull;
        if (!kink.held) kink.share = side_of(difference);
        return 1;
    }
    return std::abs(kink.share - before);
}

// A literal is twice a variable's number, plus 1 for its complement.
std::size_t variable_of(std::int32_t literal) { return static_cast<std::size_t>(literal / 2); }

// One event that is a conjunction of two literals, or the complement of one: c (r - q)^2 with
// max(0, a + b - 1) <= r <= min(a, b) for the probabilities a and b of the literals.
struct Single {
    std::int32_t first, second;  // literals
    double weight, target;
    Kink kink;

    Single(const PairProblem& problem, std::size_t g) {
        const PairEvent& event = problem.events[static_cast<std::size_t>(problem.starts[g])];
        const bool negate_first = event.on_second != 0, negate_second = event.on_first != 0;
        first = 2 * problem.first[g] + negate_first;
        second = 2 * problem.second[g] + negate_second;
        weight = event.weight;
        target = negated() ? 1 - event.target : event.target;
    }

    static bool fits(const PairProblem& problem, std::size_t g) {
        if (problem.starts[g + 1] - problem.starts[g] != 1) return false;
        const PairEvent& event = problem.events[static_cast<std::size_t>(problem.starts[g])];
        return std::abs(event.on_both) == 1 && event.weight > 0 && event.target >= 0 && event.target <= 1;
    }

    bool negated() const { return first & second & 1; }  // a | b is the complement of ~a & ~b
    double curvature() const { return weight; }
    void start(double a, double b) { kink.share = side_of(b - a); }
    bool slack(double a, double b) const { return target <= std::min(a, b) && target >= a + b - 1; }

    double update(double a, double b, double k) {
        if (target < a + b - 1) return 0;
        return settle(kink, b - a, 2 * weight * (target - kink.share * a - (1 - kink.share) * b), k);
    }

    void hold(double a, double b, double width) {
        const Share found = rounded_share(kink, b - a, width);
        kink = {found.value, found.bend > 0 && !slack(a, b)};
    }

    Local local(double a, double b, double width, double k, Mode mode) const {
        const double c = weight;
        if (target < a + b - 1) {
            const double excess = a + b - 1 - target;
            return {c * excess * excess, 2 * c * excess, 2 * c * excess, 2 * c, 2 * c, 2 * c};
        }
        const bool round = mode == Mode::rounded;
        const double fixed = mode == Mode::exact || kink.held || a == b ? kink.share : a < b ? 1.0 : 0.0;
        const Share s = round ? rounded_share(kink, b - a, width) : Share{fixed, 0};
        const double away = s.value - kink.share;
        const double cap = s.value * a + (1 - s.value) * b + (round ? 0.5 * width * away * away : 0);
        const double d = target - cap;
        if (d <= 0) return {};
        const double ta = s.value, tb = 1 - s.value, bend = 2 * c * d * s.bend;
        Local out{c * d * d,           -2 * c * d * ta,          -2 * c * d * tb, 2 * c * ta * ta + bend,
                  2 * c * ta * tb - bend, 2 * c * tb * tb + bend};
        if (mode == Mode::held && kink.held) {
            out.value += 0.5 * k * (a - b) * (a - b);
            out.ga += k * (a - b), out.gb -= k * (a - b);
            out.haa += k, out.hab -= k, out.hbb += k;
        }
        return out;
    }

    double exact(double a, double b, const PairProblem&, std::size_t, double* values) const {
        const double low = std::max(0.0, a + b - 1), r = std::clamp(target, low, std::max(low, std::min(a, b)));
        values[0] = negated() ? 1 - r : r;
        return weight * (r - target) * (r - target);
    }
};

// Any events about two variables: their sum of c (g m + e a + f b - q)^2 is a quadratic in (m, a, b).
struct Several {
    std::int32_t first, second;  // literals, none of them a complement
    double mm = 0, ma = 0, mb = 0, aa = 0, ab = 0, bb = 0;  // half of the second derivatives
    double m1 = 0, a1 = 0, b1 = 0, constant = 0;            // minus half of the first ones at 0
    Kink upper, lower;

    Several(const PairProblem& problem, std::size_t g) : first(2 * problem.first[g]), second(2 * problem.second[g]) {
        for (auto e = problem.starts[g]; e < problem.starts[g + 1]; ++e) {
            const PairEvent& event = problem.events[static_cast<std::size_t>(e)];
            const double c = event.weight, q = c > 0 ? event.target : 0;
            const double m = event.on_both, a = event.on_first, b = event.on_second;
            mm += c * m * m, ma += c * m * a, mb += c * m * b;
            aa += c * a * a, ab += c * a * b, bb += c * b * b;
            m1 += c * m * q, a1 += c * a * q, b1 += c * b * q, constant += c * q * q;
        }
    }

    double curvature() const { return mm; }
    double free_m(double a, double b) const { return mm > 0 ? (m1 - ma * a - mb * b) / mm : 0.5 * (a + b) - 0.25; }
    double slope(double m, double a, double b) const { return 2 * (mm * m + ma * a + mb * b - m1); }
    bool slack(double, double) const { return mm == 0; }

    double cost(double m, double a, double b) const {
        return mm * m * m + aa * a * a + bb * b * b + 2 * (ma * m * a + mb * m * b + ab * a * b) -
               2 * (m1 * m + a1 * a + b1 * b) + constant;
    }

    void start(double a, double b) {
        upper.share = side_of(b - a);
        lower.share = side_of(a + b - 1);
    }

    double update(double a, double b, double k) {
        const double free = free_m(a, b), cap = upper.share * a + (1 - upper.share) * b;
        if (free > std::min(cap, std::min(a, b))) {
            return settle(upper, b - a, -slope(cap, a, b), k);
        }
        const double floor = lower.share * (a + b - 1);
        if (free < std::max(floor, std::max(0.0, a + b - 1))) {
            return settle(lower, a + b - 1, slope(floor, a, b), k);
        }
        return 0;
    }

    void hold(double a, double b, double width) {
        const Share up = rounded_share(upper, b - a, width), low = rounded_share(lower, a + b - 1, width);
        const double free = free_m(a, b);
        upper = {up.value, up.bend > 0 && free > std::min(a, b)};
        lower = {low.value, low.bend > 0 && free < std::max(0.0, a + b - 1)};
    }

    static Share share_of(const Kink& kink, double difference, double width, Mode mode) {
        if (mode == Mode::rounded) return rounded_share(kink, difference, width);
        return {mode == Mode::exact || kink.held || difference == 0 ? kink.share : side_of(difference), 0};
    }

    Local local(double a, double b, double width, double k, Mode mode) const {
        double m = free_m(a, b), da = -ma / mm, db = -mb / mm;  // m and its derivatives
        double bend = 0, sign = 0, spring = 0;
        const double round = mode == Mode::rounded ? 0.5 * width : 0;
        const Share up = share_of(upper, b - a, width, mode);
        const double cap = up.value * a + (1 - up.value) * b + round * (up.value - upper.share) * (up.value - upper.share);
        if (m > cap) {
            m = cap, da = up.value, db = 1 - up.value, bend = -up.bend, sign = -1;
            if (mode == Mode::held && upper.held) spring = k * (a - b);
        } else {
            const Share low = share_of(lower, a + b - 1, width, mode);
            const double floor = low.value * (a + b - 1) - round * (low.value - lower.share) * (low.value - lower.share);
            if (m < floor) {
                m = floor, da = db = low.value, bend = low.bend, sign = 1;
                if (mode == Mode::held && lower.held) spring = k * (a + b - 1);
            } else {
                k = 0;
            }
        }
        if (mode != Mode::held || (sign < 0 ? !upper.held : !lower.held)) k = 0;
        const double s = slope(m, a, b);
        return {cost(m, a, b) + (k > 0 ? 0.5 * spring * spring / k : 0),
                2 * (aa * a + ab * b + ma * m - a1) + s * da + spring,
                2 * (bb * b + ab * a + mb * m - b1) + s * db + sign * spring,
                2 * (aa + 2 * ma * da + mm * da * da) + s * bend + k,
                2 * (ab + ma * db + mb * da + mm * da * db) + sign * (s * bend + k),
                2 * (bb + 2 * mb * db + mm * db * db) + s * bend + k};
    }

    double exact(double a, double b, const PairProblem& problem, std::size_t g, double* values) const {
        const double low = std::max(0.0, a + b - 1);
        const double m = std::clamp(free_m(a, b), low, std::max(low, std::min(a, b)));
        for (auto e = problem.starts[g]; e < problem.starts[g + 1]; ++e) {
            const PairEvent& event = problem.events[static_cast<std::size_t>(e)];
            *values++ = std::clamp(event.on_both * m + event.on_first * a + event.on_second * b, 0.0, 1.0);
        }
        return mm > 0 ? cost(m, a, b) : 0;
    }
};

bool is_proved(const PairAnswer& answer, double tolerance) {
    return answer.objective - answer.lower_bound <= tolerance * std::max(1e-3, answer.objective);
}

// A lower bound on the objective from a linear minorant of each group's cost.
class LinearBound {
public:
    LinearBound(std::span<const double> weight, const std::vector<double>& target)
        : weight_(weight), target_(target), force_(weight.size(), 0.0) {}

    void add(std::size_t i, std::size_t j, double a, double b, double value, double ga, double gb) {
        force_[i] += ga, force_[j] += gb;
        constant_ += value - ga * a - gb * b;
    }

    double total() const {
        double bound = constant_;
        for (std::size_t v = 0; v < force_.size(); ++v) {
            const double best = weight_[v] > 0 ? std::clamp(target_[v] - force_[v] / (2 * weight_[v]), 0.0, 1.0)
                                               : (force_[v] < 0 ? 1.0 : 0.0);
            bound += weight_[v] * (best - target_[v]) * (best - target_[v]) + force_[v] * best;
        }
        return bound;
    }

private:
    std::span<const double> weight_;
    const std::vector<double>& target_;
    std::vector<double> force_;
    double constant_ = 0;
};

template <typename Group>
class PairSolver {
public:
    explicit PairSolver(const PairProblem& problem)
        : problem_(problem), n_(problem.weight.size()), weight_(problem.weight), system_(n_, factorised), target_(n_), x_(n_), give_(n_) {
        for (std::size_t v = 0; v < n_; ++v) x_[v] = target_[v] = weight_[v] > 0 ? problem.target[v] : 0.5;
        groups_.reserve(problem.first.size());
        for (std::size_t g = 0; g < problem.first.size(); ++g) {
            groups_.emplace_back(problem, g);
            groups_.back().start(literal(x_, groups_.back().first), literal(x_, groups_.back().second));
        }
    }

    bool run(PairAnswer& answer, double tolerance, int max_iterations) {
        approach(answer, std::min(approach_steps, max_iterations));
        active_set(answer, tolerance, std::min(answer.iterations + patience, max_iterations));
        finish(answer);
        return is_proved(answer, tolerance);
    }

private:
    static double literal(const std::vector<double>& x, std::int32_t i) {
        return i & 1 ? 1 - x[variable_of(i)] : x[variable_of(i)];
    }

    // How far the two variables give way to a unit of force.
    double give(const Group& group) const { return give_[variable_of(group.first)] + give_[variable_of(group.second)]; }
    double width(const Group& group) const { return 0.2 * group.curvature() * give(group) + 1e-12; }
    double stiffness(const Group& group) const { return stiff / give(group); }

    void measure_give() {
        double largest = 0;
        for (const double value : system_.diagonal) largest = std::max(largest, value);
        for (std::size_t v = 0; v < n_; ++v) give_[v] = 1 / std::max(system_.diagonal[v], 1e-9 * largest + 1e-300);
    }

    void approach(PairAnswer& answer, int steps) {
        // A guess at the curvature: about a third of the groups pull.
        for (std::size_t v = 0; v < n_; ++v) system_.diagonal[v] = 2 * weight_[v];
        for (const Group& group : groups_)
            for (const std::int32_t i : {group.first, group.second})
                system_.diagonal[variable_of(i)] += 0.6 * group.curvature();
        measure_give();
        double value = pass(x_, Mode::rounded);
        while (answer.iterations < steps) {
            ++answer.iterations;
            const double decrease = system_.solve(x_);
            if (decrease < 1e-2 * value || !line_search(value, decrease)) break;
        }
        measure_give();
        for (Group& group : groups_) group.hold(literal(x_, group.first), literal(x_, group.second), width(group));
    }

    // Full Newton steps; kinks that are crossed are held shut until their multiplier says no.
    void active_set(PairAnswer& answer, double tolerance, int max_iterations) {
        while (answer.iterations < max_iterations) {
            ++answer.iterations;
            double moved = 0;
            const double value = pass(x_, Mode::held, [&](Group& group, double a, double b) {
                moved = std::max(moved, group.update(a, b, stiffness(group)));
            });
            const double decrease = system_.solve(x_);
            step(1, x_, x_);
            if (decrease <= tolerance * std::max(1e-3, value) && moved < settled) return;
        }
    }

    double variables_value(const std::vector<double>& x) const {
        double value = 0;
        for (std::size_t v = 0; v < n_; ++v) value += weight_[v] * (x[v] - target_[v]) * (x[v] - target_[v]);
        return value;
    }

    double pass(const std::vector<double>& x, Mode mode) {
        return pass(x, mode, [](Group&, double, double) {});
    }

    // The value at x; gradient and second derivatives go to the system. `prepare` sees each group that is not slack.
    template <typename Prepare>
    double pass(const std::vector<double>& x, Mode mode, Prepare&& prepare) {
        system_.clear();
        for (std::size_t v = 0; v < n_; ++v) {
            system_.gradient[v] = 2 * weight_[v] * (x[v] - target_[v]);
            system_.diagonal[v] = 2 * weight_[v];
        }
        set_literals(x);
        double value = variables_value(x);
        for (Group& group : groups_) {
            const double a = literals_[static_cast<std::size_t>(group.first)];
            const double b = literals_[static_cast<std::size_t>(group.second)];
            if (group.slack(a, b)) continue;
            prepare(group, a, b);
            const Local local = mode == Mode::held ? group.local(a, b, 0, stiffness(group), mode)
                                                   : group.local(a, b, width(group), 0, mode);
            value += local.value;
            const double sa = group.first & 1 ? -1 : 1, sb = group.second & 1 ? -1 : 1;
            system_.add(variable_of(group.first), variable_of(group.second), sa * local.ga, sb * local.gb, local.haa,
                        sa * sb * local.hab, local.hbb);
        }
        return value;
    }

    void set_literals(const std::vector<double>& x) {
        literals_.resize(2 * n_);
        for (std::size_t v = 0; v < n_; ++v) literals_[2 * v] = x[v], literals_[2 * v + 1] = 1 - x[v];
    }

    double value_at(const std::vector<double>& x) const {
        double value = variables_value(x);
        for (const Group& group : groups_) {
            const double a = literal(x, group.first), b = literal(x, group.second);
            if (!group.slack(a, b)) value += group.local(a, b, width(group), 0, Mode::rounded).value;
        }
        return value;
    }

    void step(double length, const std::vector<double>& from, std::vector<double>& to) const {
        for (std::size_t v = 0; v < n_; ++v) to[v] = std::clamp(from[v] + length * system_.step[v], 0.0, 1.0);
    }

    bool line_search(double& value, double decrease) {
        trial_.resize(n_);
        double length = 1;
        for (int halvings = 0; halvings < max_halvings; ++halvings, length *= 0.5) {
            step(length, x_, trial_);
            const double there = halvings == 0 ? pass(trial_, Mode::rounded) : value_at(trial_);
            if (there > value - 1e-4 * length * decrease) continue;
            x_.swap(trial_);
            value = halvings == 0 ? there : pass(x_, Mode::rounded);
            return true;
        }
        return false;
    }

    void finish(PairAnswer& answer) const {
        LinearBound bound(weight_, target_);
        answer.objective = variables_value(x_);
        answer.events.resize(problem_.events.size());
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const Group& group = groups_[g];
            const std::size_t i = variable_of(group.first), j = variable_of(group.second);
            const double a = literal(x_, group.first), b = literal(x_, group.second);
            answer.objective += group.exact(a, b, problem_, g, answer.events.data() + problem_.starts[g]);
            if (group.slack(a, b)) continue;
            const Local minorant = group.local(a, b, 0, 0, Mode::exact);
            const double sa = group.first & 1 ? -1 : 1, sb = group.second & 1 ? -1 : 1;
            bound.add(i, j, x_[i], x_[j], minorant.value, sa * minorant.ga, sb * minorant.gb);
        }
        answer.objective = std::max(0.0, answer.objective);
        answer.lower_bound = std::clamp(bound.total(), 0.0, answer.objective);
        answer.variables = x_;
    }

    const PairProblem& problem_;
    std::size_t n_;
    std::span<const double> weight_;
    NewtonSystem system_;
    std::vector<double> target_, x_, give_, trial_, literals_;
    std::vector<Group> groups_;
};

// A primal-dual interior point method, for panels whose kinks are too many and too entangled for the active set.
// Group g keeps its facets s = (a - m, b - m, m, m - a - b + 1) > 0 with multipliers z > 0.
class PairInterior {
public:
    explicit PairInterior(const PairProblem& problem)
        : problem_(problem), n_(problem.weight.size()), weight_(problem.weight), system_(n_, interior_factorised),
          target_(n_), x_(n_, 0.5) {
        for (std::size_t v = 0; v < n_; ++v) target_[v] = weight_[v] > 0 ? problem.target[v] : 0.5;
        groups_.reserve(problem.first.size());
        for (std::size_t g = 0; g < problem.first.size(); ++g) groups_.push_back({Several(problem, g)});
    }

    void run(PairAnswer& answer, double tolerance) {
        // Probabilities are off by about the root of the gap, so small problems are finished to the last digit.
        const double sharpness = groups_.size() <= small_problem ? 1e-6 : 1;
        double barrier = 0.01;
        for (State& state : groups_) std::fill_n(state.z, 4, barrier / 0.25);
        for (int iteration = 0; iteration < interior_iterations; ++iteration, ++answer.iterations) {
            assemble(barrier);
            system_.solve(interior_);
            const double length = std::min(1.0, 0.995 * longest_step(barrier));
            move(length);
            PairAnswer here;
            finish(here);
            const double gap = here.objective - here.lower_bound;
            if (!std::isfinite(gap)) return;
            if (gap < answer.objective - answer.lower_bound) {
                here.iterations = answer.iterations;
                answer = std::move(here);
            }
            if (is_proved(answer, tolerance * sharpness)) return;
            barrier *= length > 0.9 ? 0.1 : length > 0.5 ? 0.4 : 0.9;
        }
    }

private:
    struct State {
        Several form;
        double m = 0.25;
        double z[4] = {}, dz[4] = {};
        double dm = 0;
    };

    static constexpr double facet[4][3] = {{-1, 1, 0}, {-1, 0, 1}, {1, 0, 0}, {1, -1, -1}};  // in m, a, b

    static void slacks(double m, double a, double b, double* s) {
        s[0] = a - m, s[1] = b - m, s[2] = m, s[3] = m - a - b + 1;
    }

    // The gradient and second derivatives of a group with its barrier, in m, a, b.
    static void block(const State& state, double a, double b, double barrier, double* g, double (*h)[3]) {
        const Several& f = state.form;
        const double m = state.m;
        g[0] = f.slope(m, a, b);
        g[1] = 2 * (f.aa * a + f.ab * b + f.ma * m - f.a1), g[2] = 2 * (f.bb * b + f.ab * a + f.mb * m - f.b1);
        h[0][0] = 2 * f.mm, h[1][1] = 2 * f.aa, h[2][2] = 2 * f.bb;
        h[0][1] = 2 * f.ma, h[0][2] = 2 * f.mb, h[1][2] = 2 * f.ab;
        double s[4];
        slacks(m, a, b, s);
        for (int i = 0; i < 4; ++i) {
            const double inverse = 1 / s[i], weight = state.z[i] * inverse;
            for (int j = 0; j < 3; ++j) {
                g[j] -= barrier * inverse * facet[i][j];
                for (int k = j; k < 3; ++k) h[j][k] += weight * facet[i][j] * facet[i][k];
            }
        }
    }

    void assemble(double barrier) {
        interior_.assign(n_, 0.5);
        system_.clear();
        for (std::size_t v = 0; v < n_; ++v) {
            system_.gradient[v] = 2 * weight_[v] * (x_[v] - target_[v]);
            system_.diagonal[v] = 2 * weight_[v];
        }
        for (const State& state : groups_) {
            const std::size_t i = variable_of(state.form.first), j = variable_of(state.form.second);
            double g[3], h[3][3];
            block(state, x_[i], x_[j], barrier, g, h);
            const double ra = h[0][1] / h[0][0], rb = h[0][2] / h[0][0];
            system_.add(i, j, g[1] - ra * g[0], g[2] - rb * g[0], h[1][1] - ra * h[0][1], h[1][2] - ra * h[0][2],
                        h[2][2] - rb * h[0][2]);
        }
    }

    // Finds each group's own step; returns how far all may go together.
    double longest_step(double barrier) {
        double longest = 1e300;
        const auto limit = [&](double value, double change) {
            if (change < 0) longest = std::min(longest, -value / change);
        };
        for (State& state : groups_) {
            const std::size_t i = variable_of(state.form.first), j = variable_of(state.form.second);
            const double da = system_.step[i], db = system_.step[j];
            double g[3], h[3][3], s[4];
            block(state, x_[i], x_[j], barrier, g, h);
            state.dm = -(g[0] + h[0][1] * da + h[0][2] * db) / h[0][0];
            slacks(state.m, x_[i], x_[j], s);
            const double d[3] = {state.dm, da, db};
            for (int f = 0; f < 4; ++f) {
                const double ds = facet[f][0] * d[0] + facet[f][1] * d[1] + facet[f][2] * d[2];
                state.dz[f] = (barrier - state.z[f] * ds) / s[f] - state.z[f];
                limit(s[f], ds);
                limit(state.z[f], state.dz[f]);
            }
        }
        return longest;
    }

    void move(double length) {
        for (std::size_t v = 0; v < n_; ++v) x_[v] += length * system_.step[v];
        for (State& state : groups_) {
            state.m += length * state.dm;
            for (int f = 0; f < 4; ++f) state.z[f] += length * state.dz[f];
        }
    }

    void finish(PairAnswer& answer) {
        LinearBound bound(weight_, target_);
        answer.objective = 0;
        answer.events.resize(problem_.events.size());
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const State& state = groups_[g];
            const Several& f = state.form;
            const std::size_t i = variable_of(f.first), j = variable_of(f.second);
            const double a = x_[i], b = x_[j], *z = state.z;
            answer.objective += f.exact(a, b, problem_, g, answer.events.data() + problem_.starts[g]);
            // The group's Lagrangian, least over m, is convex in (a, b) and below its cost.
            const double m = f.mm > 0 ? f.free_m(a, b) - (z[0] + z[1] - z[2] - z[3]) / (2 * f.mm) : state.m;
            const double value = f.cost(m, a, b) - z[0] * (a - m) - z[1] * (b - m) - z[2] * m - z[3] * (m - a - b + 1);
            bound.add(i, j, a, b, value, 2 * (f.aa * a + f.ab * b + f.ma * m - f.a1) - z[0] + z[3],
                      2 * (f.bb * b + f.ab * a + f.mb * m - f.b1) - z[1] + z[3]);
        }
        answer.variables.resize(n_);
        for (std::size_t v = 0; v < n_; ++v) {
            answer.variables[v] = x_[v];
            answer.objective += weight_[v] * (x_[v] - target_[v]) * (x_[v] - target_[v]);
        }
        answer.objective = std::max(0.0, answer.objective);
        answer.lower_bound = std::clamp(bound.total(), 0.0, answer.objective);
    }

    const PairProblem& problem_;
    std::size_t n_;
    std::span<const double> weight_;
    NewtonSystem system_;
    std::vector<double> target_, x_, interior_;
    std::vector<State> groups_;
};

template <typename Group>
PairAnswer solve_as(const PairProblem& problem, double tolerance, int max_iterations) {
    PairAnswer answer;
    if (PairSolver<Group>(problem).run(answer, tolerance, max_iterations)) return answer;
    PairInterior(problem).run(answer, tolerance);
    return answer;
}

PairAnswer solve_component(const PairProblem& problem, double tolerance, int max_iterations) {
    bool single = true;
    for (std::size_t g = 0; single && g < problem.first.size(); ++g) single = Single::fits(problem, g);
    return single ? solve_as<Single>(problem, tolerance, max_iterations)
                  : solve_as<Several>(problem, tolerance, max_iterations);
}

// A component with arrays and numbers of its own.
struct Component {
    std::vector<std::size_t> variables, groups;
    std::vector<double> weight, target;
    std::vector<std::int32_t> first, second;
    std::vector<std::int64_t> starts{0};
    std::vector<PairEvent> events;
    PairAnswer answer;

    PairProblem problem() const { return {weight, target, first, second, starts, events}; }
};

std::vector<Component> split(const PairProblem& problem) {
    const std::size_t count = problem.first.size();
    std::vector<std::int64_t> starts(count + 1);
    std::vector<std::int32_t> ends;
    for (std::size_t g = 0; g < count; ++g) {
        starts[g + 1] = starts[g] + 2;
        ends.insert(ends.end(), {problem.first[g], problem.second[g]});
    }
    const auto label = connected_rows(starts, ends, problem.weight.size());
    std::vector<Component> parts(count ? static_cast<std::size_t>(*std::max_element(label.begin(), label.end())) + 1 : 0);
    std::vector<std::int32_t> local(problem.weight.size(), -1);
    for (std::size_t g = 0; g < count; ++g) {
        Component& part = parts[static_cast<std::size_t>(label[g])];
        for (const std::int32_t v : {problem.first[g], problem.second[g]}) {
            const auto variable = static_cast<std::size_t>(v);
            if (local[variable] >= 0) continue;
            local[variable] = static_cast<std::int32_t>(part.variables.size());
            part.variables.push_back(variable);
            part.weight.push_back(problem.weight[variable]);
            part.target.push_back(problem.target[variable]);
        }
        part.groups.push_back(g);
        part.first.push_back(local[static_cast<std::size_t>(problem.first[g])]);
        part.second.push_back(local[static_cast<std::size_t>(problem.second[g])]);
        for (auto e = problem.starts[g]; e < problem.starts[g + 1]; ++e)
            part.events.push_back(problem.events[static_cast<std::size_t>(e)]);
        part.starts.push_back(static_cast<std::int64_t>(part.events.size()));
    }
    return parts;
}

}  // namespace

PairAnswer solve_pairs(const PairProblem& problem, double tolerance, int max_iterations, unsigned threads) {
    std::vector<Component> parts = split(problem);
    in_parallel(parts.size(), threads, [&](std::size_t i) {
        parts[i].answer = solve_component(parts[i].problem(), tolerance, max_iterations);
    });
    PairAnswer whole;
    whole.variables.assign(problem.target.begin(), problem.target.end());
    whole.events.resize(problem.events.size());
    for (const Component& part : parts) {
        for (std::size_t i = 0; i < part.variables.size(); ++i)
            whole.variables[part.variables[i]] = part.answer.variables[i];
        for (std::size_t i = 0; i < part.groups.size(); ++i)
            std::copy(part.answer.events.begin() + part.starts[i], part.answer.events.begin() + part.starts[i + 1],
                      whole.events.begin() + problem.starts[part.groups[i]]);
        whole.objective += part.answer.objective;
        whole.lower_bound += part.answer.lower_bound;
        whole.iterations = std::max(whole.iterations, part.answer.iterations);
    }
    return whole;
}

}  // namespace coherently
