#include "coherently/language/parser.hpp"

#include "coherently/language/quantity.hpp"

namespace coherently {
namespace {

// Looser operators have smaller numbers; 0 is not a binary operator.
int precedence(TokenKind kind) {
    switch (kind) {
        case TokenKind::equivalence: return 1;
        case TokenKind::implication: return 2;
        case TokenKind::disjunction: return 3;
        case TokenKind::exclusion: return 4;
        case TokenKind::conjunction: return 5;
        default: return 0;
    }
}

Op binary_op(TokenKind kind) {
    switch (kind) {
        case TokenKind::equivalence: return Op::equate;
        case TokenKind::implication: return Op::imply;
        case TokenKind::disjunction: return Op::disjoin;
        case TokenKind::exclusion: return Op::exclude;
        default: return Op::conjoin;
    }
}

class Parser {
public:
    Parser(std::string_view text, const Alphabet& alphabet, Resolver& resolver, Formula& formula)
        : lexer_(text, alphabet), resolver_(resolver), formula_(formula) {}

    void forecast() {
        advance();
        if (kind() == TokenKind::end) fail("the event is empty");
        binary(1);
        formula_.event_steps = formula_.steps.size();
        if (kind() == TokenKind::given) {
            advance();
            binary(1);
        }
        if (kind() != TokenKind::end) unexpected();
    }

private:
    TokenKind kind() const { return lexer_.current().kind; }

    void advance() {
        previous_ = lexer_.current();
        lexer_.advance();
    }

    void emit(Op op, std::int32_t value = 0) { formula_.steps.push_back({op, value}); }

    std::string quote(const Token& token) const { return std::string("'").append(lexer_.written(token)).append("'"); }

    [[noreturn]] void fail(const std::string& message) const {
        throw TextError(Fault::syntax, lexer_.current().begin, message);
    }

    [[noreturn]] void expected(const std::string& what) const {
        std::string message = "expected " + what;
        if (previous_.end > previous_.begin) message += " after " + quote(previous_);
        if (kind() != TokenKind::end) message += ", found " + quote(lexer_.current());
        fail(message);
    }

    [[noreturn]] void unexpected() const {
        switch (kind()) {
            case TokenKind::close: fail("this ')' closes nothing");
            case TokenKind::given: fail("'given' may stand once, outside parentheses");
            case TokenKind::comma:
            case TokenKind::semicolon:
                fail(quote(lexer_.current()) + " belongs inside exactly(...), at_least(...) or at_most(...)");
            default: expected("an operator (&, |, ^, ->, <-> or given)");
        }
    }

    void enter() {
        if (++depth_ > max_depth)
            throw TextError(Fault::limit, lexer_.current().begin,
                            "nested deeper than " + std::to_string(max_depth) +
                                " levels; name the inner parts or drop parentheses");
    }

    void binary(int loosest) {
        operand();
        for (int level = precedence(kind()); level >= loosest && level > 0; level = precedence(kind())) {
            const TokenKind op = kind();
            advance();
            if (op == TokenKind::implication) {
                enter();
                binary(level);
                --depth_;
            } else {
                binary(level + 1);
            }
            emit(binary_op(op));
        }
    }

    void operand() {
        int negations = 0;
        while (kind() == TokenKind::negation) {
            advance();
            enter();
            ++negations;
        }
        primary();
        depth_ -= negations;
        while (negations-- > 0) emit(Op::negate);
    }

    void primary() {
        switch (kind()) {
            case TokenKind::name:
            case TokenKind::quoted: return atom();
            case TokenKind::true_:
            case TokenKind::false_: emit(Op::constant, kind() == TokenKind::true_); return advance();
            case TokenKind::open: return parenthesis();
            case TokenKind::exactly: return cardinality(Op::count_exactly);
            case TokenKind::at_least: return cardinality(Op::count_at_least);
            case TokenKind::at_most: return cardinality(Op::count_at_most);
            case TokenKind::end: expected("an event");
            default:
                if (previous_.end == previous_.begin) fail("expected an event before " + quote(lexer_.current()));
                expected("an event");
        }
    }

    void close(const Token& opening) {
        if (kind() == TokenKind::end) throw TextError(Fault::syntax, opening.begin, "this '(' is never closed");
        if (kind() != TokenKind::close) unexpected();
        advance();
        --depth_;
    }

    void parenthesis() {
        const Token opening = lexer_.current();
        enter();
        advance();
        binary(1);
        close(opening);
    }

    void cardinality(Op op) {
        advance();
        if (kind() != TokenKind::open) expected("'('");
        const Token opening = lexer_.current();
        enter();
        previous_ = opening;
        lexer_.advance_value();
        const Token count = lexer_.current();
        if (count.kind != TokenKind::word || !is_digits(count.text) || count.text.size() > 9)
            expected("a whole number of at most 9 digits");
        const auto number = static_cast<std::int32_t>(std::stol(std::string(count.text)));
        advance();
        if (kind() != TokenKind::semicolon) expected("';'");
        emit(Op::count_begin);
        do {
            advance();
            binary(1);
            emit(Op::count_add);
        } while (kind() == TokenKind::comma);
        close(opening);
        emit(op, number);
    }

    void atom() {
        const Token name = lexer_.current();
        advance();
        switch (kind()) {
            case TokenKind::equal:
            case TokenKind::not_equal:
            case TokenKind::in: return comparison(name, false);
            case TokenKind::less:
            case TokenKind::less_equal:
            case TokenKind::greater:
            case TokenKind::greater_equal: return comparison(name, true);
            default: emit(Op::variable, number_of(name));
        }
    }

    std::int32_t number_of(const Token& name) {
        const std::int32_t number = resolver_.resolve(name.text);
        if (number < 0) refuse_bare(name);
        return number;
    }

    [[noreturn]] void refuse_bare(const Token& name) const {
        const Declaration& declared = *resolver_.declaration(name.text);
        const std::string written(lexer_.written(name));
        const std::string example = declared.kind == DeclaredKind::named    ? " = " + declared.written_values.front()
                                    : declared.kind == DeclaredKind::number ? " < 3"
                                                                            : " < 2027-01-31";
        throw TextError(Fault::mismatch, name.begin,
                        written + " is declared (" + declared.describe() +
                            "), so it is neither true nor false; compare it, as in " + written + example);
    }

    void comparison(const Token& name, bool threshold) {
        Comparison found{std::string(name.text), kind(), {}, name.begin, std::string(lexer_.written(name)), {}, {}};
        if (kind() == TokenKind::in) {
            advance();
            if (kind() != TokenKind::open_brace) expected("'{'");
            do value(false, found);
            while (kind() == TokenKind::comma);
            if (kind() != TokenKind::close_brace) expected("',' or '}'");
            advance();
        } else {
            value(threshold, found);
        }
        emit(Op::comparison, static_cast<std::int32_t>(formula_.comparisons.size()));
        formula_.comparisons.push_back(std::move(found));
    }

    void value(bool threshold, Comparison& found) {
        previous_ = lexer_.current();
        lexer_.advance_value();
        const Token& token = lexer_.current();
        if (previous_.kind == TokenKind::equal && token.kind == TokenKind::greater)
            fail("'=>' is not an operator; write '->'");
        if (previous_.kind == TokenKind::equal && token.kind == TokenKind::equal)
            fail("'==' is not an operator; write '<->' between two events, '=' before a value");
        if (token.kind != TokenKind::word && token.kind != TokenKind::quoted) expected("a value");
        if (threshold && !read_number(token.text) && !read_date(token.text))
            expected("a number or a date such as 2027-01-31");
        found.values.emplace_back(token.text);
        found.written_values.emplace_back(lexer_.written(token));
        found.value_positions.push_back(token.begin);
        advance();
    }

    Lexer lexer_;
    Resolver& resolver_;
    Formula& formula_;
    Token previous_;
    int depth_ = 0;
};

}  // namespace

std::size_t characters(std::string_view text, std::size_t bytes) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < bytes && i < text.size(); ++i) count += (text[i] & 0xC0) != 0x80;
    return count;
}

void parse(std::string_view text, const Alphabet& alphabet, std::size_t max_characters, Resolver& resolver,
           Formula& formula) {
    formula.steps.clear();
    formula.comparisons.clear();
    if (text.size() > max_characters) {
        const std::size_t length = characters(text, text.size());
        if (length > max_characters)
            throw TextError(
                Fault::limit, 0,
                "has " + std::to_string(length) + " characters; the limit is " + std::to_string(max_characters));
    }
    Parser(text, alphabet, resolver, formula).forecast();
}

}  // namespace coherently
