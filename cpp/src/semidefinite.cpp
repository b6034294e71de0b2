#include "semidefinite.hpp"

#include <algorithm>
#include <cmath>

#include "coherently/random.hpp"


namespace coherently {
namespace {

constexpr int most_sweeps = 200;

// Whether A - diag(y) + shift is positive definite.
bool is_convex(const std::vector<double>& matrix, const std::vector<double>& y, double shift, std::vector<double>& factor) {
    const std::size_t n = y.size();
    factor.resize(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double rest = i == j ? shift - y[i] : matrix[i * n + j];
            const double *a = &factor[i * n], *b = &factor[j * n];
            double sums[4] = {};
            std::size_t k = 0;
            for (; k + 4 <= j; k += 4)
                for (std::size_t l = 0; l < 4; ++l) sums[l] += a[k + l] * b[k + l];
            for (; k < j; ++k) sums[0] += a[k] * b[k];
            rest -= (sums[0] + sums[1]) + (sums[2] + sums[3]);
            if (i == j && !(rest > 0)) return false;
            factor[i * n + j] = i == j ? std::sqrt(rest) : rest / factor[j * n + j];
        }
    }
    return true;
}

// Unit vectors v_0 .. v_n, v_0 standing for the field, moved one at a time against the pull of the others.
class Mixing {
public:
    Mixing(const std::vector<double>& matrix, const std::vector<double>& field, std::uint64_t seed)
        : matrix_(matrix),
          field_(field),
          n_(field.size()),
          width_(static_cast<std::size_t>(std::sqrt(2.0 * static_cast<double>(n_ + 1))) + 2),
          vectors_((n_ + 1) * width_),
          pull_(width_),
          strength_(n_ + 1) {
        Random random(seed);
        for (double& value : vectors_) value = 2 * random.uniform() - 1;
        for (std::size_t i = 0; i <= n_; ++i) scale(vector(i));
    }

    // The length of the pull on each vector but v_0 when the objective hardly changes any more.
    std::vector<double> run(double steady) {
        double before = 0;
        for (int sweep = 0; sweep < most_sweeps; ++sweep) {
            double total = 0;
            for (std::size_t i = 0; i <= n_; ++i) total += strength_[i] = turn(i);
            if (sweep > 0 && std::abs(total - before) <= steady * total) break;
            before = total;
        }
        return {strength_.begin() + 1, strength_.end()};
    }

private:
    double* vector(std::size_t i) { return &vectors_[i * width_]; }
    double scale(double* v) const {
        double length = 0;
        for (std::size_t k = 0; k < width_; ++k) length += v[k] * v[k];
        length = std::sqrt(length);
        if (length > 0)
            for (std::size_t k = 0; k < width_; ++k) v[k] /= length;
        return length;
    }
    void add(double factor, const double* v) {
        for (std::size_t k = 0; k < width_; ++k) pull_[k] -= factor * v[k];
    }
    double turn(std::size_t i) {
        std::fill(pull_.begin(), pull_.end(), 0.0);
        if (i == 0) {
            for (std::size_t j = 0; j < n_; ++j) add(0.5 * field_[j], vector(j + 1));
        } else {
            add(0.5 * field_[i - 1], vector(0));
            const double* row = &matrix_[(i - 1) * n_];
            for (std::size_t j = 0; j < n_; ++j)
                if (row[j] != 0) add(row[j], vector(j + 1));
        }
        const double length = scale(pull_.data());
        if (length > 0) std::copy(pull_.begin(), pull_.end(), vector(i));
        return length;
    }

    const std::vector<double>&matrix_, &field_;
    std::size_t n_, width_;
    std::vector<double> vectors_, pull_, strength_;
};

}  // namespace

std::vector<double> best_diagonal(const std::vector<double>& matrix, const std::vector<double>& field,
                                  double steady, std::uint64_t seed) {
    std::vector<double> y = Mixing(matrix, field, seed).run(steady), factor;
    double largest = 0;
    for (double& value : y) largest = std::max(largest, value), value = -value;
    if (largest == 0) return y;
    double low = 0, shift = 1e-3 * largest;
    for (; !is_convex(matrix, y, shift, factor); shift *= 4) low = shift;
    while (shift - low > 0.3 * shift && shift > 1e-7 * largest) {
        const double middle = low > 0 ? 0.5 * (low + shift) : 0.1 * shift;
        (is_convex(matrix, y, middle, factor) ? shift : low) = middle;
    }
    for (double& value : y) value -= shift;
    return y;
}

}  // namespace coherently
