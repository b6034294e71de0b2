// What one forecast loses, and the planes below it.
//
// A forecast t of E given H loses N h d(r, t) with r = u / h, where u and h are the probabilities of E & H and H; of an
// event that is not conditional, h = 1. With n = h - u this is homogeneous in (u, n), so that the plane which touches
// it at any ratio r has no constant: it is yes(r) u + no(r) n, with
//
//     yes(r) = d(r) + (1 - r) d'(r),   no(r) = d(r) - r d'(r).
//
//     Brier:     d = (r - t)^2,                 yes = (r - t)(2 - r - t),       no = -(r - t)(r + t),       d'' = 2
//     log:       d = relative entropy,          yes = ln(r / t),                no = ln((1 - r) / (1 - t)), d'' = 1 /
//     r(1 - r) spherical: d = phi(r) - (r, 1 - r)(t, 1 - t) / phi(t),
//                yes = r / phi(r) - t / phi(t), no = (1 - r) / phi(r) - (1 - t) / phi(t),                   d'' =
//                phi^-3
//
// with phi(r) = |(r, 1 - r)|.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace coherently {

enum class ForecastLoss : std::uint8_t { brier, log, spherical };

// A ratio and its complement, each with its own relative precision.
struct Ratio {
    double yes, no;
};

// The values of the plane where E & H holds and where only H does.
struct TouchingPlane {
    double yes, no;
};

// ln(x / p) for x > 0, without cancellation where both are nearly equal.
inline double log_ratio(double x, double p) {
    const double apart = x - p;
    return std::abs(apart) < 0.5 * p ? std::log1p(apart / p) : std::log(x / p);
}

// x ln(x / p) - x + p, which is never negative.
inline double relative_entropy(double x, double p) { return x > 0 ? std::max(0.0, x * log_ratio(x, p) - (x - p)) : p; }

inline double divergence(ForecastLoss loss, Ratio r, double t) {
    const double apart = r.yes - t;
    if (loss == ForecastLoss::brier) return apart * apart;
    if (loss == ForecastLoss::log) return relative_entropy(r.yes, t) + relative_entropy(r.no, 1 - t);
    const double phi_r = std::hypot(r.yes, r.no), phi_t = std::hypot(t, 1 - t);
    return apart * apart / (phi_t * (phi_r * phi_t + r.yes * t + r.no * (1 - t)));
}

inline TouchingPlane touching_plane(ForecastLoss loss, Ratio r, double t) {
    const double apart = r.yes - t;
    if (loss == ForecastLoss::brier) return {apart * (2 - r.yes - t), -apart * (r.yes + t)};
    if (loss == ForecastLoss::log) return {log_ratio(r.yes, t), log_ratio(r.no, 1 - t)};
    const double phi_r = std::hypot(r.yes, r.no), phi_t = std::hypot(t, 1 - t);
    return {r.yes / phi_r - t / phi_t, r.no / phi_r - (1 - t) / phi_t};
}

inline double curvature(ForecastLoss loss, Ratio r) {
    if (loss == ForecastLoss::brier) return 2;
    if (loss == ForecastLoss::log) return 1 / (r.yes * r.no);
    const double phi = std::hypot(r.yes, r.no);
    return 1 / (phi * phi * phi);
}

}  // namespace coherently
