#include "browser/verdict.hpp"

#include <algorithm>
#include <cmath>

#include "coherently/mixture/answer_program.hpp"

namespace coherently::browser {
namespace {

// As in the package: up to this distance forecasts are coherent; fewer or more decimals are not rounding; and how far
// a double may be from the decimal number that it stands for.
constexpr double tolerance = 1e-9;
constexpr int fewest_decimals = 3, most_decimals = 11;
constexpr double digits = 1e-15;

int decimals(double number) {
    int needed = most_decimals + 1;
    for (int count = most_decimals; count >= 0; --count) {
        const double unit = std::pow(10.0, count);
        if (std::abs(std::nearbyint(number * unit) / unit - number) <= digits) needed = count;
    }
    return needed;
}

// The forecasts of one part, with what they have become.
struct Own {
    std::vector<std::size_t> column;  // of the term in the part
    std::vector<double> price, value, chance, slack;
};

// Whether some mixture of the worlds has every forecast within its slack.
bool is_within(const Part& part, const Own& own, std::span<const std::uint8_t> turned) {
    AnswerStates states;
    states.states = part.worlds, states.items = 1, states.pins = own.price.size();
    states.joint.assign(part.worlds, 1), states.given = states.root = states.joint, states.conditional = {0};
    const std::size_t width = part.terms.size();
    for (std::size_t i = 0; i < own.price.size(); ++i) {
        states.pin_low.push_back(std::max(0.0, own.price[i] - own.slack[i]));
        states.pin_high.push_back(std::min(1.0, own.price[i] + own.slack[i]));
    }
    for (std::size_t w = 0; w < part.worlds; ++w)
        for (std::size_t i = 0; i < own.price.size(); ++i) {
            const std::size_t at = w * width + own.column[i];
            states.pin_given.push_back(part.given[at]);
            states.pin_joint.push_back(part.given[at] && part.joint[at] != turned[i]);
        }
    const double one = 1;
    const std::uint8_t idle = 0;
    return AnswerProgram(std::move(states)).misses({&one, 1}, {&idle, 1}, 0)[0] == 0;
}

Status judge(const Part& part, const Own& own, std::span<const std::uint8_t> turned, double square) {
    bool explained = true;
    double most = 0;
    for (std::size_t i = 0; i < own.price.size(); ++i) {
        explained &= std::abs(own.price[i] - own.value[i]) <= (own.slack[i] > 0 ? own.slack[i] + tolerance : 0);
        most += own.slack[i] * own.slack[i];
    }
    if (explained) return Status::rounding;
    return square <= most && is_within(part, own, turned) ? Status::rounding : Status::incoherent;
}

}  // namespace

double half_unit(std::span<const double> numbers) {
    int most = 0;
    for (const double number : numbers) most = std::max(most, decimals(number));
    return most < fewest_decimals || most > most_decimals ? 0 : 0.5 * std::pow(10.0, -most);
}

Verdict verdict(const Logic& logic, std::span<const Forecast> forecasts, std::span<const double> slack) {
    Verdict found;
    const Answer answer = nearest(logic, forecasts);
    found.trouble = answer.trouble;
    for (std::size_t i = 0; i < answer.terms.size(); ++i)
        if (answer.terms[i].is_conditional() && answer.terms[i].weight > 1)
            found.trouble = "one conditional is forecast more than once, which needs the installed package";
    if (!found.trouble.empty()) return found;
    double squares = 0;
    for (const Part& part : answer.parts) {
        Own own;
        std::vector<std::uint8_t> turned;
        double square = 0;
        for (std::size_t f = 0; f < forecasts.size(); ++f) {
            const auto place = std::find(part.terms.begin(), part.terms.end(), answer.term[f]);
            if (place == part.terms.end()) continue;
            own.column.push_back(static_cast<std::size_t>(place - part.terms.begin()));
            own.price.push_back(forecasts[f].probability), own.value.push_back(answer.value_of(f));
            own.chance.push_back(answer.chance[answer.term[f]]), own.slack.push_back(slack[f]);
            turned.push_back(answer.turned[f]);
            const double apart = own.price.back() - own.value.back();
            square += own.chance.back() * apart * apart;
        }
        if (std::sqrt(square) <= tolerance) continue;
        squares += square;
        found.status = std::max(found.status, judge(part, own, turned, square));
    }
    found.distance = std::sqrt(squares);
    return found;
}

}  // namespace coherently::browser
