#include "linear/dense_simplex.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linear/dot.hpp"

namespace coherently {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();
constexpr double feasible = 1e-9;      // by how much a bound may be missed
constexpr double improving = 1e-9;     // reduced costs above minus this improve nothing
constexpr double least_pivot = 1e-8;   // smaller entries are rounding errors
constexpr double sound_miss = 1e-7;    // what rows and reduced costs may be off by in the end
constexpr int most_updates = 64;       // of the inverse, before it is made anew
constexpr std::size_t stretch = 64;    // variables that are looked at before the best of them enters
constexpr std::size_t patience = 200;  // steps without progress before the rule that cannot cycle

}  // namespace

DenseSimplex::DenseSimplex(std::size_t rows, std::vector<double> columns)
    : rows_(rows),
      columns_(rows == 0 ? 0 : columns.size() / rows),
      matrix_(std::move(columns)),
      low_(rows, -endless),
      high_(rows, endless),
      value_(rows),
      price_(rows),
      image_(rows) {
    at_.head.resize(rows);
    at_.state.assign(columns_ + rows, lower);
    at_.inverse.assign(rows * rows, 0.0);
    for (std::size_t r = 0; r < rows; ++r) {
        at_.head[r] = static_cast<std::int32_t>(columns_ + r);
        at_.state[columns_ + r] = basic;
        at_.inverse[r * rows + r] = -1.0;  // the value of a row has the column -1 there: A x - value = 0
    }
}

void DenseSimplex::bound(std::size_t row, double low, double high) { low_[row] = low, high_[row] = high; }

double DenseSimplex::low(std::size_t variable) const { return variable < columns_ ? 0.0 : low_[variable - columns_]; }

double DenseSimplex::high(std::size_t variable) const {
    return variable < columns_ ? endless : high_[variable - columns_];
}

// The value of a variable that is not in the basis.
double DenseSimplex::resting(std::size_t variable) const {
    switch (at_.state[variable]) {
        case lower: return low(variable);
        case upper: return high(variable);
        default: return 0.0;
    }
}

// After bounds changed, variables outside the basis rest at a bound that there is.
void DenseSimplex::settle_states() {
    for (std::size_t r = 0; r < rows_; ++r) {
        std::int8_t& state = at_.state[columns_ + r];
        if (state == basic) continue;
        const bool below = low_[r] > -endless, above = high_[r] < endless;
        if (!below && !above) state = loose;
        else if (state == loose || (state == lower && !below) || (state == upper && !above))
            state = below ? lower : upper;
    }
}

// The values of the variables of the basis: minus the inverse times the columns of the others at their values.
void DenseSimplex::values() {
    std::vector<double> right(rows_, 0.0);
    for (std::size_t r = 0; r < rows_; ++r)
        if (at_.state[columns_ + r] != basic) right[r] = resting(columns_ + r);  // columns rest at 0
    for (std::size_t r = 0; r < rows_; ++r) value_[r] = dot(&at_.inverse[r * rows_], right.data(), rows_);
}

// The inverse of the basis by elimination with partial pivots; false if the basis is singular.
bool DenseSimplex::factorise() {
    const std::size_t n = rows_;
    std::vector<double> left(n * n, 0.0);
    at_.inverse.assign(n * n, 0.0);
    for (std::size_t k = 0; k < n; ++k) {
        const auto variable = static_cast<std::size_t>(at_.head[k]);
        for (std::size_t r = 0; r < n; ++r)
            left[r * n + k] = variable < columns_ ? matrix_[variable * n + r] : (variable - columns_ == r ? -1.0 : 0.0);
        at_.inverse[k * n + k] = 1.0;
    }
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t r = k + 1; r < n; ++r)
            if (std::abs(left[r * n + k]) > std::abs(left[pivot * n + k])) pivot = r;
        if (std::abs(left[pivot * n + k]) < least_pivot) return false;
        if (pivot != k) {
            std::swap_ranges(&left[pivot * n], &left[pivot * n] + n, &left[k * n]);
            std::swap_ranges(&at_.inverse[pivot * n], &at_.inverse[pivot * n] + n, &at_.inverse[k * n]);
        }
        const double scale = 1.0 / left[k * n + k];
        for (std::size_t c = 0; c < n; ++c) left[k * n + c] *= scale, at_.inverse[k * n + c] *= scale;
        for (std::size_t r = 0; r < n; ++r) {
            const double factor = left[r * n + k];
            if (r == k || factor == 0.0) continue;
            for (std::size_t c = k; c < n; ++c) left[r * n + c] -= factor * left[k * n + c];
            for (std::size_t c = 0; c < n; ++c) at_.inverse[r * n + c] -= factor * at_.inverse[k * n + c];
        }
    }
    at_.updates = 0;
    return true;
}

bool DenseSimplex::infeasible() const {
    for (std::size_t r = 0; r < rows_; ++r) {
        const auto variable = static_cast<std::size_t>(at_.head[r]);
        if (value_[r] < low(variable) - feasible || value_[r] > high(variable) + feasible) return true;
    }
    return false;
}

double DenseSimplex::reduced(std::size_t variable, double cost) const {
    if (variable < columns_) return cost - dot(price_.data(), &matrix_[variable * rows_], rows_);
    return price_[variable - columns_];
}

// Chooses the variable that is to enter: the one that improves most of the next stretch with any or, after many steps
// without progress, the first of all, by which no search goes round in circles.
// While bounds are missed (`repair`), the cost is the sum of what they are missed by.
bool DenseSimplex::price(std::span<const double> cost, bool repair) {
    std::fill(price_.begin(), price_.end(), 0.0);
    for (std::size_t r = 0; r < rows_; ++r) {
        const auto variable = static_cast<std::size_t>(at_.head[r]);
        double own = 0.0;
        if (repair)
            own = value_[r] < low(variable) - feasible ? -1.0 : (value_[r] > high(variable) + feasible ? 1.0 : 0.0);
        else if (variable < columns_) own = cost[variable];
        if (own == 0.0) continue;
        const double* row = &at_.inverse[r * rows_];
        for (std::size_t c = 0; c < rows_; ++c) price_[c] += own * row[c];
    }
    const bool first = stalled_ > static_cast<int>(patience + rows_);
    const std::size_t all = columns_ + rows_;
    double best = improving;
    bool found = false;
    std::size_t variable = first ? 0 : next_;
    for (std::size_t seen = 0; seen < all; ++seen, variable = variable + 1 == all ? 0 : variable + 1) {
        if (found && (first || seen % stretch == 0)) break;
        const std::int8_t state = at_.state[variable];
        if (state == basic || low(variable) == high(variable)) continue;
        const double by = reduced(variable, repair || variable >= columns_ ? 0.0 : cost[variable]);
        const double gain = state == lower ? -by : (state == upper ? by : std::abs(by));
        if (gain <= best) continue;
        best = gain, found = true;
        entering_ = variable, direction_ = by < 0 ? 1.0 : -1.0;
    }
    next_ = variable;
    return found;
}

// The column of a variable in terms of the basis.
void DenseSimplex::image(std::size_t variable) {
    if (variable < columns_) {
        const double* column = &matrix_[variable * rows_];
        for (std::size_t r = 0; r < rows_; ++r) image_[r] = dot(&at_.inverse[r * rows_], column, rows_);
    } else {
        for (std::size_t r = 0; r < rows_; ++r) image_[r] = -at_.inverse[r * rows_ + (variable - columns_)];
    }
}

// Moves the entering variable until one of the basis comes to a bound, which leaves; false if none does.
// Of those that come to theirs within the tolerance, the one with the largest entry leaves (P. M. J. Harris, 1973).
bool DenseSimplex::step(bool repair) {
    const auto room = [&](std::size_t r, double slack) {
        const auto variable = static_cast<std::size_t>(at_.head[r]);
        const double rate = -direction_ * image_[r], at = value_[r];
        if (std::abs(rate) < least_pivot) return endless;
        const double least = low(variable), most = high(variable);
        if (repair && at < least - feasible) return rate > 0 ? (least - at + slack) / rate : endless;
        if (repair && at > most + feasible) return rate < 0 ? (at - most + slack) / -rate : endless;
        if (rate < 0) return least > -endless ? (at - least + slack) / -rate : endless;
        return most < endless ? (most - at + slack) / rate : endless;
    };
    const double across = high(entering_) - low(entering_);
    double most = endless;
    for (std::size_t r = 0; r < rows_; ++r) most = std::min(most, room(r, feasible));
    std::size_t leaving = rows_;
    double largest = 0.0;
    for (std::size_t r = 0; r < rows_; ++r)
        if (std::abs(image_[r]) > largest && room(r, 0.0) <= most) leaving = r, largest = std::abs(image_[r]);
    const double length = leaving < rows_ ? std::max(0.0, room(leaving, 0.0)) : endless;
    if (across <= length) {  // to its own other bound
        if (across == endless) return false;
        for (std::size_t r = 0; r < rows_; ++r) value_[r] -= across * direction_ * image_[r];
        at_.state[entering_] = at_.state[entering_] == lower ? upper : lower;
        stalled_ = 0;
        return true;
    }
    stalled_ = length > feasible ? 0 : stalled_ + 1;
    const auto left = static_cast<std::size_t>(at_.head[leaving]);
    const double rate = -direction_ * image_[leaving], at = value_[leaving];
    bool to_high = rate > 0;
    if (repair && at < low(left) - feasible) to_high = false;
    if (repair && at > high(left) + feasible) to_high = true;
    const double entered = resting(entering_) + direction_ * length;
    for (std::size_t r = 0; r < rows_; ++r) value_[r] -= length * direction_ * image_[r];
    value_[leaving] = entered;
    at_.state[left] = to_high ? upper : lower;
    at_.state[entering_] = basic;
    at_.head[leaving] = static_cast<std::int32_t>(entering_);
    double* pivot = &at_.inverse[leaving * rows_];
    const double scale = 1.0 / image_[leaving];
    for (std::size_t c = 0; c < rows_; ++c) pivot[c] *= scale;
    for (std::size_t r = 0; r < rows_; ++r) {
        const double factor = image_[r];
        if (r == leaving || factor == 0.0) continue;
        double* row = &at_.inverse[r * rows_];
        for (std::size_t c = 0; c < rows_; ++c) row[c] -= factor * pivot[c];
    }
    ++at_.updates;
    return true;
}

// Whether the columns times their values make the rows, and no variable outside the basis improves: without trust in
// the inverse.
bool DenseSimplex::sound(std::span<const double> cost) {
    std::vector<double> left(rows_, 0.0);
    for (std::size_t r = 0; r < rows_; ++r) {
        const auto variable = static_cast<std::size_t>(at_.head[r]);
        if (variable >= columns_) {
            left[variable - columns_] -= value_[r];
            continue;
        }
        const double* column = &matrix_[variable * rows_];
        for (std::size_t k = 0; k < rows_; ++k) left[k] += value_[r] * column[k];
        if (std::abs(reduced(variable, cost[variable])) > sound_miss) return false;
    }
    for (std::size_t r = 0; r < rows_; ++r) {
        if (at_.state[columns_ + r] != basic) left[r] -= resting(columns_ + r);
        if (std::abs(left[r]) > sound_miss) return false;
    }
    return true;
}

DenseSimplex::Outcome DenseSimplex::minimise(std::span<const double> cost) {
    cost_.assign(cost.begin(), cost.end());
    settle_states();
    values();
    stalled_ = 0;
    bool fresh = at_.updates == 0;
    const std::size_t most = 2'000 + 20 * (rows_ + columns_);
    for (std::size_t round = 0; round < most; ++round) {
        if (at_.updates > most_updates) {
            if (!factorise()) return Outcome::unsettled;
            values();
            fresh = true;
        }
        const bool repair = infeasible();
        if (price(cost, repair)) {
            image(entering_);
            if (!step(repair)) return Outcome::unsettled;
            fresh = false;
            continue;
        }
        if (!repair && sound(cost)) return Outcome::optimal;
        if (fresh) return repair ? Outcome::infeasible : Outcome::unsettled;
        if (!factorise()) return Outcome::unsettled;
        values();
        fresh = true;
    }
    return Outcome::unsettled;
}

double DenseSimplex::objective() const {
    double sum = 0.0;
    for (std::size_t r = 0; r < rows_; ++r) {
        const auto variable = static_cast<std::size_t>(at_.head[r]);
        if (variable < columns_) sum += cost_[variable] * value_[r];
    }
    return sum;
}

}  // namespace coherently
