// Tokens of the event language, from UTF-8 text.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

namespace coherently {

enum class Fault : std::uint8_t { syntax, undeclared, mismatch, limit, impossible };

// A text that cannot be read; `position` is a byte offset into it.
struct TextError : std::runtime_error {
    TextError(Fault fault, std::size_t position, const std::string& message)
        : std::runtime_error(message), fault(fault), position(position) {}
    Fault fault;
    std::size_t position;
};

enum class CharClass : std::uint8_t { other, name_start, name_part, space };

// Classes of the characters past ASCII; what is not listed is `other`.
using Alphabet = std::unordered_map<char32_t, CharClass>;

enum class TokenKind : std::uint8_t {
    end,
    name,
    quoted,
    word,
    open,
    close,
    open_brace,
    close_brace,
    comma,
    semicolon,
    negation,
    conjunction,
    exclusion,
    disjunction,
    implication,
    equivalence,
    given,
    in,
    true_,
    false_,
    exactly,
    at_least,
    at_most,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
};

struct Token {
    TokenKind kind = TokenKind::end;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string_view text;  // the name, the word, or a quoted text without its quotes and escapes
};

class Lexer {
public:
    Lexer(std::string_view text, const Alphabet& alphabet);

    const Token& current() const { return current_; }
    void advance();
    // Reads a value (a quoted text or a bare word, which may be a number or a date) instead of a token.
    void advance_value();
    // Whether the text goes on with this symbol, after spaces; if so it becomes the current token.
    bool accept(std::string_view symbol);
    // The token as the user wrote it, for messages.
    std::string_view written(const Token& token) const;

private:
    CharClass class_at(std::size_t at, std::size_t& width) const;
    bool is_name_part(std::size_t at) const;
    void skip_space();
    void read_run(std::size_t at);
    void read_quoted();
    void read_symbol();
    void take(TokenKind kind, std::size_t width);
    [[noreturn]] void refuse_character() const;

    std::string_view text_;
    const Alphabet& alphabet_;
    Token current_;
    std::string unescaped_[2];  // two, so that a token outlives the next one
    unsigned flip_ = 0;
};

}  // namespace coherently
