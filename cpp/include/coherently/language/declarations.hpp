// Declared variables: those with named values, and quantities.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coherently/language/lexer.hpp"

namespace coherently {

enum class DeclaredKind : std::uint8_t { named, number, date };

// What one Boolean variable ("atom") says of a declared variable: that it has value number `at`, or that it lies
// below `at`, or with `inclusive` at or below. Cuts of a quantity are in its order.
struct Cut {
    double at = 0;
    bool inclusive = false;
    auto operator<=>(const Cut&) const = default;
};

struct Declaration {
    std::string name;
    std::string written_name;
    DeclaredKind kind = DeclaredKind::named;
    // Named values in the order of the declaration; an open variable has "other" at the end.
    std::vector<std::string> values;
    std::vector<std::string> written_values;
    bool open = false;
    bool free = false;  // its atoms are taken for unrelated variables
    std::unordered_map<std::string, std::int32_t> value_numbers;
    std::map<Cut, std::int32_t> atoms;  // the variables that stand for it so far

    // The number of a value; -1 if it has none of that name.
    std::int32_t value(const std::string& text) const;
    // The canonical text of an atom.
    std::string write(const Cut& cut) const;
    // The values, or what kind of quantity it is, for messages.
    std::string describe() const;
    // The value that a wrong one may have been meant for; empty if none is near.
    std::string nearest(const std::string& text) const;
};

// Reads `variable name: value, value, ...`, `variable name: number` or `variable name: date`. Throws TextError.
Declaration parse_declaration(std::string_view text, const Alphabet& alphabet);

}  // namespace coherently
