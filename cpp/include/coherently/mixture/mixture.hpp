// The mixture of some worlds whose events are nearest to targets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coherently/worlds/energy.hpp"

namespace coherently {

// Minimises sum_j weight_j (x_j - target_j)^2 over x = sum_i share_i v_i, the v_i being the truth vectors of
// worlds that are added one after the other. Wolfe (1976), Finding the nearest point in a polytope, with an updated
// factorisation.
class Mixture {
public:
    Mixture(std::span<const double> weight, std::span<const double> target);

    // Takes in a world with its truth vector, one bit per event, at share 0; false if it depends on those within.
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
    std::vector<Column> columns_;
    std::vector<std::vector<double>> factor_;  // the Cholesky factor of the Gram matrix + scale, one row per column
    std::vector<double> share_, trial_, sums_, row_;
    double scale_ = 0;
};

}  // namespace coherently
