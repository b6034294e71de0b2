#include "coherently/boolean_function.hpp"

#include <algorithm>
#include <string>

namespace coherently {
namespace {

constexpr std::uint64_t variable_masks[6] = {
    0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0,
    0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000, 0xFFFFFFFF00000000,
};

bool matters(const std::vector<std::uint64_t>& table, std::size_t variables, std::size_t i) {
    if (i < 6) {
        const std::uint64_t low = ~variable_masks[i] & table_mask(variables);
        for (const std::uint64_t word : table)
            if (((word >> (1U << i)) ^ word) & low) return true;
        return false;
    }
    const std::size_t stride = std::size_t{1} << (i - 6);
    for (std::size_t w = 0; w < table.size(); ++w)
        if (!(w & stride) && table[w] != table[w | stride]) return true;
    return false;
}

// The table without a variable that does not matter: the entries where it is false.
std::vector<std::uint64_t> without(const std::vector<std::uint64_t>& table, std::size_t variables, std::size_t i) {
    std::vector<std::uint64_t> smaller(table_words(variables - 1), 0);
    const std::size_t below = (std::size_t{1} << i) - 1;
    for (std::size_t to = 0; to < std::size_t{1} << (variables - 1); ++to) {
        const std::size_t from = (to & below) | (to & ~below) << 1;
        if (bit_at(table, from)) smaller[to / 64] |= std::uint64_t{1} << (to % 64);
    }
    return smaller;
}

bool allows(Op op, std::int32_t number, std::size_t count) {
    const auto limit = static_cast<std::size_t>(number);
    if (op == Op::count_exactly) return count == limit;
    return op == Op::count_at_least ? count >= limit : count <= limit;
}

void make_constant(bool value, OwnedFunction& function) {
    function.kind = FunctionKind::table;
    function.variables.clear();
    function.words.assign(1, 0);
    function.complemented = value;
}

}  // namespace

std::uint64_t variable_word(std::size_t i, std::size_t w) {
    return i < 6 ? variable_masks[i] : (w >> (i - 6) & 1 ? ~std::uint64_t{0} : 0);
}

void Canonicaliser::collect_variables(const Formula& formula) {
    variables_.clear();
    for (const Step& step : formula.steps)
        if (step.op == Op::variable) variables_.push_back(step.value);
    std::sort(variables_.begin(), variables_.end());
    variables_.erase(std::unique(variables_.begin(), variables_.end()), variables_.end());
}

// A count of literals, each of another variable, needs no truth table and has no limit of variables.
bool Canonicaliser::as_count(const Formula& formula, OwnedFunction& function) const {
    const auto& steps = formula.steps;
    if (formula.conditional() || steps.front().op != Op::count_begin) return false;
    std::vector<std::pair<std::int32_t, bool>> literals;
    std::size_t at = 1;
    while (at < steps.size() && steps[at].op == Op::variable) {
        literals.emplace_back(steps[at].value, true);
        for (++at; steps[at].op == Op::negate; ++at) literals.back().second = !literals.back().second;
        if (steps[at].op != Op::count_add) return false;
        ++at;
    }
    if (literals.size() != variables_.size() || at >= steps.size()) return false;
    const Step close = steps[at++];
    if (close.op != Op::count_exactly && close.op != Op::count_at_least && close.op != Op::count_at_most) return false;
    bool negated = false;
    for (; at < steps.size() && steps[at].op == Op::negate; ++at) negated = !negated;
    if (at != steps.size()) return false;

    std::sort(literals.begin(), literals.end());
    const std::size_t n = literals.size();
    // Counting the complements of all literals means the same; the first literal is made positive.
    const bool flip = !literals.front().second;
    std::vector<bool> allowed(n + 1);
    std::size_t accepted = 0;
    for (std::size_t count = 0; count <= n; ++count) {
        const bool ok = allows(close.op, close.value, count) != negated;
        allowed[flip ? n - count : count] = ok;
        accepted += ok;
    }
    if (accepted == 0 || accepted == n + 1) {
        make_constant(accepted > 0, function);
        return true;
    }
    function.kind = FunctionKind::count;
    function.variables = variables_;
    function.words.assign(words_for(n) + words_for(n + 1), 0);
    std::size_t negative = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const bool positive = literals[i].second != flip;
        negative += !positive;
        if (positive) function.words[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    function.complemented = allowed[negative];
    for (std::size_t count = 0; count <= n; ++count)
        if (allowed[count] != function.complemented)
            function.words[words_for(n) + count / 64] |= std::uint64_t{1} << (count % 64);
    return true;
}

void Canonicaliser::apply_binary(Op op, std::uint64_t* left, const std::uint64_t* right) const {
    for (std::size_t w = 0; w < words_; ++w) {
        switch (op) {
            case Op::conjoin: left[w] &= right[w]; break;
            case Op::exclude: left[w] ^= right[w]; break;
            case Op::disjoin: left[w] |= right[w]; break;
            case Op::imply: left[w] = ~left[w] | right[w]; break;
            default: left[w] = ~(left[w] ^ right[w]);
        }
    }
}

void Canonicaliser::add_to_count(const std::uint64_t* table) {
    auto& planes = counts_.back();
    std::vector<std::uint64_t> carry(table, table + words_);
    bool carrying = true;
    for (std::size_t plane = 0; carrying; ++plane) {
        if (plane * words_ == planes.size()) planes.resize(planes.size() + words_, 0);
        carrying = false;
        for (std::size_t w = 0; w < words_; ++w) {
            const std::uint64_t both = planes[plane * words_ + w] & carry[w];
            planes[plane * words_ + w] ^= carry[w];
            carry[w] = both;
            carrying |= both != 0;
        }
    }
}

void Canonicaliser::close_count(Op op, std::int32_t number, std::uint64_t* out) {
    const auto planes = std::move(counts_.back());
    counts_.pop_back();
    const std::size_t levels = planes.size() / words_;
    // count >= least, compared from the lowest bit up
    const auto at_least = [&](std::int64_t least, std::size_t w) -> std::uint64_t {
        if (levels < 40 && least >> levels) return 0;
        std::uint64_t holds = ~std::uint64_t{0};
        for (std::size_t level = 0; level < levels; ++level) {
            const std::uint64_t plane = planes[level * words_ + w];
            holds = least >> level & 1 ? holds & plane : holds | plane;
        }
        return holds;
    };
    const std::int64_t k = number;
    for (std::size_t w = 0; w < words_; ++w) {
        if (op == Op::count_at_least) out[w] = at_least(k, w);
        else if (op == Op::count_at_most) out[w] = ~at_least(k + 1, w);
        else out[w] = at_least(k, w) & ~at_least(k + 1, w);
    }
}

void Canonicaliser::evaluate(const Formula& formula, std::size_t from, std::size_t to,
                             std::vector<std::uint64_t>& out) {
    std::size_t top = 0;  // in words
    const auto push = [&]() -> std::uint64_t* {
        if (stack_.size() < top + words_) stack_.resize(2 * (top + words_));
        return stack_.data() + (top += words_) - words_;
    };
    for (std::size_t i = from; i < to; ++i) {
        const Step step = formula.steps[i];
        switch (step.op) {
            case Op::constant: std::fill_n(push(), words_, step.value ? ~std::uint64_t{0} : 0); break;
            case Op::variable: {
                const auto at = std::lower_bound(variables_.begin(), variables_.end(), step.value);
                const auto rank = static_cast<std::size_t>(at - variables_.begin());
                std::uint64_t* table = push();
                for (std::size_t w = 0; w < words_; ++w) table[w] = variable_word(rank, w);
                break;
            }
            case Op::negate: {
                std::uint64_t* table = stack_.data() + top - words_;
                for (std::size_t w = 0; w < words_; ++w) table[w] = ~table[w];
                break;
            }
            case Op::count_begin: counts_.emplace_back(); break;
            case Op::count_add: add_to_count(stack_.data() + (top -= words_)); break;
            case Op::count_exactly:
            case Op::count_at_least:
            case Op::count_at_most: close_count(step.op, step.value, push()); break;
            default:
                top -= words_;
                apply_binary(step.op, stack_.data() + top - words_, stack_.data() + top);
        }
    }
    out.assign(stack_.begin(), stack_.begin() + static_cast<std::ptrdiff_t>(words_));
    out[0] &= table_mask(variables_.size());
}

void Canonicaliser::reduce(std::vector<std::uint64_t>& table, OwnedFunction& function) const {
    function.kind = FunctionKind::table;
    function.variables = variables_;
    for (std::size_t i = function.variables.size(); i-- > 0;) {
        if (matters(table, function.variables.size(), i)) continue;
        table = without(table, function.variables.size(), i);
        function.variables.erase(function.variables.begin() + static_cast<std::ptrdiff_t>(i));
    }
    function.complemented = table[0] & 1;
    if (function.complemented)
        for (std::uint64_t& word : table) word = ~word;
    table[0] &= table_mask(function.variables.size());
    function.words.assign(table.begin(), table.end());
}

void Canonicaliser::run(const Formula& formula, Meaning& meaning) {
    if (!formula.comparisons.empty()) {
        const Comparison& found = formula.comparisons.front();
        const bool threshold = found.relation >= TokenKind::less;
        const std::string name = found.written_name;
        const std::string kinds = threshold ? ": number` or `variable " + name + ": date"
                                            : ": " + found.written_values.front() + ", ...";
        throw TextError(Fault::undeclared, found.position,
                        name + " is compared with a value but not declared; add `variable " + name + kinds +
                            "` to the laws");
    }
    make_constant(true, meaning.condition);
    counts_.clear();
    collect_variables(formula);
    if (variables_.size() > max_table_variables) {
        if (as_count(formula, meaning.event)) return;
        throw TextError(Fault::limit, 0,
                        "has " + std::to_string(variables_.size()) + " variables; a formula may have " +
                            std::to_string(max_table_variables) +
                            " (only exactly, at_least and at_most over plain variables, each once, may have more: "
                            "a | b | ... is at_least(1; a, b, ...))");
    }
    words_ = table_words(variables_.size());
    evaluate(formula, 0, formula.event_steps, event_);
    if (formula.conditional()) {
        evaluate(formula, formula.event_steps, formula.steps.size(), condition_);
        std::vector<std::uint64_t> otherwise(words_);
        for (std::size_t w = 0; w < words_; ++w) {
            otherwise[w] = ~event_[w] & condition_[w];
            event_[w] &= condition_[w];
        }
        reduce(condition_, meaning.condition);
        if (meaning.condition.constant() && !meaning.condition.complemented)
            throw TextError(Fault::impossible, 0, "the condition after 'given' can never be true");
        reduce(otherwise, meaning.otherwise);
    }
    reduce(event_, meaning.event);
}

}  // namespace coherently
