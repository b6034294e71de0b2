// Is there a world in which some events are true, others false, and declared variables have one value each?
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "coherently/functions/event_view.hpp"

namespace coherently {

// Choice c is of atoms[starts[c] .. starts[c + 1]): ordered ones imply their successors; of the others at most one is
// true, and one is if `complete`.
struct ChoiceView {
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> atoms;
    std::span<const std::uint8_t> ordered;
    std::span<const std::uint8_t> complete;
};

// A complete search: propagation over whole functions, clauses learnt from conflicts up to the first unique implication
// point, branching on variables of recent conflicts, restarts (Marques-Silva, Lynce and Malik 2009, "Conflict-driven
// clause learning SAT solvers"). The views must outlive it.
//
// Questions are events whose truth is free until one of them is asked about. Each has a literal of its own, its switch,
// which is assumed before anything is decided and is part of every reason that the question gives; so all that is
// learnt while it is asked stays true afterwards (Een and Sorensson 2003, "Temporal induction by incremental SAT
// solving").
class Satisfaction {
public:
    enum class Answer : std::uint8_t { open, satisfied, impossible };
    static constexpr std::uint8_t question = 2;

    // `truth` has 1 or 0 for each event, or `question`.
    Satisfaction(EventView events, std::span<const std::uint8_t> truth, ChoiceView choices);

    void fix(std::int32_t variable, bool value);
    // What follows without a decision: 1 or 0 for each variable, -1 where nothing does; nothing if there is no world.
    std::optional<std::span<const std::int8_t>> implied();
    // From now on a question must have a truth; each is asked at most once. Its answer does not bind later ones.
    void ask(std::size_t event, bool truth);
    // From now on decisions try these values first; nothing is asked any more.
    void prefer(const World& world);
    // Continues for about that many steps.
    Answer run(std::size_t steps);
    std::size_t conflicts() const { return conflicts_; }
    // The world found.
    World world() const;

private:
    using Literal = std::int32_t;  // 2 * variable, + 1 where it is false
    enum class Cause : std::uint8_t { none, clause, function, exclusion };
    struct Reason {
        Cause cause = Cause::none;
        std::int32_t index = 0;  // of the clause, the function or the other atom
    };
    struct Count {  // of a count function: true and false literals, and the nearest allowed numbers
        std::size_t n_true = 0, n_false = 0;
        std::vector<std::int32_t> next, previous;
    };

    bool is_count(std::size_t f) const { return count_of_[f] >= 0; }
    bool is_true(Literal literal) const { return value_[static_cast<std::size_t>(literal / 2)] == !(literal & 1); }
    bool is_false(Literal literal) const { return value_[static_cast<std::size_t>(literal / 2)] == (literal & 1); }
    void prepare_count(std::size_t f);
    void prepare_choices();
    void add_clause(std::vector<Literal> clause, bool learnt);
    bool assign(Literal literal, Reason reason);  // false if it contradicts what is assigned
    void undo(std::size_t level);
    bool propagate();  // false on a conflict, whose false literals are then in conflict_
    bool propagate_clauses(Literal made_false);
    bool propagate_choices(std::int32_t variable);
    bool propagate_table(std::size_t f);
    bool propagate_count(std::size_t f);
    void explain_function(std::size_t f, std::int32_t before, std::vector<Literal>& out) const;
    void explain(Literal implied, std::vector<Literal>& out) const;
    void learn();
    void bump(std::int32_t variable);
    bool decide();
    void assume(Literal literal);
    bool is_off(std::size_t f) const { return switch_of_[f] >= 0 && !is_true(2 * switch_of_[f]); }

    EventView events_;
    std::vector<std::uint8_t> truth_;
    ChoiceView choices_;
    std::vector<std::int8_t> value_;  // -1 where unknown
    std::vector<std::uint8_t> phase_;
    std::vector<std::int32_t> level_, position_;
    std::vector<Reason> reason_;
    std::vector<Literal> trail_;
    std::vector<std::size_t> levels_;  // where each level begins in the trail
    std::size_t head_ = 0;

    std::vector<std::vector<Literal>> clauses_;
    std::vector<std::vector<std::int32_t>> watches_;  // of each literal: clauses to look at when it fails
    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> functions_of_;  // of each variable: function, place
    std::vector<std::vector<std::int32_t>> choices_of_;  // of each variable: unordered choices
    std::vector<std::int32_t> count_of_;
    std::vector<std::int32_t> switch_of_;  // of each event: the variable that says whether it is asked; -1 without
    std::vector<Count> counts_;
    std::int32_t asked_ = -1;  // the switch of the question

    std::vector<Literal> conflict_;
    std::vector<std::uint8_t> seen_;
    std::vector<double> activity_;
    double increment_ = 1;
    std::priority_queue<std::pair<double, std::int32_t>> order_;
    std::size_t conflicts_ = 0, restart_ = 0, next_restart_ = 100;
    bool impossible_ = false;
};

}  // namespace coherently
