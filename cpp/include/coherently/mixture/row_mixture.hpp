// The mixture of some worlds that is best for a linear cost and weighted squares of sums of events, under pins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coherently/worlds/energy.hpp"

namespace coherently {

// Sums of sides of events: sum_k factor_k P(side_k) + offset, k in [starts[t], starts[t + 1]). A side is an event, or
// its complement where `turned`; both are summed from shares, so that probabilities near 0 and 1 keep their digits.
struct Sums {
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> coordinates;
    std::vector<std::uint8_t> turned;
    std::vector<double> factors, offset;

    std::size_t size() const { return offset.size(); }
    double value(std::size_t t, std::span<const double> holds, std::span<const double> fails) const;
    double in_world(std::size_t t, std::span<const std::uint8_t> truth) const;
    // Adds `amount` times the sum to the coefficients of the events that hold; returns its value where none holds.
    double add(std::size_t t, double amount, std::span<double> slope) const;
};

// sum_j cost_j x_j + 1/2 sum_t weight_t row_t(x)^2
struct RowModel {
    std::vector<double> cost;
    Sums rows;
    std::vector<double> weight;
};

// Minimises a model over x = sum_i share_i v_i, the v_i being the truth vectors of worlds that are added one after the
// other, where each pin, a sum of events, is 0 or, unless `equal`, at least 0. A primal active set method: the worlds
// within are independent in the rows and pins. Where a pin is an inequality its slack is a column like a world, of no
// cost; while a pin is missed, an artificial column stands for what is missing, and the sum of these is minimised
// instead of the model (phase 1).
//
// With shares s, costs c, Gram matrix Q of the rows and E s = e the sum of shares and the pins, a step solves
//     Q ds - E' y = -(c + Q s),  E ds = e - E s
// by the factor of H = Q + rho E'E, scaled to a unit diagonal: ds = H^-1 (E' y - c - Q s), E H^-1 E' y = e - E s + E
// H^-1 (c + Q s).
class RowMixture {
public:
    RowMixture(std::size_t events, Sums pins, std::vector<std::uint8_t> equal);

    // Changes the model; worlds and shares stay, except worlds that depend on others in the new rows.
    void set(RowModel model);
    // Takes in a world with its truth vector at share 0, or by an exchange if it depends on those within and is
    // cheaper.
    bool add(const World& world, std::span<const std::uint8_t> truth);
    // Moves to the minimum, dropping columns whose share would turn negative; then refines the shares.
    void settle(int refinements);
    // The sum of violations of the pins in phase 1, whose end drops the artificial columns.
    double missing() const;
    bool is_in_phase_1() const { return phase_1_; }
    void finish_phase_1();

    std::size_t size() const { return columns_.size(); }
    bool is_world(std::size_t i) const { return columns_[i].kind == Kind::world; }
    const World& world(std::size_t i) const { return columns_[i].world; }
    const std::vector<double>& shares() const { return share_; }
    // The probabilities of the events, and of their complements.
    const std::vector<double>& holds() const { return holds_; }
    const std::vector<double>& fails() const { return fails_; }
    const std::vector<double>& prices() const { return price_; }
    double objective() const { return objective_; }
    // The coefficients, including prices, whose sum is below `level` in an improving world.
    const std::vector<double>& gradient() const { return gradient_; }
    double level() const { return level_; }

private:
    enum class Kind : std::uint8_t { world, slack, artificial };
    struct Column {
        Kind kind;
        World world;
        std::vector<std::uint8_t> truth, bits;
        std::vector<double> pins;   // what it adds to the sum of shares, then to each pin
        double cost = 0, size = 1;  // the root of its entry on the diagonal of H
        std::size_t pin = 0;        // of a slack or an artificial column
    };
    Column make_world(const World& world, std::span<const std::uint8_t> truth) const;
    Column make_unit(Kind kind, std::size_t pin, double sign) const;
    void fill_tables(std::span<const double> slope);
    double from_tables(const Column& column) const;
    double world_cost(const Column& column) const;
    bool absorb(Column column, double share);
    bool exchange(Column& column, double share);
    bool append_row();
    double slope(const Column& column) const;
    void multiply(const Column& column, std::vector<double>& products);
    void solve(std::vector<std::vector<double>>& rights) const;
    void remove(std::size_t i);
    void look();
    void look_at(const std::vector<Column>& columns, const std::vector<double>& shares);
    void find_slopes();
    void advance_slopes(double length);
    void find_step();
    void solve_small(std::vector<double>& right);
    void price_events();
    bool add_slack();
    void begin(Column first);
    void rebuild();

    std::size_t events_;
    Sums pins_;
    std::vector<std::uint8_t> equal_;
    RowModel model_;
    bool phase_1_ = false;
    bool looked_ = false;  // whether the probabilities, and the slope of events, are those of the shares
    std::vector<Column> columns_;
    std::vector<std::vector<double>> factor_;  // of H, scaled; one row per column
    std::vector<double> share_, holds_, fails_, row_value_, slope_, event_slope_, scratch_, tables_, row_, products_,
        step_, multiplier_, price_, gradient_;
    std::vector<std::vector<double>> along_;  // H^-1 E', and H^-1 times the slopes
    double constant_ = 0, rho_ = 1, objective_ = 0, level_ = 0;
};

}  // namespace coherently
