// From text to a formula: a program for a stack machine, operands before operators.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coherently/language/declarations.hpp"
#include "coherently/language/lexer.hpp"

namespace coherently {

inline constexpr int max_depth = 64;

enum class Op : std::uint8_t {
    constant,    // value: 0 or 1
    variable,    // value: what the resolver gave for the name
    comparison,  // value: index into Formula::comparisons
    negate,
    conjoin,
    exclude,
    disjoin,
    imply,
    equate,
    count_begin,  // opens a count of true arguments
    count_add,    // adds the operand on top to the open count
    count_exactly,
    count_at_least,
    count_at_most,  // value: the number; closes the count
};

struct Step {
    Op op;
    std::int32_t value = 0;
};

// name = value, name != value, name in {values}, name < x, ...
struct Comparison {
    std::string name;
    TokenKind relation;
    std::vector<std::string> values;
    std::size_t position;
    std::string written_name;  // with its quotes, if any
    std::vector<std::string> written_values;
    std::vector<std::size_t> value_positions;
};

struct Formula {
    std::vector<Step> steps;
    std::size_t event_steps = 0;  // the condition's steps, if any, follow these
    std::vector<Comparison> comparisons;

    bool conditional() const { return event_steps < steps.size(); }
};

// Gives each variable its number.
struct Resolver {
    // Negative for the name of a declared variable.
    virtual std::int32_t resolve(std::string_view name) = 0;
    // Null if no such variable is declared.
    virtual const Declaration* declaration(std::string_view name) const = 0;
    // The Boolean variable that stands for one value or threshold of a declared variable.
    virtual std::int32_t atom(const Declaration& declaration, const Cut& cut) = 0;

protected:
    ~Resolver() = default;
};

// Reads one forecast text into `formula`, whose buffers are reused. Throws TextError.
void parse(std::string_view text, const Alphabet& alphabet, std::size_t max_characters, Resolver& resolver,
           Formula& formula);

// Characters before a byte offset of UTF-8 text.
std::size_t characters(std::string_view text, std::size_t bytes);

}  // namespace coherently
