// What answers allow for each other: linear programs over the mixtures of a few worlds, or of the states of cliques.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace coherently {

// States with the truth of items and of pins, all row by row: an item wins in `joint` where it stands, in `given`.
// Each row of `ties` sums to 0 over a mixture, and the states of `root` to 1.
struct AnswerStates {
    std::size_t states = 0, items = 0, pins = 0, ties = 0;
    std::vector<std::uint8_t> joint, given, pin_joint, pin_given, root, conditional;
    std::vector<double> pin_low, pin_high, tie;
};

// An answer a about an item holds in a mixture if P(joint) - a P(given) = 0.
class AnswerProgram {
public:
    explicit AnswerProgram(AnswerStates states);

    // The least sum of misses of the `active` answers, for each row of `values`: infinite where pins or ties cannot
    // hold, NaN where rounding left it open. Past one that is at most `enough`, none is looked at: they are NaN.
    std::vector<double> misses(std::span<const double> values, std::span<const std::uint8_t> active,
                               double enough) const;

    // The least and greatest probability of each of some items in mixtures in which the other active answers hold to
    // within `slack`: two numbers each, infinite and minus infinite where there is no such mixture, NaN where rounding
    // left it open. Those of a conditional item are over mixtures that give its condition some chance.
    std::vector<double> bounds(std::span<const double> value, std::span<const std::uint8_t> active, double slack,
                               std::span<const std::int64_t> asked) const;

    std::size_t items() const { return of_.items; }

private:
    struct Rows;
    Rows rows(std::span<const double> value, std::span<const std::uint8_t> active,
              std::span<const std::int64_t> asked) const;

    AnswerStates of_;
    bool homogeneous_;
};

}  // namespace coherently
