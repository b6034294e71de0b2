"""What texts of events mean, and what is wrong with those that mean nothing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from coherently import _core
from coherently.errors import EventError, Where
from coherently.events.spaced import spaced_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

_FaultRow: TypeAlias = tuple[int, str, int, str]
_NAME_START, _NAME_PART, _SPACE = 1, 2, 3  # CharClass in lexer.hpp
_CARET_WINDOW = 60
_LONGEST_HINT = 100
_TOKEN = re.compile(r"\w+|.", re.DOTALL)
CODES = {
    "syntax": "bad-event",
    "undeclared": "undeclared-variable",
    "mismatch": "wrong-kind-of-variable",
    "limit": "too-large-event",
    "impossible": "impossible-condition",
}
"""The code of an error, by the kind of the fault."""
_ONE_LINE = dict.fromkeys((*range(32), 127, 0x85, 0x2028, 0x2029), " ")


@dataclass(frozen=True, slots=True)
class Fault:
    """Why one text cannot be read.

    `kind` is syntax, undeclared (a comparison with a variable that no statement declares), mismatch (a declared
    variable used as another kind of variable), limit or impossible (a condition that is never true). `column` counts
    characters from 1; 0 means the whole text.
    """

    index: int
    kind: str
    column: int
    message: str
    text: str

    def __str__(self) -> str:
        """Say what is wrong and point at it."""
        message = self._message()
        if self.column == 0:
            return message
        start = max(0, self.column - 1 - _CARET_WINDOW)
        shown = self.text[start : self.column + _CARET_WINDOW].translate(_ONE_LINE)
        caret = " " * (self.column - 1 - start) + "^"
        return f"{message} (column {self.column})\n    {shown}\n    {caret}"

    @property
    def code(self) -> str:
        """The kind, as errors have it."""
        return CODES[self.kind]

    @property
    def span(self) -> tuple[int, int]:
        """The word or sign at which the fault was noticed: its first character, from 0, and the one after its last."""
        if self.column == 0:
            return 0, len(self.text)
        found = _TOKEN.match(self.text, self.column - 1)
        return (len(self.text), len(self.text)) if found is None else found.span()

    @property
    def remedy(self) -> str | None:
        """What to do, where that is more than to correct the text."""
        return None if self.spaced is None else f"a name with spaces goes in quotes: {self.spaced}"

    def where(self, file: str | None = None, row: int | str | None = None, field: str | None = None) -> Where:
        """The place of the fault in a source."""
        return Where(file, row, event=self.text, span=self.span, field=field)

    def error(self, message: str = "") -> EventError:
        """The fault of a text that has no source, as an error."""
        return EventError(message or str(self), code=self.code, where=self.where(), remedy=self.remedy)

    @property
    def spaced(self) -> str | None:
        """The name with spaces, in quotes, that the user may have meant at the place of the fault."""
        name = spaced_name(self.text, self.column) if self.kind == "syntax" and self.column else None
        return quote_name(name) if name and len(name) <= _LONGEST_HINT else None

    def _message(self) -> str:
        if self.spaced is None:
            return self.message
        joined = "_".join(self.spaced.strip('"').split())
        other = f", or is written {joined}" if quote_name(joined) == joined else ""
        hint = f"a name with spaces goes in quotes: {self.spaced}{other}"
        # No name begins with a digit, so the word must belong to the name before it.
        return hint if self.text[self.column - 1].isdigit() else f"{self.message}; {hint}"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a batch of texts means, one row per text: the sides of the event, its condition and the rest.

    A side is twice an event's coordinate, plus 1 for the complement, so `side ^ 1` is the complement. For
    "E given H" the event is E & H, the condition H and the rest ~E & H; otherwise the event is E, the
    condition `CERTAIN` and the rest ~E. A row is -1 where the text is faulty or, in an answer of `find`, unknown.
    """

    sides: NDArray[np.int32]
    faults: tuple[Fault, ...]

    @property
    def event(self) -> NDArray[np.int32]:
        """The sides of the events."""
        return self.sides[:, 0]

    @property
    def condition(self) -> NDArray[np.int32]:
        """The sides of the conditions."""
        return self.sides[:, 1]

    @property
    def rest(self) -> NDArray[np.int32]:
        """The sides of the rests: the condition is true, and the event is not."""
        return self.sides[:, 2]


def quote_name(name: str) -> str:
    """Write a variable's name as the event language needs it.

    >>> quote_name("GDP-2027"), quote_name("will it rain?")
    ('GDP-2027', '"will it rain?"')
    """
    (clean,), classes, _ = prepare([name])
    return _core.write_name(clean, classes)


def prepare(texts: Sequence[str]) -> tuple[list[str], dict[int, int], list[int]]:
    """Compose characters (NFC), classify those beyond ASCII, and find texts that are not valid Unicode."""
    clean = list(texts)
    foreign = [i for i, text in enumerate(clean) if not text.isascii()]
    unreadable = []
    for i in foreign:
        clean[i] = unicodedata.normalize("NFC", clean[i])
        if any("\ud800" <= c <= "\udfff" for c in clean[i]):
            unreadable.append(i)
            clean[i] = ""
    return clean, _classes(clean[i] for i in foreign), unreadable


def _classes(texts: Iterable[str]) -> dict[int, int]:
    classes = {}
    for character in set().union(*texts):
        if character.isascii():
            continue
        if character.isspace():
            classes[ord(character)] = _SPACE
        elif character.isidentifier():
            classes[ord(character)] = _NAME_START
        elif f"a{character}".isidentifier():
            classes[ord(character)] = _NAME_PART
    return classes


def reading_of(
    sides: NDArray[np.int32], rows: Sequence[_FaultRow], texts: Sequence[str], unreadable: list[int]
) -> Reading:
    """The meaning of each text, from the rows of the compiled table. A text that is not valid Unicode means nothing."""
    sides[unreadable] = -1
    return Reading(sides, faults_of(rows, texts, unreadable))


def faults_of(rows: Sequence[_FaultRow], texts: Sequence[str], unreadable: list[int]) -> tuple[Fault, ...]:
    """The faults in the order of the texts, including texts that are not valid Unicode."""
    faults = [
        Fault(index=index, kind=kind, column=column, message=message, text=texts[index])
        for index, kind, column, message in rows
    ]
    if unreadable:
        broken = "contains half of a surrogate pair, which is not text; save the source as UTF-8"
        faults = [fault for fault in faults if fault.index not in set(unreadable)]
        faults += [Fault(index=i, kind="syntax", column=0, message=broken, text="") for i in unreadable]
        faults.sort(key=lambda fault: fault.index)
    return tuple(faults)
