#include "browser/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "coherently/components/component_table.hpp"
#include "coherently/mixture/answer_program.hpp"

namespace coherently::browser {
namespace {

// The truths of one column more, or of all but the last.
AnswerStates states_of(const Part& part, std::span<const Term> terms) {
    AnswerStates states;
    states.states = part.worlds, states.items = terms.size();
    states.joint = part.joint, states.given = part.given;
    states.root.assign(part.worlds, 1);
    for (const Term& term : terms) states.conditional.push_back(term.is_conditional());
    return states;
}

// Both ends of the last item, where the others have their values.
Bounds ends(const Part& part, std::span<const Term> terms, std::span<const double> value) {
    const auto last = static_cast<std::int64_t>(terms.size() - 1);
    std::vector<std::uint8_t> active(terms.size(), 1);
    active.back() = 0;
    const auto found = AnswerProgram(states_of(part, terms)).bounds(value, active, 0, {&last, 1});
    if (std::isfinite(found[0]) && std::isfinite(found[1])) return {found[0], std::max(found[0], found[1]), {}};
    return {0, 1, "rounding left the bounds open; the installed package may find them"};
}

}  // namespace

Bounds bounds(const Logic& logic, const Answer& answer, const Sides& asked) {
    if (asked.event == never || asked.otherwise == never) {
        const double known = asked.otherwise == never ? 1 : 0;
        return {known, known, {}};
    }
    std::vector<Term> terms = answer.terms;
    std::vector<double> value = answer.value;
    if (asked.condition != certain) terms.push_back({asked.condition, certain}), value.push_back(0);
    terms.push_back({asked.event, asked.condition}), value.push_back(0);
    std::vector<std::vector<std::int32_t>> rows;
    for (const Term& term : terms) rows.push_back(variables_of(logic, term));
    const Connected connected = logic.connect(rows);
    const std::int32_t label = connected.label.back();
    std::vector<Term> own;
    std::vector<double> own_value;
    for (std::size_t i = 0; i < terms.size(); ++i)
        if (connected.label[i] == label) own.push_back(terms[i]), own_value.push_back(value[i]);
    const auto& variables = connected.variables[static_cast<std::size_t>(label)];
    Part part;
    if (!list_part(logic, variables, own, part)) return {0, 1, too_many(logic, variables)};
    if (asked.condition == certain) return ends(part, own, own_value);

    // The probability of the condition, which must not be allowed to vanish; then the conditional without it.
    const std::size_t width = own.size();
    const auto without = [&](std::size_t column) {
        Part fewer;
        fewer.worlds = part.worlds;
        for (std::size_t w = 0; w < part.worlds; ++w)
            for (std::size_t i = 0; i < width; ++i)
                if (i != column) {
                    fewer.joint.push_back(part.joint[w * width + i]);
                    fewer.given.push_back(part.given[w * width + i]);
                }
        std::vector<Term> some = own;
        std::vector<double> numbers = own_value;
        some.erase(some.begin() + static_cast<std::ptrdiff_t>(column));
        numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(column));
        return ends(fewer, some, numbers);
    };
    const Bounds condition = without(width - 1);
    if (!condition.trouble.empty()) return condition;
    if (condition.low <= absent_condition)
        return {0, 1, "the coherent forecasts allow that the condition after 'given' is impossible"};
    return without(width - 2);
}

}  // namespace coherently::browser
