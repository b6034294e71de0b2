#include "coherently/worlds/search/tabu_search.hpp"

#include <algorithm>
#include <bit>
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

void Tournament::reset(std::size_t size) {
    leaves_ = std::bit_ceil(std::max<std::size_t>(size, 2));
    value_.assign(leaves_, std::numeric_limits<double>::infinity());
    winner_.assign(2 * leaves_, 0);
    for (std::size_t i = 0; i < leaves_; ++i) winner_[leaves_ + i] = i;
    for (std::size_t node = leaves_; node-- > 1;) winner_[node] = winner_[2 * node];
}

void Tournament::set(std::size_t i, double value) {
    value_[i] = value;
    for (std::size_t node = (leaves_ + i) / 2; node > 0; node /= 2) {
        const std::size_t a = winner_[2 * node], b = winner_[2 * node + 1], winner = value_[b] < value_[a] ? b : a;
        if (winner == winner_[node] && winner != i) return;  // nothing changes further up
        winner_[node] = winner;
    }
}

TabuSearch::TabuSearch(const Energy& energy, std::uint64_t seed)
    : walk_(energy), energy_(energy), random_(seed), free_at_(energy.n_variables()) {
    const std::size_t n = energy.n_variables();
    double touched = 0;
    for (std::size_t v = 0; v < n; ++v) {
        touched += static_cast<double>(energy.neighbours(v).size() + 1);
        for (const auto& place : energy.places(v))
            touched += static_cast<double>(energy.large()[static_cast<std::size_t>(place.large)].variables.size());
    }
    sparse_ = 2 * touched * std::log2(static_cast<double>(n) + 1) < static_cast<double>(n) * static_cast<double>(n);
}

void TabuSearch::start(const World& from) {
    walk_.start(from);
    std::fill(free_at_.begin(), free_at_.end(), std::size_t{0});
    best_ = from, best_energy_ = walk_.energy();
    tabu_.clear();
    if (!sparse_) return;
    tournament_.reset(from.size());
    for (std::size_t v = 0; v < from.size(); ++v) tournament_.set(v, walk_.gains()[v]);
}

TabuSearch::Choice TabuSearch::choose(std::size_t move) {
    const auto& gain = walk_.gains();
    std::size_t chosen = gain.size();
    double least = std::numeric_limits<double>::infinity(), lowest = least;
    for (std::size_t v = 0; v < gain.size(); ++v) {
        lowest = std::min(lowest, gain[v]);
        if (gain[v] < least && (free_at_[v] <= move || walk_.energy() + gain[v] < best_energy_))
            least = gain[v], chosen = v;
    }
    return {chosen, lowest >= 0};
}

TabuSearch::Choice TabuSearch::choose_by_tournament(std::size_t move) {
    const auto& gain = walk_.gains();
    bool minimum = true;
    std::erase_if(tabu_, [&](std::size_t v) {
        minimum = minimum && gain[v] >= 0;
        if (free_at_[v] > move) return false;
        tournament_.set(v, gain[v]);
        return true;
    });
    const std::size_t chosen = tournament_.least();
    return {chosen, minimum && tournament_.value(chosen) >= 0};
}

void TabuSearch::refresh(std::size_t v) {
    if (std::isfinite(tournament_.value(v))) tournament_.set(v, walk_.gains()[v]);
}

void TabuSearch::flip(std::size_t v, std::size_t move) {
    const std::size_t n = walk_.world().size(), tenure = std::min<std::size_t>(n / 10, 20);
    walk_.flip(v);
    free_at_[v] = move + 2 + tenure + random_.below(tenure + 3);
    if (!sparse_) return;
    tabu_.push_back(v);
    tournament_.set(v, std::numeric_limits<double>::infinity());
    for (const std::int32_t w : energy_.neighbours(v)) refresh(static_cast<std::size_t>(w));
    for (const auto& place : energy_.places(v))
        for (const std::int32_t w : energy_.large()[static_cast<std::size_t>(place.large)].variables)
            refresh(static_cast<std::size_t>(w));
}

void TabuSearch::run(const World& from, std::size_t patience, double threshold, std::vector<Found>& found) {
    start(from);
    double slack = 0;  // bound on the rounding error of the flips
    for (std::size_t v = 0; v < from.size(); ++v) {
        slack += 1e-14 * std::abs(energy_.linear()[v]);
        for (const double both : energy_.interactions(v)) slack += 1e-14 * std::abs(both);
    }
    for (const LargeEvent& large : energy_.large()) slack += 1e-14 * std::abs(energy_.coefficient(large));
    bool fresh = true;  // the next minimum is a new one
    for (std::size_t move = 1, last = 0; move - last <= patience; ++move) {
        const Choice choice = sparse_ ? choose_by_tournament(move) : choose(move);
        if (choice.minimum && fresh && walk_.energy() < threshold) found.push_back({walk_.energy(), walk_.world()});
        fresh = !choice.minimum;
        if (choice.variable >= from.size() || (sparse_ && !std::isfinite(tournament_.value(choice.variable)))) continue;
        flip(choice.variable, move);
        if (walk_.energy() < best_energy_ - 1e-12 * std::abs(best_energy_) - slack)
            best_ = walk_.world(), best_energy_ = walk_.energy(), last = move;
    }
}

void TabuSearch::anneal(std::size_t sweeps) {
    const std::size_t n = energy_.n_variables();
    World from(n);
    for (auto& value : from) value = static_cast<std::uint8_t>(random_.next() >> 63);
    walk_.start(from);
    double mean = 0;
    for (const double gain : walk_.gains()) mean += std::abs(gain) / static_cast<double>(n);
    double temperature = mean;
    const double cooling = std::pow(0.02, 1.0 / static_cast<double>(sweeps));
    for (std::size_t sweep = 0; sweep < sweeps; ++sweep, temperature *= cooling) {
        for (std::size_t v = 0; v < n; ++v) {
            const double gain = walk_.gains()[v];
            if (gain <= 0 || (gain < 12 * temperature && random_.uniform() < std::exp(-gain / temperature)))
                walk_.flip(v);
        }
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t v = 0; v < n; ++v)
            if (walk_.gains()[v] < 0) walk_.flip(v), moved = true;
    }
    best_ = walk_.world(), best_energy_ = walk_.energy();
}

void TabuSearch::cross(World& world, const World& other, Random& random) const {
    for (std::size_t v = 0; v < world.size(); ++v)
        if (random.next() >> 63) world[v] = other[v];
}

}  // namespace coherently
