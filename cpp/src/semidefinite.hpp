// The diagonal that makes a quadratic form over signs convex at the least loss.
#pragma once

#include <cstdint>
#include <vector>

namespace coherently {

// For min s' A s + field s over s in {-1, 1}^n, A given by rows (n x n, zero diagonal): y with A - diag(y) positive
// semidefinite, up to a Cholesky test, and sum(y) near the greatest that the semidefinite relaxation
// allows: its solution ends when a sweep changes the objective by less than `steady`, relative to it.
std::vector<double> best_diagonal(const std::vector<double>& matrix, const std::vector<double>& field,
                                  double steady, std::uint64_t seed);

}  // namespace coherently
