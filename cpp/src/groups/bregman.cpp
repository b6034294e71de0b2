#include "coherently/groups/bregman.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "linear/dot.hpp"

namespace coherently {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double infinity = std::numeric_limits<double>::infinity();
// In hulls, phi' of the log loss is cut here: a probability beyond it is below 1e-43.
constexpr double steepest = 100, flattest = 1e-44;
// A Newton step that changes no dual by more leaves an error of about its square.
constexpr double settled_shift = 1e-10;

// phi'(x)
double derivative(Loss loss, Chance x) {
    if (loss == Loss::log) return std::clamp(std::log(x.yes) - std::log(x.no), -steepest, steepest);
    return (x.yes - x.no) / std::hypot(x.yes, x.no);
}

// phi''(x)
double curvature(Loss loss, Chance x) {
    if (loss == Loss::log) return 1 / std::max(x.yes * x.no, flattest);
    const double norm = std::hypot(x.yes, x.no);
    return 1 / (norm * norm * norm);
}

double softplus(double z) { return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))); }

// p + q - 1 - r, summed so that only the true difference cancels.
double excess(Chance p, Chance q, Chance r) {
    if (p.yes < q.yes) std::swap(p, q);
    return q.yes < 0.5 ? q.yes - p.no - r.yes : r.no - p.no - q.no;
}

// The l with p + q - 1 = r at the duals P - l/a, Q - l/b, R + l/c: Newton's method within a bracket.
double lower_shift(Loss loss, const double* weights, const double* y) {
    const double a = 1 / weights[0], b = 1 / weights[1], c = 1 / weights[2];
    double low = 0, high = std::min((y[0] - y[2]) / (a + c), (y[1] - y[2]) / (b + c)), l = 0;
    for (int round = 0; round < 200 && high - low > epsilon * high; ++round) {
        const Chance p = chance(loss, y[0] - l * a), q = chance(loss, y[1] - l * b), r = chance(loss, y[2] + l * c);
        const double value = excess(p, q, r);
        if (value == 0) return l;
        (value > 0 ? low : high) = l;
        const double fall = a / curvature(loss, p) + b / curvature(loss, q) + c / curvature(loss, r);
        const double next = l + value / fall;
        const bool inside = next > low && next < high;
        if (inside && std::abs(next - l) <= epsilon * next) return next;
        l = inside ? next : low + (high - low) / 2;
    }
    return l;
}

// Least squares by Householder's reflections, the answer in the place of `right`. Rows come in falling order of scale
// and the largest column goes next, so that each row is met to its own precision: Cox and Higham (1998), Stability of
// Householder QR factorization for weighted least squares problems.
void least_squares(std::vector<double>& columns, std::vector<double>& right, std::size_t rows, std::size_t count,
                   std::vector<std::size_t>& order, std::vector<double>& diagonal) {
    order.resize(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    diagonal.assign(count, 0.0);
    for (std::size_t t = 0; t < count; ++t) {
        const std::size_t length = rows - t;
        std::size_t next = t;
        double largest = -1;
        for (std::size_t i = t; i < count; ++i) {
            const double* tail = &columns[order[i] * rows + t];
            if (const double norm = dot(tail, tail, length); norm > largest) largest = norm, next = i;
        }
        std::swap(order[t], order[next]);
        double* pivot = &columns[order[t] * rows + t];
        const double norm = std::copysign(std::sqrt(largest), -pivot[0]);
        diagonal[t] = norm;
        if (norm == 0) continue;
        pivot[0] -= norm;
        const double half = -norm * pivot[0];
        const auto reflect = [&](double* tail) {
            const double factor = dot(pivot, tail, length) / half;
            for (std::size_t j = 0; j < length; ++j) tail[j] -= factor * pivot[j];
        };
        for (std::size_t i = t + 1; i < count; ++i) reflect(&columns[order[i] * rows + t]);
        reflect(&right[t]);
    }
    std::vector<double>& answer = diagonal;
    for (std::size_t t = count; t-- > 0;) {
        double rest = right[t];
        for (std::size_t i = t + 1; i < count; ++i) rest -= columns[order[i] * rows + t] * answer[i];
        answer[t] = diagonal[t] == 0 ? 0 : rest / diagonal[t];
    }
    right.resize(std::max(right.size(), count));
    for (std::size_t t = 0; t < count; ++t) right[order[t]] = answer[t];
}

}  // namespace

Chance chance(Loss loss, double dual) {
    if (loss == Loss::log) return {1 / (1 + std::exp(-dual)), 1 / (1 + std::exp(dual))};
    const double odd = dual / std::sqrt(2 - dual * dual);
    return {(1 + odd) / 2, (1 - odd) / 2};
}

double dual(Loss loss, Chance x) {
    if (loss == Loss::log && (x.yes == 0 || x.no == 0)) return x.yes == 0 ? -certain : certain;
    return derivative(loss, x);
}

double divergence(Loss loss, Chance x, double dual) {
    if (loss == Loss::log) {
        const double yes = x.yes > 0 ? x.yes * (std::log(x.yes) + softplus(-dual)) : 0;
        const double no = x.no > 0 ? x.no * (std::log(x.no) + softplus(dual)) : 0;
        return std::max(0.0, yes + no);
    }
    const Chance p = chance(loss, dual);
    const double phi_x = std::hypot(x.yes, x.no), phi_p = std::hypot(p.yes, p.no);
    const double apart = x.yes - p.yes;
    return apart * apart / (phi_p * (phi_x * phi_p + x.yes * p.yes + x.no * p.no));
}

void project_conjunction(Loss loss, const double* weights, double* y, bool negate_first, bool negate_second,
                         bool negate_last) {
    const double signs[3] = {negate_first ? -1.0 : 1.0, negate_second ? -1.0 : 1.0, negate_last ? -1.0 : 1.0};
    double z[3] = {signs[0] * y[0], signs[1] * y[1], signs[2] * y[2]};
    if (z[2] > std::min(z[0], z[1])) {
        const int least = z[1] <= z[0], most = 1 - least;
        const double both = (weights[least] * z[least] + weights[2] * z[2]) / (weights[least] + weights[2]);
        if (both <= z[most]) {
            z[least] = z[2] = both;
        } else {
            const double total = weights[0] + weights[1] + weights[2];
            z[0] = z[1] = z[2] = dot(weights, z, 3) / total;
        }
    } else if (excess(chance(loss, z[0]), chance(loss, z[1]), chance(loss, z[2])) > 0) {
        const double shift = lower_shift(loss, weights, z);
        z[0] -= shift / weights[0], z[1] -= shift / weights[1], z[2] += shift / weights[2];
    } else {
        return;
    }
    for (int i = 0; i < 3; ++i) y[i] = signs[i] * z[i];
}

void project_one_of(Loss loss, std::span<const double> weights, std::span<double> y, bool complete) {
    const double bound = loss == Loss::log ? certain : 1;
    const auto after = [&](std::size_t i, double l) { return std::clamp(y[i] - l / weights[i], -bound, bound); };
    const auto total = [&](double l, double& fall) {
        double sum = 0;
        fall = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            const double z = after(i, l);
            const Chance x = chance(loss, z);
            sum += x.yes;
            if (std::abs(z) < bound) fall += 1 / (weights[i] * curvature(loss, x));
        }
        return sum;
    };
    double l = 0, fall = 0;
    if (complete || total(0, fall) > 1) {
        const double equal = dual(loss, {1.0 / static_cast<double>(y.size()), 1 - 1.0 / static_cast<double>(y.size())});
        double low = infinity, high = -infinity;
        for (std::size_t i = 0; i < y.size(); ++i) {
            low = std::min(low, weights[i] * (y[i] - equal));
            high = std::max(high, weights[i] * (y[i] - equal));
        }
        l = low + (high - low) / 2;
        for (int round = 0; round < 200; ++round) {
            const double excess = total(l, fall) - 1;
            if (excess == 0) break;
            (excess > 0 ? low : high) = l;
            const double next = l + excess / fall;
            const double then = next > low && next < high ? next : low + (high - low) / 2;
            const bool settled = std::abs(then - l) <= epsilon * std::abs(l) || then == low || then == high;
            l = then;
            if (settled) break;
        }
    }
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = after(i, l);
}

void BregmanHull::project(Loss loss, std::span<const double> points, std::span<const double> weights,
                          std::span<double> y) {
    loss_ = loss;
    points_ = points;
    size_ = y.size();
    count_ = points.size() / size_;
    load(weights, y);
    start();
    if (!active_.empty()) solve();
    for (std::size_t j = 0; j < size_; ++j) y[j] = dual(loss_, mixture(j));
    for (std::size_t k = 0; k < active_.size(); ++k) y[active_[k]] = derivative(loss_, x_[k]);
}

void BregmanHull::load(std::span<const double> weights, std::span<const double> y) {
    active_.clear(), weight_.clear(), tilt_.clear();
    for (std::size_t j = 0; j < size_; ++j) {
        bool varies = false;
        for (std::size_t i = 1; i < count_ && !varies; ++i) varies = holds(i, j) != holds(0, j);
        if (!varies || weights[j] <= 0) continue;
        active_.push_back(j);
        weight_.push_back(weights[j]);
        tilt_.push_back(y[j]);
    }
    x_.resize(active_.size()), force_.resize(active_.size()), shift_.resize(active_.size());
}

// Points between which every active coordinate varies, so that the derivatives at their middle are finite; all points
// where they are few.
void BregmanHull::start() {
    corral_.assign(1, 0);
    basis_.clear();
    for (const std::size_t j : active_) {
        const auto same = [&](std::size_t point) { return holds(point, j) == holds(0, j); };
        if (!std::all_of(corral_.begin(), corral_.end(), same)) continue;
        std::size_t other = 1;
        while (same(other)) ++other;
        extend(other);
    }
    if (count_ <= active_.size() + 1)
        for (std::size_t i = 1; i < count_; ++i) extend(i);
    share_.assign(corral_.size(), 1.0 / static_cast<double>(corral_.size()));
    mix();
}

// Takes the point into the corral unless it is an affine combination of those there.
bool BregmanHull::extend(std::size_t point) {
    const std::size_t n = active_.size();
    column_.resize(n);
    for (std::size_t k = 0; k < n; ++k)
        column_[k] = points_[point * size_ + active_[k]] - points_[corral_[0] * size_ + active_[k]];
    for (int pass = 0; pass < 2; ++pass)
        for (std::size_t start = 0; start < basis_.size(); start += n) {
            const double part = dot(&basis_[start], column_.data(), n);
            for (std::size_t k = 0; k < n; ++k) column_[k] -= part * basis_[start + k];
        }
    const double norm = std::sqrt(dot(column_.data(), column_.data(), n));
    if (norm < 1e-7) return false;
    for (const double value : column_) basis_.push_back(value / norm);
    corral_.push_back(point);
    return true;
}

void BregmanHull::solve() {
    gap_ = infinity;
    bool fresh = true;  // a step has counted since points last entered at a solved corral
    double last_shift = infinity;
    for (std::size_t round = 0; round < 100 + 50 * (count_ + size_); ++round) {
        find_direction();
        const bool stalled = dual_shift_ < 1e-6 && dual_shift_ > last_shift / 2;
        const bool settled = dual_shift_ <= settled_shift || stalled;
        last_shift = dual_shift_;
        fresh = fresh || !settled;
        if (move(settled ? std::min(1.0, reach()) : find_length())) {
            last_shift = infinity;
            continue;
        }
        if (!settled && decrement_ > 0.01 * gap_) continue;
        if (settled && !fresh) return;
        const bool entered = enter();
        if (settled && !entered) return;
        if (entered) last_shift = infinity;
        if (settled) fresh = false;
    }
}

// Newton's direction within the affine hull of the corral: least squares, one row per coordinate, one column per point.
void BregmanHull::find_direction() {
    const std::size_t n = active_.size(), members = corral_.size();
    const auto base = static_cast<std::size_t>(std::max_element(share_.begin(), share_.end()) - share_.begin());
    scale_.resize(n), order_.resize(n);
    for (std::size_t k = 0; k < n; ++k) scale_[k] = std::sqrt(weight_[k] * curvature(loss_, x_[k])), order_[k] = k;
    std::sort(order_.begin(), order_.end(), [&](std::size_t i, std::size_t j) { return scale_[i] > scale_[j]; });
    system_.resize((members - 1) * n), right_.resize(n);
    for (std::size_t row = 0; row < n; ++row) {
        const std::size_t k = order_[row], j = active_[k];
        right_[row] = -force_[k] / scale_[k];
        double* cell = system_.data() + row;
        for (std::size_t i = 0; i < members; ++i) {
            if (i == base) continue;
            *cell = scale_[k] * (points_[corral_[i] * size_ + j] - points_[corral_[base] * size_ + j]);
            cell += n;
        }
    }
    least_squares(system_, right_, n, members - 1, order_, column_);
    direction_.assign(members, 0.0);
    for (std::size_t i = 0, column = 0; i < members; ++i) {
        if (i == base) continue;
        direction_[i] = right_[column++];
        direction_[base] -= direction_[i];
    }
    decrement_ = dual_shift_ = 0;
    for (std::size_t k = 0; k < n; ++k) {
        shift_[k] = 0;
        for (std::size_t i = 0; i < members; ++i)
            shift_[k] += direction_[i] *
                         (points_[corral_[i] * size_ + active_[k]] - points_[corral_[base] * size_ + active_[k]]);
        decrement_ += scale_[k] * scale_[k] * shift_[k] * shift_[k];
        dual_shift_ = std::max(dual_shift_, scale_[k] * scale_[k] / weight_[k] * std::abs(shift_[k]));
    }
}

// How far along the direction the first share runs out.
double BregmanHull::reach() const {
    double least = infinity;
    for (std::size_t i = 0; i < corral_.size(); ++i)
        if (direction_[i] < 0) least = std::min(least, -share_[i] / direction_[i]);
    return least;
}

// A share that falls is computed as a part of itself, so that it cannot vanish before its time.
double BregmanHull::share_after(std::size_t member, double length) const {
    const double share = share_[member], direction = direction_[member];
    if (direction >= 0) return share + length * direction;
    const double end = -share / direction;
    return length >= end ? 0 : share * (1 - length / end);
}

Chance BregmanHull::chance_after(std::size_t coordinate, double length) const {
    Chance x{0, 0};
    for (std::size_t i = 0; i < corral_.size(); ++i)
        (holds(corral_[i], coordinate) ? x.yes : x.no) += share_after(i, length);
    return x;
}

// The derivative of the objective along the direction.
double BregmanHull::rise(double length) const {
    double sum = 0;
    for (std::size_t k = 0; k < active_.size(); ++k)
        if (shift_[k] != 0)
            sum += weight_[k] * (derivative(loss_, chance_after(active_[k], length)) - tilt_[k]) * shift_[k];
    return sum;
}

// Whether the points whose shares run out there would not enter again.
bool BregmanHull::may_leave(double length) const {
    for (std::size_t i = 0; i < corral_.size(); ++i) {
        if (direction_[i] >= 0 || share_after(i, length) > 0) continue;
        double price = 0;
        for (std::size_t k = 0; k < active_.size(); ++k) {
            const Chance x = chance_after(active_[k], length);
            const double step = holds(corral_[i], active_[k]) ? x.no : -x.yes;
            price += weight_[k] * (derivative(loss_, x) - tilt_[k]) * step;
        }
        if (price < 0) return false;
    }
    return true;
}

// The rounding error of forces that balance: an estimate of the error of `rise`.
double BregmanHull::noise() const {
    double force = 0, longest = 0;
    for (std::size_t k = 0; k < active_.size(); ++k)
        force += std::abs(force_[k]) + weight_[k] * (1 + std::abs(tilt_[k]));
    for (const double part : direction_) longest = std::max(longest, std::abs(part));
    return 4 * epsilon * force * longest;
}

// Newton's own length where it does well or the search would see only rounding errors; else to the end where the
// objective falls all the way; else to a place shortly before its least value.
double BregmanHull::find_length() const {
    const double longest = reach(), slope = -rise(0);
    if (decrement_ <= 100 * noise()) return longest >= 1 ? 1 : may_leave(longest) ? longest : 0.99 * longest;
    if (longest >= 1 && std::abs(rise(1)) <= 0.1 * slope) return 1;
    if (rise(longest) <= 0) return longest;
    double low = 0, high = std::min(1.0, longest);
    while (high < longest && rise(high) <= 0) low = high, high = std::min(4 * high, longest);
    for (int round = 0; round < 100; ++round) {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) break;
        const double here = rise(middle);
        (here > 0 ? high : low) = middle;
        if (here <= 0 && -here <= 0.1 * slope) break;
    }
    return low;
}

// Says whether points have left the corral.
bool BregmanHull::move(double length) {
    double total = 0;
    for (std::size_t i = 0; i < corral_.size(); ++i) total += share_[i] = share_after(i, length);
    const std::vector<std::size_t> before = std::exchange(corral_, {});
    std::size_t kept = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (share_[i] <= 0 && direction_[i] < 0) continue;
        corral_.push_back(before[i]);
        share_[kept++] = share_[i] / total;
    }
    share_.resize(kept);
    mix();
    if (kept == before.size()) return false;
    const std::vector<std::size_t> rest(corral_.begin() + 1, corral_.end());
    corral_.resize(1);
    basis_.clear();
    for (const std::size_t point : rest) extend(point);
    return true;
}

// Takes in points along which the objective falls by more than the rounding error of that slope; more than one at a
// time in large groups. Says whether there were any.
bool BregmanHull::enter() {
    price_.assign(count_, 0.0), order_.clear();
    for (std::size_t i = 0; i < count_; ++i) {
        double noise = 0;
        for (std::size_t k = 0; k < active_.size(); ++k) {
            const double step = holds(i, active_[k]) ? x_[k].no : -x_[k].yes;
            price_[i] += force_[k] * step;
            noise += (std::abs(force_[k]) + weight_[k] * (1 + std::abs(tilt_[k]))) * std::abs(step);
        }
        if (price_[i] < -4 * epsilon * noise) order_.push_back(i);
    }
    std::sort(order_.begin(), order_.end(), [&](std::size_t i, std::size_t j) { return price_[i] < price_[j]; });
    gap_ = order_.empty() ? 0 : -price_[order_[0]];
    const std::size_t before = corral_.size(), most = before + 1 + active_.size() / 8;
    for (std::size_t i = 0; i < order_.size() && corral_.size() < most; ++i) extend(order_[i]);
    share_.resize(corral_.size(), 0.0);
    return corral_.size() > before;
}

Chance BregmanHull::mixture(std::size_t coordinate) const {
    Chance x{0, 0};
    for (std::size_t i = 0; i < corral_.size(); ++i) (holds(corral_[i], coordinate) ? x.yes : x.no) += share_[i];
    return x;
}

void BregmanHull::mix() {
    for (std::size_t k = 0; k < active_.size(); ++k) {
        x_[k] = mixture(active_[k]);
        force_[k] = weight_[k] * (derivative(loss_, x_[k]) - tilt_[k]);
    }
}

BregmanProjector::BregmanProjector(Loss loss, GroupView groups, std::vector<Pattern> patterns,
                                   std::span<const double> weights)
    : loss_(loss), groups_(groups), patterns_(std::move(patterns)), weights_(weights) {}

void BregmanProjector::load(std::size_t group, std::span<const double> z) {
    const auto begin = static_cast<std::size_t>(groups_.starts[group]);
    const auto end = static_cast<std::size_t>(groups_.starts[group + 1]);
    local_.resize(end - begin), local_weights_.resize(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
        const auto member = static_cast<std::size_t>(groups_.members[i]);
        local_[i - begin] = z[member];
        local_weights_[i - begin] = weights_[member];
    }
}

void BregmanProjector::project(std::size_t group) {
    const Pattern& pattern = patterns_[static_cast<std::size_t>(groups_.pattern[group])];
    const bool weighted = std::all_of(local_weights_.begin(), local_weights_.end(), [](double w) { return w > 0; });
    const auto in_cube = [&](double z) { return loss_ == Loss::log || std::abs(z) <= 1; };
    const bool inside = std::all_of(local_.begin(), local_.end(), in_cube);
    const Shape shape = !weighted || (pattern.shape == Shape::conjunction && !inside) ? Shape::hull : pattern.shape;
    switch (shape) {
        case Shape::conjunction:
            return project_conjunction(loss_, local_weights_.data(), local_.data(), pattern.negate_first,
                                       pattern.negate_second, pattern.negate_last);
        case Shape::exactly_one:
        case Shape::at_most_one: return project_one_of(loss_, local_weights_, local_, shape == Shape::exactly_one);
        case Shape::chain:
            pool_violators(local_weights_, local_, pattern.order);
            if (loss_ == Loss::spherical)
                for (double& z : local_) z = std::clamp(z, -1.0, 1.0);
            return;
        case Shape::hull: return hull_.project(loss_, pattern.points, local_weights_, local_);
    }
}

double BregmanProjector::sweep(std::span<double> z, std::size_t first, std::size_t end) {
    double moved = 0;
    for (std::size_t g = first; g < end; ++g) {
        load(g, z);
        project(g);
        const auto begin = static_cast<std::size_t>(groups_.starts[g]);
        for (std::size_t i = 0; i < local_.size(); ++i) {
            double& value = z[static_cast<std::size_t>(groups_.members[begin + i])];
            if (local_weights_[i] > 0 && local_[i] != value)
                moved += local_weights_[i] * divergence(loss_, chance(loss_, local_[i]), value);
            value = local_[i];
        }
    }
    return moved;
}

void BregmanProjector::sweep(std::span<double> z, std::span<double> increments, std::size_t first, std::size_t end) {
    for (std::size_t g = first; g < end; ++g) {
        load(g, z);
        const auto begin = static_cast<std::size_t>(groups_.starts[g]);
        for (std::size_t i = 0; i < local_.size(); ++i) increments[begin + i] = local_[i] += increments[begin + i];
        project(g);
        for (std::size_t i = 0; i < local_.size(); ++i) {
            increments[begin + i] -= local_[i];
            z[static_cast<std::size_t>(groups_.members[begin + i])] = local_[i];
        }
    }
}

double BregmanProjector::violation(std::span<const double> z) {
    double worst = 0;
    for (std::size_t g = 0; g < groups_.pattern.size(); ++g) {
        load(g, z);
        std::fill(local_weights_.begin(), local_weights_.end(), 1.0);
        project(g);
        const auto begin = static_cast<std::size_t>(groups_.starts[g]);
        for (std::size_t i = 0; i < local_.size(); ++i) {
            const double was = z[static_cast<std::size_t>(groups_.members[begin + i])];
            worst = std::max(worst, std::abs(chance(loss_, local_[i]).yes - chance(loss_, was).yes));
        }
    }
    return worst;
}

}  // namespace coherently
