#include <algorithm>
#include <array>
#include <vector>

#include "coherently/event_table.hpp"

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

// What a function can still be, and be because of, when some variables are known.
struct Reach {
    bool can_be_false = false;
    bool can_be_true = false;
};

// Word `w` of the truth table's entries that agree with the known variables.
std::uint64_t open_entries(const Function& function, std::span<const std::int8_t> known, std::size_t w) {
    std::uint64_t open = table_mask(function.variables.size());
    for (std::size_t i = 0; i < function.variables.size(); ++i) {
        const std::int8_t value = known[static_cast<std::size_t>(function.variables[i])];
        if (value >= 0) open &= value ? variable_word(i, w) : ~variable_word(i, w);
    }
    return open;
}

struct CountRange {
    std::size_t low, high;
};

CountRange count_range(const Function& function, std::span<const std::int8_t> known) {
    CountRange range{0, 0};
    for (std::size_t i = 0; i < function.variables.size(); ++i) {
        const std::int8_t value = known[static_cast<std::size_t>(function.variables[i])];
        if (value < 0) ++range.high;
        else if (bit_at(function.words, i) == (value == 1)) ++range.low;
    }
    range.high += range.low;
    return range;
}

Reach reach(const Function& function, std::span<const std::int8_t> known) {
    Reach found;
    if (function.kind == FunctionKind::count) {
        const CountRange range = count_range(function, known);
        for (std::size_t count = range.low; count <= range.high; ++count)
            (allowed_count(function, count) ? found.can_be_true : found.can_be_false) = true;
        return found;
    }
    for (std::size_t w = 0; w < function.words.size(); ++w) {
        const std::uint64_t open = open_entries(function, known, w);
        found.can_be_true |= (function.words[w] & open) != 0;
        found.can_be_false |= (~function.words[w] & open) != 0;
    }
    return found;
}

bool learn(std::int8_t& known, bool value) {
    known = value;
    return true;
}

// Each returns whether a variable was learnt.
bool force_table(const Function& function, bool value, std::span<std::int8_t> known) {
    const std::size_t n = function.variables.size();
    std::array<bool, max_table_variables> may_be_true{}, may_be_false{};
    for (std::size_t w = 0; w < function.words.size(); ++w) {
        const std::uint64_t fits = (value ? function.words[w] : ~function.words[w]) & open_entries(function, known, w);
        for (std::size_t i = 0; i < n; ++i) {
            may_be_true[i] |= (fits & variable_word(i, w)) != 0;
            may_be_false[i] |= (fits & ~variable_word(i, w)) != 0;
        }
    }
    bool learnt = false;
    for (std::size_t i = 0; i < n; ++i) {
        std::int8_t& state = known[static_cast<std::size_t>(function.variables[i])];
        if (state < 0 && may_be_true[i] != may_be_false[i]) learnt |= learn(state, may_be_true[i]);
    }
    return learnt;
}

bool force_count(const Function& function, bool value, std::span<std::int8_t> known) {
    const CountRange range = count_range(function, known);
    std::size_t fits = 0, last = 0;
    for (std::size_t count = range.low; count <= range.high; ++count)
        if (allowed_count(function, count) == value) ++fits, last = count;
    if (range.low == range.high || fits != 1 || (last != range.low && last != range.high)) return false;
    for (std::size_t i = 0; i < function.variables.size(); ++i) {
        std::int8_t& state = known[static_cast<std::size_t>(function.variables[i])];
        if (state < 0) learn(state, bit_at(function.words, i) == (last == range.high));
    }
    return true;
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

void settle(const EventTable& table, std::span<const std::int32_t> sides, std::span<const std::int8_t> known,
            std::int8_t* out) {
    for (std::size_t s = 0; s < sides.size(); ++s) {
        const Reach found = reach(table.function(sides[s] / 2), known);
        const bool settled = found.can_be_true != found.can_be_false;
        out[s] = settled ? static_cast<std::int8_t>(found.can_be_true != (sides[s] & 1)) : std::int8_t{-1};
    }
}

std::int64_t propagate(const EventTable& table, std::span<const std::int32_t> facts, std::span<std::int8_t> known) {
    bool learnt = true;
    while (learnt) {
        learnt = false;
        for (std::size_t f = 0; f < facts.size(); ++f) {
            const Function function = table.function(facts[f] / 2);
            const bool value = !(facts[f] & 1);
            const Reach found = reach(function, known);
            if (!(value ? found.can_be_true : found.can_be_false)) return static_cast<std::int64_t>(f);
            if (!(value ? found.can_be_false : found.can_be_true)) continue;
            learnt |= function.kind == FunctionKind::count ? force_count(function, value, known)
                                                           : force_table(function, value, known);
        }
    }
    return -1;
}

}  // namespace coherently
