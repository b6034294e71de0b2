#include "coherently/tables/csv_writer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace coherently {
namespace {

constexpr double largest_whole = 1e15, least_plain = 1e-4;
constexpr int most_digits = 16;  // beyond them Python writes an exponent

}  // namespace

void write_number(double value, std::string& out) {
    if (std::isnan(value)) return;
    if (std::isinf(value)) {
        out += value < 0 ? "-inf" : "inf";
        return;
    }
    if (std::signbit(value)) out += '-';
    // At most 17 digits, a point, and an exponent such as e-308.
    char text[32];
    const bool is_whole = value == std::trunc(value);
    if (is_whole && std::abs(value) < largest_whole) {
        const auto whole = static_cast<std::int64_t>(std::abs(value));
        out.append(text, std::to_chars(text, text + sizeof text, whole).ptr).append(".0");
        return;
    }
    if (!is_whole && std::abs(value) >= least_plain) {  // below 2^53, as all larger numbers are whole
        out.append(text, std::to_chars(text, text + sizeof text, std::abs(value), std::chars_format::fixed).ptr);
        return;
    }
    const char* const end = std::to_chars(text, text + sizeof text, std::abs(value), std::chars_format::scientific).ptr;
    const std::string_view written(text, static_cast<std::size_t>(end - text));
    const std::size_t mark = written.find('e');
    // `from_chars` does not know a plus.
    const std::size_t sign = written[mark + 1] == '+' ? 2 : 1;
    int exponent = 0;
    std::from_chars(text + mark + sign, end, exponent);
    char digits[24];
    std::size_t count = 0;
    for (const char c : written.substr(0, mark))
        if (c != '.') digits[count++] = c;
    const std::string_view significant(digits, count);
    if (exponent < 0 || exponent >= most_digits) {
        out += significant[0];
        if (count > 1) out.append(".").append(significant.substr(1));
        out += exponent < 0 ? "e-" : "e+";
        if (std::abs(exponent) < 10) out += '0';
        out += std::to_string(std::abs(exponent));
    } else {  // a whole number of 16 digits
        out.append(significant).append(static_cast<std::size_t>(exponent) + 1 - count, '0').append(".0");
    }
}

void write_text(std::string_view text, char delimiter, std::string& out) {
    const auto is_special = [delimiter](char c) { return c == delimiter || c == '"' || c == '\n'; };
    if (std::none_of(text.begin(), text.end(), is_special)) {
        out.append(text);
        return;
    }
    out += '"';
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

}  // namespace coherently
