#include "coherently/worlds/branch/priced.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace coherently {
namespace {

constexpr std::uint64_t alone = 0b10, both = 0b1000, first_only = 0b0010;
constexpr std::size_t most_exclusive = 40;  // variables of a block, for all pairs of which there is a term

}  // namespace

// The terms of each rule, plus its constant, are 0 where it holds and at least 1 where it is broken.
struct PricedEnergy::Rules {
    Functions functions;
    std::vector<Term> terms;
    std::vector<double> constants;
    std::vector<std::vector<std::int32_t>> variables;
    bool quadratic = true;

    Rules(const EventView& events, const Space& space) {
        for (std::size_t j = 0; j < events.size(); ++j) {
            quadratic = quadratic && events.variables_of(j).size() <= 2;
            functions.add(events.variables_of(j), events.words_of(j));
        }
        const EventView laws = space.laws();
        for (std::size_t law = 0; law < laws.size(); ++law) {
            const auto own = laws.variables_of(law);
            if (own.empty()) continue;
            quadratic = quadratic && own.size() <= 2;
            begin(own, space.truth(law) ? 1.0 : 0.0);
            add(own, laws.words_of(law), space.truth(law) ? -1.0 : 1.0);
        }
        for (const Block& block : space.blocks()) add(block);
    }
    void begin(std::span<const std::int32_t> own, double constant) {
        variables.emplace_back(own.begin(), own.end());
        constants.push_back(constant);
    }
    void add(std::span<const std::int32_t> own, std::span<const std::uint64_t> words, double factor) {
        functions.add(own, words);
        terms.push_back({constants.size() - 1, factor});
    }
    void add_pair(std::int32_t a, std::int32_t b, std::uint64_t table, double factor) {
        const std::int32_t own[] = {a, b};
        const std::uint64_t words[] = {table};
        add(own, words, factor);
    }
    void add(const Block& block) {
        const auto& own = block.variables;
        const BlockKind kind = kind_of(block);
        if (kind == BlockKind::chain) {
            for (std::size_t k = 0; k + 1 < own.size(); ++k) {
                begin(std::span(own).subspan(k, 2), 0.0);
                add_pair(own[k], own[k + 1], first_only, 1.0);
            }
        } else if (kind != BlockKind::other && own.size() <= most_exclusive) {
            const bool complete = kind == BlockKind::one;  // (1 - sum)^2
            begin(own, complete ? 1.0 : 0.0);
            const std::uint64_t words[] = {alone};
            for (std::size_t k = 0; complete && k < own.size(); ++k) add(std::span(own).subspan(k, 1), words, -1.0);
            for (std::size_t i = 0; i < own.size(); ++i)
                for (std::size_t k = i + 1; k < own.size(); ++k) add_pair(own[i], own[k], both, complete ? 2.0 : 1.0);
        } else {
            quadratic = false;
        }
    }
};

PricedEnergy::PricedEnergy(const EventView& events, const Space& space) : PricedEnergy(events, Rules(events, space)) {}

PricedEnergy::PricedEnergy(const EventView& events, Rules rules)
    : functions_(std::move(rules.functions)),
      terms_(std::move(rules.terms)),
      constants_(std::move(rules.constants)),
      n_events_(events.size()),
      quadratic_(rules.quadratic),
      energy_(functions_.view(events.n_variables)) {
    std::vector<std::vector<std::uint32_t>> at(events.n_variables);
    for (std::size_t j = 0; j < events.size(); ++j)
        for (const std::int32_t v : events.variables_of(j))
            at[static_cast<std::size_t>(v)].push_back(static_cast<std::uint32_t>(j));
    for (const auto& own : rules.variables) {
        auto& mine = events_of_.emplace_back();
        for (const std::int32_t v : own)
            mine.insert(mine.end(), at[static_cast<std::size_t>(v)].begin(), at[static_cast<std::size_t>(v)].end());
    }
}

std::vector<PricedEnergy::Fine> PricedEnergy::fines() const {
    const EventView all = energy_.events();
    std::vector<Fine> found;
    for (std::size_t j = n_events_; j < all.size() && j < coefficients_.size(); ++j) {
        const auto own = all.variables_of(j);
        if (coefficients_[j] != 0 && !own.empty() && own.size() <= 2)
            found.push_back({own.front(), own.size() > 1 ? own[1] : -1, all.words_of(j)[0], coefficients_[j]});
    }
    return found;
}

// A rule is fined by the coefficients of the events about its variables. Once fines were raised, also by the largest of
// all: breaking a rule that no event is about may let another one hold at less cost.
void PricedEnergy::set(std::span<const double> coefficients) {
    coefficients_.assign(coefficients.begin(), coefficients.end());
    constant_ = 0;
    double largest = 0;
    for (const double c : coefficients) largest = std::max(largest, std::abs(c));
    std::vector<double> fine;
    for (std::size_t rule = 0; rule < constants_.size(); ++rule) {
        double load = 0;
        for (const std::uint32_t j : events_of_[rule]) load += std::abs(coefficients[j]);
        fine.push_back(0.5 * (factor_ * load + (factor_ - 1) * largest));
        constant_ += constants_[rule] * fine.back();
    }
    for (const Term& term : terms_) coefficients_.push_back(term.factor * fine[term.rule]);
    energy_.set(coefficients_);
}

}  // namespace coherently
