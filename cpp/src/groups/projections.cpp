#include "coherently/groups/projections.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "linear/dot.hpp"

namespace coherently {
namespace {

constexpr double tiny = 1e-14;

bool is_inside_cube(std::span<const double> y) {
    return std::all_of(y.begin(), y.end(), [](double value) { return 0 <= value && value <= 1; });
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

void project_one_of(std::span<const double> weights, std::span<double> y, bool complete,
                    std::vector<std::size_t>& order) {
    if (!complete) {
        double sum = 0;
        for (const double value : y) sum += std::max(0.0, value);
        if (sum <= 1) {
            for (double& value : y) value = std::max(0.0, value);
            return;
        }
    }
    order.resize(y.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto pull = [&](std::size_t i) { return weights[i] * y[i]; };
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return pull(i) > pull(j); });
    double excess = -1, give = 0, level = 0;
    for (const std::size_t i : order) {
        if (give > 0 && pull(i) <= level) break;
        excess += y[i], give += 1 / weights[i];
        level = excess / give;
    }
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::max(0.0, y[i] - level / weights[i]);
}

void pool_violators(std::span<const double> weights, std::span<double> y, std::span<const std::size_t> order) {
    struct Pool {
        double sum, weight;
        std::size_t count;
        double mean() const { return sum / weight; }
    };
    std::vector<Pool> pools;
    for (const std::size_t i : order) {
        pools.push_back({weights[i] * y[i], weights[i], 1});
        while (pools.size() > 1 && pools[pools.size() - 2].mean() >= pools.back().mean()) {
            const Pool last = pools.back();
            pools.pop_back();
            pools.back().sum += last.sum, pools.back().weight += last.weight, pools.back().count += last.count;
        }
    }
    std::size_t next = 0;
    for (const Pool& pool : pools) {
        if (pool.count > 1)
            for (std::size_t k = 0; k < pool.count; ++k) y[order[next + k]] = pool.mean();
        next += pool.count;
    }
}

void project_chain(std::span<const double> weights, std::span<double> y, std::span<const std::size_t> order) {
    pool_violators(weights, y, order);
    for (double& value : y) value = std::clamp(value, 0.0, 1.0);
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
    scale_ = scale > 0 ? scale : 1;
    corral_.clear(), factor_.clear();
    extend(start);
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
        if (here - best_value <= tiny * scale || std::find(corral_.begin(), corral_.end(), best) != corral_.end())
            break;
        if (!extend(best)) break;  // affinely dependent on the others: it cannot help
        share_.push_back(0.0);
        affine_minimiser();
    }
    for (std::size_t j = 0; j < size_; ++j) {
        y[j] = 0;
        for (std::size_t k = 0; k < corral_.size(); ++k) y[j] += share_[k] * points[corral_[k] * size_ + j];
    }
}

// Takes a point into the corral, with a row for it in the Cholesky factor of the products of its points, each raised by
// the scale; not if that is singular to working precision.
bool HullProjector::extend(std::size_t point) {
    const std::size_t n = corral_.size();
    std::vector<double> row(n + 1);
    for (std::size_t j = 0; j < n; ++j) {
        const double product = dot(&shifted_[point * size_], &shifted_[corral_[j] * size_], size_) + scale_;
        row[j] = (product - dot(row.data(), factor_[j].data(), j)) / factor_[j][j];
    }
    const double square = dot(&shifted_[point * size_], &shifted_[point * size_], size_) + scale_;
    const double rest = square - dot(row.data(), row.data(), n);
    if (rest <= tiny * square) return false;
    row[n] = std::sqrt(rest);
    factor_.push_back(std::move(row));
    corral_.push_back(point);
    return true;
}

// Takes a point out of the corral; Givens's rotations make the factor triangular again.
void HullProjector::drop(std::size_t place) {
    corral_.erase(corral_.begin() + static_cast<std::ptrdiff_t>(place));
    share_.erase(share_.begin() + static_cast<std::ptrdiff_t>(place));
    factor_.erase(factor_.begin() + static_cast<std::ptrdiff_t>(place));
    for (std::size_t j = place; j < factor_.size(); ++j) {
        const double length = std::hypot(factor_[j][j], factor_[j][j + 1]);
        const double cosine = factor_[j][j] / length, sine = factor_[j][j + 1] / length;
        for (std::size_t i = j; i < factor_.size(); ++i) {
            const double left = factor_[i][j], right = factor_[i][j + 1];
            factor_[i][j] = cosine * left + sine * right;
            factor_[i][j + 1] = cosine * right - sine * left;
        }
        factor_[j].resize(j + 1);
    }
}

// Moves to the minimiser over the affine hull of the corral, dropping points whose share would turn negative.
void HullProjector::affine_minimiser() {
    for (;;) {
        const std::size_t n = corral_.size();
        trial_.assign(n, 1.0);
        for (std::size_t i = 0; i < n; ++i)
            trial_[i] = (trial_[i] - dot(factor_[i].data(), trial_.data(), i)) / factor_[i][i];
        for (std::size_t i = n; i-- > 0;) {
            trial_[i] /= factor_[i][i];
            for (std::size_t k = 0; k < i; ++k) trial_[k] -= factor_[i][k] * trial_[i];
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
        drop(leaving);
    }
}

Pattern::Pattern(std::vector<double> rows, std::size_t size) : points(std::move(rows)) {
    const bool truths =
        std::all_of(points.begin(), points.end(), [](double value) { return value == 0 || value == 1; });
    if (!truths || size < 2) return;
    if (size == 3 && points.size() == 12 && is_conjunction()) shape = Shape::conjunction;
    else if (is_one_of(size)) shape = points.size() == size * size ? Shape::exactly_one : Shape::at_most_one;
    else if (is_chain(size)) shape = Shape::chain;
}

bool Pattern::is_conjunction() {
    for (int signs = 0; signs < 8; ++signs) {
        bool fits = true, seen[4] = {};
        for (std::size_t i = 0; i < 4 && fits; ++i) {
            const bool p = (points[3 * i] == 1) != ((signs & 1) != 0),
                       q = (points[3 * i + 1] == 1) != ((signs & 2) != 0);
            const bool r = (points[3 * i + 2] == 1) != ((signs & 4) != 0);
            seen[p + 2 * q] = true;
            fits = r == (p && q);
        }
        if (!fits || !(seen[0] && seen[1] && seen[2] && seen[3])) continue;
        negate_first = signs & 1, negate_second = signs & 2, negate_last = signs & 4;
        return true;
    }
    return false;
}

// Rows are distinct: so many with at most one truth each are all there are.
bool Pattern::is_one_of(std::size_t size) {
    const std::size_t count = points.size() / size;
    bool none = false;
    for (std::size_t i = 0; i < count; ++i) {
        const double sum = std::accumulate(&points[i * size], &points[i * size] + size, 0.0);
        if (sum > 1) return false;
        none = none || sum == 0;
    }
    return count == size + none;
}

// A row of a chain is true from some place on; rows are distinct.
bool Pattern::is_chain(std::size_t size) {
    const std::size_t count = points.size() / size;
    if (count != size + 1) return false;
    std::vector<double> sums(size);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < size; ++j) sums[j] += points[i * size + j];
    std::vector<std::size_t> ascending(size);
    std::iota(ascending.begin(), ascending.end(), std::size_t{0});
    std::sort(ascending.begin(), ascending.end(), [&](std::size_t i, std::size_t j) { return sums[i] < sums[j]; });
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 1; k < size; ++k)
            if (points[i * size + ascending[k]] < points[i * size + ascending[k - 1]]) return false;
    order = std::move(ascending);
    return true;
}

GroupProjector::GroupProjector(GroupView groups, std::vector<Pattern> patterns, std::span<const double> weights)
    : groups_(groups), patterns_(std::move(patterns)), weights_(weights) {}

void GroupProjector::load(std::size_t group, std::span<const double> x) {
    const auto begin = static_cast<std::size_t>(groups_.starts[group]),
               end = static_cast<std::size_t>(groups_.starts[group + 1]);
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
    const Shape shape =
        !weighted || (pattern.shape == Shape::conjunction && !inside_cube) ? Shape::hull : pattern.shape;
    switch (shape) {
        case Shape::conjunction:
            return project_conjunction(local_weights_.data(), local_.data(), pattern.negate_first,
                                       pattern.negate_second, pattern.negate_last);
        case Shape::exactly_one:
        case Shape::at_most_one: return project_one_of(local_weights_, local_, shape == Shape::exactly_one, order_);
        case Shape::chain: return project_chain(local_weights_, local_, pattern.order);
        case Shape::hull: return hull_.project(pattern.points, local_weights_, local_);
    }
}

bool GroupProjector::is_quick() const {
    return std::all_of(patterns_.begin(), patterns_.end(), [](const Pattern& pattern) { return pattern.is_quick(); });
}

double GroupProjector::sweep(std::span<double> x, std::size_t first, std::size_t end) {
    double moved = 0;
    for (std::size_t g = first; g < end; ++g) {
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

void GroupProjector::sweep(std::span<double> x, std::span<double> increments, std::size_t first, std::size_t end) {
    for (std::size_t g = first; g < end; ++g) {
        load(g, x);
        const auto begin = static_cast<std::size_t>(groups_.starts[g]);
        for (std::size_t i = 0; i < local_.size(); ++i) increments[begin + i] = local_[i] += increments[begin + i];
        project(g, is_inside_cube(local_));
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
        project(g, is_inside_cube(local_));
        const auto begin = static_cast<std::size_t>(groups_.starts[g]);
        for (std::size_t i = 0; i < local_.size(); ++i)
            worst = std::max(worst, std::abs(local_[i] - x[static_cast<std::size_t>(groups_.members[begin + i])]));
    }
    return worst;
}

}  // namespace coherently
