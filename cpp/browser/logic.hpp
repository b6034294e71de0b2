// What is possible: events, the laws about them and declared variables, and the possible worlds of a few variables.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coherently/functions/event_table.hpp"
#include "coherently/worlds/space.hpp"

namespace coherently::browser {

// Combinations of values that are tried for connected events, before laws that come later rule some of them out.
inline constexpr std::size_t most_states = std::size_t{1} << 14;

inline constexpr std::int32_t never = 0, certain = 1;  // the sides of the constant events

// Possible worlds, row by row: one truth value per variable.
struct WorldList {
    std::vector<std::int32_t> variables;  // ascending
    std::vector<std::uint8_t> truth;
    std::size_t count = 0;

    std::span<const std::uint8_t> row(std::size_t i) const {
        return std::span(truth).subspan(i * variables.size(), variables.size());
    }
};

// Sets of variables that are tied together, and the set of each row that was asked about.
struct Connected {
    std::vector<std::int32_t> label;
    std::vector<std::vector<std::int32_t>> variables;  // ascending
};

class Logic {
public:
    EventTable table;
    std::vector<std::int32_t> laws;  // the sides that are true in every world

    std::span<const std::int32_t> variables_of(std::int32_t side) const { return table.function(side >> 1).variables; }
    // Laws that no world obeys together, by number, such that any fewer of them have one; none if there is a world.
    std::vector<std::size_t> conflict() const;
    // Which of the rows of variables hang together, directly or by laws and declarations.
    Connected connect(const std::vector<std::vector<std::int32_t>>& rows) const;
    // The worlds of variables that are a set of `connect`; false if there are too many to list.
    bool list(std::vector<std::int32_t> variables, WorldList& worlds) const;
    // The truth of some sides in each world, row by row.
    std::vector<std::uint8_t> truth(const WorldList& worlds, std::span<const std::int32_t> sides) const;

private:
    std::vector<Block> choices() const;
    bool have_world(std::span<const std::size_t> some) const;
};

}  // namespace coherently::browser
