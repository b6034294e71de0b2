// Forecasts of each text, reduced to sums while they pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace coherently {

struct Tally {
    // Adds forecasts in their order: the number of the text, the probability (NaN if there is none), the weight (1 if
    // there are none), the row.
    void add(std::span<const std::int32_t> codes, std::span<const double> probability, std::span<const double> given,
             std::span<const std::int64_t> rows);

    // One entry per text: how many forecasts, the sums of w, of w p and of w p^2, and the first row.
    std::vector<std::int64_t> count, first;
    std::vector<double> weight, product, square;
};

}  // namespace coherently
