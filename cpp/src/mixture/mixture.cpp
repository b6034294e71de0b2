#include "coherently/mixture/mixture.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "linear/dot.hpp"

namespace coherently {
namespace {

constexpr double least_pivot = 1e-11;  // of a column's squared length

bool bit(std::span<const std::uint8_t> bits, std::size_t j) { return bits[j / 8] >> (j % 8) & 1; }

}  // namespace

Mixture::Mixture(std::span<const double> weight, std::span<const double> target) : weight_(weight), target_(target) {}

// <y, y_i> for y = v - target in the metric of the weights: it is linear in the events that hold in world
// i, so a table of 16 partial sums for each four events gives it.
void Mixture::inner_products(std::span<const std::uint8_t> bits, std::vector<double>& out) {
    const std::size_t m = weight_.size(), halves = 2 * ((m + 7) / 8);
    sums_.assign(16 * halves, 0.0);
    double constant = 0, own = 0;
    for (std::size_t j = 0; j < m; ++j) {
        const double y = bit(bits, j) - target_[j], u = weight_[j] * y;
        constant += u * target_[j];
        own += u * y;
        sums_[16 * (j / 4) + (std::size_t{1} << (j % 4))] = u;
    }
    for (std::size_t h = 0; h < halves; ++h)
        for (std::size_t k = 3; k < 16; ++k)
            if (const std::size_t rest = k & (k - 1))
                sums_[16 * h + k] = sums_[16 * h + rest] + sums_[16 * h + (k ^ rest)];
    out.resize(columns_.size() + 1);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        double even = 0, odd = 0;
        const double* sums = sums_.data();
        for (const std::uint8_t byte : columns_[i].bits) {
            even += sums[byte & 15];
            odd += sums[16 + (byte >> 4)];
            sums += 32;
        }
        out[i] = even + odd - constant;
    }
    out.back() = own;
}

bool Mixture::append_row(const std::vector<double>& products) {
    const std::size_t k = factor_.size();
    row_.resize(k + 1);
    for (std::size_t i = 0; i < k; ++i)
        row_[i] = (products[i] + scale_ - dot(factor_[i].data(), row_.data(), i)) / factor_[i][i];
    const double pivot = products[k] + scale_ - dot(row_.data(), row_.data(), k);
    if (k > 0 && !(pivot > least_pivot * (products[k] + scale_))) return false;
    row_[k] = std::sqrt(pivot);
    factor_.emplace_back(row_.begin(), row_.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    return true;
}

bool Mixture::add(const World& world, std::span<const std::uint8_t> bits) {
    Column column{world, {bits.begin(), bits.end()}, {}};
    inner_products(bits, column.products);
    if (columns_.empty()) scale_ = column.products[0] > 0 ? column.products[0] : 1.0;
    if (!append_row(column.products)) return false;
    share_.push_back(columns_.empty() ? 1.0 : 0.0);
    columns_.push_back(std::move(column));
    return true;
}

void Mixture::solve(std::vector<double>& right) const {
    const std::size_t k = factor_.size();
    for (std::size_t i = 0; i < k; ++i) right[i] = (right[i] - dot(factor_[i].data(), right.data(), i)) / factor_[i][i];
    for (std::size_t i = k; i-- > 0;) {
        const double value = right[i] /= factor_[i][i];
        const double* row = factor_[i].data();
        for (std::size_t j = 0; j < i; ++j) right[j] -= value * row[j];
    }
}

void Mixture::settle() {
    for (;;) {
        const std::size_t k = columns_.size();
        trial_.assign(k, 1.0);
        solve(trial_);
        double total = 0;
        for (const double value : trial_) total += value;
        double length = 1;
        std::size_t leaving = k;
        for (std::size_t i = 0; i < k; ++i) {
            trial_[i] /= total;
            if (trial_[i] >= 0) continue;
            const double reach = share_[i] / (share_[i] - trial_[i]);
            if (leaving == k || reach < length) length = reach, leaving = i;
        }
        for (std::size_t i = 0; i < k; ++i) share_[i] = std::max(0.0, share_[i] + length * (trial_[i] - share_[i]));
        if (leaving == k) return;
        remove(leaving);
    }
}

// Givens rotations restore the triangle below the row that leaves.
void Mixture::remove(std::size_t i) {
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
        auto& products = columns_[r].products;
        products.erase(products.begin() + static_cast<std::ptrdiff_t>(i));
    }
    const auto at = static_cast<std::ptrdiff_t>(i);
    factor_.erase(factor_.begin() + at);
    columns_.erase(columns_.begin() + at);
    share_.erase(share_.begin() + at);
}

void Mixture::refine() {
    const std::size_t k = columns_.size();
    // Newton's correction of G share = level, sum(share) = 1, by the factor of G + scale.
    std::vector<double> gradient(k, 0.0), ones(k, 1.0);
    for (std::size_t i = 0; i < k; ++i) {
        const auto& products = columns_[i].products;
        for (std::size_t j = 0; j < i; ++j)
            gradient[i] += products[j] * share_[j], gradient[j] += products[j] * share_[i];
        gradient[i] += products[i] * share_[i];
    }
    solve(gradient);
    solve(ones);
    double along = 0, total = 0;
    for (std::size_t i = 0; i < k; ++i) along += gradient[i], total += ones[i];
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
        share_[i] = std::max(0.0, share_[i] - gradient[i] + along / total * ones[i]);
        sum += share_[i];
    }
    for (double& share : share_) share /= sum;
}

void Mixture::blend(std::span<double> x) const {
    std::fill(x.begin(), x.end(), 0.0);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const double share = share_[i];
        for (std::size_t b = 0; b < columns_[i].bits.size(); ++b)
            for (unsigned rest = columns_[i].bits[b]; rest; rest &= rest - 1)
                x[8 * b + static_cast<std::size_t>(std::countr_zero(rest))] += share;
    }
}

}  // namespace coherently
