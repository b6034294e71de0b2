// Small linear programs by the primal simplex method, with the inverse of the basis at hand.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace coherently {

// Minimises c x over x >= 0 with low <= A x <= high, row by row. Bounds of rows and costs may change between calls:
// each goes on from the basis of the last. Meant for up to a few hundred rows: a step costs rows * (rows + columns).
class DenseSimplex {
public:
    enum class Outcome : std::uint8_t { optimal, infeasible, unsettled };

    // `columns` has the columns one after the other. Rows are without bounds at first.
    DenseSimplex(std::size_t rows, std::vector<double> columns);

    void bound(std::size_t row, double low, double high);

    // One cost per column. `unsettled` is for the rare program that rounding errors leave undecided.
    Outcome minimise(std::span<const double> cost);
    double objective() const;

    // Where the search stands: which variables are in the basis, at which bound the others are, and the inverse.
    struct Place {
        std::vector<std::int32_t> head;
        std::vector<std::int8_t> state;
        std::vector<double> inverse;
        int updates = 0;
    };
    const Place& place() const { return at_; }
    void go(const Place& place) { at_ = place; }

private:
    // Variables are the columns and then, one per row, the value of the row.
    enum State : std::int8_t { basic, lower, upper, loose };

    double low(std::size_t variable) const;
    double high(std::size_t variable) const;
    double resting(std::size_t variable) const;
    void settle_states();
    void values();
    bool factorise();
    bool price(std::span<const double> cost, bool repair);
    double reduced(std::size_t variable, double cost) const;
    void image(std::size_t variable);
    bool step(bool repair);
    bool infeasible() const;
    bool sound(std::span<const double> cost);

    std::size_t rows_, columns_;
    std::vector<double> matrix_, low_, high_;
    Place at_;
    std::vector<double> value_, price_, image_, cost_;
    std::size_t entering_ = 0, next_ = 0;
    double direction_ = 0;
    int stalled_ = 0;
};

}  // namespace coherently
