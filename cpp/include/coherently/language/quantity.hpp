// Numbers and dates as the event language writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coherently {

bool is_digits(std::string_view text);

// A finite [+-]?(digits[.digits]|.digits)([eE][+-]?digits)?
std::optional<double> read_number(std::string_view text);
// The shortest text that reads as the number.
std::string write_number(double number);

// The days of YYYY-MM-DD since 1970-01-01, for a day that the Gregorian calendar has.
std::optional<double> read_date(std::string_view text);
std::string write_date(double day);
inline constexpr double first_day = -719162;  // 0001-01-01
inline constexpr double last_day = 2932896;   // 9999-12-31

}  // namespace coherently
