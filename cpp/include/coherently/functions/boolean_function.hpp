// Boolean functions of numbered variables in one canonical form, so that equal functions are equal data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coherently/language/axis.hpp"
#include "coherently/language/parser.hpp"

namespace coherently {

inline constexpr int max_table_variables = 16;

enum class FunctionKind : std::uint8_t {
    table,  // words: the truth table; bit i is the value where variable j has bit j of i
    count,  // words: one polarity bit per variable, then one bit per number of true literals
};

// A view of a function: every variable matters, variables ascend, and it is false where all are false.
// Where variables are atoms of declared ones, entries that no world has (two values of one variable, a threshold
// passed without the next) are those of a possible world: the first true value wins, the lowest true threshold wins.
struct Function {
    FunctionKind kind = FunctionKind::table;
    std::span<const std::int32_t> variables;
    std::span<const std::uint64_t> words;
};

struct OwnedFunction {
    FunctionKind kind = FunctionKind::table;
    std::vector<std::int32_t> variables;
    std::vector<std::uint64_t> words;
    bool complemented = false;  // the function meant is the complement of the one held

    Function view() const { return {kind, variables, words}; }
    bool constant() const { return variables.empty(); }
};

inline std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }
inline std::size_t table_words(std::size_t variables) { return variables <= 6 ? 1 : std::size_t{1} << (variables - 6); }
inline std::uint64_t table_mask(std::size_t variables) {
    return variables >= 6 ? ~std::uint64_t{0} : (std::uint64_t{1} << (1U << variables)) - 1;
}
inline bool bit_at(std::span<const std::uint64_t> words, std::size_t i) { return words[i / 64] >> (i % 64) & 1; }

// Word `w` of the truth table of the `i`-th variable.
std::uint64_t variable_word(std::size_t i, std::size_t w);

// The functions that a forecast text means.
struct Meaning {
    OwnedFunction event;      // E, or E & H
    OwnedFunction condition;  // H; constant true where there is none
    OwnedFunction otherwise;  // ~E & H; only for a conditional
};

class Canonicaliser {
public:
    // Throws TextError (undeclared, mismatch, limit, impossible).
    void run(const Formula& formula, Resolver& resolver, Meaning& meaning);

private:
    void run_bound(const Formula& formula, Resolver& resolver, Meaning& meaning);
    void collect_variables(const Formula& formula);
    void collect_axes(const Formula& formula, const Resolver& resolver);
    void shape_entries();
    bool as_count(const Formula& formula, OwnedFunction& function) const;
    void evaluate(const Formula& formula, std::size_t from, std::size_t to, std::vector<std::uint64_t>& out);
    void compare(std::size_t comparison, std::uint64_t* out) const;
    void apply_binary(Op op, std::uint64_t* left, const std::uint64_t* right) const;
    void add_to_count(const std::uint64_t* table);
    void close_count(Op op, std::int32_t number, std::uint64_t* out);
    void reduce(std::vector<std::uint64_t>& table, Resolver& resolver, OwnedFunction& function) const;
    void reduce_free(std::vector<std::uint64_t>& table, OwnedFunction& function) const;
    void reduce_declared(const std::vector<std::uint64_t>& table, Resolver& resolver, OwnedFunction& function) const;
    bool same_cells(const std::vector<std::uint64_t>& table, std::size_t axis, std::size_t a, std::size_t b) const;

    std::vector<std::int32_t> variables_;  // without the atoms of declared variables
    std::vector<Axis> axes_;
    std::vector<std::size_t> strides_;                         // entries from one cell of an axis to the next
    std::vector<std::pair<std::size_t, std::size_t>> places_;  // of comparisons: axis, truth
    std::size_t entries_ = 1;  // worlds of the variables, times cells of the axes; variables are the lowest digits
    std::size_t words_ = 1;
    std::vector<std::uint64_t> stack_;
    std::vector<std::vector<std::uint64_t>> counts_;  // bit-sliced counters, planes of words_ each
    std::vector<std::uint64_t> event_, condition_;
};

}  // namespace coherently
