// One declared variable in one formula: its values, or its line, in the cells that the comparisons tell apart.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "coherently/language/parser.hpp"

namespace coherently {

class Axis {
public:
    explicit Axis(const Declaration& declaration) : declaration_(&declaration) {}

    // Takes up a comparison with the variable; `index` is its place in the formula. Throws TextError.
    void add(const Comparison& comparison, std::size_t index);
    // Makes the cells, once all comparisons are added.
    void close();

    const Declaration& declaration() const { return *declaration_; }
    std::size_t cells() const { return n_cells_; }

    // The cells in which a comparison holds, or with `negated` fails.
    struct Truth {
        std::size_t comparison;
        bool negated;
        std::vector<std::int32_t> cells;
    };
    const std::vector<Truth>& truths() const { return truths_; }

    // The atoms that a function needs, each with the cell that it stands for, and the cell where none is true.
    // `same` tells whether the function is the same in two cells.
    //
    // Named values: those of the largest class of like values have no atom (of equally large classes, the one that
    // holds the latest value). Quantities: where neighbouring cells differ there is a cut, and the lowest true one
    // tells the cell.
    struct Choice {
        std::vector<std::pair<Cut, std::int32_t>> atoms;
        std::int32_t otherwise = 0;
    };
    Choice choose(const std::function<bool(std::size_t, std::size_t)>& same) const;

private:
    struct Piece {  // part of the line from one cut to another; without a cut, to the end
        std::optional<Cut> from, to;
        std::size_t truth;
    };
    void add_named(const Comparison& comparison);
    void add_quantity(const Comparison& comparison);
    double quantity(const Comparison& comparison, std::size_t i) const;
    std::optional<Cut> cut(double at, bool inclusive) const;
    void close_named();
    void close_quantity();
    Choice choose_named(const std::function<bool(std::size_t, std::size_t)>& same) const;
    std::vector<std::int32_t> values_of(std::size_t cell) const;

    const Declaration* declaration_;
    std::vector<Truth> truths_;
    std::size_t n_cells_ = 0;
    std::vector<std::pair<std::int32_t, std::int32_t>> mentions_;  // named: value, truth; sorted by close()
    std::vector<std::vector<std::int32_t>> members_;               // named: the mentioned values of each cell
    std::size_t n_rest_ = 0;     // named: values in the last cell, which none mentions
    std::vector<Piece> pieces_;  // quantity
    std::vector<Cut> cuts_;      // quantity: ascending; cell i ends at cut i
};

// Appends the steps of a comparison with a variable whose atoms are taken for unrelated variables. Throws TextError.
void write_free(const Declaration& declaration, const Comparison& comparison, Resolver& resolver,
                std::vector<Step>& steps);

}  // namespace coherently
