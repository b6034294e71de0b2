// The linear system of a Newton step on box-constrained variables with pairwise couplings.
#pragma once

#include <cstdint>
#include <vector>

namespace coherently {

class NewtonSystem {
public:
    // Up to `dense_limit` variables the matrix is factorised; past it conjugate gradients take over.
    NewtonSystem(std::size_t n, std::size_t dense_limit);

    std::vector<double> gradient, diagonal, step;

    void clear();

    void add(std::size_t i, std::size_t j, double gi, double gj, double hii, double hij, double hjj) {
        gradient[i] += gi, gradient[j] += gj;
        diagonal[i] += hii, diagonal[j] += hjj;
        if (hij == 0) return;
        if (dense_) matrix_[i > j ? i * n_ + j : j * n_ + i] += hij;
        else couplings_.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), hij});
    }

    // Solves for the step, with variables at 0 or 1 that would leave the box fixed there.
    // Returns twice the decrease that the quadratic model promises. The matrix is used up.
    double solve(const std::vector<double>& x);

private:
    void factorise_and_solve();
    void conjugate_gradients();

    struct Coupling {
        std::int32_t first, second;
        double value;
    };

    std::size_t n_;
    bool dense_;
    std::vector<double> matrix_, residual_, direction_, image_;
    std::vector<Coupling> couplings_;
    std::vector<char> free_;
};

}  // namespace coherently
