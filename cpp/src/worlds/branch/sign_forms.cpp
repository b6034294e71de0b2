#include "coherently/worlds/branch/sign_forms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

namespace coherently {
namespace {

constexpr int most_shift = 30;  // the largest k
constexpr std::int64_t large = std::int64_t{1} << 61;
constexpr double largest_entry = 2147483000.0;       // of C
constexpr int most_margin = -4, least_margin = -40;  // binary digits, relative to the diagonal

void put(std::vector<std::uint8_t>& bytes, std::int64_t value, int count) {
    for (int k = 0; k < count; ++k) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * k) & 255));
}

std::size_t place(std::size_t i, std::size_t j) { return i * (i + 1) / 2 + j; }

// The lower triangle of a symmetric matrix P.
using Triangle = std::vector<std::int64_t>;

// Cholesky's factor of P - margin, times 2^k; empty if that is not positive definite.
std::vector<double> factor_of(const Triangle& p, std::size_t m, double margin) {
    std::vector<double> factor(p.size());
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double rest = static_cast<double>(p[place(i, j)]) - (i == j ? margin : 0.0);
            for (std::size_t k = 0; k < j; ++k) rest -= factor[place(i, k)] * factor[place(j, k)];
            if (i == j && !(rest > 0)) return {};
            factor[place(i, j)] = i == j ? std::sqrt(rest) : rest / factor[place(j, j)];
        }
    }
    return factor;
}

// Whether 4^k P - C C' is diagonally dominant with a diagonal that is not negative; false, too, if numbers may leave 64
// bits. |4^k P| and the squared length of each row of C are at most 2^61, and so are products of rows, by Cauchy and
// Schwarz: entries of the difference are at most 2^62. A margin, once it is negative, is not looked at again, and
// one that is not loses at most 2^62 at a time.
bool is_dominant(const Triangle& p, std::size_t m, int k, const std::vector<std::int32_t>& c) {
    for (const std::int64_t entry : p)
        if (entry > (large >> (2 * k)) || entry < -(large >> (2 * k))) return false;
    std::vector<std::int64_t> margin(m);
    for (std::size_t i = 0; i < m; ++i) {
        std::int64_t square = 0;
        for (std::size_t j = 0; j <= i; ++j) {
            const std::int64_t entry = c[place(i, j)];
            square += entry * entry;  // at most 2^62 is added to at most 2^61
            if (square > large) return false;
        }
        margin[i] = p[place(i, i)] * (std::int64_t{1} << (2 * k)) - square;
        if (margin[i] < 0) return false;
    }
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            std::int64_t product = 0;  // partial sums are products of parts of rows
            for (std::size_t l = 0; l <= j; ++l) product += static_cast<std::int64_t>(c[place(i, l)]) * c[place(j, l)];
            const std::int64_t rest = std::abs(p[place(i, j)] * (std::int64_t{1} << (2 * k)) - product);
            margin[i] -= rest;
            margin[j] -= rest;
            if (margin[i] < 0 || margin[j] < 0) return false;
        }
    }
    return true;
}

// C and k that show P to be semidefinite. Forms of a tree are alike, so that it begins near to what served the last
// one.
struct Factor {
    int margin = most_margin, k = 0;
    std::vector<std::int32_t> c;

    // False if there are none.
    bool find(const Triangle& p, std::size_t m) {
        double diagonal = 1;
        for (std::size_t i = 0; i < m; ++i) diagonal = std::max(diagonal, static_cast<double>(p[place(i, i)]));
        std::vector<double> factor;
        for (margin = std::min(margin + 4, most_margin); factor.empty() && margin > least_margin;)
            factor = factor_of(p, m, std::ldexp(diagonal, margin -= 2));
        if (factor.empty() && m > 0) return false;
        c.resize(p.size());
        for (k = std::max(k - 1, 0); k <= most_shift; ++k) {
            const double unit = std::ldexp(1.0, k);
            for (std::size_t e = 0; e < p.size(); ++e) {
                const double entry = std::nearbyint(factor[e] * unit);
                if (!(std::abs(entry) < largest_entry)) return false;
                c[e] = static_cast<std::int32_t>(entry);
            }
            if (is_dominant(p, m, k, c)) return true;
        }
        return false;
    }
};

}  // namespace

std::optional<std::vector<std::uint8_t>> with_forms(std::span<const std::uint8_t> tree,
                                                    std::span<const std::int64_t> places,
                                                    std::span<const std::int8_t> fixed, std::span<const std::int64_t> a,
                                                    std::span<const std::int64_t> y) {
    std::vector<std::uint8_t> bytes;
    const std::size_t n = places.empty() ? 0 : fixed.size() / places.size();
    std::size_t at = 0, first = 0;
    Factor factor;
    for (std::size_t form = 0; form < places.size(); ++form) {
        std::vector<std::size_t> free;
        for (std::size_t v = 0; v < n; ++v)
            if (fixed[form * n + v] == 0) free.push_back(v);
        const std::size_t m = free.size();
        std::vector<std::int64_t> own(y.begin() + static_cast<std::ptrdiff_t>(first),
                                      y.begin() + static_cast<std::ptrdiff_t>(first + m));
        first += m;
        Triangle p;
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j <= i; ++j) p.push_back(i == j ? -own[i] : a[free[i] * n + free[j]]);
        // A slightly lower diagonal makes up for rounding.
        for (std::int64_t lower = 1; !factor.find(p, m); lower *= 4) {
            factor = {};
            if (lower > (std::int64_t{1} << 40)) return std::nullopt;
            for (std::size_t i = 0; i < m; ++i) own[i] -= lower, p[place(i, i)] += lower;
        }
        const auto end = static_cast<std::size_t>(places[form]);
        bytes.insert(bytes.end(), tree.begin() + static_cast<std::ptrdiff_t>(at),
                     tree.begin() + static_cast<std::ptrdiff_t>(end));
        at = end;
        for (const std::int64_t value : own) put(bytes, value, 8);
        put(bytes, factor.k, 1);
        for (const std::int32_t entry : factor.c) put(bytes, entry, 4);
    }
    bytes.insert(bytes.end(), tree.begin() + static_cast<std::ptrdiff_t>(at), tree.end());
    return bytes;
}

namespace {

// Why nothing leaves 64 bits. Let Q = |constant| + sum |h| + sum |A| <= 2^47 and T = sum |Y| <= 2^47 for each form,
// with at most 2^12 variables and points in the box, |z| <= 2^12. Where signs are fixed, |constant| <= Q and sum |h| <=
// 2 Q. With P = A - diag Y, sum |P| <= Q + T <= 2^48, so the slopes Pz have sum |Pz| <= 2^60. The bound is
//
//     V = 2^24 (constant + sum Y) - z'Pz + sum of -+ (2^24 h + 2^13 Pz)
//       = 2^13 (2^11 (constant + sum Y) + sum of -+ (2^11 h + Pz)) - z'Pz,
//
// where the parts of the outer bracket are at most 2^59, 2^59 and 2^60. With Pz = 2^13 a + b and 0 <= b < 2^13,
// z'Pz = 2^13 a.z + b.z, where |a.z| <= 2^12 (2^47 + 2^12) and |b.z| <= 2^37. With b.z = 2^13 c + d and 0 <= d < 2^13,
// V = 2^13 (X - c) - d, where X - c and all sums on the way to it are below 2^62, and V / 2^27, rounded down, is
// (X - c - [d > 0]) / 2^14, rounded down.
constexpr std::int64_t most_sum = std::int64_t{1} << 47, largest_point = 1 << 12;
constexpr std::size_t most_variables = 2000;
constexpr int point_digits = 12, unit_digits = 13;

// Adds absolute values; false once the sum is above the limit, so that it cannot overflow.
bool add_sizes(std::span<const std::int64_t> values, std::int64_t& sum) {
    for (const std::int64_t value : values) {
        if (value > most_sum || value < -most_sum) return false;
        sum += std::abs(value);
        if (sum > most_sum) return false;
    }
    return true;
}

// The bytes of a tree, from the front; a read past the end says so, and gives 0.
class Bytes {
public:
    explicit Bytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    std::int64_t next(int count) {
        if (bytes_.size() - at_ < static_cast<std::size_t>(count)) {
            is_short_ = true;
            at_ = bytes_.size();
            return 0;
        }
        std::uint64_t value = 0;
        for (int k = 0; k < count; ++k) value |= std::uint64_t{bytes_[at_++]} << (8 * k);
        const int unused = 64 - 8 * count;  // the sign of a shorter number
        return static_cast<std::int64_t>(value << unused) >> unused;
    }
    std::size_t left() const { return bytes_.size() - at_; }
    bool is_short() const { return is_short_; }

private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
    bool is_short_ = false;
};

// A form over the variables that are free where it was made, with P by rows.
struct Convex {
    std::vector<std::size_t> free;
    std::vector<std::int64_t> h, p;
    std::int64_t constant = 0;
};

// V of a point, less what the signs add: (base + sum of -+ linear) / 2^14, rounded down, is below E.
struct Tangent {
    std::shared_ptr<const Convex> form;
    std::vector<std::int64_t> linear;
    std::int64_t base = 0;
};

class SignChecker {
public:
    SignChecker(const SignEnergy& energy, std::span<const std::uint8_t> tree) : energy_(energy), tree_(tree) {}

    std::optional<SignBound> run(std::span<const std::int8_t> signs) {
        const std::size_t n = energy_.size();
        std::int64_t sum = 0;
        if (n > most_variables || signs.size() != n || energy_.a.size() != n * n) return std::nullopt;
        if (!add_sizes({&energy_.constant, 1}, sum) || !add_sizes(energy_.h, sum) || !add_sizes(energy_.a, sum))
            return std::nullopt;
        waiting_.push_back({{signs.begin(), signs.end()}, nullptr});
        while (!waiting_.empty()) {
            Node node = std::move(waiting_.back());
            waiting_.pop_back();
            if (!visit(node)) return std::nullopt;
        }
        if (tree_.left() != 0) return std::nullopt;
        return SignBound{least_, work_};
    }

private:
    using Signs = std::vector<std::int8_t>;
    struct Node {
        Signs signs;
        std::shared_ptr<const Convex> form;
    };

    bool visit(Node& node) {
        std::int64_t code = tree_.next(1);
        for (; code == 3 || code == 4; code = tree_.next(1)) {
            if (code == 4) node.form = read_form(node.signs);
            if (!node.form || (code == 3 && !read_point(node))) return false;
        }
        if (tree_.is_short()) return false;
        if (code == 0 || code == 1) return split(node, code == 1);
        if (code != 2 || !node.form || tangent_.form != node.form) return false;
        std::int64_t value = tangent_.base;
        for (std::size_t i = 0; i < tangent_.linear.size(); ++i) {
            const std::int8_t sign = node.signs[node.form->free[i]];
            const std::int64_t linear = tangent_.linear[i];
            value += sign == 0 ? -std::abs(linear) : sign * linear;
        }
        least_ = std::min(least_, value >> (2 * point_digits + 3 - unit_digits));
        work_ += static_cast<std::int64_t>(node.form->free.size());
        return true;
    }

    bool split(const Node& node, bool upper_first) {
        const auto v = static_cast<std::size_t>(tree_.next(2) & 0xffff);
        if (tree_.is_short() || v >= node.signs.size() || node.signs[v] != 0) return false;
        for (const int sign : upper_first ? std::array{-1, 1} : std::array{1, -1}) {
            waiting_.push_back(node);
            waiting_.back().signs[v] = static_cast<std::int8_t>(sign);
        }
        return true;
    }

    // Null if the form is not shown to be convex.
    std::shared_ptr<const Convex> read_form(const Signs& signs) {
        const std::size_t n = energy_.size();
        auto form = std::make_shared<Convex>();
        form->constant = energy_.constant;
        for (std::size_t i = 0; i < n; ++i) {
            std::int64_t pull = 0;
            for (std::size_t j = 0; j < n; ++j) pull += energy_.a[i * n + j] * signs[j];
            if (signs[i] == 0) form->free.push_back(i), form->h.push_back(energy_.h[i] + 2 * pull);
            form->constant += (energy_.h[i] + pull) * signs[i];
        }
        const std::size_t m = form->free.size();
        work_ += static_cast<std::int64_t>(m * m * m + n * n);
        std::vector<std::int64_t> y(m);
        for (std::int64_t& value : y) value = tree_.next(8);
        std::int64_t sum = 0;
        if (!add_sizes(y, sum)) return nullptr;
        const auto k = static_cast<int>(tree_.next(1) & 0xff);
        std::vector<std::int32_t> c(m * (m + 1) / 2);
        for (std::int32_t& entry : c) entry = static_cast<std::int32_t>(tree_.next(4));
        if (tree_.is_short() || k > most_shift) return nullptr;
        Triangle triangle;
        form->p.resize(m * m);
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                const std::int64_t entry = energy_.a[form->free[i] * n + form->free[j]] - (i == j ? y[i] : 0);
                triangle.push_back(entry);
                form->p[i * m + j] = form->p[j * m + i] = entry;
            }
            form->constant += y[i];
        }
        return is_dominant(triangle, m, k, c) ? form : nullptr;
    }

    bool read_point(const Node& node) {
        const auto& form = node.form;
        const std::size_t m = form->free.size();
        std::vector<std::int64_t> z(m);
        for (std::size_t i = 0; i < m; ++i) {
            const std::int8_t sign = node.signs[form->free[i]];
            z[i] = sign == 0 ? tree_.next(2) : sign * largest_point;
            if (std::abs(z[i]) > largest_point) return false;
        }
        tangent_ = {form, std::vector<std::int64_t>(m), form->constant * (1 << (2 * point_digits - unit_digits))};
        std::int64_t low = 0;
        for (std::size_t i = 0; i < m; ++i) {
            const std::int64_t* row = &form->p[i * m];
            std::int64_t slope = 0;
            for (std::size_t j = 0; j < m; ++j) slope += row[j] * z[j];
            tangent_.linear[i] = form->h[i] * (1 << (2 * point_digits - unit_digits)) + slope;
            tangent_.base -= (slope >> unit_digits) * z[i];
            low += (slope & ((1 << unit_digits) - 1)) * z[i];
        }
        tangent_.base -= (low >> unit_digits) + ((low & ((1 << unit_digits) - 1)) != 0);
        work_ += static_cast<std::int64_t>(m * m);
        return !tree_.is_short();
    }

    SignEnergy energy_;
    Bytes tree_;
    std::vector<Node> waiting_;
    Tangent tangent_;
    std::int64_t least_ = std::numeric_limits<std::int64_t>::max(), work_ = 0;
};

}  // namespace

std::optional<SignBound> check_signs(const SignEnergy& energy, std::span<const std::int8_t> signs,
                                     std::span<const std::uint8_t> tree) {
    return SignChecker(energy, tree).run(signs);
}

}  // namespace coherently
