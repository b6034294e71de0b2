// A primal-dual interior point method, for pair problems whose kinks are too many and too entangled for an active set.
#pragma once

#include <array>
#include <vector>

#include "groups/pairs/bound.hpp"
#include "groups/pairs/model.hpp"
#include "linear/newton_system.hpp"

namespace coherently {

// Only groups near a border of two pieces have bounds of their own: for the literals' probabilities a and b group g
// keeps s = (a - m, b - m, m, m - a - b + 1) > 0 with multipliers z > 0. The others are part of the sure quadratic of
// the model.
class PairInterior {
public:
    explicit PairInterior(PairModel& model);

    // Starts from the groups that are near a border within a radius of the answer's variables; keeps the best point
    // found.
    void run(PairAnswer& answer, double radius, double tolerance);

    // The minorant at x that the best multipliers of the k-th group near a border give.
    void add_minorant(std::size_t k, const std::vector<double>& x, LinearBound& bound) const {
        add_minorant(states_[k], multipliers_[k].data(), x, bound);
    }

private:
    struct State {
        double curvature, free, free_a, free_b;
        std::int32_t first, second;  // literals
        double m = 0.25, dm = 0;
        double z[4] = {}, dz[4] = {};

        State(const Single& group) : State(group, 0, 0) {}
        State(const Several& group) : State(group, group.free_a, group.free_b) {}
        template <typename Group>
        State(const Group& group, double free_a, double free_b)
            : curvature(group.curvature),
              free(group.free),
              free_a(free_a),
              free_b(free_b),
              first(group.first),
              second(group.second) {}

        double free_at(double a, double b) const { return free + free_a * a + free_b * b; }
    };

    static void add_minorant(const State& state, const double* z, const std::vector<double>& x, LinearBound& bound);
    void keep(PairAnswer& answer);
    void begin(const std::vector<double>& at, double radius);
    void block(const State& state, double a, double b, double* g, double (*h)[3]) const;
    void assemble();
    double longest_step();
    void move(double length);
    double complementarity() const;
    double relative_gap() const;

    PairModel& model_;
    NewtonSystem system_;
    Quadratic sure_;
    std::vector<double> x_, interior_;
    std::vector<State> states_;
    std::vector<std::array<double, 4>> multipliers_;
    double barrier_ = 0;
};

}  // namespace coherently
