#include <array>

#include "coherently/functions/event_table.hpp"

namespace coherently {
namespace {

// Up to six variables: the table's 2^k constants are folded by one variable after the other.
std::uint64_t fold(std::uint64_t table, std::span<const std::int32_t> variables, const std::uint64_t* worlds,
                   std::size_t words, std::size_t w) {
    std::array<std::uint64_t, 64> values;
    std::size_t live = std::size_t{1} << variables.size();
    for (std::size_t i = 0; i < live; ++i) values[i] = table >> i & 1 ? ~std::uint64_t{0} : 0;
    for (const std::int32_t variable : variables) {
        const std::uint64_t on = worlds[static_cast<std::size_t>(variable) * words + w];
        live /= 2;
        for (std::size_t i = 0; i < live; ++i) values[i] = (values[2 * i] & ~on) | (values[2 * i + 1] & on);
    }
    return values[0];
}

std::uint64_t look_up(const Function& function, const std::uint64_t* worlds, std::size_t words, std::size_t w) {
    std::uint64_t result = 0;
    for (unsigned bit = 0; bit < 64; ++bit) {
        std::size_t index = 0;
        for (std::size_t i = 0; i < function.variables.size(); ++i)
            index |= (worlds[static_cast<std::size_t>(function.variables[i]) * words + w] >> bit & 1) << i;
        result |= static_cast<std::uint64_t>(bit_at(function.words, index)) << bit;
    }
    return result;
}

bool allowed_count(const Function& function, std::size_t count) {
    return bit_at(function.words.subspan(words_for(function.variables.size())), count);
}

std::uint64_t count_true(const Function& function, const std::uint64_t* worlds, std::size_t words, std::size_t w) {
    std::array<std::uint32_t, 64> counts{};
    for (std::size_t i = 0; i < function.variables.size(); ++i) {
        std::uint64_t on = worlds[static_cast<std::size_t>(function.variables[i]) * words + w];
        if (!bit_at(function.words, i)) on = ~on;
        for (unsigned bit = 0; bit < 64; ++bit) counts[bit] += on >> bit & 1;
    }
    std::uint64_t result = 0;
    for (unsigned bit = 0; bit < 64; ++bit)
        result |= static_cast<std::uint64_t>(allowed_count(function, counts[bit])) << bit;
    return result;
}

}  // namespace

std::uint64_t evaluate(const Function& function, const std::uint64_t* worlds, std::size_t words, std::size_t w) {
    if (function.kind == FunctionKind::count) return count_true(function, worlds, words, w);
    if (function.variables.size() > 6) return look_up(function, worlds, words, w);
    return fold(function.words[0], function.variables, worlds, words, w);
}

void evaluate(const EventTable& table, std::span<const std::int32_t> sides, const std::uint64_t* worlds,
              std::size_t words, std::uint64_t* out) {
    for (std::size_t s = 0; s < sides.size(); ++s) {
        const Function function = table.function(sides[s] / 2);
        const std::uint64_t flip = sides[s] & 1 ? ~std::uint64_t{0} : 0;
        for (std::size_t w = 0; w < words; ++w) out[s * words + w] = evaluate(function, worlds, words, w) ^ flip;
    }
}

}  // namespace coherently
