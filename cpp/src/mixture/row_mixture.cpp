#include "coherently/mixture/row_mixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "linear/dot.hpp"

namespace coherently {
namespace {

// The problem in the shares s of the columns within, where column i adds E_i to the sum of shares and to the pins:
//
//     min c s + 1/2 s' Q s   subject to   E s = e = (1, 0, ..., 0),   s >= 0,
//
// with Q_ij = sum_t weight_t row_t(i) row_t(j).
//
// On columns of positive shares, the Lagrangian c s + 1/2 s' Q s - y (E s - e) gives the step of the header. Q alone
// may be singular; H = Q + rho E'E is positive definite on independent columns, and as E ds is given, Q ds and H ds
// differ only by a multiple of E', which changes y by rho (e - E s): nothing once the shares are feasible. H is
// factorised, H^-1 E' are the first vectors of `along_`, and the small system E H^-1 E' y = e - E s + E H^-1 (c + Q s)
// gives y, the prices.
//
// A primal active set method (Nocedal and Wright 2006, section 16.5): go as far as all shares stay at least 0, drop the
// column whose share is 0 and repeat. At the end every column within has the slope (c + Q s)_i = <y, E_i>. A column
// outside improves the model if its slope is below <y, E_i>: a world if its sum of `gradient_`, the slopes minus prices
// times pins, is below `level_`, that of x; a slack (slope 0, -1 in its pin) if the price of its pin is negative. If
// there is neither, the conditions of Karush, Kuhn and Tucker hold for all worlds. In phase 1, Q = 0 and only
// artificial columns have a cost: this is then a simplex method.
constexpr double least_pivot = 1e-14;  // of a scaled column: if smaller, it depends on those before it
constexpr double least_part = 1e-11;   // of a column in another that depends on it: if smaller, it is rounding
constexpr double rounding = 1e-15;
constexpr double unseen = 1e-12;     // shares below this count as 0
constexpr double least_bend = 1e-3;  // minimum of rho, relative to the slopes
constexpr std::size_t most_pivots = 100000;

}  // namespace

double Sums::value(std::size_t t, std::span<const double> holds, std::span<const double> fails) const {
    double sum = offset[t];
    for (auto k = static_cast<std::size_t>(starts[t]); k < static_cast<std::size_t>(starts[t + 1]); ++k) {
        const auto j = static_cast<std::size_t>(coordinates[k]);
        sum += factors[k] * (turned[k] ? fails[j] : holds[j]);
    }
    return sum;
}

double Sums::in_world(std::size_t t, std::span<const std::uint8_t> truth) const {
    double sum = offset[t];
    for (auto k = static_cast<std::size_t>(starts[t]); k < static_cast<std::size_t>(starts[t + 1]); ++k)
        if (truth[static_cast<std::size_t>(coordinates[k])] != turned[k]) sum += factors[k];
    return sum;
}

double Sums::add(std::size_t t, double amount, std::span<double> slope) const {
    double constant = amount * offset[t];
    for (auto k = static_cast<std::size_t>(starts[t]); k < static_cast<std::size_t>(starts[t + 1]); ++k) {
        const double by = amount * factors[k];
        slope[static_cast<std::size_t>(coordinates[k])] += turned[k] ? -by : by;
        if (turned[k]) constant += by;
    }
    return constant;
}

RowMixture::RowMixture(std::size_t events, Sums pins, std::vector<std::uint8_t> equal)
    : events_(events),
      pins_(std::move(pins)),
      equal_(std::move(equal)),
      holds_(events),
      fails_(events),
      event_slope_(events),
      price_(pins_.size()),
      gradient_(events),
      along_(2 + pins_.size()) {
    model_.cost.assign(events, 0.0);
}

RowMixture::Column RowMixture::make_world(const World& world, std::span<const std::uint8_t> truth) const {
    Column column{
        Kind::world, world, {truth.begin(), truth.end()}, std::vector<std::uint8_t>((events_ + 7) / 8), {1.0}};
    for (std::size_t j = 0; j < events_; ++j) column.bits[j / 8] |= static_cast<std::uint8_t>(truth[j] << (j % 8));
    for (std::size_t t = 0; t < pins_.size(); ++t) column.pins.push_back(pins_.in_world(t, truth));
    column.cost = world_cost(column);
    return column;
}

RowMixture::Column RowMixture::make_unit(Kind kind, std::size_t pin, double sign) const {
    Column column{kind, {}, {}, {}, std::vector<double>(1 + pins_.size())};
    column.pins[1 + pin] = sign;
    column.pin = pin;
    column.cost = kind == Kind::artificial ? 1.0 : 0.0;
    return column;
}

double RowMixture::world_cost(const Column& column) const {
    if (phase_1_) return 0;
    double cost = 0;
    for (std::size_t j = 0; j < events_; ++j) cost += column.truth[j] ? model_.cost[j] : 0.0;
    return cost;
}

// Sums of a function of events over worlds: a table of 16 partial sums for each four events.
void RowMixture::fill_tables(std::span<const double> slope) {
    const std::size_t halves = 2 * ((events_ + 7) / 8);
    tables_.assign(16 * halves, 0.0);
    for (std::size_t j = 0; j < events_; ++j) tables_[16 * (j / 4) + (std::size_t{1} << (j % 4))] = slope[j];
    for (std::size_t h = 0; h < halves; ++h)
        for (std::size_t k = 3; k < 16; ++k)
            if (const std::size_t rest = k & (k - 1))
                tables_[16 * h + k] = tables_[16 * h + rest] + tables_[16 * h + (k ^ rest)];
}

double RowMixture::from_tables(const Column& column) const {
    double sums[8] = {};  // none waits for another
    const double* tables = tables_.data();
    const std::size_t bytes = column.bits.size();
    std::size_t b = 0;
    for (; b + 4 <= bytes; b += 4, tables += 128)
        for (std::size_t k = 0; k < 4; ++k) {
            const std::uint8_t byte = column.bits[b + k];
            sums[2 * k] += tables[32 * k + (byte & 15)];
            sums[2 * k + 1] += tables[32 * k + 16 + (byte >> 4)];
        }
    for (; b < bytes; ++b, tables += 32) {
        sums[0] += tables[column.bits[b] & 15];
        sums[1] += tables[16 + (column.bits[b] >> 4)];
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// A column of H: the products with the columns within, and with itself last.
void RowMixture::multiply(const Column& column, std::vector<double>& products) {
    const std::size_t k = columns_.size();
    products.assign(k + 1, 0.0);
    if (column.kind == Kind::world && !phase_1_) {
        scratch_.assign(events_, 0.0);
        double constant = 0;
        for (std::size_t t = 0; t < model_.rows.size(); ++t) {
            const double value = model_.rows.in_world(t, column.truth), pull = model_.weight[t] * value;
            products[k] += pull * value;
            constant += model_.rows.add(t, pull, scratch_);
        }
        fill_tables(scratch_);
        for (std::size_t i = 0; i < k; ++i)
            if (columns_[i].kind == Kind::world) products[i] = constant + from_tables(columns_[i]);
    }
    const std::size_t q = column.pins.size();
    for (std::size_t i = 0; i < k; ++i) products[i] += rho_ * dot(columns_[i].pins.data(), column.pins.data(), q);
    products[k] += rho_ * dot(column.pins.data(), column.pins.data(), q);
}

// Leaves the new row of the factor in `row_`; false where its pivot is too small.
bool RowMixture::append_row() {
    const std::size_t k = factor_.size();
    row_.resize(k + 1);
    const double size = std::sqrt(products_[k]);
    for (std::size_t i = 0; i < k; ++i)
        row_[i] =
            (products_[i] / (size * columns_[i].size) - dot<8>(factor_[i].data(), row_.data(), i)) / factor_[i][i];
    const double pivot = 1.0 - dot<8>(row_.data(), row_.data(), k);
    if (k > 0 && !(pivot > least_pivot)) return false;
    row_[k] = std::sqrt(pivot);
    return true;
}

bool RowMixture::absorb(Column column, double share) {
    multiply(column, products_);
    if (!(products_.back() > 0)) return false;
    column.size = std::sqrt(products_.back());
    if (!append_row()) return exchange(column, share);
    factor_.emplace_back(row_.begin(), row_.end());
    columns_.push_back(std::move(column));
    share_.push_back(share);
    if (share > 0) looked_ = false;
    return true;
}

// The slope of the model by the share of a column, as of the last call of `look`, from tables of `event_slope_`.
double RowMixture::slope(const Column& column) const {
    return column.cost + (column.kind == Kind::world ? constant_ + from_tables(column) : 0.0);
}

// The column is sum_i a_i column_i in rows and pins, up to rounding, so the model is linear along the exchange of these
// for it, or back. Moves in the direction of descent until a share is 0; if the column still depends on the rest, all
// is as before.
bool RowMixture::exchange(Column& column, double share) {
    const std::size_t k = columns_.size();
    std::vector<double> part(row_.begin(), row_.begin() + static_cast<std::ptrdiff_t>(k));
    for (std::size_t i = k; i-- > 0;) {
        const double value = part[i] /= factor_[i][i];
        const double* row = factor_[i].data();
        for (std::size_t j = 0; j < i; ++j) part[j] -= value * row[j];
    }
    fill_tables(event_slope_);
    double fall = slope(column), sizes = std::abs(fall);
    for (std::size_t i = 0; i < k; ++i) {
        part[i] *= column.size / columns_[i].size;
        const double by = part[i] * slope(columns_[i]);
        fall -= by;
        sizes += std::abs(by);
    }
    if (share == 0 && !(fall < -rounding * sizes)) return false;
    const double sign = share == 0 || fall < 0 ? 1.0 : -1.0;
    double length = sign < 0 ? share : std::numeric_limits<double>::infinity();
    std::size_t leaving = k;
    for (std::size_t i = 0; i < k; ++i) {
        if (!(sign * part[i] > least_part)) continue;
        const double reach = share_[i] / (sign * part[i]);
        if (reach < length || (reach == length && leaving < k && sign * part[i] > sign * part[leaving]))
            length = reach, leaving = i;
    }
    if (!std::isfinite(length)) return false;
    const std::vector<double> shares = share_;
    looked_ = false;
    for (std::size_t i = 0; i < k; ++i) share_[i] = std::max(0.0, share_[i] - sign * length * part[i]);
    if (leaving == k) return false;
    const double left = std::max(0.0, share + sign * length);
    const std::vector<std::vector<double>> factor = factor_;
    Column gone = columns_[leaving];
    remove(leaving);
    multiply(column, products_);
    if (!append_row()) {
        factor_ = factor;
        columns_.insert(columns_.begin() + static_cast<std::ptrdiff_t>(leaving), std::move(gone));
        share_ = shares;
        return false;
    }
    factor_.emplace_back(row_.begin(), row_.end());
    columns_.push_back(std::move(column));
    share_.push_back(left);
    return true;
}

// All right sides together: the factor is larger than a cache, and each row is fetched once.
void RowMixture::solve(std::vector<std::vector<double>>& rights) const {
    const std::size_t k = factor_.size();
    for (std::size_t i = 0; i < k; ++i)
        for (auto& right : rights)
            right[i] = (right[i] / columns_[i].size - dot<8>(factor_[i].data(), right.data(), i)) / factor_[i][i];
    for (std::size_t i = k; i-- > 0;) {
        const double* row = factor_[i].data();
        for (auto& right : rights) {
            const double value = right[i] /= row[i];
            for (std::size_t j = 0; j < i; ++j) right[j] -= value * row[j];
        }
    }
    for (auto& right : rights)
        for (std::size_t i = 0; i < k; ++i) right[i] /= columns_[i].size;
}

// Givens rotations restore the triangle below the row that leaves.
void RowMixture::remove(std::size_t i) {
    const std::size_t k = columns_.size();
    std::vector<double> cosine, sine;
    for (std::size_t r = i + 1; r < k; ++r) {
        auto& row = factor_[r];
        for (std::size_t j = i; j + 1 < r; ++j) {
            const double a = row[j], b = row[j + 1], c = cosine[j - i], s = sine[j - i];
            row[j] = c * a + s * b;
            row[j + 1] = c * b - s * a;
        }
        const double length = std::hypot(row[r - 1], row[r]);
        cosine.push_back(row[r - 1] / length), sine.push_back(row[r] / length);
        row[r - 1] = length;
        row.pop_back();
    }
    const auto at = static_cast<std::ptrdiff_t>(i);
    factor_.erase(factor_.begin() + at);
    columns_.erase(columns_.begin() + at);
    share_.erase(share_.begin() + at);
}

// The first world has the share 1; slacks and artificial columns compensate what it adds to the pins.
void RowMixture::begin(Column first) {
    phase_1_ = pins_.size() > 0;
    rho_ = 1;
    first.cost = world_cost(first);
    const std::vector<double> away(first.pins.begin() + 1, first.pins.end());
    absorb(std::move(first), 1.0);
    for (std::size_t t = 0; t < pins_.size(); ++t) {
        if (away[t] == 0 && equal_[t]) continue;
        const bool slack = !equal_[t] && away[t] >= 0;
        absorb(make_unit(slack ? Kind::slack : Kind::artificial, t,
                         away[t] > 0 ? -1.0
                         : slack     ? -1.0
                                     : 1.0),
               std::abs(away[t]));
    }
    if (phase_1_ && missing() == 0) finish_phase_1();
}

bool RowMixture::add(const World& world, std::span<const std::uint8_t> truth) {
    Column column = make_world(world, truth);
    if (columns_.empty()) {
        begin(std::move(column));
        return true;
    }
    return absorb(std::move(column), 0.0);
}

double RowMixture::missing() const {
    double total = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i)
        if (columns_[i].kind == Kind::artificial) total += share_[i];
    return total;
}

void RowMixture::finish_phase_1() {
    phase_1_ = false;
    for (std::size_t i = columns_.size(); i-- > 0;)
        if (columns_[i].kind == Kind::artificial) {
            columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(i));
            share_.erase(share_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    rebuild();
}

void RowMixture::set(RowModel model) {
    model_ = std::move(model);
    row_value_.resize(model_.rows.size());
    if (!phase_1_) rebuild();
}

// Recomputes the factor, columns of large shares first.
void RowMixture::rebuild() {
    std::vector<Column> columns = std::move(columns_);
    std::vector<double> shares = std::move(share_);
    columns_.clear(), share_.clear(), factor_.clear();
    double total = 0;
    std::size_t worlds = 0;
    for (Column& column : columns) {
        if (column.kind != Kind::world) continue;
        column.cost = world_cost(column);
        ++worlds;
        for (std::size_t t = 0; t < model_.rows.size(); ++t) {
            const double value = model_.rows.in_world(t, column.truth);
            total += model_.weight[t] * value * value;
        }
    }
    looked_ = false;
    look_at(columns, shares);
    fill_tables(event_slope_);
    // If the model has little curvature, prices are large compared to H, and steps lose their digits to rounding.
    double steepest = 0;
    for (const Column& column : columns) steepest = std::max(steepest, std::abs(slope(column)));
    rho_ = std::max(total > 0 ? total / static_cast<double>(worlds) : 0.0, least_bend * steepest);
    if (!(rho_ > 0)) rho_ = 1;
    std::vector<std::size_t> order(columns.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
    for (const std::size_t i : order)
        if (shares[i] > 0) absorb(std::move(columns[i]), shares[i]);
}

// The probabilities, and the slope of the model by events, without prices.
void RowMixture::look() {
    look_at(columns_, share_);
    looked_ = true;
}

void RowMixture::look_at(const std::vector<Column>& columns, const std::vector<double>& shares) {
    std::fill(holds_.begin(), holds_.end(), 0.0);
    std::fill(fails_.begin(), fails_.end(), 0.0);
    objective_ = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        objective_ += columns[i].cost * shares[i];
        if (columns[i].kind != Kind::world) continue;
        const double share = shares[i];
        const std::uint8_t* truth = columns[i].truth.data();
        for (std::size_t j = 0; j < events_; ++j) {
            const double held = share * truth[j];
            holds_[j] += held;
            fails_[j] += share - held;
        }
    }
    std::fill(event_slope_.begin(), event_slope_.end(), 0.0);
    constant_ = 0;
    if (phase_1_) return;
    for (std::size_t t = 0; t < model_.rows.size(); ++t) {
        const double value = model_.rows.value(t, holds_, fails_), pull = model_.weight[t] * value;
        objective_ += 0.5 * pull * value;
        constant_ += model_.rows.add(t, pull, event_slope_);
    }
}

// The slope of the model by the shares of the columns.
void RowMixture::find_slopes() {
    fill_tables(event_slope_);
    slope_.resize(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) slope_[i] = slope(columns_[i]);
}

// The step to the minimum on the columns within, with shares of any sign, and the prices.
void RowMixture::find_step() {
    const std::size_t k = columns_.size(), q = 1 + pins_.size();
    along_[q] = slope_;
    for (std::size_t p = 0; p < q; ++p) {
        along_[p].resize(k);
        for (std::size_t i = 0; i < k; ++i) along_[p][i] = columns_[i].pins[p];
    }
    solve(along_);
    step_ = along_[q];
    std::vector<double>& right = multiplier_;
    right.resize(q);
    for (std::size_t p = 0; p < q; ++p) {
        right[p] = p == 0 ? 1.0 : 0.0;
        for (std::size_t i = 0; i < k; ++i) right[p] += columns_[i].pins[p] * (step_[i] - share_[i]);
    }
    solve_small(right);
    for (std::size_t i = 0; i < k; ++i) {
        double step = -step_[i];
        for (std::size_t p = 0; p < q; ++p) step += along_[p][i] * right[p];
        step_[i] = step;
    }
    for (std::size_t p = 1; p < q; ++p) price_[p - 1] = right[p];
}

// Solves E H^-1 E' y = right; pins that depend on others have the price 0.
void RowMixture::solve_small(std::vector<double>& right) {
    const std::size_t k = columns_.size(), q = right.size();
    std::vector<std::vector<double>> factor(q);
    std::vector<double> size(q);
    std::vector<std::uint8_t> used(q, 1);
    for (std::size_t p = 0; p < q; ++p) {
        factor[p].resize(p + 1);
        for (std::size_t r = 0; r <= p; ++r)
            for (std::size_t i = 0; i < k; ++i) factor[p][r] += columns_[i].pins[p] * along_[r][i];
        size[p] = factor[p][p] > 0 ? std::sqrt(factor[p][p]) : 0.0;
        if (!(size[p] > 0)) {
            used[p] = 0;
            continue;
        }
        for (std::size_t r = 0; r < p; ++r)
            factor[p][r] = used[r] ? (factor[p][r] / (size[p] * size[r]) - dot(factor[p].data(), factor[r].data(), r)) /
                                         factor[r][r]
                                   : 0.0;
        const double pivot = 1.0 - dot(factor[p].data(), factor[p].data(), p);
        used[p] = pivot > least_pivot;
        factor[p][p] = used[p] ? std::sqrt(pivot) : 1.0;
        right[p] = used[p] ? (right[p] / size[p] - dot(factor[p].data(), right.data(), p)) / factor[p][p] : 0.0;
    }
    for (std::size_t p = q; p-- > 0;) {
        if (!used[p]) {
            right[p] = 0;
            continue;
        }
        const double value = right[p] /= factor[p][p];
        for (std::size_t r = 0; r < p; ++r)
            if (used[r]) right[r] -= value * factor[p][r];
    }
    for (std::size_t p = 0; p < q; ++p)
        if (used[p]) right[p] /= size[p];
}

// Adds the slack of the pin with the most negative price; false if there is none.
bool RowMixture::add_slack() {
    double scale = 0;
    for (const double slope : slope_) scale = std::max(scale, std::abs(slope));
    std::size_t worst = pins_.size();
    for (std::size_t t = 0; t < pins_.size(); ++t)
        if (!equal_[t] && price_[t] < -1e-13 * scale && (worst == pins_.size() || price_[t] < price_[worst])) worst = t;
    if (worst == pins_.size()) return false;
    for (const Column& column : columns_)
        if (column.kind == Kind::slack && column.pin == worst) return false;
    return absorb(make_unit(Kind::slack, worst, -1.0), 0.0);
}

void RowMixture::settle(int refinements) {
    std::size_t slacks = 0;
    if (!looked_) look();
    find_slopes();
    for (std::size_t guard = 0; guard < most_pivots; ++guard) {
        find_step();
        const std::size_t k = columns_.size();
        // A column that pins keep at share 0 determines their prices: rounding must not drop it.
        const double least = pins_.size() > 0 ? -unseen : 0.0;
        double length = 1;
        std::size_t leaving = k;
        for (std::size_t i = 0; i < k; ++i) {
            if (share_[i] + step_[i] >= least) continue;
            const double reach = share_[i] / -step_[i];
            if (leaving == k || reach < length) length = reach, leaving = i;
        }
        for (std::size_t i = 0; i < k; ++i) share_[i] = std::max(0.0, share_[i] + length * step_[i]);
        looked_ = false;
        if (leaving < k) {
            advance_slopes(length);
            slope_.erase(slope_.begin() + static_cast<std::ptrdiff_t>(leaving));
            remove(leaving);
            continue;
        }
        look();
        if (slacks < 4 * pins_.size() && add_slack()) {
            find_slopes();
            ++slacks;
            continue;
        }
        if (refinements-- <= 0) break;
        find_slopes();
    }
    price_events();
}

// The slopes after a part of a step, at whose end they would be the prices of what the columns add.
void RowMixture::advance_slopes(double length) {
    for (std::size_t i = 0; i < columns_.size(); ++i)
        slope_[i] += length * (dot(columns_[i].pins.data(), multiplier_.data(), multiplier_.size()) - slope_[i]);
}

void RowMixture::price_events() {
    level_ = 0;
    // A pin with slack has the price 0, up to rounding.
    for (std::size_t i = 0; i < columns_.size(); ++i)
        if (columns_[i].kind == Kind::slack && share_[i] > unseen) price_[columns_[i].pin] = 0;
    for (std::size_t j = 0; j < events_; ++j) gradient_[j] = event_slope_[j] + (phase_1_ ? 0.0 : model_.cost[j]);
    for (std::size_t t = 0; t < pins_.size(); ++t) {
        if (!equal_[t]) price_[t] = std::max(0.0, price_[t]);
        pins_.add(t, -price_[t], gradient_);
    }
    for (std::size_t j = 0; j < events_; ++j) level_ += gradient_[j] * holds_[j];
}

}  // namespace coherently
