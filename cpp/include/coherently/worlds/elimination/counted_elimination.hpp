// The least energy of the possible worlds, exactly, where events and laws count how many literals hold.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "coherently/worlds/elimination/count_plan.hpp"
#include "coherently/worlds/elimination/elimination.hpp"

namespace coherently {

// As SpaceElimination, with counters of what is gone as further digits: see CountPlan.
class CountedElimination final : public Elimination {
public:
    // The cheaper of two plans, if that costs at most `limit`; else nothing.
    static std::unique_ptr<CountedElimination> make(const EventView& events, const Space* space, double limit);

    double cost() const { return plan_->cost(); }
    World minimise(std::span<const double> coefficients) override;
    // The best worlds for the other entries of the last table but one: other numbers of true literals.
    std::vector<World> others(double level, std::size_t most) const override;

private:
    CountedElimination(const EventView& events, std::shared_ptr<const Space> space, std::unique_ptr<CountPlan> plan);

    struct Truth {  // where a function of a scope holds
        std::uint32_t event;
        std::vector<std::uint32_t> places;
    };
    struct Scope {
        std::vector<Truth> events;
        std::vector<std::uint32_t> forbidden;
    };
    struct Sorted {  // the literals of a class, the cheapest first, and the sums of the first k
        std::vector<std::int32_t> literals;
        std::vector<double> sums;
    };
    // A table with counters fastest, then nodes, the first of them fastest. Its indices lead to those of its sources:
    // `first` and `second` by the index of nodes, `to` from the counters of the sources to its own.
    struct Table {
        std::size_t nodes, counters, from, other;  // joint states here; counter states of the sources
        std::vector<double> values;
        std::vector<std::uint32_t> first, second, to, run;
        std::size_t stride = 0, states = 1;  // of the node that goes, in the source
        std::vector<std::uint32_t> number;   // of true literals of the set that is closed, by counters of the source
    };

    void fill_scope(const LargeEvent& function, std::size_t scope, int truth);
    void index_nodes(const CountShape& shape, const CountShape& source, std::vector<std::uint32_t>& places) const;
    void prepare(std::size_t i);
    void prepare_group(const CountOperation& operation, Table& table) const;
    void prepare_join(const CountOperation& operation, Table& table) const;
    void prepare_rest(const CountOperation& operation, Table& table) const;
    void price(std::span<const double> coefficients);
    void fill(std::size_t i, std::span<const double> coefficients);
    void sort_class(std::size_t number, Table& table, std::span<const double> coefficients);
    void join(const CountOperation& operation, Table& table) const;
    void reduce(const CountOperation& operation, Table& table) const;
    double priced(const CountOperation& operation, const Table& table, std::size_t counters) const;
    std::size_t source(std::size_t i, std::size_t entry) const;
    std::pair<std::size_t, std::size_t> sources(std::size_t i, std::size_t entry) const;
    World trace(std::size_t last) const;

    std::shared_ptr<const Space> space_;  // before the plan, which refers to it
    std::unique_ptr<CountPlan> plan_;
    std::size_t n_variables_;
    std::vector<Scope> scopes_;
    std::vector<Table> tables_;
    std::vector<std::vector<double>> prices_;                // of sets, by the number of true literals
    std::vector<std::vector<std::uint32_t>> singles_;        // events about a variable of a class, by variable
    std::vector<Sorted> sorted_;                             // by class
    double apart_ = 0;                                       // the least sums that the last table does not have
};

}  // namespace coherently
