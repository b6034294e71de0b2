#include "worlds/branch/semidefinite.hpp"

#include <algorithm>
#include <cmath>

#include "coherently/random.hpp"
#include "linear/dot.hpp"

namespace coherently {
namespace {

// With unit vectors v_0 for the field and v_i for the variables, the semidefinite relaxation of min s' A s + field s is
//
//     min sum_ij A_ij <v_i, v_j> + sum_i field_i <v_0, v_i>,   |v_i| = 1.
//
// With M = [0 field'/2; field/2 A], it is min <M, V V'> over V V' with a unit diagonal, and its dual is max sum(y) with
// M - diag(y) positive semidefinite. The mixing method minimises over one vector at a time: the objective is 2 <g_i,
// v_i> plus a constant, with g_i = sum_j M_ij v_j, so v_i = -g_i / |g_i|. At a fixed point (M - diag(y)) V = 0 with y_i
// = -|g_i|: the multipliers. Vectors of more than sqrt(2 (n + 1)) entries have no bad local minima, in general
// (Barvinok 1995, Pataki 1998, Burer and Monteiro 2005).
//
// Before convergence A - diag(y) is indefinite. y - t for all entries makes it convex at the cost of n t, and t is
// bisected by Cholesky tests. Whatever y comes out, the bound of DiagonalBound is valid if that test holds.
constexpr int most_sweeps = 1000;
constexpr double least_shift = 1e-9;

// Whether A - diag(y) + shift is positive definite.
bool is_convex(const std::vector<double>& matrix, const std::vector<double>& y, double shift,
               std::vector<double>& factor) {
    const std::size_t n = y.size();
    factor.resize(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double rest = i == j ? shift - y[i] : matrix[i * n + j];
            rest -= dot(&factor[i * n], &factor[j * n], j);
            if (i == j && !(rest > 0)) return false;
            factor[i * n + j] = i == j ? std::sqrt(rest) : rest / factor[j * n + j];
        }
    }
    return true;
}

double scale(double* v, std::size_t width) {
    double length = 0;
    for (std::size_t k = 0; k < width; ++k) length += v[k] * v[k];
    length = std::sqrt(length);
    if (length > 0)
        for (std::size_t k = 0; k < width; ++k) v[k] /= length;
    return length;
}

// Moves one unit vector at a time against the pull of the others; the first vector stands for the field.
class Mixing {
public:
    Mixing(const std::vector<double>& matrix, const std::vector<double>& field, Vectors& vectors)
        : matrix_(matrix),
          field_(field),
          n_(field.size()),
          vectors_(vectors),
          pull_(vectors.width),
          strength_(n_ + 1) {}

    // The length of the pull on each vector but the first, once the objective hardly changes.
    std::vector<double> run(const Precision& precision) {
        double before = 0;
        for (int sweep = 0; sweep < most_sweeps; ++sweep) {
            double total = 0;
            for (std::size_t i = 0; i <= n_; ++i) total += strength_[i] = turn(i);
            if (sweep > 0 && std::abs(total - before) <= precision.steady * total) break;
            if (has_passed(precision.deadline)) break;
            before = total;
        }
        return {strength_.begin() + 1, strength_.end()};
    }

private:
    void add(double factor, const double* v) {
        for (std::size_t k = 0; k < pull_.size(); ++k) pull_[k] -= factor * v[k];
    }
    double turn(std::size_t i) {
        std::fill(pull_.begin(), pull_.end(), 0.0);
        if (i == 0) {
            for (std::size_t j = 0; j < n_; ++j) add(0.5 * field_[j], vectors_.row(j + 1));
        } else {
            add(0.5 * field_[i - 1], vectors_.row(0));
            const double* row = &matrix_[(i - 1) * n_];
            for (std::size_t j = 0; j < n_; ++j)
                if (row[j] != 0) add(row[j], vectors_.row(j + 1));
        }
        const double length = scale(pull_.data(), pull_.size());
        if (length > 0) std::copy(pull_.begin(), pull_.end(), vectors_.row(i));
        return length;
    }

    const std::vector<double>&matrix_, &field_;
    std::size_t n_;
    Vectors& vectors_;
    std::vector<double> pull_, strength_;
};

}  // namespace

Vectors Vectors::random(std::size_t n_variables, std::uint64_t seed) {
    const auto root = static_cast<std::size_t>(std::sqrt(2.0 * static_cast<double>(n_variables + 1)));
    Vectors vectors{(root + 3) / 2 * 2, {}};
    vectors.values.resize((n_variables + 1) * vectors.width);
    Random random(seed);
    for (double& value : vectors.values) value = 2 * random.uniform() - 1;
    for (std::size_t i = 0; i <= n_variables; ++i) scale(vectors.row(i), vectors.width);
    return vectors;
}

std::vector<double> best_diagonal(const std::vector<double>& matrix, const std::vector<double>& field,
                                  Precision precision, Vectors& vectors, double& shift) {
    std::vector<double> y = Mixing(matrix, field, vectors).run(precision), factor;
    double largest = 0;
    for (double& value : y) largest = std::max(largest, value), value = -value;
    if (largest == 0) return y;
    double low = 0;
    while (!is_convex(matrix, y, shift * largest, factor)) low = shift, shift *= 2;
    for (int trial = 0; trial < precision.trials && shift > least_shift; ++trial) {
        const double middle = low > 0 ? 0.5 * (low + shift) : 0.5 * shift;
        if (is_convex(matrix, y, middle * largest, factor)) shift = middle;
        else low = middle;
    }
    for (double& value : y) value -= shift * largest;
    return y;
}

}  // namespace coherently
