// Which literals of events exclude each other, by their truth in worlds, as bits.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace coherently {

// Literal i of n events is event i, and n + i its complement. `threes` cannot all happen though any two can; of `ones`
// no two can.
struct Exclusions {
    std::vector<std::array<std::int64_t, 3>> threes, ones;
};

// `truth` has one row of words per event, bit w of a row being its truth in world w; bits past the worlds are 0.
Exclusions triple_exclusions(std::span<const std::uint64_t> truth, std::size_t events, std::size_t worlds);

}  // namespace coherently
