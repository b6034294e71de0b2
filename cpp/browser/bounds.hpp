// What coherent forecasts leave open about another event or conditional.
#pragma once

#include <string>

#include "browser/answer.hpp"

namespace coherently::browser {

struct Bounds {
    double low = 0, high = 1;
    std::string trouble;  // why they are not known, if so
};

// The least and greatest probability in all distributions that give the terms of the answer their values.
Bounds bounds(const Logic& logic, const Answer& answer, const Sides& asked);

}  // namespace coherently::browser
