// The diagonal that makes a quadratic form over signs convex at the least loss.
#pragma once

#include <cstdint>
#include <vector>

#include "coherently/deadline.hpp"

namespace coherently {

// Unit vectors for the field, then for each variable: the answer of the semidefinite relaxation, to start from again.
struct Vectors {
    std::size_t width = 0;
    std::vector<double> values;  // a row a vector

    static Vectors random(std::size_t n_variables, std::uint64_t seed);
    double* row(std::size_t i) { return &values[i * width]; }
    const double* row(std::size_t i) const { return &values[i * width]; }
};

// The relative change of the objective in a sweep at which the relaxation is solved, how often what convexity costs is
// lessened, and when sweeps end in any case.
struct Precision {
    double steady;
    int trials;
    Deadline deadline = Deadline::max();
};

// For min s' A s + field s over s in {-1, 1}^n, A given by rows (n x n, zero diagonal): y with A - diag(y) positive
// semidefinite, up to a Cholesky test, and sum(y) near the greatest that the semidefinite relaxation allows. `shift` is
// the first guess at what convexity costs, relative to the largest y, and the last answer.
std::vector<double> best_diagonal(const std::vector<double>& matrix, const std::vector<double>& field,
                                  Precision precision, Vectors& vectors, double& shift);

}  // namespace coherently
