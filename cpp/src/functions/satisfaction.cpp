#include "coherently/functions/satisfaction.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "coherently/functions/boolean_function.hpp"

namespace coherently {
namespace {

constexpr double decay = 0.95;
constexpr std::size_t restart_unit = 100;
constexpr std::int32_t never = std::numeric_limits<std::int32_t>::max() / 2;

// 1 1 2 1 1 2 4 ... (Luby, Sinclair and Zuckerman 1993).
std::size_t luby(std::size_t i) {
    std::size_t size = 1, order = 0;
    while (size < i + 1) size = 2 * size + 1, ++order;
    while (size - 1 != i) size = (size - 1) / 2, --order, i %= size;
    return std::size_t{1} << order;
}

}  // namespace

Satisfaction::Satisfaction(EventView events, std::span<const std::uint8_t> truth, ChoiceView choices)
    : events_(events),
      truth_(truth.begin(), truth.end()),
      choices_(choices),
      count_of_(events.size(), -1),
      switch_of_(events.size(), -1) {
    std::size_t n = events.n_variables;
    for (std::size_t f = 0; f < truth_.size(); ++f)
        if (truth_[f] == question) switch_of_[f] = static_cast<std::int32_t>(n++);
    value_.assign(n, -1);
    phase_.assign(n, 0);
    level_.assign(n, 0);
    position_.assign(n, 0);
    reason_.resize(n);
    watches_.resize(2 * n);
    functions_of_.resize(n);
    choices_of_.resize(n);
    seen_.assign(n, 0);
    activity_.assign(n, 0);
    for (std::size_t f = 0; f < events_.size(); ++f) {
        const auto variables = events_.variables_of(f);
        for (std::size_t i = 0; i < variables.size(); ++i)
            functions_of_[static_cast<std::size_t>(variables[i])].emplace_back(f, i);
        if (switch_of_[f] >= 0) functions_of_[static_cast<std::size_t>(switch_of_[f])].emplace_back(f, -1);
        if (variables.size() > max_table_variables) prepare_count(f);
    }
    prepare_choices();
    for (std::size_t v = 0; v < events_.n_variables; ++v) order_.emplace(0.0, static_cast<std::int32_t>(v));
    for (std::size_t f = 0; f < events_.size() && !impossible_; ++f)
        if (switch_of_[f] < 0) impossible_ = !(is_count(f) ? propagate_count(f) : propagate_table(f));
}

void Satisfaction::prepare_count(std::size_t f) {
    const std::size_t n = events_.variables_of(f).size();
    const auto allowed = events_.words_of(f).subspan(words_for(n));
    if (!is_count(f)) {
        count_of_[f] = static_cast<std::int32_t>(counts_.size());
        counts_.emplace_back();
    }
    Count& count = counts_[static_cast<std::size_t>(count_of_[f])];
    count.next.assign(n + 2, never);
    count.previous.assign(n + 2, -never);
    for (std::size_t i = n + 1; i-- > 0;)
        count.next[i] = bit_at(allowed, i) == (truth_[f] != 0) ? static_cast<std::int32_t>(i) : count.next[i + 1];
    for (std::size_t i = 0; i <= n; ++i)
        count.previous[i + 1] =
            bit_at(allowed, i) == (truth_[f] != 0) ? static_cast<std::int32_t>(i) : count.previous[i];
}

void Satisfaction::prepare_choices() {
    for (std::size_t c = 0; c + 1 < choices_.starts.size(); ++c) {
        const auto begin = static_cast<std::size_t>(choices_.starts[c]),
                   end = static_cast<std::size_t>(choices_.starts[c + 1]);
        const auto atoms = choices_.atoms.subspan(begin, end - begin);
        if (choices_.ordered[c]) {
            for (std::size_t i = 0; i + 1 < atoms.size(); ++i) add_clause({2 * atoms[i] + 1, 2 * atoms[i + 1]}, false);
            continue;
        }
        std::vector<Literal> any;
        for (const std::int32_t atom : atoms) {
            any.push_back(2 * atom);
            choices_of_[static_cast<std::size_t>(atom)].push_back(static_cast<std::int32_t>(c));
        }
        if (choices_.complete[c]) add_clause(std::move(any), false);
    }
}

// A learnt clause has its one literal that is not false first, then one of the highest level.
void Satisfaction::add_clause(std::vector<Literal> clause, bool learnt) {
    if (clause.size() == 1) {
        if (!assign(clause[0], {})) impossible_ = true;
        return;
    }
    const auto index = static_cast<std::int32_t>(clauses_.size());
    for (std::size_t i = 0; i < 2; ++i) watches_[static_cast<std::size_t>(clause[i])].push_back(index);
    clauses_.push_back(std::move(clause));
    if (learnt) assign(clauses_.back()[0], {Cause::clause, index});
}

void Satisfaction::fix(std::int32_t variable, bool value) {
    if (!assign(2 * variable + !value, {})) impossible_ = true;
}

bool Satisfaction::assign(Literal literal, Reason reason) {
    if (is_true(literal)) return true;
    if (is_false(literal)) return false;
    const auto v = static_cast<std::size_t>(literal / 2);
    value_[v] = !(literal & 1);
    level_[v] = static_cast<std::int32_t>(levels_.size());
    position_[v] = static_cast<std::int32_t>(trail_.size());
    reason_[v] = reason;
    trail_.push_back(literal);
    for (const auto& [f, place] : functions_of_[v]) {
        if (place < 0 || !is_count(static_cast<std::size_t>(f))) continue;
        Count& count = counts_[static_cast<std::size_t>(count_of_[static_cast<std::size_t>(f)])];
        const bool positive = bit_at(events_.words_of(static_cast<std::size_t>(f)), static_cast<std::size_t>(place));
        ++(positive == (value_[v] == 1) ? count.n_true : count.n_false);
    }
    return true;
}

void Satisfaction::undo(std::size_t level) {
    if (levels_.size() <= level) return;
    for (std::size_t i = trail_.size(); i-- > levels_[level];) {
        const auto v = static_cast<std::size_t>(trail_[i] / 2);
        for (const auto& [f, place] : functions_of_[v]) {
            if (place < 0 || !is_count(static_cast<std::size_t>(f))) continue;
            Count& count = counts_[static_cast<std::size_t>(count_of_[static_cast<std::size_t>(f)])];
            const bool positive =
                bit_at(events_.words_of(static_cast<std::size_t>(f)), static_cast<std::size_t>(place));
            --(positive == (value_[v] == 1) ? count.n_true : count.n_false);
        }
        phase_[v] = value_[v] == 1;
        value_[v] = -1;
        if (v < events_.n_variables) order_.emplace(activity_[v], static_cast<std::int32_t>(v));
    }
    trail_.resize(levels_[level]);
    levels_.resize(level);
    head_ = trail_.size();
}

bool Satisfaction::propagate() {
    while (head_ < trail_.size()) {
        const Literal literal = trail_[head_++];
        const std::int32_t v = literal / 2;
        if (!propagate_clauses(literal ^ 1) || !propagate_choices(v)) return false;
        for (const auto& [f, place] : functions_of_[static_cast<std::size_t>(v)]) {
            const auto function = static_cast<std::size_t>(f);
            if (is_off(function)) continue;
            if (!(is_count(function) ? propagate_count(function) : propagate_table(function))) return false;
        }
    }
    return true;
}

bool Satisfaction::propagate_clauses(Literal made_false) {
    auto& watching = watches_[static_cast<std::size_t>(made_false)];
    std::size_t kept = 0;
    for (std::size_t i = 0; i < watching.size(); ++i) {
        const std::int32_t index = watching[i];
        auto& clause = clauses_[static_cast<std::size_t>(index)];
        if (clause[0] == made_false) std::swap(clause[0], clause[1]);
        watching[kept++] = index;
        if (is_true(clause[0])) continue;
        std::size_t other = 2;
        while (other < clause.size() && is_false(clause[other])) ++other;
        if (other < clause.size()) {
            std::swap(clause[1], clause[other]);
            watches_[static_cast<std::size_t>(clause[1])].push_back(index);
            --kept;
        } else if (!assign(clause[0], {Cause::clause, index})) {
            conflict_ = clause;
            watching.erase(watching.begin() + static_cast<std::ptrdiff_t>(kept),
                           watching.begin() + static_cast<std::ptrdiff_t>(i + 1));
            return false;
        }
    }
    watching.resize(kept);
    return true;
}

bool Satisfaction::propagate_choices(std::int32_t variable) {
    if (value_[static_cast<std::size_t>(variable)] != 1) return true;
    for (const std::int32_t c : choices_of_[static_cast<std::size_t>(variable)]) {
        const auto choice = static_cast<std::size_t>(c);
        for (auto i = choices_.starts[choice]; i < choices_.starts[choice + 1]; ++i) {
            const std::int32_t atom = choices_.atoms[static_cast<std::size_t>(i)];
            if (atom == variable || assign(2 * atom + 1, {Cause::exclusion, variable})) continue;
            conflict_ = {2 * variable + 1, 2 * atom + 1};
            return false;
        }
    }
    return true;
}

bool Satisfaction::propagate_table(std::size_t f) {
    const auto variables = events_.variables_of(f);
    const auto words = events_.words_of(f);
    std::array<bool, max_table_variables> may_be_true{}, may_be_false{};
    bool fits_any = false;
    for (std::size_t w = 0; w < words.size(); ++w) {
        std::uint64_t fits = (truth_[f] ? words[w] : ~words[w]) & table_mask(variables.size());
        for (std::size_t i = 0; i < variables.size() && fits; ++i) {
            const std::int8_t value = value_[static_cast<std::size_t>(variables[i])];
            if (value >= 0) fits &= value ? variable_word(i, w) : ~variable_word(i, w);
        }
        if (!fits) continue;
        fits_any = true;
        for (std::size_t i = 0; i < variables.size(); ++i) {
            may_be_true[i] |= (fits & variable_word(i, w)) != 0;
            may_be_false[i] |= (fits & ~variable_word(i, w)) != 0;
        }
    }
    if (!fits_any) {
        conflict_.clear();
        explain_function(f, static_cast<std::int32_t>(trail_.size()), conflict_);
        return false;
    }
    for (std::size_t i = 0; i < variables.size(); ++i)
        if (may_be_true[i] != may_be_false[i])
            assign(2 * variables[i] + !may_be_true[i], {Cause::function, static_cast<std::int32_t>(f)});
    return true;
}

bool Satisfaction::propagate_count(std::size_t f) {
    const auto variables = events_.variables_of(f);
    const Count& count = counts_[static_cast<std::size_t>(count_of_[f])];
    const std::size_t low = count.n_true, high = variables.size() - count.n_false;
    const auto least = count.next[low], most = count.previous[high + 1];
    if (least > static_cast<std::int32_t>(high)) {
        conflict_.clear();
        explain_function(f, static_cast<std::int32_t>(trail_.size()), conflict_);
        return false;
    }
    const bool only_low = most == static_cast<std::int32_t>(low), only_high = least == static_cast<std::int32_t>(high);
    if (low == high || !(only_low || only_high)) return true;
    const auto polarity = events_.words_of(f);
    for (std::size_t i = 0; i < variables.size(); ++i)
        if (value_[static_cast<std::size_t>(variables[i])] < 0)
            assign(2 * variables[i] + (bit_at(polarity, i) != only_high),
                   {Cause::function, static_cast<std::int32_t>(f)});
    return true;
}

// The literals, all false, that with the function refute or imply the assignment at a place of the trail.
void Satisfaction::explain_function(std::size_t f, std::int32_t before, std::vector<Literal>& out) const {
    const auto variables = events_.variables_of(f);
    const auto known = [&](std::size_t i) {
        const auto v = static_cast<std::size_t>(variables[i]);
        return value_[v] >= 0 && position_[v] < before;
    };
    bool need_true = true, need_false = true;
    if (is_count(f)) {
        const Count& count = counts_[static_cast<std::size_t>(count_of_[f])];
        std::size_t low = 0, high = variables.size();
        for (std::size_t i = 0; i < variables.size(); ++i)
            if (known(i))
                bit_at(events_.words_of(f), i) == (value_[static_cast<std::size_t>(variables[i])] == 1) ? ++low
                                                                                                        : --high;
        // Too many are true already, or too few still can be.
        need_false = count.next[low] != never && count.next[std::min(low + 1, variables.size() + 1)] != never;
        need_true = !need_false || (count.previous[high + 1] >= 0 && count.previous[high] >= 0);
    }
    for (std::size_t i = 0; i < variables.size(); ++i) {
        if (!known(i)) continue;
        const bool on = value_[static_cast<std::size_t>(variables[i])] == 1;
        const bool counted = is_count(f) ? bit_at(events_.words_of(f), i) == on : on;
        if (is_count(f) && !(counted ? need_true : need_false)) continue;
        out.push_back(2 * variables[i] + on);
    }
    if (switch_of_[f] >= 0) out.push_back(2 * switch_of_[f] + 1);
}

void Satisfaction::explain(Literal implied, std::vector<Literal>& out) const {
    const auto v = static_cast<std::size_t>(implied / 2);
    out.clear();
    switch (reason_[v].cause) {
        case Cause::clause:
            for (const Literal literal : clauses_[static_cast<std::size_t>(reason_[v].index)])
                if (literal != implied) out.push_back(literal);
            break;
        case Cause::function: explain_function(static_cast<std::size_t>(reason_[v].index), position_[v], out); break;
        case Cause::exclusion: out.push_back(2 * reason_[v].index + 1); break;
        case Cause::none: break;
    }
}

void Satisfaction::bump(std::int32_t variable) {
    double& activity = activity_[static_cast<std::size_t>(variable)];
    activity += increment_;
    if (activity > 1e100) {
        for (double& one : activity_) one *= 1e-100;
        increment_ *= 1e-100;
        order_ = {};
        for (std::size_t v = 0; v < events_.n_variables; ++v)
            if (value_[v] < 0) order_.emplace(activity_[v], static_cast<std::int32_t>(v));
    }
    const auto v = static_cast<std::size_t>(variable);
    if (value_[v] < 0 && v < events_.n_variables) order_.emplace(activity, variable);
}

void Satisfaction::learn() {
    std::vector<Literal> clause{0}, cause = conflict_;
    // A conflict may lie below the current level: go back to where its last literal became false.
    std::int32_t deepest = 0;
    for (const Literal literal : cause) deepest = std::max(deepest, level_[static_cast<std::size_t>(literal / 2)]);
    if (deepest == 0) {
        impossible_ = true;
        return;
    }
    undo(static_cast<std::size_t>(deepest));
    std::size_t open = 0, at = trail_.size();
    Literal pivot = 0;
    std::vector<std::int32_t> touched;
    do {
        for (const Literal literal : cause) {
            const std::int32_t v = literal / 2;
            if (seen_[static_cast<std::size_t>(v)] || level_[static_cast<std::size_t>(v)] == 0) continue;
            seen_[static_cast<std::size_t>(v)] = 1;
            touched.push_back(v);
            bump(v);
            if (level_[static_cast<std::size_t>(v)] == deepest) ++open;
            else clause.push_back(literal);
        }
        do pivot = trail_[--at];
        while (!seen_[static_cast<std::size_t>(pivot / 2)]);
        --open;
        if (open > 0) explain(pivot, cause);
    } while (open > 0);
    clause[0] = pivot ^ 1;
    for (const std::int32_t v : touched) seen_[static_cast<std::size_t>(v)] = 0;
    std::size_t back = 0;
    for (std::size_t i = 1; i < clause.size(); ++i) {
        const auto level = static_cast<std::size_t>(level_[static_cast<std::size_t>(clause[i] / 2)]);
        if (level > back) back = level, std::swap(clause[1], clause[i]);
    }
    undo(back);
    add_clause(std::move(clause), true);
    increment_ /= decay;
}

bool Satisfaction::decide() {
    while (!order_.empty()) {
        const auto [activity, v] = order_.top();
        order_.pop();
        if (value_[static_cast<std::size_t>(v)] >= 0 || activity != activity_[static_cast<std::size_t>(v)]) continue;
        assume(2 * v + !phase_[static_cast<std::size_t>(v)]);
        return true;
    }
    return false;
}

void Satisfaction::assume(Literal literal) {
    levels_.push_back(trail_.size());
    assign(literal, {});
}

std::optional<std::span<const std::int8_t>> Satisfaction::implied() {
    undo(0);
    if (impossible_ || !propagate()) {
        impossible_ = true;
        return std::nullopt;
    }
    return std::span(value_).first(events_.n_variables);
}

void Satisfaction::ask(std::size_t event, bool truth) {
    undo(0);
    truth_[event] = truth;
    if (is_count(event)) prepare_count(event);
    asked_ = switch_of_[event];
    for (const std::int32_t variable : events_.variables_of(event)) bump(variable);
}

void Satisfaction::prefer(const World& world) {
    undo(0);
    asked_ = -1;
    std::copy(world.begin(), world.end(), phase_.begin());
}

Satisfaction::Answer Satisfaction::run(std::size_t steps) {
    for (std::size_t step = 0; step < steps; ++step) {
        if (impossible_) return Answer::impossible;
        if (!propagate()) {
            learn();
            if (++conflicts_ >= next_restart_) {
                next_restart_ = conflicts_ + restart_unit * luby(++restart_);
                if (!impossible_) undo(0);
            }
        } else if (asked_ >= 0 && is_false(2 * asked_)) {
            return Answer::impossible;
        } else if (asked_ >= 0 && !is_true(2 * asked_)) {
            assume(2 * asked_);
        } else if (!decide()) {
            return Answer::satisfied;
        }
    }
    return Answer::open;
}

World Satisfaction::world() const {
    World world(events_.n_variables);
    for (std::size_t v = 0; v < world.size(); ++v) world[v] = value_[v] == 1;
    return world;
}

}  // namespace coherently
