#include "coherently/language/lexer.hpp"

#include <array>
#include <cstdio>
#include <iterator>

namespace coherently {
namespace {

constexpr std::array<CharClass, 128> ascii_classes() {
    std::array<CharClass, 128> classes{};
    for (char c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = CharClass::name_start;
    classes['_'] = CharClass::name_start;
    for (char c = '0'; c <= '9'; ++c) classes[c] = CharClass::name_part;
    // What str.isspace() of Python accepts below 128.
    for (int c : {9, 10, 11, 12, 13, 28, 29, 30, 31, 32}) classes[c] = CharClass::space;
    return classes;
}
constexpr auto ascii = ascii_classes();

bool is_connector(char c) { return c == '.' || c == '@' || c == ':' || c == '-'; }

char32_t decode(std::string_view text, std::size_t at, std::size_t& width) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return width = 1, lead;
    if (lead < 0xE0) return width = 2, (lead & 0x1F) << 6 | (byte(1) & 0x3F);
    if (lead < 0xF0) return width = 3, (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    width = 4;
    return (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
}

struct Reserved {
    std::string_view word;
    TokenKind kind;
};
constexpr Reserved reserved[] = {
    {"not", TokenKind::negation},        {"and", TokenKind::conjunction},
    {"xor", TokenKind::exclusion},       {"or", TokenKind::disjunction},
    {"implies", TokenKind::implication}, {"iff", TokenKind::equivalence},
    {"given", TokenKind::given},         {"in", TokenKind::in},
    {"true", TokenKind::true_},          {"false", TokenKind::false_},
    {"exactly", TokenKind::exactly},     {"at_least", TokenKind::at_least},
    {"at_most", TokenKind::at_most},
};

constexpr std::array<bool, 256> reserved_initials() {
    std::array<bool, 256> initials{};
    for (const Reserved& entry : reserved) {
        const auto first = static_cast<unsigned char>(entry.word[0]);
        initials[first] = initials[first - 'a' + 'A'] = true;
    }
    return initials;
}
constexpr auto begins_reserved = reserved_initials();

TokenKind kind_of_name(std::string_view name) {
    if (name.size() < 2 || name.size() > 8 || !begins_reserved[static_cast<unsigned char>(name[0])])
        return TokenKind::name;
    char lower[8];
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        lower[i] = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    const std::string_view folded(lower, name.size());
    for (const auto& entry : reserved)
        if (entry.word == folded) return entry.kind;
    return TokenKind::name;
}

struct Symbol {
    std::string_view text;
    TokenKind kind;
};
// Longer symbols before their prefixes.
constexpr Symbol symbols[] = {
    {"<->", TokenKind::equivalence},  {"->", TokenKind::implication}, {"&&", TokenKind::conjunction},
    {"||", TokenKind::disjunction},   {"!=", TokenKind::not_equal},   {"<=", TokenKind::less_equal},
    {">=", TokenKind::greater_equal}, {"~", TokenKind::negation},     {"!", TokenKind::negation},
    {"&", TokenKind::conjunction},    {"^", TokenKind::exclusion},    {"|", TokenKind::disjunction},
    {"(", TokenKind::open},           {")", TokenKind::close},        {"{", TokenKind::open_brace},
    {"}", TokenKind::close_brace},    {",", TokenKind::comma},        {";", TokenKind::semicolon},
    {"=", TokenKind::equal},          {"<", TokenKind::less},         {">", TokenKind::greater},
    {"¬", TokenKind::negation},       {"∧", TokenKind::conjunction},  {"∨", TokenKind::disjunction},
    {"→", TokenKind::implication},    {"↔", TokenKind::equivalence},
};

// By the byte that symbols begin with: the first of them.
constexpr std::array<std::uint8_t, 256> first_symbols() {
    std::array<std::uint8_t, 256> first{};
    for (std::size_t i = std::size(symbols); i-- > 0;)
        first[static_cast<unsigned char>(symbols[i].text[0])] = static_cast<std::uint8_t>(i);
    return first;
}
constexpr auto first_symbol = first_symbols();

}  // namespace

Lexer::Lexer(std::string_view text, const Alphabet& alphabet) : text_(text), alphabet_(alphabet) {}

CharClass Lexer::class_at(std::size_t at, std::size_t& width) const {
    const auto lead = static_cast<unsigned char>(text_[at]);
    if (lead < 0x80) {
        width = 1;
        return ascii[lead];
    }
    const auto found = alphabet_.find(decode(text_, at, width));
    return found == alphabet_.end() ? CharClass::other : found->second;
}

bool Lexer::is_name_part(std::size_t at) const {
    if (at >= text_.size()) return false;
    std::size_t width = 0;
    const CharClass found = class_at(at, width);
    return found == CharClass::name_start || found == CharClass::name_part;
}

void Lexer::skip_space() {
    std::size_t at = current_.end, width = 0;
    while (at < text_.size() && class_at(at, width) == CharClass::space) at += width;
    current_.begin = current_.end = at;
}

void Lexer::take(TokenKind kind, std::size_t width) {
    current_.kind = kind;
    current_.end = current_.begin + width;
}

// Name characters from `at` on, connectors between two of them included; text_[at] is one already.
void Lexer::read_run(std::size_t at) {
    std::size_t width = 0;
    class_at(at, width);
    at += width;
    while (at < text_.size()) {
        const CharClass found = class_at(at, width);
        if (found == CharClass::name_start || found == CharClass::name_part) {
            at += width;
        } else if (is_connector(text_[at]) && is_name_part(at + 1)) {
            ++at;
        } else {
            break;
        }
    }
    current_.end = at;
    current_.text = text_.substr(current_.begin, at - current_.begin);
}

void Lexer::read_quoted() {
    std::size_t at = current_.begin + 1;
    const std::size_t start = at;
    bool escaped = false;
    while (at < text_.size() && text_[at] != '"') {
        if (text_[at] == '\\') {
            if (at + 1 >= text_.size() || (text_[at + 1] != '"' && text_[at + 1] != '\\'))
                throw TextError(Fault::syntax, at, R"(inside quotes a '\' stands before '"' or '\' only; write '\\')");
            escaped = true;
            ++at;
        }
        ++at;
    }
    if (at >= text_.size()) throw TextError(Fault::syntax, current_.begin, "this quote is never closed");
    if (at == start) throw TextError(Fault::syntax, current_.begin, "the quotes are empty; a name needs a character");
    current_.kind = TokenKind::quoted;
    current_.end = at + 1;
    current_.text = text_.substr(start, at - start);
    if (!escaped) return;
    std::string& plain = unescaped_[flip_ ^= 1];
    plain.clear();
    for (std::size_t i = start; i < at; ++i) {
        if (text_[i] == '\\') ++i;
        plain += text_[i];
    }
    current_.text = plain;
}

void Lexer::read_symbol() {
    const std::string_view rest = text_.substr(current_.begin);
    for (std::size_t i = first_symbol[static_cast<unsigned char>(rest[0])]; i < std::size(symbols); ++i)
        if (rest.starts_with(symbols[i].text)) return take(symbols[i].kind, symbols[i].text.size());
    refuse_character();
}

void Lexer::refuse_character() const {
    std::size_t width = 0;
    const char32_t code = decode(text_, current_.begin, width);
    char hex[16];
    std::snprintf(hex, sizeof hex, "U+%04X", static_cast<unsigned>(code));
    if (code >= '0' && code <= '9')
        throw TextError(Fault::syntax, current_.begin,
                        "a name begins with a letter or '_'; put quotes around a name that begins with a digit");
    const bool printable = code > 0x20 && code < 0x7F;
    const std::string shown = printable ? std::string{'\'', static_cast<char>(code), '\''} : std::string(hex);
    throw TextError(Fault::syntax, current_.begin,
                    "unexpected character " + shown + "; put quotes around a name that contains it");
}

void Lexer::advance() {
    skip_space();
    const std::size_t at = current_.begin;
    if (at >= text_.size()) return take(TokenKind::end, 0);
    std::size_t width = 0;
    if (class_at(at, width) == CharClass::name_start) {
        read_run(at);
        current_.kind = kind_of_name(current_.text);
    } else if (text_[at] == '"') {
        read_quoted();
    } else {
        read_symbol();
    }
}

void Lexer::advance_value() {
    skip_space();
    std::size_t at = current_.begin;
    if (at < text_.size() && text_[at] == '"') return read_quoted();
    if (at < text_.size() && (text_[at] == '+' || text_[at] == '-')) ++at;
    if (at < text_.size() && text_[at] == '.') ++at;
    if (!is_name_part(at)) return advance();
    read_run(at);
    current_.kind = TokenKind::word;
}

bool Lexer::accept(std::string_view symbol) {
    const Token before = current_;
    skip_space();
    if (text_.substr(current_.begin).starts_with(symbol)) return take(TokenKind::word, symbol.size()), true;
    current_ = before;
    return false;
}

std::string_view Lexer::written(const Token& token) const { return text_.substr(token.begin, token.end - token.begin); }

}  // namespace coherently
