// Simulated annealing of equally likely worlds (Osherson and Vardi's SAPA).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coherently/functions/boolean_function.hpp"
#include "coherently/random.hpp"

namespace coherently {

// Boolean functions, each with a weight and a target probability (arbitrary if the weight is 0).
struct WeightedFunctions {
    std::size_t n_variables;
    std::vector<std::int64_t> starts;  // of each function's variables, which ascend
    std::vector<std::int32_t> variables;
    std::vector<std::int64_t> word_starts;  // of its words: a table up to max_table_variables, else a count
    std::vector<std::uint64_t> words;
    std::vector<double> weight, target;

    std::size_t size() const { return weight.size(); }
    Function at(std::size_t i) const;
};

// A forecast of the share J of worlds where a function is true, or its complement if `turned`,
// among the share H of those where another is (all where `condition` is negative). It costs weight * (the distance of
// J / H from [low, high])^2, nothing where H is 0; or, if `hard`, weight * the distance of J from [low H, high H].
struct RatioTerm {
    std::int32_t joint, condition;
    bool joint_turned, condition_turned, hard;
    double low, high, weight;
};

// Worlds that may not be any truth assignment. A move gives the variables of a set one of their joint states; sets may
// overlap. It is drawn by a slot, which is the number of a set. Laws are functions that must be true, or false where
// `law_truth` is 0, and forbid moves; what the states ensure is not listed.
struct Moves {
    std::vector<std::int64_t> starts;  // of each set's variables
    std::vector<std::int32_t> variables;
    std::vector<std::int64_t> state_starts;  // of each set's states, counted over all sets
    std::vector<std::uint8_t> states;        // the truths of each state, one after the other
    std::vector<std::size_t> places;         // of each set's first state there
    std::vector<std::int32_t> slots;
    WeightedFunctions laws;
    std::vector<std::uint8_t> law_truth;
    std::vector<std::uint8_t> worlds;  // the first ones, one row each
};

// Worlds whose bits are flipped to lower the energy: the sum of weight * (share of worlds - target)^2.
// The energy is kept in whole quanta, so that flipping back restores it exactly.
class Annealer {
public:
    Annealer(WeightedFunctions functions, std::size_t columns, std::uint64_t seed);
    Annealer(WeightedFunctions functions, std::size_t columns, std::uint64_t seed, std::vector<RatioTerm> terms,
             Moves moves);

    std::size_t columns() const { return columns_; }
    std::size_t n_variables() const { return functions_.n_variables; }

    // The mean size of the change of energy over so many random flips, none of which is made.
    double roughness(std::size_t samples);
    // Proposes random flips; each is made with the probability min(1, exp(-change / temperature)).
    void advance(std::size_t steps, double temperature);
    // Makes hard terms cost as much for each world as they did for all; once, before the descent.
    void harden();
    // Looks at so many bits (or moves), from where it stopped, and makes each flip that lowers the energy. True once
    // no bit was flipped in a whole round: the worlds are a local minimum.
    bool descend(std::size_t steps);
    // The number of flips, or of moves, that a descent looks at before it ends.
    std::size_t choices() const;
    // The number of worlds in which each function is true.
    std::vector<std::int64_t> counts() const;
    // One row per world and one column per variable.
    std::vector<std::uint8_t> worlds() const;

private:
    // A function of one or two variables as one of them sees it: one more than the change that its flip makes to the
    // function's truth, by its own truth and that of the other.
    struct Narrow {
        std::int32_t function;
        std::int32_t other;
        std::uint8_t change[2][2];
    };
    // A larger function as one of its variables, the `rank`-th, sees it; `tally` is where the true literals of a
    // count are counted, one number per column.
    struct Wide {
        std::int32_t function;
        std::int32_t rank;
        std::int64_t tally;
    };
    struct Flip {
        std::size_t variable, column;
    };

    struct Move {
        std::size_t set, column, state;
    };

    void track(const std::vector<bool>& tracked);
    void add_narrow(std::size_t function, std::vector<std::vector<Narrow>>& narrow) const;
    void add_wide(std::size_t function, std::vector<std::vector<Wide>>& wide);
    bool truth(std::size_t variable, std::size_t column) const {
        return rows_[column * row_words_ + variable / 64] >> (variable % 64) & 1;
    }
    int change(const Wide& wide, Flip flip) const;
    std::int64_t effect(Flip flip) const;
    void make(Flip flip);
    void count(std::size_t function, int by);
    std::int64_t energy(std::size_t function, std::int64_t count) const;
    Flip draw();
    // The same with moves: what one changes, infinite where it breaks a law, is known only after it is made.
    Move draw_move();
    std::int64_t attempt(Move move);
    void compare(Move move);
    void pack_large();
    void keep(Move move);
    void undo(Move move);
    bool lawful(std::size_t variable, std::size_t column) const;
    std::int64_t energy(const RatioTerm& term) const;
    double share(std::int32_t function, bool turned) const;

    WeightedFunctions functions_;
    std::size_t columns_, row_words_;
    Random random_;
    double quanta_ = 0;                 // a unit of energy
    std::vector<std::uint64_t> rows_;   // the worlds, row_words_ words per column
    std::vector<std::int64_t> counts_;  // of functions with positive weight
    std::vector<std::int64_t> effect_;  // four per function: the change of energy by one world less, none, one more
    std::vector<std::size_t> active_;   // the variables of functions with positive weight
    std::vector<std::size_t> narrow_starts_, wide_starts_;  // by variable
    std::vector<Narrow> narrow_;
    std::vector<Wide> wide_;
    std::vector<std::int32_t> tallies_;
    std::size_t next_ = 0, calm_ = 0;  // of the descent: the next bit, and how many before it were not flipped

    bool flips_ = true;  // moves are flips of single bits, without terms
    std::vector<RatioTerm> terms_;
    std::vector<std::int64_t> term_energy_;
    std::vector<std::vector<std::int32_t>> terms_of_, laws_of_;  // by function; by variable
    Moves moves_;
    struct Large {
        std::vector<std::uint64_t> packed;  // states, in words
        std::vector<std::size_t> now;       // the state of each column
    };
    std::vector<Large> large_;           // by set; empty where bits are compared one by one
    std::vector<std::int32_t> touched_;  // terms that the last move is about
    std::vector<std::uint8_t> is_touched_;
    std::vector<std::size_t> flipped_;  // variables, by the last move
};

}  // namespace coherently
