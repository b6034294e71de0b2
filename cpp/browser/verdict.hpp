// Whether the forecasts of one judge, or the panel's means, are coherent, and how far they are from that.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "browser/answer.hpp"

namespace coherently::browser {

enum class Status : std::uint8_t { coherent, rounding, incoherent };

struct Verdict {
    Status status = Status::coherent;
    double distance = 0;  // Euclidean; squares of conditional forecasts count by the probability of their condition
    std::string trouble;  // why nothing is known, if so
};

// `slack` is the largest rounding error of each forecast.
Verdict verdict(const Logic& logic, std::span<const Forecast> forecasts, std::span<const double> slack);

// The largest rounding error of numbers that have 3 to 11 decimals, half a unit of the last; 0 for others.
double half_unit(std::span<const double> numbers);

}  // namespace coherently::browser
