#include "browser/answer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "coherently/components/component_table.hpp"
#include "coherently/components/small_mixture.hpp"
#include "coherently/mixture/nearest.hpp"

namespace coherently::browser {
namespace {

constexpr double endless = 1e6;     // seconds: parts are small enough to be solved to the end
constexpr double finished = 1e-10;  // the largest gap, relative to the weights, that counts as none

// Forecasts of one event, of its complement, and of one conditional are merged to their mean.
void merge(std::span<const Forecast> forecasts, Answer& answer) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> known;
    for (const Forecast& forecast : forecasts) {
        const auto [event, condition, otherwise] = forecast.sides;
        const bool turned = event > otherwise;
        const std::int32_t joint = turned ? otherwise : event;
        const auto [place, fresh] = known.try_emplace({joint, condition}, answer.terms.size());
        if (fresh) answer.terms.push_back({joint, condition});
        Term& term = answer.terms[place->second];
        term.weight += 1, term.mean += turned ? 1 - forecast.probability : forecast.probability;
        answer.term.push_back(place->second), answer.turned.push_back(turned);
    }
    for (Term& term : answer.terms) term.mean /= term.weight;
}

std::uint64_t bits_of(std::span<const std::uint8_t> rows, std::size_t width, std::size_t column) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i * width < rows.size(); ++i) bits |= std::uint64_t{rows[i * width + column]} << i;
    return bits;
}

// At most 64 worlds, a bit each.
void mix_few(const Part& part, Answer& answer) {
    const std::size_t width = part.terms.size();
    std::vector<ForecastTerm> terms;
    double weights = 0;
    for (std::size_t i = 0; i < width; ++i) {
        const Term& term = answer.terms[part.terms[i]];
        const std::uint64_t joint = bits_of(part.joint, width, i), given = bits_of(part.given, width, i);
        terms.push_back({joint, given & ~joint, term.weight, term.mean, term.is_conditional(), false});
        weights += term.weight;
    }
    SmallMixture mixture;
    if (!mixture.solve(ForecastLoss::brier, terms, part.worlds) || !std::isfinite(mixture.shortfall()) ||
        mixture.objective() - mixture.bound() > finished * std::max(mixture.objective(), weights)) {
        answer.trouble = "these conditional forecasts need the general method of the installed package";
        return;
    }
    for (std::size_t i = 0; i < width; ++i) {
        const double joint = mixture.sum(terms[i].joint), given = joint + mixture.sum(terms[i].rest);
        const bool is_odd = given < unlikely_condition || 1 - given < absent_condition;
        if (terms[i].conditional && is_odd) {
            answer.trouble =
                "the nearest coherent forecasts make a condition after 'given' all but impossible or certain, which "
                "needs the general method of the installed package";
            return;
        }
        answer.value[part.terms[i]] = std::clamp(terms[i].conditional ? joint / given : joint, 0.0, 1.0);
        answer.chance[part.terms[i]] = terms[i].conditional ? given : 1.0;
    }
    answer.objective += mixture.objective(), answer.bound += std::min(mixture.bound(), mixture.objective());
}

// More worlds, of events without conditions: all of them are the states of one block, whose best is found each time.
void mix_many(const Part& part, Answer& answer) {
    const std::size_t width = part.terms.size();
    Functions identities;
    std::vector<double> weight, target;
    Block block;
    for (std::size_t i = 0; i < width; ++i) {
        const auto own = static_cast<std::int32_t>(i);
        const std::uint64_t itself = 2;
        identities.add({&own, 1}, {&itself, 1});
        block.variables.push_back(own);
        weight.push_back(answer.terms[part.terms[i]].weight), target.push_back(answer.terms[part.terms[i]].mean);
    }
    block.states = part.joint;
    Space space(width, {std::move(block)}, {}, {});
    space.set_witness({part.joint.begin(), part.joint.begin() + static_cast<std::ptrdiff_t>(width)});
    NearestMixture nearest(identities.view(width), weight, target, 0, &space);
    nearest.eliminate(after(endless));
    for (std::size_t i = 0; i < width; ++i)
        answer.value[part.terms[i]] = std::clamp(nearest.x()[i], 0.0, 1.0), answer.chance[part.terms[i]] = 1.0;
    answer.objective += nearest.objective();
    answer.bound += std::min(nearest.lower_bound(), nearest.objective());
}

void solve(const Part& part, Answer& answer) {
    if (part.worlds <= most_small_worlds) return mix_few(part, answer);
    const auto is_conditional = [&](std::size_t term) { return answer.terms[term].is_conditional(); };
    if (!std::any_of(part.terms.begin(), part.terms.end(), is_conditional)) return mix_many(part, answer);
    answer.trouble = "conditional forecasts hang together with events that tell " + std::to_string(part.worlds) +
                     " possible worlds apart; with conditional forecasts this page takes at most " +
                     std::to_string(most_small_worlds) + ", and the installed package has no such limit";
}

}  // namespace

std::vector<std::int32_t> variables_of(const Logic& logic, const Term& term) {
    const auto joint = logic.variables_of(term.joint), condition = logic.variables_of(term.condition);
    std::vector<std::int32_t> own(joint.begin(), joint.end());
    own.insert(own.end(), condition.begin(), condition.end());
    return own;
}

std::string too_many(const Logic& logic, std::span<const std::int32_t> variables) {
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, variables.size()); ++i)
        names += (i ? ", " : "") + std::string(logic.table.names()[variables[i]]);
    return "too many events hang together: " + std::to_string(variables.size()) + " variables (" + names +
           (variables.size() > 3 ? ", ...)" : ")") + " have more than " + std::to_string(most_states) +
           " combinations of values; leave some events out, or use the installed package, which has no such limit";
}

bool list_part(const Logic& logic, std::vector<std::int32_t> variables, std::span<const Term> terms, Part& part) {
    std::vector<std::int32_t> sides;
    for (const Term& term : terms) sides.push_back(term.joint), sides.push_back(term.condition);
    WorldList worlds;
    if (!logic.list(std::move(variables), worlds)) return false;
    const auto truth = logic.truth(worlds, sides);
    std::unordered_set<std::string> known;
    for (std::size_t i = 0; i < worlds.count; ++i) {
        const std::uint8_t* row = truth.data() + i * sides.size();
        if (!known.emplace(row, row + sides.size()).second) continue;
        for (std::size_t k = 0; k < sides.size(); k += 2)
            part.joint.push_back(row[k]), part.given.push_back(row[k + 1]);
        ++part.worlds;
    }
    return true;
}

Answer nearest(const Logic& logic, std::span<const Forecast> forecasts) {
    Answer answer;
    merge(forecasts, answer);
    answer.value.resize(answer.terms.size()), answer.chance.resize(answer.terms.size());
    std::vector<std::vector<std::int32_t>> rows;
    for (const Term& term : answer.terms) rows.push_back(variables_of(logic, term));
    const Connected connected = logic.connect(rows);
    std::map<std::int32_t, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < rows.size(); ++i) members[connected.label[i]].push_back(i);
    for (auto& [label, terms] : members) {
        const auto& variables = connected.variables[static_cast<std::size_t>(label)];
        std::vector<Term> own;
        for (const std::size_t term : terms) own.push_back(answer.terms[term]);
        Part part{std::move(terms), 0, {}, {}};
        if (!list_part(logic, variables, own, part)) {
            answer.trouble = too_many(logic, variables);
            return answer;
        }
        solve(part, answer);
        if (!answer.trouble.empty()) return answer;
        answer.parts.push_back(std::move(part));
    }
    return answer;
}

}  // namespace coherently::browser
