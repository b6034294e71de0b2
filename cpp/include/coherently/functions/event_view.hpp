// Boolean functions of numbered variables, as arrays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coherently/functions/boolean_function.hpp"

namespace coherently {

using World = std::vector<std::uint8_t>;  // 0 or 1 for each variable

// Event j is about variables[starts[j] .. starts[j + 1]); its words are a truth table up to 16 variables, past that a
// count function (see boolean_function.hpp). Every event is false where all of its variables are.
struct EventView {
    std::size_t n_variables = 0;
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> variables;
    std::span<const std::int64_t> word_starts;
    std::span<const std::uint64_t> words;

    std::size_t size() const { return starts.size() - 1; }
    std::span<const std::int32_t> variables_of(std::size_t j) const {
        return variables.subspan(static_cast<std::size_t>(starts[j]),
                                 static_cast<std::size_t>(starts[j + 1] - starts[j]));
    }
    std::span<const std::uint64_t> words_of(std::size_t j) const {
        return words.subspan(static_cast<std::size_t>(word_starts[j]),
                             static_cast<std::size_t>(word_starts[j + 1] - word_starts[j]));
    }
};

// An event of more than two variables: its truth follows from the number of its row, or of its true literals.
struct LargeEvent {
    std::size_t event;
    std::span<const std::int32_t> variables;
    std::span<const std::uint64_t> words;
    bool counted;

    std::uint32_t row(const World& world) const {
        std::uint32_t row = 0;
        for (std::size_t i = 0; i < variables.size(); ++i)
            row += part(i, world[static_cast<std::size_t>(variables[i])]);
        return row;
    }
    // What the variable at `position` adds to the row at a value.
    std::uint32_t part(std::size_t position, bool value) const {
        return counted ? value == bit_at(words, position) : static_cast<std::uint32_t>(value) << position;
    }
    bool holds(std::uint32_t row) const {
        return counted ? bit_at(words.subspan(words_for(variables.size())), row) : bit_at(words, row);
    }
    // The row after the variable at `position` has turned to `value`.
    std::uint32_t turned(std::uint32_t row, std::size_t position, bool value) const {
        if (!counted) return row ^ (std::uint32_t{1} << position);
        return value == bit_at(words, position) ? row + 1 : row - 1;
    }
};

// Functions of numbered variables that keep their own arrays; see EventView.
struct Functions {
    std::vector<std::int64_t> starts{0}, word_starts{0};
    std::vector<std::int32_t> variables;
    std::vector<std::uint64_t> words;

    void add(std::span<const std::int32_t> own, std::span<const std::uint64_t> table);
    EventView view(std::size_t n_variables) const { return {n_variables, starts, variables, word_starts, words}; }
};

// Which functions hold in which worlds; both matrices have one row per world.
void evaluate(const EventView& functions, std::span<const std::uint8_t> worlds, std::span<std::uint8_t> truth);

// A function of a view, by its rows.
inline LargeEvent function_of(const EventView& events, std::size_t j) {
    const auto variables = events.variables_of(j);
    return {j, variables, events.words_of(j), variables.size() > max_table_variables};
}

}  // namespace coherently
