#include "coherently/mixture/annealing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "coherently/functions/event_table.hpp"
#include "mixture/annealing_moves.hpp"

namespace coherently {
namespace {

template <typename T>
std::vector<std::size_t> flatten(const std::vector<std::vector<T>>& lists, std::vector<T>& flat) {
    std::vector<std::size_t> starts{0};
    for (const auto& list : lists) {
        flat.insert(flat.end(), list.begin(), list.end());
        starts.push_back(flat.size());
    }
    return starts;
}

}  // namespace

Function WeightedFunctions::at(std::size_t i) const {
    const auto part = [i](const auto& values, const std::vector<std::int64_t>& bounds) {
        return std::span(values).subspan(static_cast<std::size_t>(bounds[i]),
                                         static_cast<std::size_t>(bounds[i + 1] - bounds[i]));
    };
    const auto own = part(variables, starts);
    const auto kind = own.size() > max_table_variables ? FunctionKind::count : FunctionKind::table;
    return {kind, own, part(words, word_starts)};
}

Annealer::Annealer(WeightedFunctions functions, std::size_t columns, std::uint64_t seed)
    : functions_(std::move(functions)),
      columns_(columns),
      row_words_(words_for(functions_.n_variables)),
      random_(seed),
      rows_(columns * row_words_) {
    double total = 0;
    for (const double w : functions_.weight) total += w;
    quanta_ = quanta_for(total);
    for (std::uint64_t& word : rows_) word = random_.next();
    std::vector<bool> tracked(functions_.size());
    for (std::size_t i = 0; i < functions_.size(); ++i) tracked[i] = functions_.weight[i] > 0;
    track(tracked);
}

// Counts the worlds of the functions that matter, and lists these by variable.
void Annealer::track(const std::vector<bool>& tracked) {
    counts_ = counts();
    effect_.resize(4 * functions_.size());
    std::vector<std::vector<Narrow>> narrow(functions_.n_variables);
    std::vector<std::vector<Wide>> wide(functions_.n_variables);
    for (std::size_t i = 0; i < functions_.size(); ++i) {
        if (!tracked[i]) continue;
        count(i, 0);
        if (functions_.at(i).variables.size() <= 2) add_narrow(i, narrow);
        else add_wide(i, wide);
    }
    for (std::size_t v = 0; v < functions_.n_variables; ++v)
        if (!narrow[v].empty() || !wide[v].empty()) active_.push_back(v);
    narrow_starts_ = flatten(narrow, narrow_);
    wide_starts_ = flatten(wide, wide_);
}

void Annealer::add_narrow(std::size_t function, std::vector<std::vector<Narrow>>& narrow) const {
    const Function f = functions_.at(function);
    const std::size_t n = f.variables.size();
    for (std::size_t rank = 0; rank < n; ++rank) {
        Narrow seen{static_cast<std::int32_t>(function), f.variables[n - 1 - rank], {}};
        for (std::size_t own = 0; own < 2; ++own)
            for (std::size_t other = 0; other < 2; ++other) {
                const std::size_t before = own << rank | (n == 2 ? other << (1 - rank) : 0);
                const int change = bit_at(f.words, before ^ std::size_t{1} << rank) - bit_at(f.words, before);
                seen.change[own][other] = static_cast<std::uint8_t>(1 + change);
            }
        narrow[static_cast<std::size_t>(f.variables[rank])].push_back(seen);
    }
}

void Annealer::add_wide(std::size_t function, std::vector<std::vector<Wide>>& wide) {
    const Function f = functions_.at(function);
    const auto tally = static_cast<std::int64_t>(tallies_.size());
    for (std::size_t rank = 0; rank < f.variables.size(); ++rank)
        wide[static_cast<std::size_t>(f.variables[rank])].push_back(
            {static_cast<std::int32_t>(function), static_cast<std::int32_t>(rank), tally});
    if (f.kind == FunctionKind::table) return;
    for (std::size_t column = 0; column < columns_; ++column) {
        std::int32_t sum = 0;
        for (std::size_t rank = 0; rank < f.variables.size(); ++rank)
            sum += truth(static_cast<std::size_t>(f.variables[rank]), column) == bit_at(f.words, rank);
        tallies_.push_back(sum);
    }
}

int Annealer::change(const Wide& wide, Flip flip) const {
    const Function f = functions_.at(static_cast<std::size_t>(wide.function));
    const auto rank = static_cast<std::size_t>(wide.rank);
    if (f.kind == FunctionKind::count) {
        const auto allowed = f.words.subspan(words_for(f.variables.size()));
        const auto now = static_cast<std::size_t>(tallies_[static_cast<std::size_t>(wide.tally) + flip.column]);
        const bool loses = truth(flip.variable, flip.column) == bit_at(f.words, rank);
        return bit_at(allowed, loses ? now - 1 : now + 1) - bit_at(allowed, now);
    }
    std::size_t now = 0;
    for (std::size_t i = 0; i < f.variables.size(); ++i)
        now |= static_cast<std::size_t>(truth(static_cast<std::size_t>(f.variables[i]), flip.column)) << i;
    return bit_at(f.words, now ^ std::size_t{1} << rank) - bit_at(f.words, now);
}

std::int64_t Annealer::energy(std::size_t function, std::int64_t count) const {
    const double miss = static_cast<double>(count) / static_cast<double>(columns_) - functions_.target[function];
    return static_cast<std::int64_t>(functions_.weight[function] * miss * miss * quanta_);
}

void Annealer::count(std::size_t function, int by) {
    const std::int64_t now = counts_[function] += by, here = energy(function, now);
    effect_[4 * function] = energy(function, now - 1) - here;
    effect_[4 * function + 2] = energy(function, now + 1) - here;
    if (flips_ || by == 0) return;
    for (const std::int32_t term : terms_of_[function])
        if (!std::exchange(is_touched_[static_cast<std::size_t>(term)], 1)) touched_.push_back(term);
}

std::int64_t Annealer::effect(Flip flip) const {
    std::int64_t sum = 0;
    const bool own = truth(flip.variable, flip.column);
    for (std::size_t i = narrow_starts_[flip.variable]; i < narrow_starts_[flip.variable + 1]; ++i) {
        const bool other = truth(static_cast<std::size_t>(narrow_[i].other), flip.column);
        sum += effect_[4 * static_cast<std::size_t>(narrow_[i].function) + narrow_[i].change[own][other]];
    }
    for (std::size_t i = wide_starts_[flip.variable]; i < wide_starts_[flip.variable + 1]; ++i)
        sum += effect_[4 * static_cast<std::size_t>(wide_[i].function) + 1 +
                       static_cast<std::size_t>(change(wide_[i], flip))];
    return sum;
}

void Annealer::make(Flip flip) {
    const bool own = truth(flip.variable, flip.column);
    for (std::size_t i = narrow_starts_[flip.variable]; i < narrow_starts_[flip.variable + 1]; ++i) {
        const int next = narrow_[i].change[own][truth(static_cast<std::size_t>(narrow_[i].other), flip.column)];
        if (next != 1) count(static_cast<std::size_t>(narrow_[i].function), next - 1);
    }
    for (std::size_t i = wide_starts_[flip.variable]; i < wide_starts_[flip.variable + 1]; ++i) {
        const auto function = static_cast<std::size_t>(wide_[i].function);
        if (const int by = change(wide_[i], flip)) count(function, by);
        const Function f = functions_.at(function);
        if (f.kind == FunctionKind::table) continue;
        const bool loses = own == bit_at(f.words, static_cast<std::size_t>(wide_[i].rank));
        tallies_[static_cast<std::size_t>(wide_[i].tally) + flip.column] += loses ? -1 : 1;
    }
    rows_[flip.column * row_words_ + flip.variable / 64] ^= std::uint64_t{1} << (flip.variable % 64);
}

Annealer::Flip Annealer::draw() {
    const std::uint64_t bits = random_.next();
    return {active_[below(static_cast<std::uint32_t>(bits >> 32), active_.size())],
            below(static_cast<std::uint32_t>(bits), columns_)};
}

double Annealer::roughness(std::size_t samples) {
    if (choices() == 0) return 0;
    double sum = 0;
    for (std::size_t i = 0; i < samples; ++i) {
        if (flips_) {
            sum += std::abs(static_cast<double>(effect(draw())));
            continue;
        }
        const Move move = draw_move();
        const std::int64_t change = attempt(move);
        undo(move);
        if (change != forbidden) sum += std::abs(static_cast<double>(change));
    }
    return sum / static_cast<double>(samples) / quanta_;
}

void Annealer::advance(std::size_t steps, double temperature) {
    if (choices() == 0) return;
    calm_ = 0;
    const double scale = temperature * quanta_;
    // Platforms may differ in the last digit of exp, which decides about once in 2^50 steps.
    const auto accepts = [&](std::int64_t change) {
        return change <= 0 || random_.uniform() < std::exp(-static_cast<double>(change) / scale);
    };
    for (std::size_t i = 0; i < steps; ++i) {
        if (flips_) {
            const Flip flip = draw();
            if (accepts(effect(flip))) make(flip);
            continue;
        }
        const Move move = draw_move();
        const std::int64_t change = attempt(move);
        if (change != forbidden && accepts(change)) keep(move);
        else undo(move);
    }
}

bool Annealer::descend(std::size_t steps) {
    const std::size_t all = choices();
    for (; steps > 0 && calm_ < all; --steps, next_ = (next_ + 1) % all) {
        bool lessens = false;
        if (flips_) {
            const Flip flip{active_[next_ % active_.size()], next_ / active_.size()};
            lessens = effect(flip) < 0;
            if (lessens) make(flip);
        } else {
            const auto each = static_cast<std::size_t>(moves_.state_starts.back());
            const auto after = std::upper_bound(moves_.state_starts.begin(), moves_.state_starts.end(),
                                                static_cast<std::int64_t>(next_ % each));
            const auto set = static_cast<std::size_t>(after - moves_.state_starts.begin()) - 1;
            const Move move{set, next_ / each, next_ % each - static_cast<std::size_t>(moves_.state_starts[set])};
            lessens = attempt(move) < 0;
            if (lessens) keep(move);
            else undo(move);
        }
        calm_ = lessens ? 0 : calm_ + 1;
    }
    return calm_ >= all;
}

std::size_t Annealer::choices() const {
    if (flips_) return active_.size() * columns_;
    return static_cast<std::size_t>(moves_.state_starts.back()) * columns_;
}

std::vector<std::int64_t> Annealer::counts() const {
    const std::size_t words = words_for(columns_);
    std::vector<std::uint64_t> strings(functions_.n_variables * words);  // the worlds, one string of bits per variable
    for (std::size_t v = 0; v < functions_.n_variables; ++v)
        for (std::size_t c = 0; c < columns_; ++c)
            strings[v * words + c / 64] |= static_cast<std::uint64_t>(truth(v, c)) << (c % 64);
    const std::uint64_t last = ~std::uint64_t{0} >> (64 * words - columns_);
    std::vector<std::int64_t> found(functions_.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        for (std::size_t w = 0; w < words; ++w) {
            const std::uint64_t holds = evaluate(functions_.at(i), strings.data(), words, w);
            found[i] += std::popcount(w + 1 == words ? holds & last : holds);
        }
    return found;
}

std::vector<std::uint8_t> Annealer::worlds() const {
    std::vector<std::uint8_t> truths;
    truths.reserve(columns_ * functions_.n_variables);
    for (std::size_t c = 0; c < columns_; ++c)
        for (std::size_t v = 0; v < functions_.n_variables; ++v) truths.push_back(truth(v, c));
    return truths;
}

}  // namespace coherently
