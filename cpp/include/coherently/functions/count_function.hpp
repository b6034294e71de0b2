// Events that say how many of some literals hold.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coherently/functions/event_view.hpp"

namespace coherently {

// A literal is 2 v for a variable that counts where it is true, and 2 v + 1 where it is false.
inline std::int32_t variable_of(std::int32_t literal) { return literal / 2; }
inline bool is_true(std::int32_t literal, bool value) { return value != (literal % 2 != 0); }

struct CountFunction {
    std::vector<std::int32_t> literals;  // ascending
    std::vector<std::uint8_t> holds;     // by the number of literals that hold

    // The same event by the number of literals that do not hold.
    void turn();
};

// A function as a count; none for tables of fewer than 5 variables, and for those that are not counts.
std::optional<CountFunction> count_of(const EventView& functions, std::size_t j);

}  // namespace coherently
