#include "linear/newton_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linear/dot.hpp"

namespace coherently {
namespace {

constexpr double regularisation = 1e-15;

}  // namespace

void Quadratic::multiply(const std::vector<double>& by, std::vector<double>& image) const {
    for (std::size_t v = 0; v < by.size(); ++v) image[v] = diagonal[v] * by[v];
    // Couplings often come in runs of one variable, which would wait for its sum to be stored and loaded.
    std::size_t i = 0;
    double sum = 0;
    for (const Coupling& c : couplings) {
        const auto first = static_cast<std::size_t>(c.first), second = static_cast<std::size_t>(c.second);
        if (first != i) image[i] += sum, i = first, sum = 0;
        sum += c.value * by[second];
        image[second] += c.value * by[first];
    }
    if (sum != 0) image[i] += sum;
}

void Quadratic::carry(const std::vector<double>& moved) {
    std::vector<double> image(moved.size());
    multiply(moved, image);
    for (std::size_t v = 0; v < moved.size(); ++v) {
        value += moved[v] * (gradient[v] + 0.5 * image[v]);
        gradient[v] += image[v];
    }
}

NewtonSystem::NewtonSystem(std::size_t n) : step(n), n_(n), residual_(n), direction_(n), image_(n), free_(n) {}

double NewtonSystem::solve(Quadratic& function, const std::vector<double>& x, std::size_t dense_limit) {
    auto& diagonal = function.diagonal;
    const auto& gradient = function.gradient;
    const double largest = n_ ? *std::max_element(diagonal.begin(), diagonal.end()) : 0;
    for (std::size_t v = 0; v < n_; ++v) {
        free_[v] = !((x[v] <= 0 && gradient[v] > 0) || (x[v] >= 1 && gradient[v] < 0));
        diagonal[v] += regularisation * largest + 1e-300;
    }
    if (n_ <= dense_limit) factorise_and_solve(function);
    else conjugate_gradients(function);
    return -std::inner_product(step.begin(), step.end(), gradient.begin(), 0.0);
}

// Cholesky by rows, four at a time so that each earlier row is fetched once for all of them.
void NewtonSystem::factorise_and_solve(const Quadratic& function) {
    const auto row = [&](std::size_t i) { return matrix_.data() + i * n_; };
    matrix_.assign(n_ * n_, 0.0);
    for (std::size_t i = 0; i < n_; ++i) row(i)[i] = free_[i] ? function.diagonal[i] : 1;
    for (const Quadratic::Coupling& c : function.couplings) {
        const auto i = static_cast<std::size_t>(c.first), j = static_cast<std::size_t>(c.second);
        if (free_[i] && free_[j]) row(std::max(i, j))[std::min(i, j)] += c.value;
    }
    for (std::size_t top = 0; top < n_; top += 4) {
        const std::size_t end = std::min(top + 4, n_);
        for (std::size_t j = 0; j < end; ++j)
            for (std::size_t i = std::max(j, top); i < end; ++i) {
                const double rest = row(i)[j] - dot<8>(row(i), row(j), j);
                row(i)[j] = i == j ? std::sqrt(std::max(rest, 1e-300)) : rest / row(j)[j];
            }
    }
    for (std::size_t i = 0; i < n_; ++i)
        step[i] = ((free_[i] ? -function.gradient[i] : 0) - dot<8>(row(i), step.data(), i)) / row(i)[i];
    for (std::size_t i = n_; i-- > 0;) {
        step[i] /= row(i)[i];
        for (std::size_t k = 0; k < i; ++k) step[k] -= row(i)[k] * step[i];
    }
}

// Preconditioned by the diagonal.
void NewtonSystem::conjugate_gradients(const Quadratic& function) {
    const auto &gradient = function.gradient, &diagonal = function.diagonal;
    std::fill(step.begin(), step.end(), 0.0);
    double rho = 0;
    for (std::size_t v = 0; v < n_; ++v) {
        residual_[v] = free_[v] ? -gradient[v] : 0;
        direction_[v] = residual_[v] / diagonal[v];
        rho += residual_[v] * direction_[v];
    }
    const double goal = 1e-8 * rho;
    for (std::size_t iteration = 0; iteration < 4 * n_ && rho > goal; ++iteration) {
        function.multiply(direction_, image_);
        const double curvature = std::inner_product(direction_.begin(), direction_.end(), image_.begin(), 0.0);
        if (!(curvature > 0)) break;
        const double length = rho / curvature;
        double next = 0;
        for (std::size_t v = 0; v < n_; ++v) {
            if (!free_[v]) continue;
            step[v] += length * direction_[v];
            residual_[v] -= length * image_[v];
            next += residual_[v] * residual_[v] / diagonal[v];
        }
        for (std::size_t v = 0; v < n_; ++v)
            if (free_[v]) direction_[v] = residual_[v] / diagonal[v] + next / rho * direction_[v];
        rho = next;
    }
}

}  // namespace coherently
