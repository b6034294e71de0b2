"""Event texts into programs for a stack machine; declarations and statements of laws."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, TypeAlias

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
DECLARED = re.compile(rf"\s*variable\s*(?:({RUN})|({QUOTED}))\s*:")
KIND = re.compile(rf"\s*(?:number|date)(?!{PART}|[.@:-]{PART})")
VALUES = re.compile(rf"(?:{VALUE.pattern}\s*,)*(?:{VALUE.pattern}|\s*\.\.\.)?\s*")
LISTED = re.compile(rf"{VALUE.pattern}|\.\.\.")
SPELLINGS = "not ~ ! ¬; and & && ∧; xor ^; or | || ∨; implies -> →; iff <-> ↔; given; in; true; false"
WORDS = {word: group.split()[0] for group in SPELLINGS.split(";") for word in group.split()}
COUNTS = ("exactly", "at_least", "at_most")
WORDS |= {word: word for word in COUNTS}
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


class Parser:
    """Precedence climbing over the tokens of a text; the program grows in `steps`.

    The next token has its `kind`, a word of the language, "name" or "end"; `end` is where it ends in the text.
    """

    def __init__(self, text: str) -> None:
        self.text, self.end, self.kind, self.name = normal(text), 0, "", ""
        self.steps, self.depth = list[Step](), 0
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
        """The value after this token: a quoted text or a bare word, which may be a number or a date."""
        found = VALUE.match(self.text, self.end)
        if found is None:
            raise self.error("a value is missing")
        self.end = found.end()
        self.advance()
        return unquoted(found[1] or found[2])

    def need(self, kind: str) -> None:
        """Refuse any other token."""
        if self.kind != kind:
            raise self.error(f"{kind!r} is missing")

    def take(self, kind: str) -> None:
        """Pass a token that must be there."""
        self.need(kind)
        self.advance()

    def error(self, what: str) -> BadInputError:
        """What is wrong with the text, and where."""
        return BadInputError(f"{self.text[:200]!r}: {what} (before character {self.end + 1})")

    def event(self) -> list[Step]:
        """One event, up to `given` or the end."""
        self.steps = []
        self._binary(1)
        return self.steps

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(f"nested deeper than {DEEPEST} levels")
        yield
        self.depth -= 1

    def _binary(self, loosest: int) -> None:
        self._operand()
        while (level := LEVELS.get(self.kind, 0)) >= loosest:
            word = self.kind
            self.advance()
            if word == "implies":  # groups to the right
                with self._deeper():
                    self._binary(level)
            else:
                self._binary(level + 1)
            self.steps.append((word,))

    def _operand(self) -> None:
        kind = self.kind
        if kind == "name":
            self._atom()
        elif kind in COUNTS:
            with self._deeper():
                self._count(kind)
        elif kind in ("true", "false"):
            self.steps.append(("constant", kind == "true"))
            self.advance()
        elif kind == "not":
            self.advance()
            with self._deeper():
                self._operand()
            self.steps.append((kind,))
        elif kind == "(":
            with self._deeper():
                self.advance()
                self._binary(1)
                self.take(")")
        else:
            raise self.error("an event is missing")

    def _count(self, word: str) -> None:
        self.advance()
        self.need("(")
        number = self.value()
        if not re.fullmatch("[0-9]{1,9}", number) or self.kind != ";":
            raise self.error("a count begins with a whole number and ';'")
        count = 0
        while self.kind == (";" if count == 0 else ","):
            self.advance()
            self._binary(1)
            count += 1
        self.take(")")
        self.steps.append(("count", word, int(number), count))

    def _atom(self) -> None:
        name, values = self.name, list[str]()
        self.advance()
        relation = self.kind
        if relation not in RELATIONS:
            self.steps.append(("variable", name))
            return
        if relation == "in":
            self.advance()
            self.need("{")
        while not values or (relation == "in" and self.kind == ","):
            values.append(self.value())
        if relation == "in":
            self.take("}")
        self.steps.append(("comparison", name, relation, tuple(values)))


def read_event(text: str) -> tuple[list[Step], list[Step] | None]:
    """The programs of an event and of its condition, if it has one."""
    parser, condition = Parser(text), None
    event = parser.event()
    if parser.kind == "given":
        parser.advance()
        condition = parser.event()
    if parser.kind != "end":
        raise parser.error("the event should end here")
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
    found = DECLARED.match(text)
    if found is None:
        raise BadInputError(f"{text[:200]!r} does not declare a variable, as variable winner: Ann, Bob does")
    name, told = unquoted(found[1] or found[2]), text[found.end() :]
    if told.strip() in ("number", "date"):
        return Declaration(name, told.strip())
    if KIND.match(told) or not VALUES.fullmatch(told):
        raise BadInputError(f"{text[:200]!r}: the values of a variable stand between commas")
    values = [unquoted(bare or quoted or "other") for bare, quoted in LISTED.findall(told)]
    if len(values) < 2 or len(set(values)) < len(values):
        raise BadInputError(f"{text[:200]!r}: a variable has two different values or more")
    return Declaration(name, "named", tuple(values))


def read_pin(text: str) -> tuple[str, Fraction, Fraction]:
    """Read P(event) = 0.3, P(event) <= 0.1 or P(event given event) >= 50%: the event, the least and the most of P."""
    found = PIN.fullmatch(text)
    if found is None or found["relation"] not in ("=", "<=", ">="):
        raise BadInputError(f"{text[:200]!r} is not a pin such as P(rain) <= 0.3")
    number = found["number"]
    value = Fraction(decimal(number[:-1]), 100) if number.endswith("%") else decimal(number)
    if not 0 <= value <= 1:
        raise BadInputError(f"{text[:200]!r}: a probability lies between 0 and 1")
    low = Fraction(0) if found["relation"] == "<=" else value
    high = Fraction(1) if found["relation"] == ">=" else value
    return found["event"], low, high


def statement(line: str) -> str:
    """A line of a laws file without its comment."""
    return normal(COMMENT.sub(lambda match: match[1] or "", line).strip())


def split_statements(lines: Iterable[str]) -> tuple[list[str], list[str], list[str]]:
    """Declarations, pins and formulas, without comments."""
    declarations, pins, formulas = list[str](), list[str](), list[str]()
    for text in filter(None, map(statement, lines)):
        kind = declarations if DECLARATION.match(text) else pins if BEGINS_PIN.match(text) else formulas
        kind.append(text)
    return declarations, pins, formulas
