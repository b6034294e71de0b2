// A small dense system with a positive definite matrix, on one thread: what an interior point method solves each step.
#pragma once

#include <span>
#include <vector>

namespace coherently {

// sum over t of w_t w_t' + diag(d), the w_t being the rows of `ways`, factorised by Cholesky's method.
class NormalSystem {
public:
    NormalSystem(std::span<const double> ways, std::span<const double> diagonal);

    bool is_definite() const { return definite_; }
    std::vector<double> solve(std::span<const double> right) const;
    // The matrix times x: what a solution stands for, rounding and all.
    std::vector<double> multiply(std::span<const double> x) const;

private:
    void add_products(std::span<const double> ways);
    void factorise();

    std::size_t n_;
    std::vector<double> matrix_, factor_;  // by rows; the factor below the diagonal
    bool definite_ = true;
};

}  // namespace coherently
