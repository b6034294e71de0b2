// Definitions for both parts of the annealer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace coherently {

// The change of energy by a move that breaks a law.
inline constexpr std::int64_t forbidden = std::numeric_limits<std::int64_t>::max();

// A power of two, so that scaling is exact, with room for the energy of the worst worlds.
inline double quanta_for(double total) {
    int exponent;
    std::frexp(total, &exponent);
    return std::ldexp(1.0, std::min(60 - exponent, 1000));
}

}  // namespace coherently
