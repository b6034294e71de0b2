#include <algorithm>
#include <array>
#include <bit>
#include <ranges>
#include <vector>

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

// What a function can still be when some variables are known.
struct Reach {
    bool can_be_false = false;
    bool can_be_true = false;
};

// The atoms of one declared variable in the support of a function.
struct Share {
    const Declaration* declaration;
    std::vector<std::size_t> places;  // in the support; of a quantity, by ascending threshold
    bool may_be_elsewhere = true;     // a value without an atom in the support is possible

    bool ordered() const { return declaration->kind != DeclaredKind::named; }

    // Whether some world has these truths; bit i of `row` is that of place i.
    bool allows(std::size_t row) const {
        bool seen = false;
        for (const std::size_t place : places) {
            const bool on = row >> place & 1;
            if (ordered() ? seen && !on : seen && on) return false;
            seen |= on;
        }
        return ordered() || seen || may_be_elsewhere;
    }
    bool empty(std::size_t row) const {
        return std::none_of(places.begin(), places.end(), [&](std::size_t place) { return row >> place & 1; });
    }
};

std::vector<Share> shares_of(const Names& names, const Function& function, std::span<const std::int8_t> known) {
    std::vector<Share> shares;
    std::vector<std::int32_t> owners;
    for (const std::int32_t variable : function.variables) {
        const std::int32_t owner = names.owner(variable);
        if (owner < 0 || names.declarations()[static_cast<std::size_t>(owner)].free ||
            std::find(owners.begin(), owners.end(), owner) != owners.end())
            continue;
        owners.push_back(owner);
        const Declaration& declaration = names.declarations()[static_cast<std::size_t>(owner)];
        Share share{&declaration, {}, declaration.atoms.size() < declaration.values.size()};
        for (const auto& [cut, atom] : declaration.atoms) {
            const auto at = std::lower_bound(function.variables.begin(), function.variables.end(), atom);
            if (at != function.variables.end() && *at == atom)
                share.places.push_back(static_cast<std::size_t>(at - function.variables.begin()));
            else share.may_be_elsewhere |= known[static_cast<std::size_t>(atom)] != 0;
        }
        shares.push_back(std::move(share));
    }
    return shares;
}

// Word `w` of the truth table's entries that agree with the known variables.
std::uint64_t open_entries(const Function& function, std::span<const Share> shares, std::span<const std::int8_t> known,
                           std::size_t w) {
    std::uint64_t open = table_mask(function.variables.size());
    for (std::size_t i = 0; i < function.variables.size(); ++i) {
        const std::int8_t value = known[static_cast<std::size_t>(function.variables[i])];
        if (value >= 0) open &= value ? variable_word(i, w) : ~variable_word(i, w);
    }
    if (shares.empty()) return open;
    for (std::uint64_t left = open; left; left &= left - 1) {
        const auto bit = static_cast<unsigned>(std::countr_zero(left));
        for (const Share& share : shares)
            if (!share.allows(64 * w + bit)) open &= ~(std::uint64_t{1} << bit);
    }
    return open;
}

struct CountRange {
    std::size_t low, high;
};

CountRange count_range(const Function& function, std::span<const Share> shares, std::span<const std::int8_t> known) {
    CountRange range{0, 0};
    for (std::size_t i = 0; i < function.variables.size(); ++i) {
        const std::int8_t value = known[static_cast<std::size_t>(function.variables[i])];
        if (value < 0) ++range.high;
        else if (bit_at(function.words, i) == (value == 1)) ++range.low;
    }
    range.high += range.low;
    // A count of values is of one variable, and asks whether it has any of them.
    if (!shares.empty() && !shares.front().may_be_elsewhere) range.low = 1;
    return range;
}

Reach reach(const Function& function, std::span<const Share> shares, std::span<const std::int8_t> known) {
    Reach found;
    if (function.kind == FunctionKind::count) {
        const CountRange range = count_range(function, shares, known);
        for (std::size_t count = range.low; count <= range.high; ++count)
            (allowed_count(function, count) ? found.can_be_true : found.can_be_false) = true;
        return found;
    }
    for (std::size_t w = 0; w < function.words.size(); ++w) {
        const std::uint64_t open = open_entries(function, shares, known, w);
        found.can_be_true |= (function.words[w] & open) != 0;
        found.can_be_false |= (~function.words[w] & open) != 0;
    }
    return found;
}

// Sets a variable if it is unknown; returns whether it was.
bool learn(std::int8_t& known, bool value) {
    if (known >= 0) return false;
    known = value;
    return true;
}

bool exclude_elsewhere(const Share& share, const Function& function, std::span<std::int8_t> known) {
    bool learnt = false;
    for (const auto& [cut, atom] : share.declaration->atoms)
        if (!std::binary_search(function.variables.begin(), function.variables.end(), atom))
            learnt |= learn(known[static_cast<std::size_t>(atom)], false);
    return learnt;
}

// Each returns whether a variable was learnt.
bool force_table(const Function& function, std::span<const Share> shares, bool value, std::span<std::int8_t> known) {
    const std::size_t n = function.variables.size();
    std::array<bool, max_table_variables> may_be_true{}, may_be_false{};
    std::vector<bool> elsewhere(shares.size(), false);
    for (std::size_t w = 0; w < function.words.size(); ++w) {
        const std::uint64_t fits =
            (value ? function.words[w] : ~function.words[w]) & open_entries(function, shares, known, w);
        for (std::size_t i = 0; i < n; ++i) {
            may_be_true[i] |= (fits & variable_word(i, w)) != 0;
            may_be_false[i] |= (fits & ~variable_word(i, w)) != 0;
        }
        for (std::uint64_t left = shares.empty() ? 0 : fits; left; left &= left - 1)
            for (std::size_t s = 0; s < shares.size(); ++s)
                if (shares[s].empty(64 * w + static_cast<unsigned>(std::countr_zero(left)))) elsewhere[s] = true;
    }
    bool learnt = false;
    for (std::size_t i = 0; i < n; ++i) {
        std::int8_t& state = known[static_cast<std::size_t>(function.variables[i])];
        if (may_be_true[i] != may_be_false[i]) learnt |= learn(state, may_be_true[i]);
    }
    for (std::size_t s = 0; s < shares.size(); ++s)
        if (!elsewhere[s] && !shares[s].ordered()) learnt |= exclude_elsewhere(shares[s], function, known);
    return learnt;
}

bool force_count(const Function& function, std::span<const Share> shares, bool value, std::span<std::int8_t> known) {
    const CountRange range = count_range(function, shares, known);
    std::size_t fits = 0, last = 0;
    for (std::size_t count = range.low; count <= range.high; ++count)
        if (allowed_count(function, count) == value) ++fits, last = count;
    bool learnt = !shares.empty() && value && exclude_elsewhere(shares.front(), function, known);
    if (fits != 1 || (last != range.low && last != range.high)) return learnt;
    for (std::size_t i = 0; i < function.variables.size(); ++i)
        learnt |= learn(known[static_cast<std::size_t>(function.variables[i])],
                        bit_at(function.words, i) == (last == range.high));
    return learnt;
}

// What the atoms of one declared variable say of each other; false if they contradict each other.
bool follow(const Declaration& declaration, std::span<std::int8_t> known) {
    if (declaration.free) return true;
    const auto state = [&](std::int32_t atom) -> std::int8_t& { return known[static_cast<std::size_t>(atom)]; };
    if (declaration.kind != DeclaredKind::named) {
        bool passed = false;
        for (const auto& [cut, atom] : declaration.atoms) {
            if (passed && state(atom) == 0) return false;
            if (passed) learn(state(atom), true);
            passed |= state(atom) == 1;
        }
        bool above = false;
        for (const auto& [cut, atom] : std::views::reverse(declaration.atoms)) {
            if (above) learn(state(atom), false);
            above |= state(atom) == 0;
        }
        return true;
    }
    std::size_t n_true = 0, n_false = 0;
    for (const auto& [cut, atom] : declaration.atoms) n_true += state(atom) == 1, n_false += state(atom) == 0;
    const bool complete = declaration.atoms.size() == declaration.values.size();
    if (n_true > 1 || (complete && n_false == declaration.values.size())) return false;
    const bool last = complete && n_false + 1 == declaration.values.size();
    if (n_true == 1 || last)
        for (const auto& [cut, atom] : declaration.atoms) learn(state(atom), n_true == 0);
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

void settle(const EventTable& table, std::span<const std::int32_t> sides, std::span<const std::int8_t> given,
            std::int8_t* out) {
    std::vector<std::int8_t> known(given.begin(), given.end());
    for (const Declaration& declaration : table.names().declarations()) follow(declaration, known);
    for (std::size_t s = 0; s < sides.size(); ++s) {
        const Function function = table.function(sides[s] / 2);
        const Reach found = reach(function, shares_of(table.names(), function, known), known);
        const bool settled = found.can_be_true != found.can_be_false;
        out[s] = settled ? static_cast<std::int8_t>(found.can_be_true != (sides[s] & 1)) : std::int8_t{-1};
    }
}

std::int64_t propagate(const EventTable& table, std::span<const std::int32_t> facts, std::span<std::int8_t> known) {
    for (const Declaration& declaration : table.names().declarations()) follow(declaration, known);
    bool learnt = true;
    while (learnt) {
        learnt = false;
        for (std::size_t f = 0; f < facts.size(); ++f) {
            const Function function = table.function(facts[f] / 2);
            const bool value = !(facts[f] & 1);
            const auto shares = shares_of(table.names(), function, known);
            const Reach found = reach(function, shares, known);
            if (!(value ? found.can_be_true : found.can_be_false)) return static_cast<std::int64_t>(f);
            if (!(value ? found.can_be_false : found.can_be_true) && shares.empty()) continue;
            const bool more = function.kind == FunctionKind::count ? force_count(function, shares, value, known)
                                                                   : force_table(function, shares, value, known);
            learnt |= more;
            if (!more) continue;
            for (const Share& share : shares)
                if (!follow(*share.declaration, known)) return static_cast<std::int64_t>(f);
        }
    }
    return -1;
}

}  // namespace coherently
