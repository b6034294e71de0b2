// The coherent forecasts nearest to some forecasts, part by part.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "browser/logic.hpp"

namespace coherently::browser {

struct Forecast {
    Sides sides;
    double probability = 0;
};

// All forecasts of one event and its complement, or of one conditional: the side E (or E & H) and the condition H.
struct Term {
    std::int32_t joint, condition;
    double weight = 0, mean = 0;
    bool is_conditional() const { return condition != certain; }
};

// Terms that hang together, with the worlds in which some of them differ.
struct Part {
    std::vector<std::size_t> terms;
    std::size_t worlds = 0;
    std::vector<std::uint8_t> joint, given;  // one row per world, one column per term
};

// `value` is the probability of each term and `chance` that of its condition. If there is `trouble`, they are not
// known.
struct Answer {
    std::vector<Term> terms;
    std::vector<std::size_t> term;     // of each forecast
    std::vector<std::uint8_t> turned;  // whether a forecast is about the complement
    std::vector<Part> parts;
    std::vector<double> value, chance;
    double objective = 0, bound = 0;
    std::string trouble;

    double value_of(std::size_t forecast) const {
        const double own = value[term[forecast]];
        return turned[forecast] ? 1 - own : own;
    }
};

// Minimises the sum of (x - p)^2 over forecasts p of events, merged by event, and P(H) (x - p)^2 over those given H.
Answer nearest(const Logic& logic, std::span<const Forecast> forecasts);

// The terms and, row by row, the truths of `joint` and `given` in the worlds that these tell apart; false if there are
// too many worlds to list.
bool list_part(const Logic& logic, std::vector<std::int32_t> variables, std::span<const Term> terms, Part& part);

// The variables that a term is about.
std::vector<std::int32_t> variables_of(const Logic& logic, const Term& term);

// What to say where worlds are too many.
std::string too_many(const Logic& logic, std::span<const std::int32_t> variables);

}  // namespace coherently::browser
