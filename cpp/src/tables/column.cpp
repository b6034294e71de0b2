#include "coherently/tables/column.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "coherently/tables/utf8.hpp"

namespace coherently {

bool read_plain_number(std::string_view cell, double& value) {
    while (!cell.empty() && cell.front() == ' ') cell.remove_prefix(1);
    while (!cell.empty() && cell.back() == ' ') cell.remove_suffix(1);
    // `from_chars` knows words such as inf, which begin with a letter, and does not know a plus.
    const std::string_view digits = cell.substr(!cell.empty() && (cell.front() == '-' || cell.front() == '+') ? 1 : 0);
    if (digits.empty() || (digits.front() != '.' && (digits.front() < '0' || digits.front() > '9'))) return false;
    if (cell.front() == '+') cell = digits;
    const char* begin = cell.data();
    const char* end = begin + cell.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    return error == std::errc{} && stop == end;
}

void Column::add(std::string_view cell) {
    switch (plan_.kind) {
        case ColumnKind::skip: return;
        case ColumnKind::text: return wait(cell);
        case ColumnKind::name: return wait(strip(cell));
        case ColumnKind::number: break;
    }
    double value = 0.0;
    if (!read_plain_number(cell, value) || !(value >= plan_.low && value <= plan_.high)) return add_odd(cell);
    if (!has_number) {
        has_number = true;
        first_number = cell;
    }
    values.push_back(value);
}

void Column::add_odd(std::string_view cell) {
    if (plan_.kind == ColumnKind::number) {
        odd.push_back(static_cast<std::int64_t>(values.size()));
        values.push_back(std::numeric_limits<double>::quiet_NaN());
    }
    wait(cell);
}

void Column::wait(std::string_view text) {
    constexpr std::size_t most = 256;
    waiting_.append(text);
    ends_.push_back(waiting_.size());
    if (ends_.size() >= most) finish();
}

void Column::finish() {
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
        views_.push_back(std::string_view(waiting_).substr(begin, end - begin));
        begin = end;
    }
    pool->codes(views_, codes);
    views_.clear();
    ends_.clear();
    waiting_.clear();
}

}  // namespace coherently
