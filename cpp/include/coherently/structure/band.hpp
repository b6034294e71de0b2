// Symmetric matrices whose entries lie near the diagonal.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace coherently {

// A numbering of nodes in which joined nodes have near numbers (Cuthill and McKee 1969, turned round): the new number
// of each node. `first` and `second` are the ends of joins.
std::vector<std::int32_t> band_order(std::size_t size, std::span<const std::int32_t> first,
                                     std::span<const std::int32_t> second);

// The Cholesky factor of a positive definite matrix: entry (j + d, j) is at j * (width + 1) + d.
class BandFactor {
public:
    BandFactor(std::size_t size, std::size_t width, std::vector<double> band);

    // Whether the matrix is positive definite as far as rounding shows; otherwise nothing can be solved.
    bool is_positive() const { return is_positive_; }
    std::size_t size() const { return size_; }
    void solve(std::span<double> right) const;

private:
    std::size_t size_, width_;
    std::vector<double> band_;
    bool is_positive_ = true;
};

}  // namespace coherently
