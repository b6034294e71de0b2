"""The common form of all formats before a panel is written: forecasts, laws, outcomes, labels, notes."""

from __future__ import annotations

import math
import re
import reprlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coherently.errors import SHOWN, PanelError
from coherently.events import quote_name

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Mapping

    from coherently.panel import Columns

REMEDY = "correct it, or delete the entry"


@dataclass(frozen=True, slots=True)
class DraftForecast:
    """One row of the panel; `time` is empty where the source has none."""

    judge: str
    event: str
    probability: float
    time: str = ""


@dataclass(slots=True)
class Draft:
    """A panel in the making; `outcomes` and `labels` are by event text, in the order of first appearance.

    An outcome is None where sources contradict each other, and a text where it is the value of a declared variable.
    """

    forecasts: list[DraftForecast] = field(default_factory=list)
    laws: list[str] = field(default_factory=list)
    outcomes: dict[str, int | str | None] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def label(self, event: str, title: str) -> None:
        """Give an event a readable name, unless it has one."""
        if title := one_line(title):
            self.labels.setdefault(event, title)

    def note_unknown(self, source: str, what: str, counts: Counter[str]) -> None:
        """Note the fields of a source that are not documented."""
        if counts:
            self.notes.append(f"{source}: {what} that are not in the documented format, ignored: {listed(counts)}")

    def forecast_columns(self) -> Columns:
        """The columns of the panel's file, with `time` if any forecast has one."""
        rows = self.forecasts
        columns: Columns = {
            "judge": [row.judge for row in rows],
            "event": [row.event for row in rows],
            "probability": [row.probability for row in rows],
        }
        if any(row.time for row in rows):
            columns = {**columns, "time": [row.time for row in rows]}
        return columns


def one_line(text: str) -> str:
    r"""Put a text on one line.

    >>> one_line(" Will it\n rain? ")
    'Will it rain?'
    """
    return re.sub(r"\s+", " ", text).strip()


def listed(names: Iterable[str]) -> str:
    """Name the first few of many.

    >>> listed("abc"), listed(str(i) for i in range(12))
    ('a, b, c', '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more')
    """
    every = list(names)
    return ", ".join(every[:SHOWN]) + (f" and {len(every) - SHOWN:,} more" if len(every) > SHOWN else "")


def choice(name: str, value: str) -> str:
    """Write the event that a many-valued variable has a value.

    >>> choice("q7", "New York")
    'q7 = "New York"'
    """
    return f"{name} = {quote_name(one_line(value))}"


def declaration(name: str, values: Iterable[str], *, complete: bool) -> str:
    """Declare a many-valued variable: exactly one of the values or, unless `complete`, perhaps another.

    A value named "other" is the unnamed other of an open declaration; a single value is open too, since a variable has
    two values or more.

    >>> declaration("q7", ["Ann", "New York", "other"], complete=False)
    'variable q7: Ann, "New York", ...'
    >>> declaration("q8", ["Ann"], complete=True)
    'variable q8: Ann, ...'
    """
    named = [one_line(value) for value in values]
    if complete and len(named) > 1:
        return f"variable {name}: {', '.join(map(quote_name, named))}"
    return f"variable {name}: {', '.join([*(quote_name(value) for value in named if value != 'other'), '...'])}"


def settle(draft: Draft, resolutions: Mapping[str, set[bool]]) -> None:
    """Take over the resolutions of events; those that were resolved both ways are left blank."""
    draft.outcomes |= {event: int(min(said)) if len(said) == 1 else None for event, said in resolutions.items()}
    torn = [event for event, said in resolutions.items() if len(said) > 1]
    if torn:
        draft.notes.append(f"questions resolved both ways, left unresolved: {listed(torn)}")


def read_probability(value: object, place: str) -> float:
    """Read a probability, or raise an error that says what was found instead."""
    number = read_number(value, place)
    if not 0.0 <= number <= 1.0:
        raise PanelError(f"{place}: the probability {number:g} is outside 0 to 1; {REMEDY}")
    return number


def read_number(value: object, place: str) -> float:
    """Read a finite number, or raise an error that says what was found instead."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise PanelError(f"{place}: expected a probability, found {kind_of(value)}; {REMEDY}")
    return float(value)


def read_text(value: object, place: str) -> str:
    """Read a text, or a number as a text, or raise an error that says what was found instead."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise PanelError(f"{place}: expected a text, found {kind_of(value)}; {REMEDY}")
    return str(value)


def kind_of(value: object) -> str:
    """What a JSON value is, for messages."""
    if value is None:
        return "null"
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'}, {reprlib.repr(value)}"
    return reprlib.repr(value)
