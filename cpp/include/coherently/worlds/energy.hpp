// A weighted sum of events as a function of worlds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coherently/functions/event_view.hpp"

namespace coherently {

// sum_v linear[v] x_v + sum over pairs of interaction x_v x_w + the larger events, times their coefficients.
class Energy {
public:
    explicit Energy(EventView events);

    void set(std::span<const double> coefficients);
    double value(const World& world) const;
    // One bit per event: whether it holds.
    void evaluate(const World& world, std::span<std::uint8_t> bits) const;

    std::size_t n_variables() const { return events_.n_variables; }
    const EventView& events() const { return events_; }
    const std::vector<double>& linear() const { return linear_; }
    std::span<const std::int32_t> neighbours(std::size_t v) const { return slice(to_, v); }
    std::span<const double> interactions(std::size_t v) const { return slice(interaction_, v); }
    const std::vector<LargeEvent>& large() const { return large_; }
    const std::vector<double>& coefficients() const { return coefficients_; }
    double coefficient(const LargeEvent& large) const { return coefficients_[large.event]; }

    struct Place {
        std::int32_t large, position;
    };
    std::span<const Place> places(std::size_t v) const {
        return std::span(places_).subspan(place_starts_[v], place_starts_[v + 1] - place_starts_[v]);
    }

private:
    struct Small {  // first x_a + second x_b + both x_a x_b
        std::int32_t event, a, b, pair;
        double first, second, both;
    };
    template <typename T>
    std::span<const T> slice(const std::vector<T>& values, std::size_t v) const {
        return std::span(values).subspan(arc_starts_[v], arc_starts_[v + 1] - arc_starts_[v]);
    }
    void sort_events();
    void link_pairs();
    void place_large();

    EventView events_;
    std::vector<Small> small_;
    std::vector<LargeEvent> large_;
    std::vector<std::size_t> arc_starts_, place_starts_;
    std::vector<std::int32_t> to_, pair_of_arc_;
    std::vector<Place> places_;
    std::vector<double> linear_, pair_, interaction_, coefficients_;
};

}  // namespace coherently
