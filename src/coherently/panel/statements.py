"""Statements of a laws file: declarations, pins and formulas, each with its place."""

from __future__ import annotations

import os
import re
import reprlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from coherently.errors import PanelError
from coherently.panel.columnar.cell_values import Refusal, probability
from coherently.panel.readers import read_lines

LawsSource: TypeAlias = str | os.PathLike[str] | Iterable[str]
"""A file, or a list of statements."""

MAX_CHARACTERS = 1_000_000
"""Maximum length of a statement."""

PIN_SHAPE = "A pin is P(event) = 0.3, P(event) <= 0.1 or P(event given event) >= 50%."
COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|#[^\n]*')
# A formula may begin with a variable of that name: "variable & p", "variable or p".
DECLARATION = re.compile(r'variable(\s+(?!(and|xor|or|implies|iff|given|in)\b)["\w]|\s*$)', re.IGNORECASE)
PIN = re.compile(r"P\s*\(")
WHOLE_PIN = re.compile(r"P\s*\((?P<event>.*)\)\s*(?P<relation>[<>=!]+)\s*(?P<number>\S+)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement without its comment, and its place."""

    text: str
    place: str

    @property
    def is_declaration(self) -> bool:
        """Whether it declares a variable."""
        return DECLARATION.match(self.text) is not None

    @property
    def is_pin(self) -> bool:
        """Whether it fixes or limits a probability."""
        return PIN.match(self.text) is not None


@dataclass(frozen=True, slots=True)
class PinStatement:
    """What a pin says: the text of its event, the position where this begins in the statement, and the limits."""

    event: str
    offset: int
    low: float
    high: float


def split_statements(source: LawsSource) -> list[Statement]:
    """Split a laws file or a list into statements, without comments and empty lines."""
    if isinstance(source, str) and not os.path.exists(source):  # noqa: PTH110 - a text may not be a valid path
        raise PanelError(
            f"laws is {reprlib.repr(source)}, but there is no such file: check the name and the folder, or pass "
            f"statements as a list, laws=[{reprlib.repr(source)}]"
        )
    if isinstance(source, str | os.PathLike):
        name = Path(source).name
        pairs = [(line, f"{name} line {number}") for number, line in enumerate(read_lines(source), 1)]
    elif not isinstance(source, Iterable):
        raise PanelError(f"laws is {reprlib.repr(source)}: pass the path of a file, or a list of statements")
    else:
        pairs = [(_text(one, number), f"laws statement {number}") for number, one in enumerate(source, 1)]
    found = []
    for line, place in pairs:
        text = unicodedata.normalize("NFC", COMMENT.sub(lambda match: match[1] or "", line).strip())
        if len(text) > MAX_CHARACTERS:
            raise PanelError(f"{place}: has {len(text):,} characters; a statement may have at most {MAX_CHARACTERS:,}")
        if text:
            found.append(Statement(text, place))
    return found


def _text(statement: object, number: int) -> str:
    if isinstance(statement, str):
        return statement
    raise PanelError(f"laws statement {number} is {reprlib.repr(statement)}, which is not a text")


def read_pin(text: str) -> PinStatement | str:
    """Read the parts of a pin, or say what is wrong with it."""
    whole = WHOLE_PIN.fullmatch(text)
    if whole is None:
        return f"{reprlib.repr(text)} begins like a pin but does not end like one. {PIN_SHAPE}"
    if whole["relation"] not in ("=", "<=", ">="):
        return f"a pin has '=', '<=' or '>=', not {whole['relation']!r}. {PIN_SHAPE}"
    value = probability(whole["number"])
    if isinstance(value, Refusal):
        return f"{value.reason.format(repr(whole['number']))}. {PIN_SHAPE} The number lies between 0 and 1."
    low = 0.0 if whole["relation"] == "<=" else value
    high = 1.0 if whole["relation"] == ">=" else value
    return PinStatement(whole["event"], whole.start("event"), low, high)
