#include "coherently/language/quantity.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace coherently {
namespace {

std::size_t digits_at(std::string_view text, std::size_t at) {
    std::size_t count = 0;
    while (at + count < text.size() && text[at + count] >= '0' && text[at + count] <= '9') ++count;
    return count;
}

bool has_shape_of_number(std::string_view text) {
    std::size_t at = !text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0;
    const std::size_t whole = digits_at(text, at);
    at += whole;
    if (at < text.size() && text[at] == '.') {
        const std::size_t fraction = digits_at(text, at + 1);
        if (fraction == 0) return false;
        at += 1 + fraction;
    } else if (whole == 0) {
        return false;
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
        const std::size_t exponent = digits_at(text, at);
        if (exponent == 0) return false;
        at += exponent;
    }
    return at == text.size();
}

}  // namespace

bool is_digits(std::string_view text) { return !text.empty() && digits_at(text, 0) == text.size(); }

std::optional<double> read_number(std::string_view text) {
    if (!has_shape_of_number(text)) return std::nullopt;
    const double number = std::strtod(std::string(text).c_str(), nullptr);
    if (!std::isfinite(number)) return std::nullopt;
    return number == 0 ? 0.0 : number;  // not -0
}

std::string write_number(double number) {
    std::array<char, 32> buffer;
    char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
    std::string text(buffer.data(), end);
    // A '+' would end the word in an event text.
    if (const std::size_t plus = text.find('+'); plus != std::string::npos) text.erase(plus, 1);
    return text;
}

std::optional<double> read_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
    if (!is_digits(text.substr(0, 4)) || !is_digits(text.substr(5, 2)) || !is_digits(text.substr(8, 2)))
        return std::nullopt;
    const auto number = [&](std::size_t at, std::size_t count) {
        return std::stoi(std::string(text.substr(at, count)));
    };
    const std::chrono::year_month_day date(std::chrono::year(number(0, 4)),
                                           std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                           std::chrono::day(static_cast<unsigned>(number(8, 2))));
    if (number(0, 4) < 1 || !date.ok()) return std::nullopt;
    return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

std::string write_date(double day) {
    const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(static_cast<int>(day)))};
    std::array<char, 32> buffer;
    std::snprintf(buffer.data(), buffer.size(), "%04d-%02u-%02u", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    return buffer.data();
}

}  // namespace coherently
