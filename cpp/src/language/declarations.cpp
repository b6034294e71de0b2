#include "coherently/language/declarations.hpp"

#include <algorithm>
#include <numeric>

#include "coherently/language/printer.hpp"
#include "coherently/language/quantity.hpp"

namespace coherently {
namespace {

constexpr std::size_t shown_values = 8;
constexpr const char* other = "other";

std::string quoted(const Lexer& lexer, const Token& token) { return "'" + std::string(lexer.written(token)) + "'"; }

[[noreturn]] void expected(const Lexer& lexer, const std::string& what) {
    const Token& token = lexer.current();
    const std::string found = token.kind == TokenKind::end ? "" : ", found " + quoted(lexer, token);
    throw TextError(Fault::syntax, token.begin, "expected " + what + found);
}

void add_value(Declaration& declaration, const Lexer& lexer, const Alphabet& alphabet) {
    const Token& token = lexer.current();
    std::string value(token.text);
    const auto number = static_cast<std::int32_t>(declaration.values.size());
    if (!declaration.value_numbers.emplace(value, number).second)
        throw TextError(Fault::syntax, token.begin,
                        "the value " + std::string(lexer.written(token)) + " stands twice; each value stands once");
    declaration.written_values.push_back(write_value(value, alphabet));
    declaration.values.push_back(std::move(value));
}

void close_open(Declaration& declaration, std::size_t position) {
    const auto number = static_cast<std::int32_t>(declaration.values.size());
    if (!declaration.value_numbers.emplace(other, number).second)
        throw TextError(Fault::syntax, position,
                        "'...' admits an unnamed other, written " + declaration.written_name +
                            " = other, so no value may be called other; rename it or drop the '...'");
    declaration.values.emplace_back(other);
    declaration.written_values.emplace_back(other);
    declaration.open = true;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (const char letter : a) {
        std::size_t diagonal = row[0]++;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (letter != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

std::string folded(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

}  // namespace

std::int32_t Declaration::value(const std::string& text) const {
    const auto found = value_numbers.find(text);
    return found == value_numbers.end() ? -1 : found->second;
}

std::string Declaration::write(const Cut& cut) const {
    if (kind == DeclaredKind::named) return written_name + " = " + written_values[static_cast<std::size_t>(cut.at)];
    const std::string relation = cut.inclusive ? " <= " : " < ";
    return written_name + relation + (kind == DeclaredKind::date ? write_date(cut.at) : write_number(cut.at));
}

std::string Declaration::describe() const {
    if (kind == DeclaredKind::number) return "a number";
    if (kind == DeclaredKind::date) return "a date";
    std::string list;
    for (std::size_t i = 0; i < std::min(values.size(), shown_values); ++i)
        list += (i > 0 ? ", " : "") + written_values[i];
    if (values.size() > shown_values) list += ", ... (" + std::to_string(values.size()) + " in all)";
    return list;
}

std::string Declaration::nearest(const std::string& text) const {
    const std::string wanted = folded(text);
    std::size_t best = std::min(wanted.size(), std::max<std::size_t>(2, wanted.size() / 3 + 1));
    std::string found;
    if (wanted.size() > 100) return found;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t apart = values[i].size() > 200 ? best : edit_distance(wanted, folded(values[i]));
        if (apart < best) best = apart, found = written_values[i];
    }
    return found;
}

Declaration parse_declaration(std::string_view text, const Alphabet& alphabet) {
    Lexer lexer(text, alphabet);
    lexer.advance();
    if (lexer.current().text != "variable") expected(lexer, "'variable'");
    lexer.advance();
    if (lexer.current().kind != TokenKind::name && lexer.current().kind != TokenKind::quoted)
        expected(lexer, "the name of a variable");
    Declaration declaration;
    declaration.name = lexer.current().text;
    declaration.written_name = write_name(declaration.name, alphabet);
    if (!lexer.accept(":"))
        throw TextError(Fault::syntax, lexer.current().end,
                        "expected ': ' after the name of the variable, as in variable winner: Ann, Bob");
    std::size_t position = 0;
    do {
        if (!declaration.values.empty() && lexer.accept("...")) {
            position = lexer.current().begin;
            close_open(declaration, position);
            break;
        }
        lexer.advance_value();
        const Token& token = lexer.current();
        const bool bare = token.kind == TokenKind::word;
        if (!bare && token.kind != TokenKind::quoted) expected(lexer, "a value, number or date");
        if (declaration.values.empty() && bare && (token.text == "number" || token.text == "date")) {
            declaration.kind = token.text == "number" ? DeclaredKind::number : DeclaredKind::date;
            break;
        }
        position = token.begin;
        add_value(declaration, lexer, alphabet);
    } while (lexer.accept(","));
    lexer.advance();
    if (declaration.open && lexer.current().kind != TokenKind::end) expected(lexer, "nothing after '...'");
    if (lexer.current().kind != TokenKind::end)
        expected(lexer, declaration.kind == DeclaredKind::named ? "',' between values (quote a value of several words)"
                                                                : "nothing after the kind of a quantity");
    if (declaration.kind == DeclaredKind::named && declaration.values.size() < 2)
        throw TextError(Fault::syntax, position,
                        "a variable has two values or more; a final ', ...' admits an unnamed other");
    return declaration;
}

}  // namespace coherently
