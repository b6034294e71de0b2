#include "coherently/tables/json_scanner.hpp"

#include <algorithm>

#include "coherently/tables/utf8.hpp"

namespace coherently {
namespace {

void skip_space(std::string_view line, std::size_t& at) {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
}

bool accept(std::string_view line, std::size_t& at, char wanted) {
    skip_space(line, at);
    if (at >= line.size() || line[at] != wanted) return false;
    ++at;
    return true;
}

bool is_digit(std::string_view line, std::size_t at) { return at < line.size() && line[at] >= '0' && line[at] <= '9'; }

// The bytes of the JSON number at `at`; 0 if there is none. Minus zero, an integer in JSON, has no sign in Python.
std::size_t number_length(std::string_view line, std::size_t at) {
    const std::size_t begin = at;
    const bool is_negative = at < line.size() && line[at] == '-';
    at += is_negative;
    if (!is_digit(line, at)) return 0;
    const bool is_zero = line[at] == '0';
    if (is_zero && is_digit(line, at + 1)) return 0;
    const auto skip_digits = [&] {
        while (is_digit(line, at)) ++at;
    };
    skip_digits();
    bool is_whole = true;
    if (at < line.size() && line[at] == '.') {
        if (!is_digit(line, ++at)) return 0;
        skip_digits();
        is_whole = false;
    }
    if (at < line.size() && (line[at] == 'e' || line[at] == 'E')) {
        ++at;
        if (at < line.size() && (line[at] == '+' || line[at] == '-')) ++at;
        if (!is_digit(line, at)) return 0;
        skip_digits();
        is_whole = false;
    }
    return is_negative && is_zero && is_whole ? 0 : at - begin;
}

}  // namespace

bool JsonScanner::next_line(std::string_view& line, std::size_t& next) {
    std::size_t end = 0;
    while (file_.find_line(end, next)) {
        line = file_.rest().substr(0, end);
        if (!strip(line).empty()) return true;
        file_.advance(next);
        ++line_;
    }
    return false;
}

bool JsonScanner::read_keys(FoundFault& fault) {
    std::string_view line;
    std::size_t next = 0;
    if (!next_line(line, next)) return false;
    if (!read_object(line)) fault = {ScanFault::unusual, line_, 0};
    std::vector<std::string> sorted = keys_;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) fault = {ScanFault::unusual, line_, 0};
    has_keys_ = true;
    return true;
}

void JsonScanner::plan(const std::vector<ColumnPlan>& plans) {
    for (const ColumnPlan& plan : plans) columns_.emplace_back(plan);
}

FoundFault JsonScanner::scan() {
    std::string_view line;
    std::size_t next = 0;
    while (next_line(line, next)) {
        if (!read_object(line)) return {ScanFault::unusual, line_, 0};
        rows_.push_back(line_++);
        file_.advance(next);
    }
    return {};
}

// Reads a line; before the keys are known it gathers them.
bool JsonScanner::read_object(std::string_view line) {
    std::size_t at = 0, place = 0;
    if (!accept(line, at, '{')) return false;
    do {
        skip_space(line, at);
        const std::size_t begin = at;
        if (!read_string(line, at)) return false;
        const std::string_view key = line.substr(begin + 1, at - begin - 2);
        if (key.find('\\') != std::string_view::npos) return false;
        if (!has_keys_) keys_.emplace_back(key);
        if (place >= keys_.size() || keys_[place] != key || !accept(line, at, ':')) return false;
        if (!read_value(line, at, has_keys_ ? &columns_[place] : nullptr)) return false;
        ++place;
    } while (accept(line, at, ','));
    if (!accept(line, at, '}')) return false;
    skip_space(line, at);
    return at == line.size() && place == keys_.size();
}

// Passes over a string with its quotes.
bool JsonScanner::read_string(std::string_view line, std::size_t& at) {
    if (at >= line.size() || line[at] != '"') return false;
    for (++at; at < line.size(); ++at) {
        if (line[at] == '"') return ++at, true;
        if (static_cast<unsigned char>(line[at]) < 0x20) return false;
        if (line[at] != '\\') continue;
        ++at;
        if (at >= line.size() || std::string_view(R"("\/bfnrtu)").find(line[at]) == std::string_view::npos)
            return false;
        if (line[at] == 'u') return false;
    }
    return false;
}

bool JsonScanner::read_value(std::string_view line, std::size_t& at, Column* column) {
    skip_space(line, at);
    const std::size_t begin = at;
    const std::size_t digits = number_length(line, at);
    if (digits > 0) {
        at += digits;
    } else if (at < line.size() && line[at] == '"') {
        if (!read_string(line, at)) return false;
    } else {
        const std::string_view words[] = {"null", "true", "false"};
        const auto* const word = std::find_if(std::begin(words), std::end(words),
                                              [&](std::string_view w) { return line.substr(at).starts_with(w); });
        if (word == std::end(words)) return false;
        at += word->size();
    }
    if (column == nullptr) return true;
    const std::string_view token = line.substr(begin, at - begin);
    switch (column->plan().kind) {
        case ColumnKind::name: return keep_text(token, *column);
        case ColumnKind::number:
            if (digits == 0) return column->add_odd(token), true;
            [[fallthrough]];
        default: return column->add(token), true;
    }
}

// Keeps what a string says; no other value is a name here.
bool JsonScanner::keep_text(std::string_view token, Column& column) {
    if (token.front() != '"') return false;
    const std::string_view inner = token.substr(1, token.size() - 2);
    if (inner.find('\\') == std::string_view::npos) return column.add(inner), true;
    unescaped_.clear();
    for (std::size_t i = 0; i < inner.size(); ++i) {
        if (inner[i] != '\\') {
            unescaped_ += inner[i];
            continue;
        }
        constexpr std::string_view letters = "bfnrt", meanings = "\b\f\n\r\t";
        const std::size_t place = letters.find(inner[++i]);
        unescaped_ += place == std::string_view::npos ? inner[i] : meanings[place];
    }
    return column.add(unescaped_), true;
}

}  // namespace coherently
