// Local search for possible worlds of low energy, where blocks and laws restrict them.
#pragma once

#include <cstdint>
#include <vector>

#include "coherently/random.hpp"
#include "coherently/worlds/energy.hpp"
#include "coherently/worlds/search/tabu_search.hpp"
#include "coherently/worlds/search/world_search.hpp"
#include "coherently/worlds/space.hpp"

namespace coherently {

// As TabuSearch, by moves that set a block to another of its states. Variables that small laws tie together are one
// block, whose states obey them; other laws have a penalty for each variable that must turn until they hold, which
// rises and falls during the walk. Only worlds that obey all laws are reported.
class BlockSearch final : public WorldSearch {
public:
    BlockSearch(const EventView& events, const Space& space, std::uint64_t seed);

    void set(std::span<const double> coefficients) override;
    void run(const World& from, std::size_t patience, double threshold, std::vector<Found>& found) override;
    void anneal(std::size_t sweeps) override;
    void cross(World& world, const World& other, Random& random) const override;
    World first() const override { return space_.witness(); }
    const World& best() const override { return best_; }
    double best_energy() const override { return best_energy_; }
    std::size_t size() const override { return blocks_.size(); }
    bool is_sparse() const override { return sparse_; }

private:
    struct Turn {
        std::uint32_t position;  // of a variable in the block
        bool value;
    };
    struct Knot {  // an event or law, also about other blocks, that has several variables of the block
        std::size_t large;
        std::vector<std::pair<std::size_t, std::size_t>> places;  // in the event and in the block
        std::vector<std::uint32_t> parts;                         // of its row, by state
    };
    struct Step {  // where an event's truth changes along the states of a block
        std::uint32_t event, place;
        double sign;
    };
    struct SearchBlock {
        Block block;
        std::vector<std::size_t> turn_starts;
        std::vector<Turn> turns;  // from the previous state; for the first, from all false
        std::vector<Step> steps;  // of the events inside
        std::vector<double> inside;
        std::vector<Knot> knots;
        bool is_single = false;  // one variable, of two states
    };
    struct Grade {
        std::size_t law;  // among the open ones
        bool turned;      // the function means being nearer
    };
    struct Layout;
    void add_inside(const LargeEvent& function, SearchBlock& own) const;
    void tie_knots();
    void fill_fields(std::size_t b);
    BlockSearch(const EventView& events, const Space& space, std::uint64_t seed, Layout layout);

    std::span<const Turn> turns(const SearchBlock& own, std::size_t state) const {
        return std::span(own.turns).subspan(own.turn_starts[state],
                                            own.turn_starts[state + 1] - own.turn_starts[state]);
    }
    void price(std::span<const double> coefficients);
    void set_shares(double share);
    void apply_shares();
    void change_shares(double share);
    void oscillate(std::size_t possible);
    void start(const World& from);
    void fill_energies(std::size_t b);
    double turning(std::size_t b) const;
    void look(std::size_t b);
    std::size_t draw(std::size_t b, double temperature);
    void go(std::size_t b, std::size_t state);
    void touch(std::size_t b);
    void refresh();
    bool note();
    bool obeys(const World& world) const;
    double energy() const { return walk_.energy() + inside_ + offset_; }

    const Space& space_;
    Random random_;
    std::vector<SearchBlock> blocks_;
    std::vector<std::int32_t> block_of_;  // of a variable
    std::vector<std::size_t> position_;   // of a variable in its block
    std::vector<std::size_t> open_laws_;  // those that have a penalty
    Functions across_;                    // the events that are in no block, then the grades of open laws
    std::vector<std::size_t> across_events_;
    std::vector<Grade> grades_;
    Energy energy_;
    Walk walk_;
    bool sparse_ = false;
    std::vector<std::vector<std::uint32_t>> events_at_;  // the events that a block's variables are in
    std::vector<double> coefficients_, fines_, share_, energies_, fields_;
    std::vector<std::size_t> state_, next_, free_at_, tabu_, touched_;
    std::vector<double> change_;
    std::vector<std::uint8_t> is_touched_;
    Tournament tournament_;
    double inside_ = 0, offset_ = 0, rounding_ = 0, best_energy_ = 0;
    World best_;
};

}  // namespace coherently
