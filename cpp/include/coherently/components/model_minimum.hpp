// The mixture of few worlds that minimises a quadratic model: least |P a|^2 / 2 + <cost, a> over shares a >= 0 with
// sum 1.
//
// P has one column per world. Wolfe (1976), Finding the nearest point in a polytope, with a linear cost: shares of an
// affinely independent set of worlds are optimised, worlds whose share runs out leave, and the world that lies farthest
// below the plane of the gradient enters, until none does. With a cost, a world whose column depends on the others may
// be cheaper than they are; it enters by an exchange.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace coherently {

class ModelMinimum {
public:
    // Forgets all worlds; there are `worlds` columns of `rows` numbers.
    void reset(std::size_t worlds, std::size_t rows);

    // The columns and the costs, which the caller fills before `minimise`.
    double* column(std::size_t world) { return &columns_[world * stride_ + 1]; }
    std::span<double> cost() { return {cost_.data(), worlds_}; }

    // Minimises, beginning with the shares of the last call. False if rounding ended it early.
    bool minimise();

    // The share of each world.
    std::span<const double> shares() const { return {share_.data(), worlds_}; }

private:
    bool enter(std::size_t world);
    void leave(std::size_t place);
    bool append(std::size_t world);
    void rebuild(std::size_t from);
    void orthogonalise(std::size_t place);
    bool optimise();
    void exchange(std::size_t world);
    void find_aim();
    void solve_upper(std::vector<double>& right) const;
    void solve_lower(std::vector<double>& right) const;
    double* q(std::size_t place) { return &q_[place * stride_]; }
    const double* q(std::size_t place) const { return &q_[place * stride_]; }
    double& r(std::size_t row, std::size_t place) { return r_[place * worlds_ + row]; }
    double r(std::size_t row, std::size_t place) const { return r_[place * worlds_ + row]; }

    std::size_t worlds_ = 0, rows_ = 0, stride_ = 0;
    std::vector<double> columns_;  // each with a first entry of `unit_`, so that independence is affine
    std::vector<double> cost_, share_, gradient_, sum_;
    std::vector<std::size_t> members_;  // the worlds with shares, affinely independent
    std::vector<double> q_, r_;         // orthonormal columns and a triangle: QR = the members' columns
    std::vector<double> aim_, work_;
    double unit_ = 1;
};

}  // namespace coherently
