// In which order variables go, and which partial counts are kept, where events count how many literals hold.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "coherently/functions/count_function.hpp"
#include "coherently/functions/event_view.hpp"
#include "coherently/worlds/space.hpp"

namespace coherently {

// An event or a law that holds at some numbers of true literals of a set.
struct CountedPart {
    std::size_t function;
    bool is_law, truth;  // the truth that a law must have
    std::vector<std::uint8_t> holds;
};

// Literals that are counted together: those of all events and laws about the same ones.
struct CountedSet {
    std::vector<std::int32_t> literals;
    std::vector<CountedPart> parts;
    std::size_t cap;  // from this number of true literals on, nothing changes
};

// Variables that are in the same sets, and else only in events about one variable: of those with k true literals the
// best world has the k cheapest. Literals are turned so that all of a class count for a set, or all against it.
struct VariableClass {
    std::vector<std::int32_t> literals;
    std::vector<std::size_t> sets;
    std::vector<std::uint8_t> against;  // whether the literals that do not hold are counted, by set
};

// How many literals hold of the part of some sets that is gone: sets that have the same part share a counter.
struct Counter {
    std::size_t part, size;
    std::vector<std::size_t> sets;
};

// The axes of a table: nodes that are still there, and counters of what is gone.
struct CountShape {
    std::vector<std::int32_t> nodes;
    std::vector<Counter> counters;
    double node_states = 1, counter_states = 1;

    double size() const { return node_states * counter_states; }
};

enum class CountStep : std::uint8_t {
    scope,    // events and laws about some nodes
    group,    // a class of variables
    join,     // the sum of two tables; counters of the same set add
    remove,   // the least over the states of a node, whose literals go to the counters
    close,    // the least over a counter, all of whose literals are gone, with the events and laws about it
};

// One table of dynamic programming, made from those of earlier steps.
struct CountOperation {
    CountStep kind;
    std::size_t first = 0, second = 0;  // the tables, or the number of a scope or class
    std::size_t what = 0;               // the node or set that goes
    CountShape shape;
};

// Dynamic programming where a counter "how many of the literals that are gone hold" is one more variable (Bertele and
// Brioschi 1972 for the rest). Nodes go one by one, and a set is closed once all its literals are gone; what costs
// least goes first.
class CountPlan {
public:
    // `is_turned` counts the literals of all sets by those that do not hold.
    CountPlan(const EventView& events, const Space& space, double limit, bool is_turned);

    bool has_sets() const { return !sets_.empty(); }
    // The number of sums of two entries; infinite above the limit.
    double cost() const { return cost_; }

    const Nodes& nodes() const { return nodes_; }
    const std::vector<CountedSet>& sets() const { return sets_; }
    const std::vector<VariableClass>& classes() const { return classes_; }
    const std::vector<std::vector<std::int32_t>>& scopes() const { return scopes_; }
    const std::vector<CountOperation>& operations() const { return operations_; }
    // The tables of one entry that are left; the sum of these is the least energy.
    const std::vector<std::size_t>& ends() const { return alive_; }
    // The events, then laws, that are in no set and not about a variable of a class alone.
    bool is_in_scope(bool is_law, std::size_t function) const { return in_scope_[is_law][function]; }
    // How many literals of a set hold at a state of a node.
    std::size_t count(std::size_t set, std::size_t node, std::size_t state) const;

private:
    struct Attempt {
        std::vector<CountOperation> operations;
        std::vector<std::size_t> used;
        double cost = 0;
    };

    void find_sets(const EventView& events, const Space& space, bool is_turned);
    void orient(std::vector<CountFunction>& counts, bool is_turned) const;
    void find_classes(const EventView& events, const Space& space);
    void find_scopes(const EventView& events, const Space& space);
    void begin(double limit);
    void order(double limit);
    Attempt attempt(std::size_t candidate, double limit);
    bool touches(const CountShape& shape, std::size_t candidate) const;

    std::size_t part_of(std::vector<std::int32_t> literals, std::size_t most);
    std::size_t both(std::size_t a, std::size_t b);
    void measure(CountShape& shape) const;
    CountShape shape_of(std::vector<std::int32_t> nodes, const std::map<std::size_t, std::size_t>& parts) const;
    CountShape joined(const CountShape& a, const CountShape& b);
    CountShape without_node(const CountShape& shape, std::size_t node);
    CountShape without_set(const CountShape& shape, std::size_t set) const;

    Nodes nodes_;
    std::vector<CountedSet> sets_;
    std::vector<VariableClass> classes_;
    std::vector<std::vector<std::int32_t>> scopes_;
    std::vector<std::uint8_t> in_scope_[2];
    std::vector<std::uint8_t> in_class_;                         // by variable
    std::vector<std::map<std::size_t, std::size_t>> node_part_;  // of each node: by set, its part of the set
    std::vector<std::vector<std::int32_t>> part_literals_;
    std::vector<std::size_t> part_most_;  // the most literals that can hold
    std::map<std::vector<std::int32_t>, std::size_t> part_number_;
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> both_;
    std::vector<CountOperation> operations_;
    std::vector<std::size_t> alive_;
    double cost_ = 0;
};

}  // namespace coherently
