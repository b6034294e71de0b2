// The mixture of some worlds whose events are nearest to targets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coherently/worlds/energy.hpp"

namespace coherently {

// sum_t weight_t (sum_k factor_k x[coordinate_k] - target_t)^2, k in [starts[t], starts[t + 1]): squares of sums of
// events.
struct Squares {
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> coordinates;
    std::span<const double> factors, weight, target;

    std::size_t size() const { return weight.size(); }
    // Adds half of the gradient at x; the sum of the squares.
    double add_gradient(std::span<const double> x, std::span<double> gradient) const;
    // The part of the inner product of x and y - both less the targets - that does not depend on y.
    double constant(std::span<const double> x) const;

private:
    double away(std::size_t t, std::span<const double> x) const;
};

// Minimises sum_j weight_j (x_j - target_j)^2 + squares over x = sum_i share_i v_i, the v_i being the truth vectors of
// worlds that are added one after the other. Wolfe (1976), Finding the nearest point in a polytope, with an updated
// factorisation.
class Mixture {
public:
    Mixture(std::span<const double> weight, std::span<const double> target, const Squares& squares = {});

    // Takes in a world with its truth vector, a bit an event, at share 0; false where it depends on those within.
    bool add(const World& world, std::span<const std::uint8_t> bits);
    // Moves to the minimum, dropping worlds whose share would turn negative.
    void settle();
    // Improves the shares to the last digit.
    void refine();

    std::size_t size() const { return columns_.size(); }
    const std::vector<double>& shares() const { return share_; }
    const World& world(std::size_t i) const { return columns_[i].world; }
    // The events' probabilities.
    void blend(std::span<double> x) const;

private:
    struct Column {
        World world;
        std::vector<std::uint8_t> bits;
        std::vector<double> products;  // with the columns before it, and with itself last
    };
    void inner_products(std::span<const std::uint8_t> bits, std::vector<double>& out);
    bool append_row(const std::vector<double>& products);
    void solve(std::vector<double>& right) const;
    void remove(std::size_t i);

    std::span<const double> weight_, target_;
    Squares squares_;
    std::vector<Column> columns_;
    std::vector<std::vector<double>> factor_;  // the Cholesky factor of the Gram matrix + scale, a row a column
    std::vector<double> share_, trial_, sums_, row_, truth_, slope_;
    double scale_ = 0;
};

}  // namespace coherently
