#include "coherently/linear/normal_system.hpp"

#include <algorithm>
#include <cmath>

#include "linear/dot.hpp"

namespace coherently {
namespace {

constexpr std::size_t block = 32;  // rows of the matrix that stay in the cache

}  // namespace

NormalSystem::NormalSystem(std::span<const double> ways, std::span<const double> diagonal)
    : n_(diagonal.size()), matrix_(n_ * n_) {
    for (std::size_t i = 0; i < n_; ++i) matrix_[i * n_ + i] = diagonal[i];
    add_products(ways);
    factor_ = matrix_;
    factorise();
}

// Fills the upper triangle, four ways at a time, then mirrors it.
void NormalSystem::add_products(std::span<const double> ways) {
    const std::size_t count = n_ == 0 ? 0 : ways.size() / n_;
    for (std::size_t first = 0; first < n_; first += block) {
        const std::size_t last = std::min(n_, first + block);
        std::size_t t = 0;
        for (; t + 4 <= count; t += 4) {
            const double *a = &ways[t * n_], *b = a + n_, *c = b + n_, *d = c + n_;
            for (std::size_t i = first; i < last; ++i) {
                const double p = a[i], q = b[i], r = c[i], s = d[i];
                if (p == 0 && q == 0 && r == 0 && s == 0) continue;
                double* row = &matrix_[i * n_];
                for (std::size_t j = i; j < n_; ++j) row[j] += (p * a[j] + q * b[j]) + (r * c[j] + s * d[j]);
            }
        }
        for (; t < count; ++t) {
            const double* a = &ways[t * n_];
            for (std::size_t i = first; i < last; ++i)
                for (std::size_t j = i; j < n_; ++j) matrix_[i * n_ + j] += a[i] * a[j];
        }
    }
    for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t j = 0; j < i; ++j) matrix_[i * n_ + j] = matrix_[j * n_ + i];
}

void NormalSystem::factorise() {
    for (std::size_t i = 0; i < n_ && definite_; ++i) {
        double* row = &factor_[i * n_];
        for (std::size_t j = 0; j < i; ++j) row[j] = (row[j] - dot(row, &factor_[j * n_], j)) / factor_[j * n_ + j];
        const double pivot = row[i] - dot(row, row, i);
        definite_ = pivot > 0;
        row[i] = std::sqrt(pivot);
    }
}

std::vector<double> NormalSystem::solve(std::span<const double> right) const {
    std::vector<double> x(right.begin(), right.end());
    for (std::size_t i = 0; i < n_; ++i) x[i] = (x[i] - dot(&factor_[i * n_], x.data(), i)) / factor_[i * n_ + i];
    for (std::size_t i = n_; i-- > 0;) {
        const double value = x[i] /= factor_[i * n_ + i];
        const double* row = &factor_[i * n_];
        for (std::size_t j = 0; j < i; ++j) x[j] -= value * row[j];
    }
    return x;
}

std::vector<double> NormalSystem::multiply(std::span<const double> x) const {
    std::vector<double> product(n_);
    for (std::size_t i = 0; i < n_; ++i) product[i] = dot(&matrix_[i * n_], x.data(), n_);
    return product;
}

}  // namespace coherently
