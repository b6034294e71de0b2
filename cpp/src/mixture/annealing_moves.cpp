#include "mixture/annealing_moves.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>

#include "coherently/mixture/annealing.hpp"

namespace coherently {

Annealer::Annealer(WeightedFunctions functions, std::size_t columns, std::uint64_t seed, std::vector<RatioTerm> terms,
                   Moves moves)
    : functions_(std::move(functions)),
      columns_(columns),
      row_words_(words_for(functions_.n_variables)),
      random_(seed),
      rows_(columns * row_words_),
      flips_(false),
      terms_(std::move(terms)),
      terms_of_(functions_.size()),
      laws_of_(functions_.n_variables),
      moves_(std::move(moves)),
      is_touched_(terms_.size()) {
    double total = 0;
    for (const double w : functions_.weight) total += w;
    for (const RatioTerm& term : terms_) total += term.weight * (term.hard ? static_cast<double>(columns) : 1);
    quanta_ = quanta_for(total);
    for (std::size_t c = 0; c < columns_; ++c)
        for (std::size_t v = 0; v < functions_.n_variables; ++v)
            rows_[c * row_words_ + v / 64] |= std::uint64_t{moves_.worlds[c * functions_.n_variables + v]} << (v % 64);
    std::vector<bool> tracked(functions_.size());
    for (std::size_t i = 0; i < functions_.size(); ++i) tracked[i] = functions_.weight[i] > 0;
    for (std::size_t t = 0; t < terms_.size(); ++t)
        for (const std::int32_t function : {terms_[t].joint, terms_[t].condition})
            if (function >= 0) {
                tracked[static_cast<std::size_t>(function)] = true;
                terms_of_[static_cast<std::size_t>(function)].push_back(static_cast<std::int32_t>(t));
            }
    for (std::size_t l = 0; l < moves_.laws.size(); ++l)
        for (const std::int32_t v : moves_.laws.at(l).variables)
            laws_of_[static_cast<std::size_t>(v)].push_back(static_cast<std::int32_t>(l));
    track(tracked);
    pack_large();
    for (const RatioTerm& term : terms_) term_energy_.push_back(energy(term));
}

double Annealer::share(std::int32_t function, bool turned) const {
    if (function < 0) return 1;
    const double found =
        static_cast<double>(counts_[static_cast<std::size_t>(function)]) / static_cast<double>(columns_);
    return turned ? 1 - found : found;
}

std::int64_t Annealer::energy(const RatioTerm& term) const {
    const double joint = share(term.joint, term.joint_turned), condition = share(term.condition, term.condition_turned);
    if (term.hard) {
        const double miss = joint - std::clamp(joint, term.low * condition, term.high * condition);
        return static_cast<std::int64_t>(term.weight * std::abs(miss) * quanta_);
    }
    if (condition <= 0) return 0;
    const double ratio = joint / condition, miss = ratio - std::clamp(ratio, term.low, term.high);
    return static_cast<std::int64_t>(term.weight * miss * miss * quanta_);
}

void Annealer::harden() {
    for (std::size_t t = 0; t < terms_.size(); ++t) {
        if (terms_[t].hard) terms_[t].weight *= static_cast<double>(columns_);
        term_energy_[t] = energy(terms_[t]);
    }
    calm_ = 0;
}

Annealer::Move Annealer::draw_move() {
    const std::uint64_t bits = random_.next();
    const auto set =
        static_cast<std::size_t>(moves_.slots[below(static_cast<std::uint32_t>(bits >> 32), moves_.slots.size())]);
    const std::size_t column = below(static_cast<std::uint32_t>(bits), columns_);
    return {set, column,
            random_.below(static_cast<std::size_t>(moves_.state_starts[set + 1] - moves_.state_starts[set]))};
}

// The variables that a move changes.
void Annealer::compare(Move move) {
    const auto begin = static_cast<std::size_t>(moves_.starts[move.set]);
    const std::size_t size = static_cast<std::size_t>(moves_.starts[move.set + 1]) - begin;
    flipped_.clear();
    if (const Large& large = large_[move.set]; !large.now.empty()) {
        const std::size_t words = words_for(size);
        const std::uint64_t *to = &large.packed[move.state * words],
                            *from = &large.packed[large.now[move.column] * words];
        for (std::size_t w = 0; w < words; ++w)
            for (std::uint64_t apart = to[w] ^ from[w]; apart; apart &= apart - 1)
                flipped_.push_back(static_cast<std::size_t>(
                    moves_.variables[begin + 64 * w + static_cast<std::size_t>(std::countr_zero(apart))]));
        return;
    }
    const std::uint8_t* state = &moves_.states[moves_.places[move.set] + move.state * size];
    for (std::size_t i = 0; i < size; ++i) {
        const auto variable = static_cast<std::size_t>(moves_.variables[begin + i]);
        if (truth(variable, move.column) != static_cast<bool>(state[i])) flipped_.push_back(variable);
    }
}

// Remembers the states of large sets that share no variable with another.
void Annealer::pack_large() {
    const std::size_t sets = moves_.starts.size() - 1;
    large_.resize(sets);
    std::vector<int> uses(functions_.n_variables);
    for (const std::int32_t v : moves_.variables) ++uses[static_cast<std::size_t>(v)];
    for (std::size_t s = 0; s < sets; ++s) {
        const auto begin = static_cast<std::size_t>(moves_.starts[s]);
        const std::size_t size = static_cast<std::size_t>(moves_.starts[s + 1]) - begin, words = words_for(size);
        const auto own = std::span(moves_.variables).subspan(begin, size);
        const auto sole = [&](std::int32_t v) { return uses[static_cast<std::size_t>(v)] == 1; };
        if (size <= 64 || !std::all_of(own.begin(), own.end(), sole)) continue;
        const auto count = static_cast<std::size_t>(moves_.state_starts[s + 1] - moves_.state_starts[s]);
        Large& large = large_[s];
        large.packed.resize(count * words);
        for (std::size_t k = 0; k < count; ++k)
            for (std::size_t i = 0; i < size; ++i)
                large.packed[k * words + i / 64] |= std::uint64_t{moves_.states[moves_.places[s] + k * size + i]}
                                                    << (i % 64);
        for (std::size_t c = 0; c < columns_; ++c) {
            std::vector<std::uint64_t> row(words);
            for (std::size_t i = 0; i < size; ++i)
                row[i / 64] |= std::uint64_t{truth(static_cast<std::size_t>(own[i]), c)} << (i % 64);
            std::size_t k = 0;
            while (k < count && !std::equal(row.begin(), row.end(), large.packed.data() + k * words)) ++k;
            if (k == count) throw std::invalid_argument("a world is in no state of a set");
            large.now.push_back(k);
        }
    }
}

std::int64_t Annealer::attempt(Move move) {
    compare(move);
    std::int64_t change = 0;
    for (const std::size_t variable : flipped_) {
        change += effect({variable, move.column});
        make({variable, move.column});
    }
    for (const std::size_t variable : flipped_)
        if (!lawful(variable, move.column)) return forbidden;
    for (const std::int32_t t : touched_) {
        const auto term = static_cast<std::size_t>(t);
        change += energy(terms_[term]) - term_energy_[term];
    }
    return change;
}

bool Annealer::lawful(std::size_t variable, std::size_t column) const {
    for (const std::int32_t l : laws_of_[variable]) {
        const Function law = moves_.laws.at(static_cast<std::size_t>(l));
        const bool counted = law.kind == FunctionKind::count;
        std::size_t at = 0;
        for (std::size_t i = 0; i < law.variables.size(); ++i) {
            const bool value = truth(static_cast<std::size_t>(law.variables[i]), column);
            if (counted) at += value == bit_at(law.words, i);
            else at |= static_cast<std::size_t>(value) << i;
        }
        const bool holds = bit_at(counted ? law.words.subspan(words_for(law.variables.size())) : law.words, at);
        if (holds != static_cast<bool>(moves_.law_truth[static_cast<std::size_t>(l)])) return false;
    }
    return true;
}

void Annealer::keep(Move move) {
    if (Large& large = large_[move.set]; !large.now.empty()) large.now[move.column] = move.state;
    for (const std::int32_t t : touched_) {
        const auto term = static_cast<std::size_t>(t);
        term_energy_[term] = energy(terms_[term]);
        is_touched_[term] = 0;
    }
    touched_.clear();
}

void Annealer::undo(Move move) {
    for (std::size_t i = flipped_.size(); i-- > 0;) make({flipped_[i], move.column});
    for (const std::int32_t t : touched_) is_touched_[static_cast<std::size_t>(t)] = 0;
    touched_.clear();
}

}  // namespace coherently
