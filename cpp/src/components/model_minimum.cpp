#include "coherently/components/model_minimum.hpp"

#include <algorithm>
#include <cmath>

#include "linear/dot.hpp"

namespace coherently {
namespace {

// A column whose part outside the others is below this part of it depends on them.
constexpr double dependent = 1e-11;
// A world this far below the plane, relative to the numbers that are summed, is there by rounding.
constexpr double rounding = 4e-16;

}  // namespace

void ModelMinimum::reset(std::size_t worlds, std::size_t rows) {
    worlds_ = worlds, rows_ = rows, stride_ = rows + 1;
    columns_.resize(worlds * stride_), q_.resize(worlds * stride_), r_.resize(worlds * worlds);
    cost_.assign(worlds, 0.0), share_.assign(worlds, 0.0), gradient_.resize(worlds), sum_.resize(rows);
    members_.clear();
}

bool ModelMinimum::minimise() {
    double largest = 0;
    for (std::size_t i = 0; i < worlds_; ++i) largest = std::max(largest, dot(column(i), column(i), rows_));
    unit_ = largest > 0 ? std::sqrt(largest) : 1;
    for (std::size_t i = 0; i < worlds_; ++i) columns_[i * stride_] = unit_;
    if (members_.empty()) {
        std::size_t best = 0;
        double least = 0;
        for (std::size_t i = 0; i < worlds_; ++i) {
            const double value = 0.5 * dot(column(i), column(i), rows_) + cost_[i];
            if (i == 0 || value < least) least = value, best = i;
        }
        members_.push_back(best), share_[best] = 1;
    }
    rebuild(0);
    bool steady = optimise();
    for (std::size_t round = 0; steady && round < 20 * worlds_ + 50; ++round) {
        std::fill(sum_.begin(), sum_.end(), 0.0);
        for (const std::size_t i : members_)
            for (std::size_t j = 0; j < rows_; ++j) sum_[j] += share_[i] * column(i)[j];
        double level = 0, steepest = 0;
        for (std::size_t i = 0; i < worlds_; ++i) {
            gradient_[i] = dot(column(i), sum_.data(), rows_) + cost_[i];
            steepest = std::max(steepest, std::abs(cost_[i]));
        }
        steepest += unit_ * std::sqrt(dot(sum_.data(), sum_.data(), rows_));
        for (const std::size_t i : members_) level += share_[i] * gradient_[i];
        const auto lowest =
            std::min_element(gradient_.begin(), gradient_.begin() + static_cast<std::ptrdiff_t>(worlds_));
        const auto world = static_cast<std::size_t>(lowest - gradient_.begin());
        if (*lowest >= level - rounding * static_cast<double>(rows_ + 4) * steepest || share_[world] > 0) return true;
        steady = enter(world);
    }
    return false;
}

// False if the world leaves at once: only rounding had it enter.
bool ModelMinimum::enter(std::size_t world) {
    if (!append(world)) {
        exchange(world);
        return optimise();
    }
    return optimise() && share_[world] > 0;
}

// False if the column depends on the members'.
bool ModelMinimum::append(std::size_t world) {
    members_.push_back(world);
    const std::size_t place = members_.size() - 1;
    orthogonalise(place);
    const double* own = &columns_[world * stride_];
    if (r(place, place) > dependent * std::sqrt(dot(own, own, stride_))) return true;
    members_.pop_back();
    return false;
}

// A direction that leaves P a and the sum of shares as they are, until the share of a member runs out.
void ModelMinimum::exchange(std::size_t world) {
    const std::size_t count = members_.size();
    work_.assign(count, 0.0);
    for (std::size_t i = 0; i < count; ++i) work_[i] = r(i, count);  // `append` left it there
    solve_upper(work_);
    double length = 1;
    std::size_t first = count;
    for (std::size_t i = 0; i < count; ++i)
        if (work_[i] > 0 && share_[members_[i]] < length * work_[i]) length = share_[members_[i]] / work_[i], first = i;
    for (std::size_t i = 0; i < count; ++i) {
        double& share = share_[members_[i]];
        share = std::max(0.0, share - length * work_[i]);
    }
    share_[world] = length;
    if (first == count) {  // nothing else is left
        members_.assign(1, world);
        rebuild(0);
        return;
    }
    leave(first);
    if (!append(world)) {  // by rounding: the world takes the place of the member that it depends on
        std::size_t most = 0;
        for (std::size_t i = 1; i < members_.size(); ++i)
            if (std::abs(r(i, members_.size())) > std::abs(r(most, members_.size()))) most = i;
        share_[world] += share_[members_[most]];
        leave(most);
        if (!append(world)) share_[members_[0]] += share_[world], share_[world] = 0;
    }
}

void ModelMinimum::leave(std::size_t place) {
    share_[members_[place]] = 0;
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(place));
    for (std::size_t i = place; i < members_.size(); ++i) orthogonalise(i);
}

void ModelMinimum::rebuild(std::size_t from) {
    for (std::size_t i = from; i < members_.size();) {
        const double* own = &columns_[members_[i] * stride_];
        orthogonalise(i);
        if (r(i, i) > dependent * std::sqrt(dot(own, own, stride_))) {
            ++i;
            continue;
        }
        share_[members_[i]] = 0;
        members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    double total = 0;
    for (const std::size_t i : members_) total += share_[i];
    for (const std::size_t i : members_)
        share_[i] = total > 0 ? share_[i] / total : 1.0 / static_cast<double>(members_.size());
}

// Gram and Schmidt, twice: what the second time removes is rounding of the first.
void ModelMinimum::orthogonalise(std::size_t place) {
    const double* own = &columns_[members_[place] * stride_];
    double* direction = q(place);
    std::copy(own, own + stride_, direction);
    for (std::size_t i = 0; i < place; ++i) r(i, place) = 0;
    for (int again = 0; again < 2; ++again) {
        for (std::size_t i = 0; i < place; ++i) {
            const double part = dot(q(i), direction, stride_);
            r(i, place) += part;
            for (std::size_t j = 0; j < stride_; ++j) direction[j] -= part * q(i)[j];
        }
    }
    const double norm = std::sqrt(dot(direction, direction, stride_));
    r(place, place) = norm;
    if (norm > 0)
        for (std::size_t j = 0; j < stride_; ++j) direction[j] /= norm;
}

// Goes to the best shares of the members; those that run out on the way leave. False if numbers fail.
bool ModelMinimum::optimise() {
    while (true) {
        find_aim();
        double length = 1;
        std::size_t first = members_.size();
        for (std::size_t i = 0; i < members_.size(); ++i) {
            const double share = share_[members_[i]];
            if (!std::isfinite(aim_[i])) return false;
            const double reach = share > 0 ? share / (share - aim_[i]) : 0;  // where the share runs out
            if (aim_[i] <= 0 && reach <= length) length = reach, first = i;
        }
        if (first == members_.size()) {
            for (std::size_t i = 0; i < members_.size(); ++i) share_[members_[i]] = aim_[i];
            return true;
        }
        for (std::size_t i = 0; i < members_.size(); ++i) {
            double& share = share_[members_[i]];
            share = std::max(0.0, share + length * (aim_[i] - share));
        }
        leave(first);
        if (members_.empty()) return false;
    }
}

// The best shares of the members, of any sign. With the first entries `unit` of the columns, R'R = P'P + unit^2 11',
// and
//
//     P'P a + cost = y 1, <1, a> = 1   becomes   R'R a = s 1 - cost:   a = s u - w,   R'R u = 1,   R'R w = cost.
//
// As the row of units is unit (1, ..., 1) = unit 1' = (its entries of Q) R, R u is that row of Q, divided by unit.
void ModelMinimum::find_aim() {
    const std::size_t count = members_.size();
    aim_.resize(count), work_.resize(count);
    bool costs = false;
    for (std::size_t i = 0; i < count; ++i) {
        aim_[i] = q(i)[0] / unit_;
        work_[i] = cost_[members_[i]];
        costs = costs || work_[i] != 0;
    }
    solve_upper(aim_);
    double total = 0, less = 0;
    for (std::size_t i = 0; i < count; ++i) total += aim_[i];
    if (costs) {
        solve_lower(work_);
        solve_upper(work_);
        for (std::size_t i = 0; i < count; ++i) less += work_[i];
    }
    const double factor = (1 + less) / total;
    for (std::size_t i = 0; i < count; ++i) aim_[i] = factor * aim_[i] - (costs ? work_[i] : 0.0);
}

void ModelMinimum::solve_upper(std::vector<double>& right) const {
    for (std::size_t i = right.size(); i-- > 0;) {
        right[i] /= r(i, i);
        for (std::size_t j = 0; j < i; ++j) right[j] -= r(j, i) * right[i];
    }
}

void ModelMinimum::solve_lower(std::vector<double>& right) const {
    for (std::size_t i = 0; i < right.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) right[i] -= r(j, i) * right[j];
        right[i] /= r(i, i);
    }
}

}  // namespace coherently
