#include "coherently/worlds/energy.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "coherently/functions/boolean_function.hpp"

namespace coherently {

Energy::Energy(EventView events) : events_(events), linear_(events.n_variables) {
    sort_events();
    link_pairs();
    place_large();
}

void Energy::sort_events() {
    for (std::size_t j = 0; j < events_.size(); ++j) {
        const auto variables = events_.variables_of(j);
        const auto words = events_.words_of(j);
        if (variables.size() > 2) {
            large_.push_back({j, variables, words, variables.size() > max_table_variables});
        } else if (!variables.empty()) {
            const auto at = [&](int row) { return static_cast<double>(words[0] >> row & 1); };
            const bool two = variables.size() == 2;
            small_.push_back({static_cast<std::int32_t>(j), variables[0], two ? variables[1] : -1, -1, at(1),
                              two ? at(2) : 0.0, two ? at(3) - at(1) - at(2) : 0.0});
        }
    }
}

void Energy::link_pairs() {
    std::vector<std::tuple<std::int32_t, std::int32_t, std::size_t>> ends;
    for (std::size_t i = 0; i < small_.size(); ++i)
        if (small_[i].b >= 0) ends.emplace_back(small_[i].a, small_[i].b, i);
    std::sort(ends.begin(), ends.end());
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
    for (const auto& [a, b, i] : ends) {
        if (pairs.empty() || pairs.back() != std::pair(a, b)) pairs.emplace_back(a, b);
        small_[i].pair = static_cast<std::int32_t>(pairs.size() - 1);
    }
    pair_.resize(pairs.size());
    arc_starts_.assign(n_variables() + 1, 0);
    for (const auto& [a, b] : pairs)
        ++arc_starts_[static_cast<std::size_t>(a) + 1], ++arc_starts_[static_cast<std::size_t>(b) + 1];
    for (std::size_t v = 0; v < n_variables(); ++v) arc_starts_[v + 1] += arc_starts_[v];
    to_.resize(2 * pairs.size()), pair_of_arc_.resize(2 * pairs.size()), interaction_.resize(2 * pairs.size());
    auto next = arc_starts_;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const auto put = [&](std::int32_t from, std::int32_t to) {
            const std::size_t at = next[static_cast<std::size_t>(from)]++;
            to_[at] = to, pair_of_arc_[at] = static_cast<std::int32_t>(p);
        };
        put(pairs[p].first, pairs[p].second);
        put(pairs[p].second, pairs[p].first);
    }
}

void Energy::place_large() {
    place_starts_.assign(n_variables() + 1, 0);
    for (const LargeEvent& large : large_)
        for (const std::int32_t v : large.variables) ++place_starts_[static_cast<std::size_t>(v) + 1];
    for (std::size_t v = 0; v < n_variables(); ++v) place_starts_[v + 1] += place_starts_[v];
    places_.resize(place_starts_.back());
    auto next = place_starts_;
    for (std::size_t i = 0; i < large_.size(); ++i)
        for (std::size_t k = 0; k < large_[i].variables.size(); ++k)
            places_[next[static_cast<std::size_t>(large_[i].variables[k])]++] = {static_cast<std::int32_t>(i),
                                                                                 static_cast<std::int32_t>(k)};
}

void Energy::set(std::span<const double> coefficients) {
    coefficients_.assign(coefficients.begin(), coefficients.end());
    std::fill(linear_.begin(), linear_.end(), 0.0);
    std::fill(pair_.begin(), pair_.end(), 0.0);
    for (const Small& small : small_) {
        const double c = coefficients[static_cast<std::size_t>(small.event)];
        linear_[static_cast<std::size_t>(small.a)] += c * small.first;
        if (small.b < 0) continue;
        linear_[static_cast<std::size_t>(small.b)] += c * small.second;
        pair_[static_cast<std::size_t>(small.pair)] += c * small.both;
    }
    for (std::size_t k = 0; k < interaction_.size(); ++k)
        interaction_[k] = pair_[static_cast<std::size_t>(pair_of_arc_[k])];
}

double Energy::value(const World& world) const {
    double sum = 0;
    for (const Small& small : small_) {
        const int a = world[static_cast<std::size_t>(small.a)],
                  b = small.b < 0 ? 0 : world[static_cast<std::size_t>(small.b)];
        sum += coefficients_[static_cast<std::size_t>(small.event)] *
               (a * small.first + b * small.second + (a & b) * small.both);
    }
    for (const LargeEvent& large : large_)
        if (large.holds(large.row(world))) sum += coefficients_[large.event];
    return sum;
}

void Energy::evaluate(const World& world, std::span<std::uint8_t> bits) const {
    std::fill(bits.begin(), bits.end(), std::uint8_t{0});
    const auto put = [&](std::size_t j, bool holds) {
        bits[j / 8] |= static_cast<std::uint8_t>(unsigned{holds} << (j % 8));
    };
    for (const Small& small : small_) {
        const int a = world[static_cast<std::size_t>(small.a)],
                  b = small.b < 0 ? 0 : world[static_cast<std::size_t>(small.b)];
        put(static_cast<std::size_t>(small.event), a * small.first + b * small.second + (a & b) * small.both > 0.5);
    }
    for (const LargeEvent& large : large_) put(large.event, large.holds(large.row(world)));
}

}  // namespace coherently
