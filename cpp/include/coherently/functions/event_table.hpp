// Variables and distinct events, each with a number.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coherently/functions/boolean_function.hpp"

namespace coherently {

// Variables in the order of their numbers: plain ones by their names, and atoms of declared ones by their texts, which
// differ from all plain names.
class Names final : public Resolver {
public:
    std::int32_t resolve(std::string_view name) override;
    const Declaration* declaration(std::string_view name) const override;
    std::int32_t atom(const Declaration& declaration, const Cut& cut) override;

    std::int32_t find(std::string_view name) const;  // -1 if absent, less for a declared variable
    // Whether the name is new; a name that is known already is not declared.
    bool declare(Declaration&& declaration);
    const std::deque<Declaration>& declarations() const { return declarations_; }
    // The declared variable of which a variable is an atom; -1 for a plain one.
    std::int32_t owner(std::int32_t i) const { return owners_[static_cast<std::size_t>(i)]; }
    std::string_view operator[](std::int32_t i) const { return names_[static_cast<std::size_t>(i)]; }
    std::size_t size() const { return names_.size(); }

private:
    std::deque<std::string> names_;
    std::vector<std::int32_t> owners_;
    std::unordered_map<std::string_view, std::int32_t> numbers_;
    std::deque<Declaration> declarations_;
};

// A forecast text as numbers. A side is 2 * coordinate, + 1 for the complement of that coordinate's function:
// side ^ 1 is the complement, side 0 is never true, side 1 is certain.
struct Sides {
    std::int32_t event;      // E, or E & H where there is a condition H
    std::int32_t condition;  // H; 1 where there is none
    std::int32_t otherwise;  // ~E, or ~E & H
};

struct TextFault {
    std::size_t text;  // which of the texts
    Fault fault;
    std::size_t column;  // in characters, from 1; 0 for the whole text
    std::string message;
};

struct Batch {
    std::vector<Sides> sides;  // {-1, -1, -1} for a faulty text, and for an unknown one when only looking up
    std::vector<TextFault> faults;
};

class EventTable {
public:
    EventTable();

    // Numbers every event of the texts, adding those not seen before, on up to `threads` threads (0: one per
    // processor); numbers do not depend on threads.
    Batch add(std::span<const std::string_view> texts, const Alphabet& alphabet, std::size_t max_characters,
              unsigned threads = 0);
    // The same without adding anything.
    Batch find(std::span<const std::string_view> texts, const Alphabet& alphabet, std::size_t max_characters) const;
    // Declares a variable; throws TextError. If `free`, the declaration says how the variable may be compared, but not
    // that it has one value.
    void declare(std::string_view text, const Alphabet& alphabet, bool free);
    // The side of the variable of that very name, adding it if needed; -1 if a declared variable has it.
    std::int32_t add_variable(std::string_view name);

    std::size_t size() const { return kinds_.size(); }
    const Names& names() const { return names_; }
    Function function(std::int32_t coordinate) const;
    std::span<const std::int64_t> variable_starts() const { return variable_starts_; }
    std::span<const std::int32_t> variables() const { return variables_; }

private:
    struct Slot {
        std::uint32_t hash = 0;
        std::int32_t coordinate = -1;  // -1 is free
    };
    std::size_t slot_of(const Function& wanted, std::uint32_t hash) const;
    // Asks for the memory that a look at the function will need.
    void fetch(const OwnedFunction& owned) const;
    std::int32_t intern(const OwnedFunction& owned);
    std::int32_t look_up(const OwnedFunction& owned) const;
    // Makes room for so many events.
    void grow(std::size_t events);

    Names names_;
    std::vector<FunctionKind> kinds_;
    std::vector<std::int64_t> variable_starts_{0}, word_starts_{0};
    std::vector<std::int32_t> variables_;
    std::vector<std::uint64_t> words_;
    std::vector<Slot> slots_;  // open addressing; a power of two long
};

// Truth of a function in the 64 worlds of word `w`: worlds[v * words + w].
std::uint64_t evaluate(const Function& function, const std::uint64_t* worlds, std::size_t words, std::size_t w);

// Truth of the events in 64 worlds per word: worlds[v * words + w] -> out[s * words + w].
void evaluate(const EventTable& table, std::span<const std::int32_t> sides, const std::uint64_t* worlds,
              std::size_t words, std::uint64_t* out);

}  // namespace coherently
