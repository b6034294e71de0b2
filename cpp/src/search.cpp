#include "coherently/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>


namespace coherently {

Walk::Walk(const Energy& energy)
    : energy_(energy), gain_(energy.n_variables()), sign_(energy.n_variables()), row_(energy.large().size()) {}

void Walk::start(const World& world) {
    world_ = world;
    value_ = energy_.value(world);
    const std::size_t n = world.size();
    for (std::size_t v = 0; v < n; ++v) {
        sign_[v] = world[v] ? -1.0 : 1.0;
        double field = energy_.linear()[v];
        const auto to = energy_.neighbours(v);
        const auto interaction = energy_.interactions(v);
        for (std::size_t k = 0; k < to.size(); ++k)
            if (world[static_cast<std::size_t>(to[k])]) field += interaction[k];
        gain_[v] = sign_[v] * field;
    }
    for (std::size_t i = 0; i < row_.size(); ++i) {
        const LargeEvent& large = energy_.large()[i];
        row_[i] = large.row(world);
        const double c = energy_.coefficient(large), now = large.holds(row_[i]);
        for (std::size_t k = 0; k < large.variables.size(); ++k) {
            const auto v = static_cast<std::size_t>(large.variables[k]);
            gain_[v] += c * (large.holds(large.turned(row_[i], k, !world[v])) - now);
        }
    }
}

void Walk::flip(std::size_t v) {
    value_ += gain_[v];
    gain_[v] = -gain_[v];
    const double turn = sign_[v];
    sign_[v] = -turn;
    const auto to = energy_.neighbours(v);
    const double* interaction = energy_.interactions(v).data();
    for (std::size_t k = 0; k < to.size(); ++k) {
        const auto w = static_cast<std::size_t>(to[k]);
        gain_[w] += turn * sign_[w] * interaction[k];
    }
    const bool value = world_[v] ^= 1;
    for (const Energy::Place& place : energy_.places(v)) disturb(place, value);
}

// The gains of the other variables of a large event, of which the one at the place has turned.
void Walk::disturb(const Energy::Place& place, bool value) {
    const LargeEvent& large = energy_.large()[static_cast<std::size_t>(place.large)];
    const auto at = static_cast<std::size_t>(place.position);
    const double c = energy_.coefficient(large);
    std::uint32_t& row = row_[static_cast<std::size_t>(place.large)];
    const std::uint32_t before = row, after = row = large.turned(before, at, value);
    const bool was = large.holds(before), is = large.holds(after);
    for (std::size_t k = 0; k < large.variables.size(); ++k) {
        if (k == at) continue;
        const auto w = static_cast<std::size_t>(large.variables[k]);
        const int change = (large.holds(large.turned(after, k, !world_[w])) - is) -
                           (large.holds(large.turned(before, k, !world_[w])) - was);
        gain_[w] += c * change;
    }
}

TabuSearch::TabuSearch(const Energy& energy, std::uint64_t seed)
    : walk_(energy), random_(seed), free_at_(energy.n_variables()) {}

void TabuSearch::run(const World& from, std::size_t patience, double threshold, std::vector<Found>& found) {
    const std::size_t n = from.size(), tenure = n / 10 + 2;
    walk_.start(from);
    std::fill(free_at_.begin(), free_at_.end(), std::size_t{0});
    best_ = from, best_energy_ = walk_.energy();
    bool fresh = true;  // the world is a minimum that has not been looked at
    for (std::size_t move = 1, last = 0; move - last <= patience; ++move) {
        const auto& gain = walk_.gains();
        std::size_t chosen = n;
        double least = std::numeric_limits<double>::infinity(), lowest = least;
        for (std::size_t v = 0; v < n; ++v) {
            lowest = std::min(lowest, gain[v]);
            if (gain[v] < least && (free_at_[v] <= move || walk_.energy() + gain[v] < best_energy_)) least = gain[v], chosen = v;
        }
        if (lowest >= 0 && fresh && walk_.energy() < threshold) found.push_back({walk_.energy(), walk_.world()});
        fresh = lowest < 0;
        if (chosen == n) continue;
        walk_.flip(chosen);
        free_at_[chosen] = move + tenure + random_.below(n / 10 + 3);
        if (walk_.energy() < best_energy_ - 1e-12 * std::abs(best_energy_)) {
            best_ = walk_.world(), best_energy_ = walk_.energy(), last = move;
        }
    }
}

}  // namespace coherently
