"""Statements of a laws file: declarations, pins and formulas, each with its place."""

from __future__ import annotations

import os
import re
import reprlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from coherently.errors import ListedProblem, PanelError, Where
from coherently.panel.columnar.cell_values import Refusal, probability
from coherently.panel.readers import read_lines

if TYPE_CHECKING:
    from coherently.events import Fault

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
    where: Where = field(default_factory=Where)

    def problem(self, found: Fault | str) -> ListedProblem:
        """What is wrong with the statement, with its place."""
        message, where = f"{self.place}: {found}", replace(self.where, event=self.text)
        if isinstance(found, str):
            return ListedProblem(message, "bad-law", where)
        return ListedProblem(message, found.code, replace(where, span=found.span), found.remedy)

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
        remedy = f"check the name and the folder, or pass statements as a list, laws=[{reprlib.repr(source)}]"
        message = f"laws is {reprlib.repr(source)}, but there is no such file: {remedy}"
        raise PanelError(message, code="no-such-file", where=Where(source), remedy=remedy)
    if isinstance(source, str | os.PathLike):
        name, lines, noun = Path(source).name, read_lines(source), "line"
    elif not isinstance(source, Iterable):
        raise PanelError(
            f"laws is {reprlib.repr(source)}: pass the path of a file, or a list of statements",
            code="bad-law",
            remedy="pass the path of a file, or a list of statements",
        )
    else:
        name, lines, noun = "laws", [_text(one, number) for number, one in enumerate(source, 1)], "statement"
    found = []
    for number, line in enumerate(lines, 1):
        place, where = f"{name} {noun} {number}", Where(name, number)
        text = unicodedata.normalize("NFC", COMMENT.sub(lambda match: match[1] or "", line).strip())
        if len(text) > MAX_CHARACTERS:
            message = f"{place}: has {len(text):,} characters; a statement may have at most {MAX_CHARACTERS:,}"
            raise PanelError(message, code="bad-law", where=where)
        if text:
            found.append(Statement(text, place, where))
    return found


def _text(statement: object, number: int) -> str:
    if isinstance(statement, str):
        return statement
    message = f"laws statement {number} is {reprlib.repr(statement)}, which is not a text"
    raise PanelError(message, code="bad-law", where=Where("laws", number))


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
