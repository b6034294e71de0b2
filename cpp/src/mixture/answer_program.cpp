#include "coherently/mixture/answer_program.hpp"

#include <algorithm>
#include <limits>

#include "linear/dense_simplex.hpp"

namespace coherently {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();
constexpr double open = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// The rows of a program: those of active answers, two per pin, the sum of the root's states, the sums of the conditions
// of the conditional items asked for, and ties. Columns are states.
struct AnswerProgram::Rows {
    std::vector<std::size_t> answer;      // the item of each of the first rows
    std::vector<std::int64_t> condition;  // the item of each of the rows after the sum
    std::size_t count = 0, sum = 0;
    std::vector<double> columns;

    void bound(DenseSimplex& program, std::size_t pins) const {
        for (std::size_t p = 0; p < pins; ++p) {
            program.bound(answer.size() + p, 0.0, endless);
            program.bound(answer.size() + pins + p, -endless, 0.0);
        }
        program.bound(sum, 1.0, 1.0);
        for (std::size_t r = sum + 1 + condition.size(); r < count; ++r) program.bound(r, 0.0, 0.0);
    }
};

AnswerProgram::AnswerProgram(AnswerStates states)
    : of_(std::move(states)),
      homogeneous_(std::any_of(of_.conditional.begin(), of_.conditional.end(), [](auto one) { return one != 0; })) {}

AnswerProgram::Rows AnswerProgram::rows(std::span<const double> value, std::span<const std::uint8_t> active,
                                        std::span<const std::int64_t> asked) const {
    Rows rows;
    for (std::size_t i = 0; i < of_.items; ++i)
        if (active[i] != 0) rows.answer.push_back(i);
    for (const std::int64_t i : asked)
        if (of_.conditional[static_cast<std::size_t>(i)] != 0) rows.condition.push_back(i);
    rows.sum = rows.answer.size() + 2 * of_.pins;
    rows.count = rows.sum + 1 + rows.condition.size() + of_.ties;
    rows.columns.resize(of_.states * rows.count);
    for (std::size_t s = 0; s < of_.states; ++s) {
        double* column = &rows.columns[s * rows.count];
        const std::uint8_t *joint = &of_.joint[s * of_.items], *given = &of_.given[s * of_.items];
        // Without conditionals a row is P(joint) = a, so that other answers change bounds only.
        for (const std::size_t i : rows.answer) *column++ = joint[i] - (homogeneous_ ? value[i] * given[i] : 0.0);
        for (const auto* limit : {&of_.pin_low, &of_.pin_high})
            for (std::size_t p = 0; p < of_.pins; ++p)
                *column++ = of_.pin_joint[s * of_.pins + p] - (*limit)[p] * of_.pin_given[s * of_.pins + p];
        *column++ = of_.root[s];
        for (const std::int64_t i : rows.condition) *column++ = given[i];
        for (std::size_t t = 0; t < of_.ties; ++t) *column++ = of_.tie[t * of_.states + s];
    }
    return rows;
}

std::vector<double> AnswerProgram::misses(std::span<const double> values, std::span<const std::uint8_t> active,
                                          double enough) const {
    const std::size_t count = values.size() / of_.items;
    std::vector<double> found(count, open);
    Rows rows;
    DenseSimplex program(0, {});
    std::vector<double> cost;
    for (std::size_t k = 0; k < count; ++k) {
        const auto value = values.subspan(k * of_.items, of_.items);
        if (k == 0 || homogeneous_) {
            rows = this->rows(value, active, {});
            const std::size_t answers = rows.answer.size();
            // Two more columns per answer: what it is missed by, above and below.
            rows.columns.resize((of_.states + 2 * answers) * rows.count);
            for (std::size_t a = 0; a < answers; ++a) {
                rows.columns[(of_.states + a) * rows.count + a] = 1.0;
                rows.columns[(of_.states + answers + a) * rows.count + a] = -1.0;
            }
            cost.assign(of_.states + 2 * answers, 1.0);
            std::fill_n(cost.begin(), of_.states, 0.0);
            program = DenseSimplex(rows.count, std::move(rows.columns));
            rows.bound(program, of_.pins);
        }
        for (std::size_t a = 0; a < rows.answer.size(); ++a) {
            const double right = homogeneous_ ? 0.0 : value[rows.answer[a]];
            program.bound(a, right, right);
        }
        const auto outcome = program.minimise(cost);
        if (outcome == DenseSimplex::Outcome::infeasible) found[k] = endless;
        if (outcome == DenseSimplex::Outcome::optimal) found[k] = std::max(0.0, program.objective());
        if (found[k] <= enough) break;
    }
    return found;
}

std::vector<double> AnswerProgram::bounds(std::span<const double> value, std::span<const std::uint8_t> active,
                                          double slack, std::span<const std::int64_t> asked) const {
    Rows rows = this->rows(value, active, asked);
    DenseSimplex program(rows.count, std::move(rows.columns));
    rows.bound(program, of_.pins);
    std::vector<std::size_t> row_of(of_.items, rows.count);
    const auto hold = [&](std::size_t row) {
        const double right = homogeneous_ ? 0.0 : value[rows.answer[row]];
        program.bound(row, right - slack, right + slack);
    };
    for (std::size_t a = 0; a < rows.answer.size(); ++a) row_of[rows.answer[a]] = a, hold(a);

    // From a mixture in which all active answers hold, few steps are left to the ends of each.
    std::vector<double> cost(of_.states, 0.0), found;
    program.minimise(cost);
    const DenseSimplex::Place start = program.place();
    std::size_t condition = rows.sum;
    for (const std::int64_t one : asked) {
        const auto item = static_cast<std::size_t>(one);
        const bool is_conditional = of_.conditional[item] != 0;
        if (row_of[item] < rows.count) program.bound(row_of[item], -endless, endless);
        if (is_conditional) {
            // All rows are homogeneous, so that P(given) may be 1 instead of the sum (Charnes and Cooper).
            ++condition;
            program.bound(rows.sum, -endless, endless);
            program.bound(condition, 1.0, 1.0);
        }
        double ends[2] = {open, open};
        for (const double sign : {1.0, -1.0}) {
            for (std::size_t s = 0; s < of_.states; ++s) cost[s] = sign * of_.joint[s * of_.items + item];
            program.go(start);
            const auto outcome = program.minimise(cost);
            double& end = ends[sign < 0];
            if (outcome == DenseSimplex::Outcome::optimal) end = std::clamp(sign * program.objective(), 0.0, 1.0);
            if (outcome == DenseSimplex::Outcome::infeasible) end = sign * endless;
            if (outcome != DenseSimplex::Outcome::optimal) break;
        }
        found.insert(found.end(), {ends[0], ends[1]});
        if (row_of[item] < rows.count) hold(row_of[item]);
        if (is_conditional) {
            program.bound(rows.sum, 1.0, 1.0);
            program.bound(condition, -endless, endless);
        }
    }
    return found;
}

}  // namespace coherently
