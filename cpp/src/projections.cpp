#include "coherently/projections.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace coherently {
namespace {

constexpr double tiny = 1e-14;

double dot(const double* a, const double* b, std::size_t n) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

// Solves the symmetric positive definite system in place; false where it is singular to working precision.
bool solve_cholesky(std::vector<double>& matrix, std::vector<double>& right, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            const double rest = matrix[i * n + j] - dot(&matrix[i * n], &matrix[j * n], j);
            if (i == j && rest <= tiny * matrix[i * n + i]) return false;
            matrix[i * n + j] = i == j ? std::sqrt(rest) : rest / matrix[j * n + j];
        }
    }
    for (std::size_t i = 0; i < n; ++i)
        right[i] = (right[i] - dot(&matrix[i * n], right.data(), i)) / matrix[i * n + i];
    for (std::size_t i = n; i-- > 0;) {
        right[i] /= matrix[i * n + i];
        for (std::size_t k = 0; k < i; ++k) right[k] -= matrix[i * n + k] * right[i];
    }
    return true;
}

}  // namespace

void project_conjunction(const double* weights, double* y, bool negate_first, bool negate_second, bool negate_last) {
    const double a = weights[0], b = weights[1], c = weights[2];
    double p = negate_first ? 1 - y[0] : y[0], q = negate_second ? 1 - y[1] : y[1], r = negate_last ? 1 - y[2] : y[2];
    if (r > std::min(p, q)) {
        double &least = q <= p ? q : p, &most = q <= p ? p : q;
        const double light = q <= p ? b : a, heavy = q <= p ? a : b;
        const double both = (light * least + c * r) / (light + c);
        if (both <= most) least = r = both;
        else least = most = r = (heavy * most + light * least + c * r) / (a + b + c);
    } else if (const double excess = p + q - 1 - r; excess > 0) {
        const double give = 1 / a + 1 / b + 1 / c;
        p -= excess / (a * give), q -= excess / (b * give), r += excess / (c * give);
    } else {
        return;
    }
    y[0] = negate_first ? 1 - p : p, y[1] = negate_second ? 1 - q : q, y[2] = negate_last ? 1 - r : r;
}

void HullProjector::project(std::span<const double> points, std::span<const double> weights, std::span<double> y) {
    size_ = y.size();
    const std::size_t count = points.size() / size_;
    shifted_.resize(points.size());
    std::size_t start = 0;
    double least = std::numeric_limits<double>::infinity(), scale = 0;
    for (std::size_t i = 0; i < count; ++i) {
        double* row = &shifted_[i * size_];
        for (std::size_t j = 0; j < size_; ++j) row[j] = std::sqrt(weights[j]) * (points[i * size_ + j] - y[j]);
        const double norm = dot(row, row, size_);
        scale = std::max(scale, norm);
        if (norm < least) least = norm, start = i;
    }
    corral_.assign(1, start);
    share_.assign(1, 1.0);
    for (std::size_t round = 0; round < 50 * (count + size_); ++round) {
        nearest_.assign(size_, 0.0);
        for (std::size_t k = 0; k < corral_.size(); ++k)
            for (std::size_t j = 0; j < size_; ++j) nearest_[j] += share_[k] * shifted_[corral_[k] * size_ + j];
        const double here = dot(nearest_.data(), nearest_.data(), size_);
        std::size_t best = start;
        double best_value = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < count; ++i) {
            const double value = dot(nearest_.data(), &shifted_[i * size_], size_);
            if (value < best_value) best_value = value, best = i;
        }
        if (here - best_value <= tiny * scale || std::find(corral_.begin(), corral_.end(), best) != corral_.end()) break;
        corral_.push_back(best);
        share_.push_back(0.0);
        affine_minimiser();
    }
    for (std::size_t j = 0; j < size_; ++j) {
        y[j] = 0;
        for (std::size_t k = 0; k < corral_.size(); ++k) y[j] += share_[k] * points[corral_[k] * size_ + j];
    }
}

// Moves to the minimiser over the affine hull of the corral, dropping points whose share would turn negative.
void HullProjector::affine_minimiser() {
    for (;;) {
        const std::size_t n = corral_.size();
        system_.assign(n * n, 0.0);
        double scale = 0;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j <= i; ++j)
                system_[i * n + j] = dot(&shifted_[corral_[i] * size_], &shifted_[corral_[j] * size_], size_);
        for (std::size_t i = 0; i < n; ++i) scale = std::max(scale, system_[i * n + i]);
        if (scale == 0) scale = 1;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j <= i; ++j) system_[i * n + j] += scale;
        trial_.assign(n, 1.0);
        if (!solve_cholesky(system_, trial_, n)) {
            corral_.pop_back();  // affinely dependent on the others: it cannot help
            share_.pop_back();
            return;
        }
        double total = 0;
        for (const double value : trial_) total += value;
        double length = 1;
        std::size_t leaving = n;
        for (std::size_t i = 0; i < n; ++i) {
            trial_[i] /= total;
            if (trial_[i] >= 0 || share_[i] <= trial_[i]) continue;
            const double reach = share_[i] / (share_[i] - trial_[i]);
            if (reach < length) length = reach, leaving = i;
        }
        for (std::size_t i = 0; i < n; ++i) share_[i] = std::max(0.0, share_[i] + length * (trial_[i] - share_[i]));
        if (leaving == n) return;
        share_.erase(share_.begin() + static_cast<std::ptrdiff_t>(leaving));
        corral_.erase(corral_.begin() + static_cast<std::ptrdiff_t>(leaving));
    }
}

Pattern::Pattern(std::vector<double> rows, std::size_t size) : points(std::move(rows)) {
    if (size != 3 || points.size() != 12) return;
    for (int signs = 0; signs < 8; ++signs) {
        bool fits = true, seen[4] = {};
        for (std::size_t i = 0; i < 4 && fits; ++i) {
            const bool p = (points[3 * i] == 1) != bool(signs & 1), q = (points[3 * i + 1] == 1) != bool(signs & 2);
            const bool r = (points[3 * i + 2] == 1) != bool(signs & 4);
            seen[p + 2 * q] = true;
            fits = r == (p && q);
        }
        if (!fits || !(seen[0] && seen[1] && seen[2] && seen[3])) continue;
        conjunction = true;
        negate_first = signs & 1, negate_second = signs & 2, negate_last = signs & 4;
        return;
    }
}

GroupProjector::GroupProjector(GroupView groups, std::vector<Pattern> patterns, std::span<const double> weights)
    : groups_(groups), patterns_(std::move(patterns)), weights_(weights) {}

void GroupProjector::load(std::size_t group, std::span<const double> x) {
    const auto begin = static_cast<std::size_t>(groups_.starts[group]), end = static_cast<std::size_t>(groups_.starts[group + 1]);
    local_.resize(end - begin), local_weights_.resize(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
        const auto member = static_cast<std::size_t>(groups_.members[i]);
        local_[i - begin] = x[member];
        local_weights_[i - begin] = weights_[member];
    }
}

void GroupProjector::project(std::size_t group, bool inside_cube) {
    const Pattern& pattern = patterns_[static_cast<std::size_t>(groups_.pattern[group])];
    const bool weighted = std::all_of(local_weights_.begin(), local_weights_.end(), [](double w) { return w > 0; });
    if (pattern.conjunction && inside_cube && weighted)
        project_conjunction(local_weights_.data(), local_.data(), pattern.negate_first, pattern.negate_second,
                            pattern.negate_last);
    else
        hull_.project(pattern.points, local_weights_, local_);
}

double GroupProjector::sweep(std::span<double> x) {
    double moved = 0;
    for (std::size_t g = 0; g < groups_.pattern.size(); ++g) {
        load(g, x);
        project(g, true);
        const auto begin = static_cast<std::size_t>(groups_.starts[g]);
        for (std::size_t i = 0; i < local_.size(); ++i) {
            double& value = x[static_cast<std::size_t>(groups_.members[begin + i])];
            moved += local_weights_[i] * (local_[i] - value) * (local_[i] - value);
            value = local_[i];
        }
    }
    return moved;
}

void GroupProjector::sweep(std::span<double> x, std::span<double> increments) {
    for (std::size_t g = 0; g < groups_.pattern.size(); ++g) {
        load(g, x);
        const auto begin = static_cast<std::size_t>(groups_.starts[g]);
        for (std::size_t i = 0; i < local_.size(); ++i) increments[begin + i] = local_[i] += increments[begin + i];
        project(g, false);
        for (std::size_t i = 0; i < local_.size(); ++i) {
            increments[begin + i] -= local_[i];
            x[static_cast<std::size_t>(groups_.members[begin + i])] = local_[i];
        }
    }
}

double GroupProjector::violation(std::span<const double> x) {
    double worst = 0;
    for (std::size_t g = 0; g < groups_.pattern.size(); ++g) {
        load(g, x);
        std::fill(local_weights_.begin(), local_weights_.end(), 1.0);
        project(g, false);
        const auto begin = static_cast<std::size_t>(groups_.starts[g]);
        for (std::size_t i = 0; i < local_.size(); ++i)
            worst = std::max(worst, std::abs(local_[i] - x[static_cast<std::size_t>(groups_.members[begin + i])]));
    }
    return worst;
}

}  // namespace coherently
