#include "coherently/functions/boolean_function.hpp"

#include <algorithm>
#include <string>

namespace coherently {
namespace {

constexpr std::uint64_t variable_masks[6] = {
    0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0,
    0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000, 0xFFFFFFFF00000000,
};

bool matters(const std::vector<std::uint64_t>& table, std::size_t i) {
    if (i < 6) {
        const std::uint64_t low = ~variable_masks[i];
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

void set_bits(std::uint64_t* words, std::size_t begin, std::size_t end, bool value) {
    while (begin < end) {
        const std::size_t bit = begin % 64, count = std::min(end - begin, 64 - bit);
        const std::uint64_t mask = (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << bit;
        if (value) words[begin / 64] |= mask;
        else words[begin / 64] &= ~mask;
        begin += count;
    }
}

[[noreturn]] void refuse_size(std::size_t size, bool declared) {
    throw TextError(Fault::limit, 0,
                    "has " + std::to_string(size) + " variables" + (declared ? ", values and thresholds" : "") +
                        "; a formula may have " + std::to_string(max_table_variables) +
                        " (only exactly, at_least and at_most over plain variables, each once, may have more: "
                        "a | b | ... is at_least(1; a, b, ...))");
}

[[noreturn]] void refuse_undeclared(const Comparison& found) {
    const bool threshold = found.relation >= TokenKind::less;
    const std::string name = found.written_name;
    const std::string kinds =
        threshold ? ": number` or `variable " + name + ": date" : ": " + found.written_values.front() + ", ...";
    throw TextError(
        Fault::undeclared, found.position,
        name + " is compared with a value but not declared; add `variable " + name + kinds + "` to the laws");
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
            case Op::comparison: compare(static_cast<std::size_t>(step.value), push()); break;
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
            default: top -= words_; apply_binary(step.op, stack_.data() + top - words_, stack_.data() + top);
        }
    }
    out.assign(stack_.begin(), stack_.begin() + static_cast<std::ptrdiff_t>(words_));
    if (entries_ % 64) out.back() &= (std::uint64_t{1} << (entries_ % 64)) - 1;
}

void Canonicaliser::compare(std::size_t comparison, std::uint64_t* out) const {
    const auto [a, t] = places_[comparison];
    const Axis::Truth& truth = axes_[a].truths()[t];
    const std::size_t stride = strides_[a], period = stride * axes_[a].cells();
    std::fill_n(out, words_, truth.negated ? ~std::uint64_t{0} : 0);
    for (std::size_t begin = 0; begin < entries_; begin += period)
        for (const std::int32_t cell : truth.cells) {
            const std::size_t from = begin + static_cast<std::size_t>(cell) * stride;
            set_bits(out, from, from + stride, !truth.negated);
        }
}

void Canonicaliser::reduce_free(std::vector<std::uint64_t>& table, OwnedFunction& function) const {
    function.kind = FunctionKind::table;
    function.variables = variables_;
    for (std::size_t i = function.variables.size(); i-- > 0;) {
        if (matters(table, i)) continue;
        table = without(table, function.variables.size(), i);
        function.variables.erase(function.variables.begin() + static_cast<std::ptrdiff_t>(i));
    }
    function.complemented = table[0] & 1;
    if (function.complemented)
        for (std::uint64_t& word : table) word = ~word;
    table[0] &= table_mask(function.variables.size());
    function.words.assign(table.begin(), table.end());
}

bool Canonicaliser::same_cells(const std::vector<std::uint64_t>& table, std::size_t axis, std::size_t a,
                               std::size_t b) const {
    const std::size_t stride = strides_[axis], period = stride * axes_[axis].cells();
    for (std::size_t begin = 0; begin < entries_; begin += period)
        for (std::size_t i = 0; i < stride; ++i)
            if (bit_at(table, begin + a * stride + i) != bit_at(table, begin + b * stride + i)) return false;
    return true;
}

void Canonicaliser::reduce_declared(const std::vector<std::uint64_t>& table, Resolver& resolver,
                                    OwnedFunction& function) const {
    struct Part {  // of an entry's number: what a variable adds to it where it is true
        std::int32_t variable;
        std::size_t axis, rank;  // without an axis, `rank` is the digit; else the order of the atoms of the axis
        std::size_t offset;
    };
    std::vector<Part> parts;
    for (std::size_t i = 0; i < variables_.size(); ++i)
        if (matters(table, i)) parts.push_back({variables_[i], axes_.size(), i, std::size_t{1} << i});
    std::vector<Axis::Choice> choices;
    std::size_t size = parts.size(), used = 0;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
        choices.push_back(axes_[a].choose([&](std::size_t x, std::size_t y) { return same_cells(table, a, x, y); }));
        size += choices.back().atoms.size();
        used += !choices.back().atoms.empty();
    }
    const bool one_partition = parts.empty() && used == 1;
    std::size_t base = 0;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
        const bool named = axes_[a].declaration().kind == DeclaredKind::named;
        if (size > max_table_variables && !choices[a].atoms.empty() && !(one_partition && named))
            refuse_size(size, true);
        base += static_cast<std::size_t>(choices[a].otherwise) * strides_[a];
    }
    for (std::size_t a = 0; a < axes_.size(); ++a) {
        const bool named = axes_[a].declaration().kind == DeclaredKind::named;
        for (std::size_t i = 0; i < choices[a].atoms.size(); ++i) {
            const auto& [cut, cell] = choices[a].atoms[i];
            const std::int32_t variable = resolver.atom(axes_[a].declaration(), cut);
            const std::size_t rank = named ? static_cast<std::size_t>(variable) : i;
            parts.push_back({variable, a, rank, static_cast<std::size_t>(cell) * strides_[a]});
        }
    }
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.variable < b.variable; });
    function.variables.clear();
    for (const Part& part : parts) function.variables.push_back(part.variable);
    function.complemented = bit_at(table, base);
    if (size > max_table_variables) {  // any of the atoms
        function.kind = FunctionKind::count;
        function.words.assign(words_for(size) + words_for(size + 1), 0);
        set_bits(function.words.data(), 0, size, true);
        set_bits(function.words.data() + words_for(size), 1, size + 1, true);
        return;
    }
    function.kind = FunctionKind::table;
    function.words.assign(table_words(size), 0);
    std::vector<const Part*> first(axes_.size());
    for (std::size_t row = 0; row < std::size_t{1} << size; ++row) {
        std::fill(first.begin(), first.end(), nullptr);
        std::size_t entry = base;
        for (std::size_t i = 0; i < size; ++i) {
            if (!(row >> i & 1)) continue;
            const Part& part = parts[i];
            if (part.axis == axes_.size()) entry += part.offset;
            else if (!first[part.axis] || part.rank < first[part.axis]->rank) first[part.axis] = &part;
        }
        for (std::size_t a = 0; a < axes_.size(); ++a)
            if (first[a]) entry += first[a]->offset - static_cast<std::size_t>(choices[a].otherwise) * strides_[a];
        if (bit_at(table, entry) != function.complemented) function.words[row / 64] |= std::uint64_t{1} << (row % 64);
    }
}

void Canonicaliser::reduce(std::vector<std::uint64_t>& table, Resolver& resolver, OwnedFunction& function) const {
    if (axes_.empty()) reduce_free(table, function);
    else reduce_declared(table, resolver, function);
}

void Canonicaliser::collect_axes(const Formula& formula, const Resolver& resolver) {
    axes_.clear();
    places_.clear();
    for (std::size_t i = 0; i < formula.comparisons.size(); ++i) {
        const Comparison& comparison = formula.comparisons[i];
        const Declaration* declared = resolver.declaration(comparison.name);
        if (!declared) refuse_undeclared(comparison);
        std::size_t a = 0;
        while (a < axes_.size() && &axes_[a].declaration() != declared) ++a;
        if (a == axes_.size()) axes_.emplace_back(*declared);
        places_.emplace_back(a, axes_[a].truths().size());
        axes_[a].add(comparison, i);
    }
    for (Axis& axis : axes_) axis.close();
}

// One declared variable on its own may have any number of cells.
void Canonicaliser::shape_entries() {
    constexpr std::size_t limit = std::size_t{1} << max_table_variables;
    entries_ = std::size_t{1} << variables_.size();
    strides_.clear();
    std::size_t size = variables_.size();
    for (const Axis& axis : axes_) size += axis.cells() - 1;
    for (const Axis& axis : axes_) {
        strides_.push_back(entries_);
        entries_ *= axis.cells();
        if (entries_ > limit && !(axes_.size() == 1 && variables_.empty())) refuse_size(size, true);
    }
    words_ = words_for(entries_);
}

void Canonicaliser::run_bound(const Formula& formula, Resolver& resolver, Meaning& meaning) {
    make_constant(true, meaning.condition);
    counts_.clear();
    collect_axes(formula, resolver);
    collect_variables(formula);
    if (variables_.size() > max_table_variables) {
        if (axes_.empty() && as_count(formula, meaning.event)) return;
        refuse_size(variables_.size(), false);
    }
    shape_entries();
    evaluate(formula, 0, formula.event_steps, event_);
    if (formula.conditional()) {
        evaluate(formula, formula.event_steps, formula.steps.size(), condition_);
        std::vector<std::uint64_t> otherwise(words_);
        for (std::size_t w = 0; w < words_; ++w) {
            otherwise[w] = ~event_[w] & condition_[w];
            event_[w] &= condition_[w];
        }
        reduce(condition_, resolver, meaning.condition);
        if (meaning.condition.constant() && !meaning.condition.complemented)
            throw TextError(Fault::impossible, 0, "the condition after 'given' can never be true");
        reduce(otherwise, resolver, meaning.otherwise);
    }
    reduce(event_, resolver, meaning.event);
}

void Canonicaliser::run(const Formula& formula, Resolver& resolver, Meaning& meaning) {
    const auto is_free = [&](const Comparison& comparison) {
        const Declaration* declared = resolver.declaration(comparison.name);
        return declared && declared->free;
    };
    if (std::none_of(formula.comparisons.begin(), formula.comparisons.end(), is_free))
        return run_bound(formula, resolver, meaning);
    Formula bound;
    for (std::size_t i = 0; i < formula.steps.size(); ++i) {
        if (i == formula.event_steps) bound.event_steps = bound.steps.size();
        const Step step = formula.steps[i];
        if (step.op != Op::comparison) {
            bound.steps.push_back(step);
            continue;
        }
        const Comparison& comparison = formula.comparisons[static_cast<std::size_t>(step.value)];
        if (is_free(comparison)) {
            write_free(*resolver.declaration(comparison.name), comparison, resolver, bound.steps);
            continue;
        }
        bound.steps.push_back({Op::comparison, static_cast<std::int32_t>(bound.comparisons.size())});
        bound.comparisons.push_back(comparison);
    }
    if (!formula.conditional()) bound.event_steps = bound.steps.size();
    run_bound(bound, resolver, meaning);
}

}  // namespace coherently
