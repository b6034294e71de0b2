#include "coherently/functions/count_function.hpp"

#include <algorithm>

namespace coherently {
namespace {

constexpr std::size_t least_variables = 5;  // a smaller table is as cheap as a count

// Whether a table stays the same if the first variable and another one change places; with `turned`, and turn.
bool change_places(std::span<const std::uint64_t> table, std::size_t size, std::size_t other, bool turned) {
    const std::size_t both = std::size_t{1} | std::size_t{1} << other;
    for (std::size_t row = 0; row < std::size_t{1} << size; ++row) {
        const bool differ = (row & 1) != (row >> other & 1);
        if (differ != turned && bit_at(table, row) != bit_at(table, row ^ both)) return false;
    }
    return true;
}

// Changes of places with the first variable generate all permutations, so that only the number of true literals matters
// if the function has all of them; a variable that turns as well is a negated literal.
std::optional<CountFunction> count_of_table(const EventView& functions, std::size_t j) {
    const auto variables = functions.variables_of(j);
    const auto table = functions.words_of(j);
    const std::size_t size = variables.size();
    std::size_t turned = 0;
    for (std::size_t i = 1; i < size; ++i) {
        if (change_places(table, size, i, false)) continue;
        if (!change_places(table, size, i, true)) return std::nullopt;
        turned |= std::size_t{1} << i;
    }
    CountFunction found;
    for (std::size_t i = 0; i < size; ++i)
        found.literals.push_back(2 * variables[i] + static_cast<std::int32_t>(turned >> i & 1));
    for (std::size_t k = 0; k <= size; ++k) found.holds.push_back(bit_at(table, ((std::size_t{1} << k) - 1) ^ turned));
    return found;
}

}  // namespace

void CountFunction::turn() {
    for (std::int32_t& literal : literals) literal ^= 1;
    std::reverse(holds.begin(), holds.end());
}

std::optional<CountFunction> count_of(const EventView& functions, std::size_t j) {
    const LargeEvent function = function_of(functions, j);
    const std::size_t size = function.variables.size();
    if (size < least_variables) return std::nullopt;
    if (!function.counted) return count_of_table(functions, j);
    CountFunction found;
    for (std::size_t i = 0; i < size; ++i)
        found.literals.push_back(2 * function.variables[i] + (bit_at(function.words, i) ? 0 : 1));
    for (std::size_t k = 0; k <= size; ++k) found.holds.push_back(function.holds(static_cast<std::uint32_t>(k)));
    return found;
}

}  // namespace coherently
