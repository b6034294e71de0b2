// Newton steps on box-constrained variables with pairwise couplings.
#pragma once

#include <cstdint>
#include <vector>

namespace coherently {

// A quadratic function of n variables: its value, gradient and second derivatives at a point.
struct Quadratic {
    struct Coupling {
        std::int32_t first, second;
        double value;
    };

    double value = 0;
    std::vector<double> gradient, diagonal;
    std::vector<Coupling> couplings;

    explicit Quadratic(std::size_t n) : gradient(n), diagonal(n) {}

    void add(std::size_t i, std::size_t j, double gi, double gj, double hii, double hij, double hjj) {
        gradient[i] += gi, gradient[j] += gj;
        diagonal[i] += hii, diagonal[j] += hjj;
        if (hij != 0) couplings.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), hij});
    }

    // The second derivatives times a vector.
    void multiply(const std::vector<double>& by, std::vector<double>& image) const;

    // Moves the point of reference by `moved`.
    void carry(const std::vector<double>& moved);
};

class NewtonSystem {
public:
    explicit NewtonSystem(std::size_t n);

    std::vector<double> step;

    // Finds the step to the least value, with variables at 0 or 1 that would leave the box fixed there. Returns twice
    // the decrease that the function promises. Up to `dense_limit` variables the matrix is factorised; past it
    // conjugate gradients take over.
    double solve(Quadratic& function, const std::vector<double>& x, std::size_t dense_limit);

private:
    void factorise_and_solve(const Quadratic& function);
    void conjugate_gradients(const Quadratic& function);

    std::size_t n_;
    std::vector<double> matrix_, residual_, direction_, image_;
    std::vector<char> free_;
};

}  // namespace coherently
