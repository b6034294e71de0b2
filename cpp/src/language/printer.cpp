#include "coherently/language/printer.hpp"

namespace coherently {
namespace {

// How tightly a printed piece holds together; higher is tighter. Comparisons and names are the tightest.
constexpr int atom_strength = 7;
constexpr int negation_strength = 6;

struct Piece {
    std::string text;
    int strength;
};

struct BinaryStyle {
    int strength;
    const char* spaced;
    const char* compact;
};

BinaryStyle style_of(Op op) {
    switch (op) {
        case Op::equate: return {1, " <-> ", "↔"};
        case Op::imply: return {2, " -> ", "→"};
        case Op::disjoin: return {3, " | ", "|"};
        case Op::exclude: return {4, " ^ ", "^"};
        default: return {5, " & ", "&"};
    }
}

std::string in_quotes(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

std::string wrapped(Piece piece, int needed) {
    return piece.strength >= needed ? std::move(piece.text) : "(" + piece.text + ")";
}

class Printer {
public:
    Printer(const Formula& formula, const std::function<std::string_view(std::int32_t)>& name_of,
            const Alphabet& alphabet, bool compact)
        : formula_(formula), name_of_(name_of), alphabet_(alphabet), compact_(compact) {}

    std::string run() {
        std::string text = run(0, formula_.event_steps);
        if (!formula_.conditional()) return text;
        const std::string condition = run(formula_.event_steps, formula_.steps.size());
        return text + gap(text.back()) + "given" + gap(condition.front()) + condition;
    }

private:
    std::string run(std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) step(formula_.steps[i]);
        return pop().text;
    }

    Piece pop() {
        Piece top = std::move(stack_.back());
        stack_.pop_back();
        return top;
    }

    void push(std::string text, int strength) { stack_.push_back({std::move(text), strength}); }

    const char* space() const { return compact_ ? "" : " "; }

    // What must stand between a word operator and its neighbour.
    const char* gap(char neighbour) const {
        return compact_ && std::string_view("\"(){}~").find(neighbour) != std::string_view::npos ? "" : " ";
    }

    void step(const Step& step) {
        switch (step.op) {
            case Op::constant: return push(step.value ? "true" : "false", atom_strength);
            case Op::variable: return push(write_name(name_of_(step.value), alphabet_), atom_strength);
            case Op::comparison: return compare(formula_.comparisons[static_cast<std::size_t>(step.value)]);
            case Op::negate: return push(std::string("~") += wrapped(pop(), negation_strength), negation_strength);
            case Op::count_begin: arguments_.emplace_back(); return;
            case Op::count_add: {
                std::string& list = arguments_.back();
                if (!list.empty()) list += compact_ ? "," : ", ";
                list += pop().text;
                return;
            }
            case Op::count_exactly: return count("exactly", step.value);
            case Op::count_at_least: return count("at_least", step.value);
            case Op::count_at_most: return count("at_most", step.value);
            default: return binary(step.op);
        }
    }

    void binary(Op op) {
        const BinaryStyle style = style_of(op);
        Piece right = pop(), left = pop();
        const bool arrow = op == Op::imply;
        std::string text = wrapped(std::move(left), style.strength + (arrow ? 1 : 0));
        text += compact_ ? style.compact : style.spaced;
        text += wrapped(std::move(right), style.strength);
        push(std::move(text), style.strength);
    }

    void count(const char* word, std::int32_t number) {
        std::string list = std::move(arguments_.back());
        arguments_.pop_back();
        push(std::string(word) + "(" + std::to_string(number) + ";" + space() + list + ")", atom_strength);
    }

    void compare(const Comparison& comparison) {
        std::string text = write_name(comparison.name, alphabet_);
        if (comparison.relation == TokenKind::in) {
            text.append(gap(text.back())).append("in").append(space()).append("{");
            for (std::size_t i = 0; i < comparison.values.size(); ++i) {
                if (i > 0) text += compact_ ? "," : ", ";
                text += write_value(comparison.values[i], alphabet_);
            }
            text += '}';
        } else {
            text += space();
            text += relation_text(comparison.relation);
            text += space();
            text += write_value(comparison.values[0], alphabet_);
        }
        push(std::move(text), atom_strength);
    }

    const Formula& formula_;
    const std::function<std::string_view(std::int32_t)>& name_of_;
    const Alphabet& alphabet_;
    bool compact_;
    std::vector<Piece> stack_;
    std::vector<std::string> arguments_;
};

}  // namespace

const char* relation_text(TokenKind relation) {
    switch (relation) {
        case TokenKind::equal: return "=";
        case TokenKind::not_equal: return "!=";
        case TokenKind::less: return "<";
        case TokenKind::less_equal: return "<=";
        case TokenKind::greater: return ">";
        case TokenKind::in: return "in";
        default: return ">=";
    }
}

std::string write_value(std::string_view value, const Alphabet& alphabet) {
    try {
        Lexer lexer(value, alphabet);
        lexer.advance_value();
        const Token& token = lexer.current();
        if (token.kind == TokenKind::word && token.text.size() == value.size()) return std::string(value);
    } catch (const TextError&) {
    }
    return in_quotes(value);
}

std::string write_name(std::string_view name, const Alphabet& alphabet) {
    try {
        Lexer lexer(name, alphabet);
        lexer.advance();
        const Token token = lexer.current();
        if (token.kind == TokenKind::name && token.text.size() == name.size()) return std::string(name);
    } catch (const TextError&) {
    }
    return in_quotes(name);
}

std::string print(const Formula& formula, const std::function<std::string_view(std::int32_t)>& name_of,
                  const Alphabet& alphabet, bool compact) {
    return Printer(formula, name_of, alphabet, compact).run();
}

}  // namespace coherently
