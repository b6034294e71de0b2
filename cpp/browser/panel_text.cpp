#include "browser/panel_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "coherently/tables/csv_scanner.hpp"
#include "coherently/tables/utf8.hpp"

namespace coherently::browser {
namespace {

constexpr char end_of_part = '\x1e', end_of_field = '\x1f';
constexpr std::size_t longest_event = 10'000, longest_law = 100'000;
constexpr double rounding = 1e-12;  // how far outside of [0, 1] a probability may be that counts as 0 or 1
constexpr std::string_view rule = "A probability is a number from 0 to 1, or a percentage such as 35%.";

Reading now;

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string row_name(std::int64_t row) { return "row " + std::to_string(row); }

[[noreturn]] void refuse(const std::string& place, const std::string& why) { throw Refusal(place + ": " + why); }

// The number of a text among those that were seen before it.
std::size_t number_of(std::vector<std::string>& known, std::string_view text) {
    const auto place = std::find(known.begin(), known.end(), text);
    if (place != known.end()) return static_cast<std::size_t>(place - known.begin());
    known.emplace_back(text);
    return known.size() - 1;
}

Alphabet read_alphabet(std::string_view classes) {
    Alphabet alphabet;
    for (const std::string_view entry : split(classes, end_of_field)) {
        if (entry.empty()) continue;
        std::uint32_t code = 0;
        std::from_chars(entry.data(), entry.data() + entry.size() - 1, code);
        alphabet.emplace(code, static_cast<CharClass>(entry.back() - '0'));
    }
    return alphabet;
}

double read_probability(std::string_view cell, const std::string& place) {
    const std::string shown = "'" + std::string(cell) + "'";
    const bool percent = !cell.empty() && cell.back() == '%';
    if (cell.empty()) refuse(place, "no probability. A row without one is not needed: delete it.");
    double value = 0;
    if (!read_plain_number(percent ? strip(cell.substr(0, cell.size() - 1)) : cell, value)) {
        const bool comma = cell.find(',') != std::string_view::npos;
        refuse(place, shown + " is not a number. " + std::string(rule) +
                          (comma ? " Write decimals with a point: 0.35, not 0,35." : ""));
    }
    if (percent) value /= 100;
    if (value < -rounding) refuse(place, shown + " is below 0. " + std::string(rule));
    if (value > 1 + rounding) refuse(place, shown + " is above " + (percent ? "100%. " : "1. ") + std::string(rule));
    return std::clamp(value, 0.0, 1.0);
}

// What separates the cells: tabs of a spreadsheet, semicolons, or commas.
char delimiter_of(std::string_view line) {
    for (const char mark : {'\t', ';'})
        if (line.find(mark) != std::string_view::npos) return mark;
    return ',';
}

std::string fault_text(const FoundFault& fault) {
    switch (fault.fault) {
        case ScanFault::after_quote: return "a quoted cell goes on after its closing quote; double quotes inside of it";
        case ScanFault::unending: return "a quoted cell has no closing quote";
        case ScanFault::too_long: return "a cell has more than " + std::to_string(longest_event) + " characters";
        default: return "this is not plain text";
    }
}

void check(const FoundFault& fault) {
    if (fault) refuse(row_name(fault.place), fault_text(fault));
}

bool is_number(std::string_view cell) {
    cell = strip(cell);
    if (!cell.empty() && cell.back() == '%') cell.remove_suffix(1);
    double value = 0;
    return read_plain_number(strip(cell), value);
}

// Which column has judge, event and probability; a table without a header has them in this order, and `bare` says so.
std::array<std::size_t, 3> roles(const std::vector<std::string>& names, bool& bare) {
    constexpr std::array<std::string_view, 3> wanted{"judge", "event", "probability"};
    std::array<std::size_t, 3> found{3, 3, 3};
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::string name(strip(names[i]));
        for (char& letter : name)
            if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + 32);
        const auto role = std::find(wanted.begin(), wanted.end(), name);
        if (role != wanted.end()) found[static_cast<std::size_t>(role - wanted.begin())] = i;
    }
    bare = names.size() == 3 && is_number(names[2]);
    if (bare) return {0, 1, 2};
    if (names.size() != 3 || std::find(found.begin(), found.end(), std::size_t{3}) != found.end())
        throw Refusal(
            "the table has three columns: judge, event and probability. Put these names into its first row, or leave "
            "the first row out. Other columns, such as weight, need the installed package.");
    return found;
}

void read_table(std::string_view text, PanelText& panel) {
    CsvScanner scanner(longest_event);
    check(scanner.push(text, true));
    std::string_view line;
    if (!scanner.find_header(line)) throw Refusal("there is no forecast: write one row per forecast.");
    const char mark = delimiter_of(line);
    std::vector<std::string> names;
    FoundFault fault;
    scanner.read_header(mark, names, fault);
    check(fault);
    bool bare = false;
    const auto role = roles(names, bare);
    scanner.plan(std::vector<ColumnPlan>(3, {ColumnKind::name}), 3);
    check(scanner.scan());
    if (!scanner.ragged().empty())
        refuse(row_name(scanner.ragged()[0]), "has " + std::to_string(scanner.ragged_cells()[0]) +
                                                  " cells instead of 3. Put an event that contains '" +
                                                  std::string(mark == '\t' ? "a tab" : std::string(1, mark)) +
                                                  "' into double quotes.");
    std::vector<std::array<std::string, 3>> cells;
    std::vector<std::int64_t> place;
    if (bare) cells.push_back({names[0], names[1], names[2]}), place.push_back(scanner.first_row());
    std::vector<Column>& columns = scanner.columns();
    for (Column& column : columns) column.finish();
    const auto skipped = scanner.take_left_out();
    std::int64_t row = scanner.first_row();
    for (std::size_t i = 0; i < columns[0].codes.size(); ++i) {
        do ++row;
        while (std::find(skipped.begin(), skipped.end(), row) != skipped.end());
        std::array<std::string, 3> found;
        for (std::size_t k = 0; k < 3; ++k)
            found[k] = (*columns[k].pool)[static_cast<std::size_t>(columns[k].codes[i])];
        cells.push_back(std::move(found)), place.push_back(row);
    }
    if (cells.size() > most_forecasts)
        throw Refusal("there are " + std::to_string(cells.size()) + " forecasts; this page takes at most " +
                      std::to_string(most_forecasts) + ", and the installed package has no such limit");
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string where = row_name(place[i]);
        const auto cell = [&](std::size_t k) { return strip(cells[i][role[k]]); };
        if (cell(0).empty()) refuse(where, "no judge. Write the name of a person or a source.");
        if (cell(1).empty()) refuse(where, "no event.");
        const std::size_t event = panel.event(where, cell(1));
        panel.rows.push_back({number_of(panel.judges, cell(0)), event, read_probability(cell(2), where)});
    }
    if (panel.rows.empty()) throw Refusal("there is no forecast: write one row per forecast.");
}

// Each statement has its kind (declaration, formula or pin), its line and its text; declarations come first.
void read_laws(std::string_view statements, PanelText& panel) {
    const auto fields = split(statements, end_of_field);
    std::vector<std::string> places, texts;
    for (const char kind : {'d', 'p', 'f'})
        for (std::size_t i = 0; i + 2 < fields.size(); i += 3) {
            if (fields[i][0] != kind) continue;
            const std::string place = "law in line " + std::string(fields[i + 1]);
            now = {place, fields[i + 2]};
            if (kind == 'p')
                refuse(place,
                       "a law about a probability needs the installed package; laws here say what always holds, such "
                       "as p -> q");
            if (kind == 'd') {
                panel.logic.table.declare(fields[i + 2], panel.alphabet, false);
                continue;
            }
            const Sides sides = panel.logic.table.add({&fields[i + 2], 1}, panel.alphabet, longest_law, 1).sides[0];
            if (sides.condition != certain) refuse(place, "a law is a formula without 'given'; write a -> b");
            panel.logic.laws.push_back(sides.event);
            places.push_back(place), texts.emplace_back(fields[i + 2]);
        }
    const auto conflict = panel.logic.conflict();
    if (conflict.empty()) return;
    std::string told = conflict.size() == 1 ? "this law can never be true:" : "no possible world obeys these laws:";
    for (const std::size_t law : conflict) told += "\n" + places[law] + ": " + texts[law];
    throw Refusal(told + "\nChange or delete " + (conflict.size() == 1 ? "it." : "one of them."));
}

// "E given H" is 1, whatever P(H) is, if no possible world has H without E, and 0 if none has both.
Sides settled_given(const Logic& logic, const Sides& sides, const std::string& place) {
    const std::vector<Term> terms{{sides.event, sides.condition}, {sides.otherwise, sides.condition}};
    const Connected connected = logic.connect({variables_of(logic, terms[0])});
    const auto& variables = connected.variables[static_cast<std::size_t>(connected.label[0])];
    Part part;
    if (!list_part(logic, variables, terms, part)) refuse(place, too_many(logic, variables));
    bool is_possible[2] = {false, false};
    for (std::size_t i = 0; i < part.joint.size(); ++i) is_possible[i % 2] |= part.joint[i] != 0;
    if (!is_possible[0] && !is_possible[1])
        refuse(place, "the condition after 'given' can never be true under the laws");
    if (is_possible[0] && is_possible[1]) return sides;
    return is_possible[0] ? Sides{certain, certain, never} : Sides{never, certain, certain};
}

}  // namespace

const Reading& reading() { return now; }

Sides PanelText::read(const std::string& place, std::string_view text) {
    now = {place, text};
    const Sides sides = logic.table.add({&text, 1}, alphabet, longest_event, 1).sides[0];
    now = {};
    return sides;
}

Sides PanelText::settled(const std::string& place, const Sides& read) const {
    return read.condition == certain ? read : settled_given(logic, read, place);
}

std::size_t PanelText::event(const std::string& place, std::string_view text) {
    const Sides own = read(place, text);
    const auto [known, fresh] = numbers_.try_emplace({own.event, own.condition}, events.size());
    if (fresh) events.emplace_back(text), sides.push_back(settled(place, own));
    return known->second;
}

PanelText read_panel(std::string_view message, std::string_view& question) {
    const auto parts = split(message, end_of_part);
    if (parts.size() != 4) throw Refusal("the page sent something that its program does not understand");
    PanelText panel;
    panel.alphabet = read_alphabet(parts[0]);
    read_laws(parts[2], panel);
    read_table(parts[1], panel);
    question = strip(parts[3]);
    return panel;
}

}  // namespace coherently::browser
