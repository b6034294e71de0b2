#include "coherently/tables/csv_scanner.hpp"

#include <algorithm>

#include "coherently/tables/utf8.hpp"

namespace coherently {

bool CsvScanner::find_header(std::string_view& line) {
    std::size_t end = 0, next = 0;
    while (file_.find_line(end, next)) {
        line = file_.rest().substr(0, end);
        if (!strip(line).empty()) {
            first_row_ = row_;
            return true;
        }
        file_.advance(next);
        ++row_;
    }
    return false;
}

bool CsvScanner::read_header(char delimiter, std::vector<std::string>& names, FoundFault& fault) {
    delimiter_ = delimiter;
    for (const char end : {delimiter, '\n', '\r'}) ends_cell_[static_cast<unsigned char>(end)] = true;
    const Found found = read_record();
    if (found == Found::more) return false;
    if (found == Found::fault) {
        fault = {fault_, row_, 0};
        return true;
    }
    for (const Cell& cell : cells_) names.emplace_back(view(cell));
    file_.advance(length_);
    ++row_;
    return true;
}

void CsvScanner::plan(const std::vector<ColumnPlan>& plans, std::size_t named) {
    named_ = named;
    for (const ColumnPlan& plan : plans) columns_.emplace_back(plan);
}

FoundFault CsvScanner::scan() {
    for (Found found = read_record(); found != Found::more; found = read_record()) {
        if (found == Found::fault) return {fault_, row_, 0};
        keep_record();
        file_.advance(length_);
        ++row_;
    }
    return {};
}

bool CsvScanner::is_too_long(std::string_view cell) const {
    if (cell.size() <= cell_limit_) return false;
    const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
    return static_cast<std::size_t>(std::count_if(cell.begin(), cell.end(), begins)) > cell_limit_;
}

std::string_view CsvScanner::view(const Cell& cell) const {
    return (cell.is_unescaped ? std::string_view(unescaped_) : file_.rest()).substr(cell.begin, cell.size);
}

// Reads the cell whose opening quote is at `at`, and leaves `at` behind its closing quote.
CsvScanner::Found CsvScanner::read_quoted(std::string_view text, std::size_t& at) {
    const std::size_t begin = ++at;
    const std::size_t kept = unescaped_.size();
    bool doubled = false;
    for (std::size_t from = begin;;) {
        const std::size_t quote = text.find('"', from);
        if (quote == std::string_view::npos) {
            if (is_too_long(text.substr(begin))) return fault_ = ScanFault::too_long, Found::fault;
            return file_.is_last() ? (fault_ = ScanFault::unending, Found::fault) : Found::more;
        }
        if (quote + 1 == text.size() && !file_.is_last()) return Found::more;
        if (quote + 1 == text.size() || text[quote + 1] != '"') {
            if (doubled) unescaped_.append(text.substr(from, quote - from));
            cells_.push_back(doubled ? Cell{kept, unescaped_.size() - kept, true} : Cell{begin, quote - begin, false});
            at = quote + 1;
            break;
        }
        doubled = true;
        unescaped_.append(text.substr(from, quote + 1 - from));
        from = quote + 2;
    }
    const std::string_view cell =
        cells_.back().is_unescaped ? std::string_view(unescaped_).substr(kept) : text.substr(begin, at - 1 - begin);
    return is_too_long(cell) ? (fault_ = ScanFault::too_long, Found::fault) : Found::record;
}

CsvScanner::Found CsvScanner::read_record() {
    const std::string_view text = file_.rest();
    const auto ends_cell = [&](char c) { return ends_cell_[static_cast<unsigned char>(c)]; };
    cells_.clear();
    unescaped_.clear();
    std::size_t at = 0;
    // A line without any character is a record without any cell.
    for (bool more = !text.empty() && text[0] != '\n' && text[0] != '\r'; more;) {
        if (at < text.size() && text[at] == '"') {
            const Found found = read_quoted(text, at);
            if (found != Found::record) return found;
            if (at < text.size() && !ends_cell(text[at])) return fault_ = ScanFault::after_quote, Found::fault;
        } else {
            const std::size_t begin = at;
            while (at < text.size() && !ends_cell(text[at])) ++at;
            if (is_too_long(text.substr(begin, at - begin))) return fault_ = ScanFault::too_long, Found::fault;
            cells_.push_back({begin, at - begin, false});
        }
        more = at < text.size() && text[at] == delimiter_;
        if (more) ++at;
    }
    if (at == text.size()) {
        if (!file_.is_last() || text.empty()) return Found::more;
    } else {
        const bool is_return = text[at] == '\r';
        if (is_return && at + 1 == text.size() && !file_.is_last()) return Found::more;
        at += 1 + (is_return && at + 1 < text.size() && text[at + 1] == '\n');
    }
    length_ = at;
    return Found::record;
}

void CsvScanner::keep_record() {
    const auto is_empty = [](const Cell& cell) { return cell.size == 0; };
    const auto is_blank = [&](const Cell& cell) { return strip(view(cell)).empty(); };
    if (cells_.size() != columns_.size()) {
        if (!std::all_of(cells_.begin(), cells_.end(), is_blank)) {
            ragged_.push_back(row_);
            ragged_cells_.push_back(static_cast<std::int64_t>(cells_.size()));
        }
        return left_out_.push_back(row_);
    }
    if (std::all_of(cells_.begin(), cells_.end(), is_empty)) {
        ++blank_;
        return left_out_.push_back(row_);
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) columns_[i].add(view(cells_[i]));
    if (named_ < cells_.size())
        has_nameless_ |= !std::all_of(cells_.begin() + static_cast<std::ptrdiff_t>(named_), cells_.end(), is_empty);
}

}  // namespace coherently
