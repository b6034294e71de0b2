// The possible worlds: blocks of variables that are in one of some joint states, and laws.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "coherently/functions/event_view.hpp"

namespace coherently {

// No world obeys the laws.
struct Contradiction : std::runtime_error {
    Contradiction() : std::runtime_error("no world obeys all laws") {}
};

// Variables that take their values together: one row per state, one column per variable.
struct Block {
    std::vector<std::int32_t> variables;
    std::vector<std::uint8_t> states;

    std::size_t size() const { return states.size() / variables.size(); }
    bool value(std::size_t state, std::size_t position) const { return states[state * variables.size() + position]; }
};

enum class BlockKind : std::uint8_t {
    chain,    // each variable implies the next
    one,      // exactly one variable is true
    at_most,  // at most one
    other,
};
BlockKind kind_of(const Block& block);

// Every block is in one of its states and every law has its truth; variables in no block are free.
// Blocks have no variable in common.
class Space {
public:
    Space(std::size_t n_variables, std::vector<Block> blocks, Functions laws, std::vector<std::uint8_t> truth);

    std::size_t n_variables() const { return n_variables_; }
    const std::vector<Block>& blocks() const { return blocks_; }
    EventView laws() const { return laws_.view(n_variables_); }
    bool truth(std::size_t law) const { return truth_[law]; }
    bool obeys(const World& world, std::size_t law) const;
    bool allows(const World& world) const;

    // A possible world, once one is known.
    const World& witness() const { return witness_; }
    void set_witness(World world) { witness_ = std::move(world); }

private:
    std::size_t n_variables_;
    std::vector<Block> blocks_;
    Functions laws_;
    std::vector<std::uint8_t> truth_;
    World witness_;
};

// Finds a possible world: by elimination if the laws are like a tree, else by satisfaction. Throws Contradiction;
// false if a block of more than 16 variables is neither exclusive nor a chain.
bool find_witness(Space& space);

// Whose values go together: the blocks, then each other variable by itself, of states 0 and 1.
class Nodes {
public:
    explicit Nodes(const Space& space);

    std::size_t size() const { return states_.size(); }
    std::size_t states(std::size_t node) const { return states_[node]; }
    std::int32_t of(std::int32_t variable) const { return node_[static_cast<std::size_t>(variable)]; }
    bool value(std::int32_t variable, std::size_t state) const {
        const auto v = static_cast<std::size_t>(variable), node = static_cast<std::size_t>(node_[v]);
        return node < space_.blocks().size() ? space_.blocks()[node].value(state, position_[v]) : state != 0;
    }
    // The nodes that some variables belong to, ascending.
    std::vector<std::int32_t> touched(std::span<const std::int32_t> variables) const;
    void put(std::size_t node, std::size_t state, World& world) const;

private:
    const Space& space_;
    std::vector<std::int32_t> node_, alone_;  // of a variable; the variable of a node that is not a block
    std::vector<std::size_t> position_, states_;
};

}  // namespace coherently
