// The objective of a pair problem as a function of its variables, piece by piece.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "coherently/stop.hpp"
#include "groups/pairs/costs.hpp"
#include "groups/pairs/problem.hpp"
#include "linear/newton_system.hpp"

namespace coherently {

// Groups of one kind, and those of them that are near a border of two pieces of their cost, in order.
template <typename Group>
struct GroupList {
    struct Near {
        std::size_t number;
        typename Group::Kinks kinks;
    };

    std::span<const Group> groups;
    std::vector<Near> near;
};

// Groups whose cost is sure to be one quadratic on a box around a point are added up once for the box; the others,
// which are near a border of two pieces, are evaluated on every pass.
class PairModel {
public:
    explicit PairModel(const PairProblem& problem, const Stop* stop = nullptr);

    // Whether work is to end.
    bool is_stopped() const { return stop_ && stop_->is_set(); }

    const PairProblem& problem;
    const std::size_t n;

    // Of all groups, at the point of the last pass.
    Quadratic function;

    template <typename Work>
    void each_list(Work&& work) {
        work(singles_);
        work(severals_);
    }

    template <typename Group>
    double first(const Group& group) const {
        return literals_[static_cast<std::size_t>(group.first)];
    }
    template <typename Group>
    double second(const Group& group) const {
        return literals_[static_cast<std::size_t>(group.second)];
    }
    template <typename Group>
    double width(const Group& group) const {
        return 0.2 * group.curvature * give(group) + 1e-12;
    }
    template <typename Group>
    double stiffness(const Group& group) const {
        return stiff / give(group);
    }

    // Notes how far the variables give way to a unit of force.
    void measure_give();

    // Collects the function at x. `prepare` sees each group near a border that costs, with its kinks. The next points
    // are expected within `radius`.
    template <typename Prepare>
    void pass(const std::vector<double>& x, double radius, Mode mode, Prepare&& prepare) {
        move_to(x, radius);
        function = sure_;
        each_list([&](auto& list) {
            for (auto& item : list.near) {
                const auto& group = list.groups[item.number];
                const double a = first(group), b = second(group);
                if (group.slack(a, b) >= 0) continue;
                prepare(group, item.kinks, a, b);
                add(function, group,
                    mode == Mode::held ? group.local(item.kinks, a, b, 0, stiffness(group), mode)
                                       : group.local(item.kinks, a, b, width(group), 0, mode));
            }
        });
    }

    // Goes to x, and sorts out which groups are near a border, as far as is needed for the radius.
    void move_to(const std::vector<double>& x, double radius);

    // The same, for exactly this radius.
    void move_anew(const std::vector<double>& x, double radius);

    std::size_t n_groups() const { return singles_.groups.size() + severals_.groups.size(); }
    std::size_t n_near() const { return singles_.near.size() + severals_.near.size(); }

    // The quadratic of the groups that are not near a border, at the point of the last pass.
    const Quadratic& sure() const { return sure_; }

    // The costs of the variables, and the costs of groups that do not depend on m, at x.
    Quadratic base_at(const std::vector<double>& x) const;

private:
    const Stop* stop_;
    template <typename Group>
    double give(const Group& group) const {
        return give_[variable_of(group.first)] + give_[variable_of(group.second)];
    }

    template <typename Group>
    static void add(Quadratic& sum, const Group& group, const Local& local) {
        const double sa = sign_of(group.first), sb = sign_of(group.second);
        sum.value += local.value;
        sum.add(variable_of(group.first), variable_of(group.second), sa * local.ga, sb * local.gb, local.haa,
                sa * sb * local.hab, local.hbb);
    }

    void add_base(std::span<const PairEvent> events, double curvature);
    template <typename Group>
    bool add_if_sure(const Group& group, double radius);
    template <typename Group>
    bool is_open(const GroupList<Group>& list, const typename GroupList<Group>::Near& item) const;
    template <typename Group>
    void survey(GroupList<Group>& list, double radius);
    void set_point(const std::vector<double>& x);
    void surround(double radius);

    std::vector<Several> several_groups_;
    GroupList<Single> singles_;
    GroupList<Several> severals_;
    Quadratic base_, sure_;  // the first at the targets
    std::vector<double> give_, literals_, at_, low_, high_;
    double radius_ = 0;
    std::vector<std::uint32_t> candidates_;
};

}  // namespace coherently
