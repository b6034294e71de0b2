// The diagonal that makes a quadratic form over signs convex at the least loss.
#pragma once

#include <cstdint>
#include <vector>

#include "coherently/deadline.hpp"

namespace coherently {

// Unit vectors for the field, then for each variable: the answer of the semidefinite relaxation, to start from again.
struct Vectors {
    std::size_t width = 0;
    std::vector<double> values;  // one row per vector

    static Vectors random(std::size_t n_variables, std::uint64_t seed);
    double* row(std::size_t i) { return &values[i * width]; }
    const double* row(std::size_t i) const { return &values[i * width]; }
};

// The relative change of the objective per sweep at which the relaxation counts as solved, the number of bisections of
// the cost of convexity, and the deadline of the sweeps.
struct Precision {
    double steady;
    int trials;
    Deadline deadline = Deadline::max();
};

// For min s' A s + field s over s in {-1, 1}^n, A given by rows (n x n, zero diagonal): y with A - diag(y) positive
// semidefinite, up to a Cholesky test, and sum(y) near the greatest that the semidefinite relaxation allows. `shift` is
// the first guess of the cost of convexity, relative to the largest y, and becomes the last one.
std::vector<double> best_diagonal(const std::vector<double>& matrix, const std::vector<double>& field,
                                  Precision precision, Vectors& vectors, double& shift);

}  // namespace coherently
