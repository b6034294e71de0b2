"""What an event text means, whatever panel it is in: read once, in a small table with only the text's own variables."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from coherently.errors import PanelError
from coherently.events import CERTAIN, NEVER, Events
from coherently.panel.statements import MAX_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

Function: TypeAlias = tuple[tuple[str, ...], bytes, bool]
"""A Boolean function: the texts of its variables, ascending; its table; whether it is the complement of that."""
Key: TypeAlias = tuple[Function, Function]
"""An event and its condition: equal for texts that mean the same."""

WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[^\W\d][\w.]*')
"""What may be the name of a declared variable."""
MOST_TEXTS = 1_000_000
"""Maximum number of texts whose meanings are remembered; beyond, they are forgotten and read again when needed."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a text means: `key` is equal for equal events, and `opposite` is the key of the complement.

    `variables` are the names of all variables in it, also of those that do not matter. `constant` is the probability
    of an event that is certain or impossible by logic (given its condition); `conditional` says whether there is a
    condition.
    """

    key: Key
    opposite: Key
    variables: tuple[str, ...]
    constant: float | None
    conditional: bool


class Vocabulary:
    """Declared variables, and the meanings of the texts that were read.

    >>> words = Vocabulary()
    >>> words.read("p & q").key == words.read("~(~q | ~p)").key, words.read("p & (q | ~q)").variables
    (True, ('p', 'q'))
    """

    def __init__(self) -> None:
        self.declared: dict[str, str] = {}
        """The declaration of each declared variable."""
        self._known: dict[str, Meaning] = {}

    def declare(self, name: str, statement: str) -> None:
        """Add a declaration."""
        self.declared[name] = statement
        self._known.clear()

    def forget(self, name: str) -> None:
        """Take a declaration back."""
        del self.declared[name]
        self._known.clear()

    def read(self, text: str) -> Meaning:
        """The meaning of an event text; an error says what is wrong with it."""
        if (known := self._known.get(text)) is not None:
            return known
        if len(self._known) >= MOST_TEXTS:
            self._known.clear()
        meaning = self._known[text] = self._read(text)
        return meaning

    def variables(self, text: str) -> tuple[str, ...]:
        """The names of the variables in a formula, which may be as long as a law."""
        events, _ = self._parse(text, MAX_CHARACTERS)
        return _variables(events, text)

    def _read(self, text: str) -> Meaning:
        events, sides = self._parse(text)
        variables = _variables(events, text)
        names = events.written_variables
        if names != sorted(names):  # in a table whose variables are in order, equal events have equal tables
            ordered = self._table(events.declared)
            ordered.add(sorted(names))
            events, sides = ordered, ordered.add([text]).sides[0]
        event, condition, rest = _functions(events, sides)
        side, given, _ = sides.tolist()
        constant = float(side != NEVER) if side in (NEVER, given) else None
        return Meaning((event, condition), (rest, condition), variables, constant, conditional=given != CERTAIN)

    def _parse(self, text: str, longest: int | None = None) -> tuple[Events, NDArray[np.int32]]:
        """A table with only the events of a text, and their sides; only declarations that it may need are read."""
        words = {word.strip('"') for word in WORD.findall(unicodedata.normalize("NFC", text))}
        named = [name for name in words if name in self.declared]
        for names in (named, list(self.declared)):
            events = self._table(names)
            reading = events.add([text]) if longest is None else events.add([text], max_characters=longest)
            hidden = any(name in self.declared and name not in names for name in events.variables)
            if not hidden and not reading.faults:
                return events, reading.sides[0]
        raise reading.faults[0].error(f"{text!r}: {reading.faults[0]}")

    def _table(self, names: Iterable[str]) -> Events:
        events = Events()
        events.declare([self.declared[name] for name in names])
        return events


def declared_name(statement: str) -> str:
    """The name of the variable that a statement declares; an error says what is wrong with the statement."""
    events = Events()
    faults = events.declare([statement])
    if faults:
        raise PanelError(f"{statement!r}: {faults[0]}")
    return events.declared[0]


def _functions(events: Events, sides: NDArray[np.int32]) -> list[Function]:
    names = events.written_variables
    starts, members = events.supports(sides >> 1)
    ends, words = events.tables(sides >> 1)
    return [
        (
            tuple(names[v] for v in members[starts[i] : starts[i + 1]].tolist()),
            words[ends[i] : ends[i + 1]].tobytes(),
            bool(side & 1),
        )
        for i, side in enumerate(sides.tolist())
    ]


def _variables(events: Events, text: str) -> tuple[str, ...]:
    """The names of the user's variables in a text, which is the only one of a table.

    Variables that do not matter count too: a table that has the text numbers them, and needs their declarations.
    """
    return tuple(dict.fromkeys((*user_names(events), *events.compared(text, MAX_CHARACTERS))))


def user_names(events: Events) -> list[str]:
    """For each Boolean variable, the name of the user's variable that it is, or is an atom of."""
    names = events.variables
    for choice in events.choices():
        for atom in choice.atoms.tolist():
            names[atom] = choice.name
    return names
