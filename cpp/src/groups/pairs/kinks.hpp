// Kinks of a group's cost: where the bound of its conjunction changes sides.
#pragma once

#include <algorithm>
#include <cmath>

namespace coherently {

constexpr double reach = 3;    // how far sides may cross and still be held, relative to what their pull can undo
constexpr double stiff = 1e4;  // springs, relative to the curvature of what they hold

// `share` is that of the side which binds where the difference of the sides is positive.
struct Kink {
    double share = 0.5;
    bool held = false;
};

struct TwoKinks {
    Kink upper, lower;  // of min(a, b) and of max(0, a + b - 1)
};

// How kinks are treated: as they are, held by springs, or rounded off.
enum class Mode { exact, held, rounded };

struct Share {
    double value, bend;
};

inline double side_of(double difference) { return difference > 0 ? 1 : difference < 0 ? 0 : 0.5; }

inline Share rounded_share(const Kink& kink, double difference, double width) {
    const double share = kink.share + difference / width;
    if (share <= 0) return {0, 0};
    if (share >= 1) return {1, 0};
    return {share, 1 / width};
}

inline Share share_of(const Kink& kink, double difference, double width, Mode mode) {
    if (mode == Mode::rounded) return rounded_share(kink, difference, width);
    return {mode == Mode::exact || kink.held || difference == 0 ? kink.share : side_of(difference), 0};
}

// Moves a kink to its present side, holds it shut if its sides have just crossed, or releases it if the multiplier of
// its spring, of stiffness k, leaves (0, 1). `pull` is the force that the sides share. Returns how far the
// share moved.
inline double settle(Kink& kink, double difference, double pull, double k) {
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

}  // namespace coherently
