"""Event texts into programs for a stack machine; declarations and statements of laws."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from .check_errors import BadInputError
from .numbers import decimal

Step: TypeAlias = tuple[Any, ...]
"""("constant", truth), ("variable", name), ("comparison", name, relation, values), ("count", word, k, how many), or
("not",), ("and",), ("xor",), ("or",), ("implies",), ("iff",): operands come before operators."""

LITERALS = ("variable", "comparison")

PART = r"[^\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f¬∧∨→↔\s]"
RUN = rf"{PART}(?:{PART}|[.@:-](?={PART}))*"
QUOTED = r'"(?:[^"\\]|\\["\\])+"'
TOKEN = re.compile(rf"\s*(?:({RUN})|({QUOTED})|(<->|->|&&|\|\||!=|<=|>=|[~!&^|(){{}},;=<>¬∧∨→↔])|$)")
VALUE = re.compile(rf"\s*(?:([+-]?\.?{RUN})|({QUOTED}))")
SPELLINGS = "not ~ ! ¬; and & && ∧; xor ^; or | || ∨; implies -> →; iff <-> ↔; given; in; true; false"
WORDS = {word: group.split()[0] for group in SPELLINGS.split(";") for word in group.split()}
WORDS |= {word: word for word in ("exactly", "at_least", "at_most")}
LEVELS = {"iff": 1, "implies": 2, "or": 3, "xor": 4, "and": 5}
RELATIONS = ("=", "!=", "<", "<=", ">", ">=", "in")
DEEPEST = 64
COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|#[^\n]*')
DECLARATION = re.compile(r'variable(\s+(?!(and|xor|or|implies|iff|given|in)\b)["\w]|\s*$)', re.IGNORECASE)
PIN = re.compile(r"P\s*\((?P<event>.*)\)\s*(?P<relation>[<>=!]+)\s*(?P<number>\S+)\s*", re.DOTALL)
BEGINS_PIN = re.compile(r"P\s*\(")


def normal(text: str) -> str:
    """A text with composed characters, so that é is one letter however it was typed."""
    return unicodedata.normalize("NFC", text)


def unquoted(text: str) -> str:
    """A name or a value without its quotes and escapes."""
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text


class Tokens:
    """The tokens of a text, one at a time: `kind` is a word of the language, "name" or "end"."""

    def __init__(self, text: str) -> None:
        self.text, self.end, self.kind, self.name = text, 0, "", ""
        self.advance()

    def advance(self) -> None:
        """Go on to the next token."""
        found = TOKEN.match(self.text, self.end)
        if found is None:
            raise self.error("an unexpected character")
        self.end = found.end()
        run, quoted, symbol = found.groups()
        if run is not None:
            self.kind, self.name = WORDS.get(run.lower(), "name"), run
            if not re.sub("[.@:-]", "_", run).isidentifier():
                raise self.error(f"{run!r} is not a name")
        elif quoted is not None:
            self.kind, self.name = "name", unquoted(quoted)
        else:
            self.kind = "end" if symbol is None else WORDS.get(symbol, symbol)

    def value(self) -> str:
        """The value that follows: a quoted text or a bare word, which may be a number or a date."""
        found = VALUE.match(self.text, self.end)
        if found is None:
            raise self.error("a value is missing")
        self.end = found.end()
        self.advance()
        return unquoted(found[1] or found[2])

    def take(self, kind: str) -> None:
        """Pass a token that must be there."""
        if self.kind != kind:
            raise self.error(f"{kind!r} is missing")
        self.advance()

    def error(self, what: str) -> BadInputError:
        """What is wrong with the text, and where."""
        return BadInputError(f"{self.text[:200]!r}: {what} (before character {self.end + 1})")


class Parser:
    """Precedence climbing; the program grows in `steps`."""

    def __init__(self, text: str) -> None:
        self.tokens, self.steps, self.depth = Tokens(normal(text)), list[Step](), 0

    def event(self) -> list[Step]:
        """One event, up to `given` or the end."""
        self.steps = []
        self._binary(1)
        return self.steps

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.tokens.error(f"nested deeper than {DEEPEST} levels")

    def _binary(self, loosest: int) -> None:
        self._operand()
        while (level := LEVELS.get(self.tokens.kind, 0)) >= loosest:
            word = self.tokens.kind
            self.tokens.advance()
            if word == "implies":  # groups to the right
                self._deeper()
                self._binary(level)
                self.depth -= 1
            else:
                self._binary(level + 1)
            self.steps.append((word,))

    def _operand(self) -> None:
        negations = 0
        while self.tokens.kind == "not":
            self.tokens.advance()
            self._deeper()
            negations += 1
        self._primary()
        self.depth -= negations
        self.steps += [("not",)] * negations

    def _primary(self) -> None:
        tokens, kind = self.tokens, self.tokens.kind
        if kind == "name":
            self._atom()
        elif kind in ("true", "false"):
            self.steps.append(("constant", kind == "true"))
            tokens.advance()
        elif kind == "(":
            self._deeper()
            tokens.advance()
            self._binary(1)
            tokens.take(")")
            self.depth -= 1
        elif kind in ("exactly", "at_least", "at_most"):
            self._count(kind)
        else:
            raise tokens.error("an event is missing")

    def _count(self, word: str) -> None:
        tokens = self.tokens
        self._deeper()
        tokens.advance()
        if tokens.kind != "(":
            raise tokens.error("'(' is missing")
        number = tokens.value()
        if not re.fullmatch("[0-9]{1,9}", number) or tokens.kind != ";":
            raise tokens.error("a count begins with a whole number and ';'")
        count = 0
        while tokens.kind == (";" if count == 0 else ","):
            tokens.advance()
            self._binary(1)
            count += 1
        tokens.take(")")
        self.depth -= 1
        self.steps.append(("count", word, int(number), count))

    def _atom(self) -> None:
        tokens, name = self.tokens, self.tokens.name
        tokens.advance()
        relation = tokens.kind
        if relation not in RELATIONS:
            self.steps.append(("variable", name))
            return
        values = []
        if relation == "in":
            tokens.advance()
            if tokens.kind != "{":
                raise tokens.error("'{' is missing")
            values.append(tokens.value())
            while tokens.kind == ",":
                values.append(tokens.value())
            tokens.take("}")
        else:
            values.append(tokens.value())
        self.steps.append(("comparison", name, relation, tuple(values)))


def read_event(text: str) -> tuple[list[Step], list[Step] | None]:
    """The programs of an event and of its condition, if it has one."""
    parser, condition = Parser(text), None
    event = parser.event()
    if parser.tokens.kind == "given":
        parser.tokens.advance()
        condition = parser.event()
    if parser.tokens.kind != "end":
        raise parser.tokens.error("the event should end here")
    return event, condition


@dataclass(frozen=True)
class Declaration:
    """A variable with named values (an open one has "other" at the end), or a number or a date."""

    name: str
    kind: str
    values: tuple[str, ...] = ()

    def quantity(self, text: str) -> Fraction:
        """A number, or the day of a date."""
        if self.kind == "number":
            return decimal(text)
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
            raise BadInputError(f"{text!r} is not a date such as 2027-01-31, as {self.name} needs it")
        try:
            return Fraction(date.fromisoformat(text).toordinal())
        except ValueError:
            raise BadInputError(f"{text!r} is not a day of the calendar") from None


def read_declaration(text: str) -> Declaration:
    """Read `variable name: value, value, ...`, `variable name: number` or `variable name: date`."""
    found = re.match(rf"\s*variable\s*(?:({RUN})|({QUOTED}))\s*:", text)
    if found is None:
        raise BadInputError(f"{text[:200]!r} does not declare a variable, as variable winner: Ann, Bob does")
    at, values = found.end(), list[str]()
    while (value := VALUE.match(text, at)) is not None:
        values.append(unquoted(value[1] or value[2]))
        at = value.end()
        if len(values) == 1 and value[1] in ("number", "date"):
            break
        comma = re.compile(r"\s*,").match(text, at)
        if comma is None:
            break
        at = comma.end()
        if more := re.compile(r"\s*\.\.\.").match(text, at):
            values.append("other")
            at = more.end()
            break
    if text[at:].strip() or not values:
        raise BadInputError(f"{text[:200]!r}: the values of a variable stand between commas")
    name = unquoted(found[1] or found[2])
    if values in (["number"], ["date"]):
        return Declaration(name, values[0])
    if len(values) < 2 or len(set(values)) < len(values):
        raise BadInputError(f"{text[:200]!r}: a variable has two different values or more")
    return Declaration(name, "named", tuple(values))


class PinText(NamedTuple):
    """What a pin says: P(event) is at least `low` and at most `high`."""

    event: str
    low: Fraction
    high: Fraction


def read_pin(text: str) -> PinText:
    """Read P(event) = 0.3, P(event) <= 0.1 or P(event given event) >= 50%."""
    found = PIN.fullmatch(text)
    if found is None or found["relation"] not in ("=", "<=", ">="):
        raise BadInputError(f"{text[:200]!r} is not a pin such as P(rain) <= 0.3")
    number = found["number"]
    value = Fraction(decimal(number[:-1]), 100) if number.endswith("%") else decimal(number)
    if not 0 <= value <= 1:
        raise BadInputError(f"{text[:200]!r}: a probability lies between 0 and 1")
    low = Fraction(0) if found["relation"] == "<=" else value
    high = Fraction(1) if found["relation"] == ">=" else value
    return PinText(found["event"], low, high)


@dataclass
class LawTexts:
    """The statements of laws, by kind, each without comment and blanks."""

    declarations: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    pins: list[str] = field(default_factory=list)


def statement(line: str) -> str:
    """A line of a laws file without its comment."""
    return normal(COMMENT.sub(lambda match: match[1] or "", line).strip())


def split_statements(lines: list[str]) -> LawTexts:
    """Tell declarations, pins and formulas apart."""
    found = LawTexts()
    for line in lines:
        text = statement(line)
        if DECLARATION.match(text):
            found.declarations.append(text)
        elif BEGINS_PIN.match(text):
            found.pins.append(text)
        elif text:
            found.formulas.append(text)
    return found
