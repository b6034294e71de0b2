"""Before and after: the events of a page with their numbers as shown, in groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.plot.data import ROUNDING
from coherently.report.changes import ranked_changes, without_condition
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Indices
    from coherently.report.event_titles import EventTitles
    from coherently.result import Result
    from coherently.result.shown import ShownForecasts

FIRST = 24
"""Maximum number of events of the first table; of more, those that moved most."""
EVENTS = 200
"""Maximum number of events of a page."""
DIGITS = 2
"""Decimals of a probability in whole per cents."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event by its number among those as written, with the average before and the answer after, as shown.

    An event is not `ranked` if it is conditional on something that counts as impossible: its number does not matter.
    """

    number: int
    event: str
    title: str
    before: float
    after: float
    ranked: bool = True

    @property
    def change(self) -> float:
        """The difference of the shown numbers; 0 where one is missing."""
        return 0.0 if math.isnan(self.before) or math.isnan(self.after) else self.after - self.before

    @property
    def moved(self) -> bool:
        """Whether the shown numbers differ: that alone is a change, in words and numbers."""
        return abs(self.change) > 10.0**-ROUNDING


@dataclass(frozen=True, slots=True)
class EventGroup:
    """Rows about one declared variable, under its name, or rows without a name of their own."""

    title: str | None
    rows: tuple[EventRow, ...]


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """The events of the first table, how many there are in all, and the number of decimals."""

    groups: tuple[EventGroup, ...]
    total: int
    digits: int

    @property
    def rows(self) -> tuple[EventRow, ...]:
        """All rows in the order of the page."""
        return tuple(row for group in self.groups for row in group.rows)

    def most_moved(self, count: int) -> tuple[EventRow, ...]:
        """The rows that moved most, the largest change first."""
        rows = [row for row in self.rows if row.moved and row.ranked]
        return tuple(sorted(rows, key=lambda row: -round(abs(row.change), ROUNDING))[:count])


@dataclass(frozen=True, slots=True, eq=False)
class PageNumbers(Value):
    """The numbers of all events of a page, rounded together once: an event has the same numbers wherever it is shown.

    `units` are numbers of events as written, in increasing order; `first` are those of the first table.
    """

    units: Indices
    first: tuple[int, ...]
    shown: ShownForecasts

    def of(self, number: int) -> tuple[float, float]:
        """The average before and the answer after of one event."""
        place = int(np.searchsorted(self.units, number))
        return float(self.shown.raw[place]), float(self.shown.probability[place])


def page_numbers(result: Result, always: Sequence[int] = ()) -> PageNumbers:
    """The events of a page: all, or those that moved most and those that must `always` be there."""
    order = [*always, *np.argsort(-ranked_changes(result).round(ROUNDING), kind="stable").tolist()]
    by_rank = list(dict.fromkeys(order))
    units = np.array(sorted(by_rank[:EVENTS]), np.int64)
    return PageNumbers(units, tuple(sorted(by_rank[:FIRST])), result.shown(units, DIGITS))


def before_after(result: Result, numbers: PageNumbers, titles: EventTitles) -> BeforeAfter:
    """The events of the first table."""
    texts, absent = result.panel.written.text, without_condition(result)
    rows = [EventRow(i, texts[i], titles.row(texts[i]), *numbers.of(i), ranked=not absent[i]) for i in numbers.first]
    return BeforeAfter(_grouped(rows, titles), len(texts), numbers.shown.digits)


def _grouped(rows: Sequence[EventRow], titles: EventTitles) -> tuple[EventGroup, ...]:
    """Rows of one declared variable together, where its first one stands."""
    about = titles.variables
    every: dict[str, list[EventRow]] = {}
    for row in rows:
        if (name := about.get(row.event)) is not None:
            every.setdefault(name, []).append(row)
    groups: list[EventGroup] = []
    alone: list[EventRow] = []
    for row in rows:
        name = about.get(row.event)
        own = every.get(name, []) if name is not None else []
        if len(own) < 2:
            alone.append(row)
        elif name is not None and row is own[0]:
            groups += [EventGroup(None, tuple(alone))] if alone else []
            groups.append(EventGroup(titles.row(name), tuple(own)))
            alone = []
    return (*groups, *([EventGroup(None, tuple(alone))] if alone else []))
