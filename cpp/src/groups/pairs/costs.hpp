// What a group costs as a function of the probabilities a and b of its two variables, once the probability m of their
// conjunction is chosen best: a quadratic that always counts, and curvature * (m - free)^2 where the free choice of m,
// which is affine in a and b, is not possible.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "groups/pairs/kinks.hpp"

namespace coherently {

// A literal is twice a variable's number, plus 1 for its complement.
inline std::size_t variable_of(std::int32_t literal) { return static_cast<std::size_t>(literal >> 1); }
inline double sign_of(std::int32_t literal) { return 1 - 2 * (literal & 1); }

// An event about two variables; `form` is its truth table.
struct PairEvent {
    double weight, target;
    std::int32_t first, second;  // variables, numbered by the problem
    std::int32_t coordinate;     // where the answer goes
    std::int32_t form;
};

// The probability of an event is on_both * m + on_first * a + on_second * b; it is false where a and b both are.
struct Coefficients {
    double on_both, on_first, on_second;
};

inline Coefficients coefficients_of(std::int32_t form) {
    switch (form) {
        case 0b1000: return {1, 0, 0};   // a & b
        case 0b0010: return {-1, 1, 0};  // a & ~b
        case 0b0100: return {-1, 0, 1};  // ~a & b
        case 0b1110: return {-1, 1, 1};  // a | b
        default: return {-2, 1, 1};      // a ^ b
    }
}

// What is left of a group's cost where it has a curvature: the value and derivatives in a and b.
struct Local {
    double value, ga, gb, haa, hab, hbb;
};

// Only its value and gradient; where two pieces meet, half of each.
struct Slope {
    double value, ga, gb;
};

// One event that is a conjunction of two literals, or the complement of one: a and b are the probabilities of the
// literals, m that of the conjunction, and the free choice of m is the target.
struct Single {
    using Kinks = Kink;

    double curvature, free;
    std::int32_t first, second;  // literals
    std::int32_t coordinate;

    explicit Single(const PairEvent& event)
        : curvature(event.weight),
          free(event.form == 0b1110 ? 1 - event.target : event.target),
          first(2 * event.first + (event.form == 0b0100 || event.form == 0b1110)),
          second(2 * event.second + (event.form == 0b0010 || event.form == 0b1110)),
          coordinate(event.coordinate) {}

    static bool fits(const PairEvent& event) {
        return event.form != 0b0110 && event.weight > 0 && event.target >= 0 && event.target <= 1;
    }

    double free_at(double, double) const { return free; }
    static Kinks sides(double a, double b) { return {side_of(b - a), false}; }
    static bool held(const Kinks& kink) { return kink.held; }
    static bool differ(const Kinks& kink, const Kinks& other) { return kink.share != other.share; }

    // How far inside its bounds the free choice is; negative where it is outside, and costs. The free
    // choice itself is always at least 0.
    double slack(double a, double b) const { return std::min(std::min(a, b) - free, free - (a + b - 1)); }

    // How far a and b may move, together, while the cost stays the same quadratic; kinks are rounded on a width.
    double margin(double a, double b, double width) const {
        const double excess = a + b - 1 - free, room = std::min(a, b) - free;
        if (excess > 0) return excess;
        return room > 0 ? std::min(room, -excess) : std::min(-room, std::abs(b - a) - width);
    }

    double update(Kinks& kink, double a, double b, double k) const {
        if (free < a + b - 1) return 0;
        return settle(kink, b - a, 2 * curvature * (free - kink.share * a - (1 - kink.share) * b), k);
    }

    void hold(Kinks& kink, double a, double b, double width) const {
        const Share found = rounded_share(kink, b - a, width);
        kink = {found.value, found.bend > 0 && slack(a, b) < 0};
    }

    // Without branches, because the piece cannot be predicted.
    Slope slope(double a, double b) const {
        const double above = std::max(0.0, a + b - 1 - free), below = std::max(0.0, free - std::min(a, b));
        const double share = 0.5 * ((a < b) + (a <= b)), c = 2 * curvature;
        return {curvature * (above * above + below * below), c * (above - share * below),
                c * (above - (1 - share) * below)};
    }

    Local local(const Kinks& kink, double a, double b, double width, double k, Mode mode) const {
        const double c = curvature, excess = a + b - 1 - free;
        if (excess > 0) return {c * excess * excess, 2 * c * excess, 2 * c * excess, 2 * c, 2 * c, 2 * c};
        const Share s = share_of(kink, b - a, width, mode);
        const double away = s.value - kink.share, round = mode == Mode::rounded ? 0.5 * width * away * away : 0;
        const double d = free - s.value * a - (1 - s.value) * b - round;
        if (d <= 0) return {};
        const double ta = s.value, tb = 1 - s.value, bend = 2 * c * d * s.bend;
        if (mode != Mode::held || !kink.held) k = 0;
        return {c * d * d + 0.5 * k * (a - b) * (a - b),
                -2 * c * d * ta + k * (a - b),
                -2 * c * d * tb - k * (a - b),
                2 * c * ta * ta + bend + k,
                2 * c * ta * tb - bend - k,
                2 * c * tb * tb + bend + k};
    }
};

// Any events about two variables: the sum of c (g m + e a + f b - q)^2.
struct Several {
    using Kinks = TwoKinks;

    double curvature = 0, free = 0, free_a = 0, free_b = 0;
    std::int32_t first, second;  // literals, none of them a complement
    std::int32_t number;         // among the problem's groups of this kind

    Several(std::span<const PairEvent> events, std::int32_t number)
        : first(2 * events[0].first), second(2 * events[0].second), number(number) {
        for (const PairEvent& event : events) {
            const auto [m, a, b] = coefficients_of(event.form);
            curvature += event.weight * m * m;
            free += event.weight * m * event.target, free_a -= event.weight * m * a, free_b -= event.weight * m * b;
        }
        const double scale = curvature > 0 ? 1 / curvature : 0;
        free *= scale, free_a *= scale, free_b *= scale;
        if (curvature == 0) free = -0.25, free_a = free_b = 0.5;
    }

    double free_at(double a, double b) const { return free + free_a * a + free_b * b; }
    static Kinks sides(double a, double b) { return {{side_of(b - a), false}, {side_of(a + b - 1), false}}; }
    static bool held(const Kinks& kinks) { return kinks.upper.held || kinks.lower.held; }
    static bool differ(const Kinks& kinks, const Kinks& other) {
        return kinks.upper.share != other.upper.share || kinks.lower.share != other.lower.share;
    }

    double slack(double a, double b) const {
        const double m = free_at(a, b);
        return std::min(std::min(a, b) - m, m - std::max(0.0, a + b - 1));
    }

    // The free choice and the bounds each move by no more than a and b together.
    double margin(double a, double b, double width) const {
        const double m = free_at(a, b), above = m - std::min(a, b), below = std::max(0.0, a + b - 1) - m;
        if (above > 0) return std::min(0.5 * above, std::abs(b - a) - width);
        if (below > 0) return std::min(0.5 * below, std::abs(a + b - 1) - width);
        return -0.5 * std::max(above, below);
    }

    double update(Kinks& kinks, double a, double b, double k) const {
        const double m = free_at(a, b), cap = kinks.upper.share * a + (1 - kinks.upper.share) * b;
        if (m > std::min(cap, std::min(a, b))) return settle(kinks.upper, b - a, 2 * curvature * (m - cap), k);
        const double floor = kinks.lower.share * (a + b - 1);
        if (m < std::max(floor, std::max(0.0, a + b - 1)))
            return settle(kinks.lower, a + b - 1, 2 * curvature * (floor - m), k);
        return 0;
    }

    void hold(Kinks& kinks, double a, double b, double width) const {
        const Share up = rounded_share(kinks.upper, b - a, width), low = rounded_share(kinks.lower, a + b - 1, width);
        const double m = free_at(a, b);
        kinks.upper = {up.value, up.bend > 0 && m > std::min(a, b)};
        kinks.lower = {low.value, low.bend > 0 && m < std::max(0.0, a + b - 1)};
    }

    Slope slope(double a, double b) const {
        const Local exact = local(sides(a, b), a, b, 0, 0, Mode::exact);
        return {exact.value, exact.ga, exact.gb};
    }

    Local local(const Kinks& kinks, double a, double b, double width, double k, Mode mode) const {
        const double m = free_at(a, b), round = mode == Mode::rounded ? 0.5 * width : 0;
        const Share up = share_of(kinks.upper, b - a, width, mode);
        const double up_away = up.value - kinks.upper.share;
        const double above = m - up.value * a - (1 - up.value) * b - round * up_away * up_away;
        if (above > 0) {
            if (mode != Mode::held || !kinks.upper.held) k = 0;
            return outside(above, free_a - up.value, free_b - (1 - up.value), up.bend, a - b, -1, k);
        }
        const Share low = share_of(kinks.lower, a + b - 1, width, mode);
        const double low_away = low.value - kinks.lower.share;
        const double below = m - low.value * (a + b - 1) + round * low_away * low_away;
        if (below >= 0) return {};
        if (mode != Mode::held || !kinks.lower.held) k = 0;
        return outside(below, free_a - low.value, free_b - low.value, -low.bend, a + b - 1, 1, k);
    }

private:
    // curvature * d^2 for d with derivatives da and db, bent along the difference that a spring pulls to 0.
    Local outside(double d, double da, double db, double bend, double difference, double sign, double k) const {
        const double c = 2 * curvature, force = k * difference, turn = c * d * bend + k;
        return {0.5 * (c * d * d + force * difference),
                c * d * da + force,
                c * d * db + sign * force,
                c * da * da + turn,
                c * da * db + sign * turn,
                c * db * db + turn};
    }
};

}  // namespace coherently
