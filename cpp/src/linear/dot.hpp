// The sum of products, in lanes none of which waits for another.
#pragma once

#include <cstddef>

namespace coherently {

template <std::size_t lanes = 4>
inline double dot(const double* a, const double* b, std::size_t n) {
    double sums[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (std::size_t k = 0; k < lanes; ++k) sums[k] += a[i + k] * b[i + k];
    for (; i < n; ++i) sums[0] += a[i] * b[i];
    for (std::size_t half = lanes / 2; half >= 4; half /= 2)
        for (std::size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace coherently
