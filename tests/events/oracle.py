"""An independent reader of the event language: a Lark grammar, truth tables by brute force.

It shares nothing with the compiled parser and serves as its check.
"""

from __future__ import annotations

import datetime as dt
import math
import operator
import re
import unicodedata
from dataclasses import dataclass

import numpy as np
from lark import Lark, Token, Transformer_NonRecursive, UnexpectedToken, v_args
from lark.lexer import Lexer

MAX_CHARACTERS = 10_000
MAX_DEPTH = 64
MAX_VARIABLES = 16

GRAMMAR = r"""
?forecast: event | event _GIVEN event -> conditional
?event: implication | event _IFF implication -> equivalence
?implication: disjunction | disjunction _IMPLIES implication -> implication
?disjunction: exclusive | disjunction _OR exclusive -> disjunction
?exclusive: conjunction | exclusive _XOR conjunction -> exclusive
?conjunction: negation | conjunction _AND negation -> conjunction
?negation: atom | _NOT negation -> negation
?atom: _OPEN event _CLOSE
    | _TRUE -> true
    | _FALSE -> false
    | NAME -> variable
    | NAME EQUALS VALUE -> comparison
    | NAME ORDER QUANTITY -> comparison
    | NAME IN _OPEN_SET VALUE (_COMMA VALUE)* _CLOSE_SET -> comparison
    | CARDINALITY _OPEN COUNT _SEMICOLON event (_COMMA event)* _CLOSE -> cardinality

%declare NAME VALUE QUANTITY CARDINALITY COUNT EQUALS ORDER IN
%declare _GIVEN _IFF _IMPLIES _OR _XOR _AND _NOT _TRUE _FALSE
%declare _OPEN _CLOSE _OPEN_SET _CLOSE_SET _COMMA _SEMICOLON
"""

WORDS = {
    "not": "_NOT",
    "and": "_AND",
    "xor": "_XOR",
    "or": "_OR",
    "implies": "_IMPLIES",
    "iff": "_IFF",
    "given": "_GIVEN",
    "in": "IN",
    "true": "_TRUE",
    "false": "_FALSE",
    "exactly": "CARDINALITY",
    "at_least": "CARDINALITY",
    "at_most": "CARDINALITY",
}
SYMBOLS = {  # a symbol stands before its own prefixes
    "<->": "_IFF",
    "↔": "_IFF",
    "->": "_IMPLIES",
    "→": "_IMPLIES",
    "!=": "EQUALS",
    "=": "EQUALS",
    "<=": "ORDER",
    ">=": "ORDER",
    "<": "ORDER",
    ">": "ORDER",
    "||": "_OR",
    "|": "_OR",
    "\N{LOGICAL OR}": "_OR",
    "^": "_XOR",
    "&&": "_AND",
    "&": "_AND",
    "∧": "_AND",
    "~": "_NOT",
    "!": "_NOT",
    "¬": "_NOT",
    "(": "_OPEN",
    ")": "_CLOSE",
    "{": "_OPEN_SET",
    "}": "_CLOSE_SET",
    ",": "_COMMA",
    ";": "_SEMICOLON",
}
SIGN = re.compile(r"[+-]?\.?")
COUNT = re.compile(r"[0-9]+")
QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])+)"')
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class OracleError(Exception):
    """A text that is no forecast.

    `kinds` holds every kind of error that a reader may meet first; `kind` is the first of them in the
    order syntax, undeclared, limit, impossible.
    """

    def __init__(self, *kinds: str) -> None:
        super().__init__(*kinds)
        self.kind = kinds[0]
        self.kinds = frozenset(kinds)


@dataclass(frozen=True)
class Function:
    """A Boolean function of its essential variables, sorted by name.

    Bit j of `table` is its value in the world where variable i is true just if bit i of j is set.
    """

    names: tuple[str, ...]
    table: int


@dataclass(frozen=True)
class Count:
    """Over more variables than a table may have: the number of true literals is a set bit of `counts`.

    Literal i is variable i where `signs[i]`, else its negation; the first is never negated, which makes the
    form unique.
    """

    names: tuple[str, ...]
    signs: tuple[bool, ...]
    counts: int


TRUE = Function((), 1)
FALSE = Function((), 0)


@dataclass(frozen=True)
class Reading:
    """What a forecast is about: the event together with its condition, and the condition."""

    event: Function | Count
    condition: Function = TRUE


def read(text: str) -> Reading:
    """The meaning of a forecast's text, equal for two texts just if they mean the same."""
    text = unicodedata.normalize("NFC", text)
    if len(text) > MAX_CHARACTERS:
        raise OracleError("limit")
    tree, tokens = _parse(text)
    too_deep = ("limit",) if _depth(tokens) > MAX_DEPTH else ()
    if tree is None:
        raise OracleError("syntax", *too_deep)
    if any(tree.find_data("comparison")):
        raise OracleError("undeclared", *too_deep)
    if too_deep:
        raise OracleError("limit")

    names = sorted({str(variable.children[0]) for variable in tree.find_data("variable")})
    if len(names) > MAX_VARIABLES:
        return Reading(_count(tree, names))
    meaning = _Evaluation(names).transform(tree)
    if not isinstance(meaning, tuple):
        return Reading(_function(names, meaning))
    event, condition = meaning
    if not condition.any():
        raise OracleError("impossible")
    return Reading(_function(names, event & condition), _function(names, condition))


def truths(text, domains):
    """The truth of an event in every world of a few variables, each with the values that it may have.

    `domains` maps a name to its values: (False, True), texts (OTHER for the unnamed other), floats or dates. Worlds are
    numbered as by itertools.product. A conditional gives the truths of event and condition, and of the condition.
    """
    tree, _ = _parse(unicodedata.normalize("NFC", text))
    meaning = _Comparisons(domains).transform(tree)
    return (meaning[0] & meaning[1], meaning[1]) if isinstance(meaning, tuple) else meaning


OTHER = "other"


class _NoLexer(Lexer):
    """Tokens are fed by hand: which of them begins at a place depends on what the grammar expects there."""

    def __init__(self, configuration) -> None:
        del configuration

    def lex(self, lexer_state, parser_state):
        raise NotImplementedError


_PARSER = Lark(GRAMMAR, parser="lalr", lexer=_NoLexer, start="forecast")


def _parse(text):
    """The tree, or None if the text is ungrammatical, and the tokens that the grammar accepted."""
    parser = _PARSER.parse_interactive()
    tokens = []
    at = _skip_space(text, 0)
    try:
        while at < len(text):
            token, at = _token(text, at, parser.choices())
            parser.feed_token(token)
            tokens.append(token)
            at = _skip_space(text, at)
        return parser.feed_token(Token("$END", "")), tokens
    except (UnexpectedToken, OracleError):
        return None, tokens


def _token(text, at, expected):
    """The token that begins at a place, and the place where it ends."""
    kind = next((kind for kind in ("VALUE", "QUANTITY", "COUNT") if kind in expected), "NAME")
    if kind == "COUNT":
        digits = COUNT.match(text, at)
        if not digits or len(digits[0]) > 9:
            raise OracleError("syntax")
        return Token(kind, digits[0]), digits.end()
    if text[at] == '"':
        quoted = QUOTED.match(text, at)
        if not quoted:
            raise OracleError("syntax")
        word, end = re.sub(r"\\(.)", r"\1", quoted[1]), quoted.end()
    elif kind == "NAME":
        if not (text[at] == "_" or text[at].isidentifier()):
            return _symbol(text, at)
        end = _word_end(text, at)
        word = text[at:end]
        if word.isascii() and word.lower() in WORDS:
            return Token(WORDS[word.lower()], word.lower()), end
    else:
        start = SIGN.match(text, at).end()
        end = _word_end(text, start)
        if end == start:
            raise OracleError("syntax")
        word = text[at:end]
    if kind == "QUANTITY" and not _is_quantity(word):
        raise OracleError("syntax")
    return Token(kind, word), end


def _symbol(text, at):
    for symbol, kind in SYMBOLS.items():
        if text.startswith(symbol, at):
            return Token(kind, symbol), at + len(symbol)
    raise OracleError("syntax")


def _skip_space(text, at):
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _word_end(text, at):
    """Where the longest word from a place ends; the place itself if no word begins there."""
    start = at
    while _continues(text, at) or (at > start and _continues(text, at + 1) and text[at] in ".@:-"):
        at += 1
    return at


def _continues(text, at):
    return at < len(text) and ("a" + text[at]).isidentifier()


def _is_quantity(word):
    if DATE.fullmatch(word):
        try:
            dt.date.fromisoformat(word)
        except ValueError:
            return False
        return True
    return bool(NUMBER.fullmatch(word)) and math.isfinite(float(word))


def _depth(tokens):
    """The deepest level: parentheses, negations and right-hand sides of implications around one place."""
    outside = []
    base = implications = negations = deepest = 0
    for token in tokens:
        match token.type:
            case "_NOT":
                negations += 1
            case "_IMPLIES":
                implications += 1
            case "_OPEN":
                outside.append((base, implications))
                base += implications + negations + 1
                implications = negations = 0
            case "_OPEN_SET":
                outside.append((base, implications))
            case "_CLOSE" | "_CLOSE_SET":
                base, implications = outside.pop()
            case "_IFF" | "_GIVEN" | "_COMMA" | "_SEMICOLON":
                implications = 0
            case "NAME" | "_TRUE" | "_FALSE":
                negations = 0
        deepest = max(deepest, base + implications + negations)
    return deepest


def _allowed(how, count, true):
    """Whether a cardinality holds for a number of true arguments (or an array of such numbers)."""
    return {"exactly": true == count, "at_least": true >= count, "at_most": true <= count}[how]


@v_args(inline=True)
class _Evaluation(Transformer_NonRecursive):
    """From a tree to the truth in every world, numbered as in Function."""

    def __init__(self, names) -> None:
        super().__init__()
        worlds = np.arange(2 ** len(names))
        self.tables = {name: (worlds >> i & 1).astype(bool) for i, name in enumerate(names)}
        self.always = np.ones(len(worlds), dtype=bool)

    def true(self):
        return self.always

    def false(self):
        return ~self.always

    def variable(self, name):
        return self.tables[name]

    def negation(self, event):
        return ~event

    def conjunction(self, left, right):
        return left & right

    def exclusive(self, left, right):
        return left ^ right

    def disjunction(self, left, right):
        return left | right

    def implication(self, left, right):
        return ~left | right

    def equivalence(self, left, right):
        return left == right

    def conditional(self, event, condition):
        return event, condition

    def cardinality(self, how, count, *events):
        true = np.zeros(len(self.always), dtype=np.int64)
        for event in events:
            true += event
        return _allowed(how, int(count), true)


RELATIONS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _Comparisons(_Evaluation):
    """The same over worlds of many-valued variables and quantities."""

    def __init__(self, domains) -> None:
        super().__init__(())
        shape = [len(values) for values in domains.values()]
        numbers = np.unravel_index(np.arange(math.prod(shape)), shape)
        self.domains, self.numbers = domains, dict(zip(domains, numbers, strict=True))
        self.tables = {name: np.array(values)[self.numbers[name]] for name, values in domains.items()}
        self.always = np.ones(math.prod(shape), dtype=bool)

    @v_args(inline=True)
    def comparison(self, name, relation, *values):
        domain = self.domains[name]
        read = dt.date.fromisoformat if isinstance(domain[0], dt.date) else type(domain[0])
        wanted = [read(str(value)) for value in values]
        holds = [value in wanted if relation == "in" else RELATIONS[relation](value, wanted[0]) for value in domain]
        return np.array(holds)[self.numbers[name]]


def _function(names, table):
    essential = []
    for name in names:
        halves = table.reshape(-1, 2, 2 ** len(essential))
        if (halves[:, 0] == halves[:, 1]).all():
            table = halves[:, 0].ravel()
        else:
            essential.append(name)
    bits = np.packbits(table, bitorder="little").tobytes()
    return Function(tuple(essential), int.from_bytes(bits, "little"))


def _literal(tree):
    """What is left without the negations in front, and whether their number is even."""
    positive = True
    while tree.data == "negation":
        (tree,) = tree.children
        positive = not positive
    return tree, positive


def _count(tree, names):
    """The canonical form of one cardinality of literals, the only shape free of the limit on variables."""
    tree, positive = _literal(tree)
    if tree.data != "cardinality":
        raise OracleError("limit")
    how, count, *arguments = tree.children
    literals = [_literal(argument) for argument in arguments]
    if len(names) < len(literals) or any(atom.data != "variable" for atom, _ in literals):
        raise OracleError("limit")

    n = len(literals)
    counts = [true for true in range(n + 1) if _allowed(how, int(count), true) == positive]
    if len(counts) in (0, n + 1):
        return TRUE if counts else FALSE
    signs = {str(atom.children[0]): sign for atom, sign in literals}
    first = signs[names[0]]
    return Count(
        tuple(names),
        tuple(signs[name] == first for name in names),
        sum(1 << (true if first else n - true) for true in counts),
    )
