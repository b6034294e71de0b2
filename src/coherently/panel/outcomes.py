"""What came true: outcomes of variables or of any event, carried to every other event by logic."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.errors import SHOWN, PanelError, summarise
from coherently.events import CERTAIN, Reading, find_conflict
from coherently.panel import cells
from coherently.panel.cell_table import Table
from coherently.panel.columnar.coded import CodedCells
from coherently.panel.frames import table_from_frame
from coherently.panel.laws import NO_LAWS, Laws, touching
from coherently.panel.layout import ROLES, pick
from coherently.panel.panel import CALLED_OFF, UNRESOLVED
from coherently.panel.readers import read_table
from coherently.panel.texts import encode, name_some, number_texts, suggest
from coherently.panel.value_outcomes import declared_rows, value_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from coherently.events import Events
    from coherently.panel.panel import Panel

Outcomes: TypeAlias = str | os.PathLike[str] | Mapping[str, object] | object
"""A file, a mapping from event to outcome, or a frame."""


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Sides that came true, each with the row of the table that says so; no side appears twice."""

    table: Table
    event_column: str
    side: NDArray[np.int32]
    row: NDArray[np.int64]

    @staticmethod
    def gather(table: Table, event_column: str, reading: Reading, outcome: NDArray[np.int8]) -> Facts:
        """Take the rows of a table that give an outcome; `reading` and `outcome` have one entry per row.

        "E given H" came out true if E & H did, and false if ~E & H did: both say that H came true.
        """
        rows = np.flatnonzero(outcome != UNRESOLVED)
        sides = np.where(outcome[rows] == 1, reading.event[rows], reading.rest[rows])
        place = np.full(int(sides.max(initial=0)) + 1, -1)
        place[sides[::-1]] = rows[::-1]  # the first row of each side is written last
        unique = np.flatnonzero(place >= 0)
        return Facts(table, event_column, unique.astype(np.int32), place[unique])

    def text(self, index: int) -> str:
        """Quote the event."""
        return str(self.table.columns[self.event_column][int(self.row[index])]).strip()

    def say(self, index: int) -> str:
        """Quote the fact and its place."""
        return f"{self.table.place(int(self.row[index]))}: the outcome of '{self.text(index)}'"


def read_outcomes(source: Outcomes, events: Events, *, plain_events: bool) -> Facts:
    """Read outcomes from outside the panel; their events are added to the table of events."""
    if isinstance(source, str | os.PathLike):
        table = read_table(source)
    elif isinstance(source, Mapping):
        columns = {"event": list(source), "outcome": list(source.values())}
        table = Table("outcomes", columns, range(1, len(source) + 1))
    else:
        table = table_from_frame(source, "outcomes")
    event_column = pick(table, "event", (*ROLES["event"], "variable", "id"))
    outcome_column = pick(table, "outcome", ROLES["outcome"])
    texts = cells.texts(table, event_column)
    values = {} if plain_events else declared_rows(texts, events)
    if not values:
        return _read_events(table, event_column, outcome_column, texts, events, plain_events=plain_events)
    plain = [row for row in range(len(texts)) if row not in values]
    side, row = np.empty(0, np.int32), np.empty(0, np.int64)
    if plain:
        some = table.take(plain)
        found = _read_events(some, event_column, outcome_column, [texts[i] for i in plain], events, plain_events=False)
        side, row = found.side, np.array(plain)[found.row]
    more, origin = value_facts(table, outcome_column, values, events)
    side, first = np.unique(np.concatenate([side, more]), return_index=True)
    return Facts(table, event_column, side, np.concatenate([row, origin])[first])


def _read_events(
    table: Table, event_column: str, outcome_column: str, texts: Sequence[str], events: Events, *, plain_events: bool
) -> Facts:
    outcome = cells.outcomes(table, outcome_column)
    coded = CodedCells(*encode(texts))
    reading = number_texts(table, coded, events, plain_events=plain_events)
    return Facts.gather(table, event_column, Reading(reading.sides[coded.codes], ()), outcome)


def unused_outcomes(facts: Facts, panel: Panel) -> list[str]:
    """Name the outcomes of events that share no variable with a forecast or a law: they have no effect."""
    written, laws = panel.written, panel.laws
    used = np.concatenate([written.event, written.condition, laws.side, laws.pins.event, laws.pins.condition])
    unused = np.flatnonzero(~touching(panel.events, facts.side, used))
    texts = list(dict.fromkeys(facts.text(index) for index in unused[np.argsort(facts.row[unused])].tolist()))
    if not texts:
        return []
    variables = panel.events.variables
    known = [variables[v] for v in np.unique(panel.events.supports(used // 2)[1]).tolist()]
    shown = [f"{text!r}{suggest(text, known)}" for text in texts[:SHOWN]]
    named = name_some([*shown, *texts[SHOWN:]])
    return [f"{facts.table.source}: outcomes of events that no forecast or law mentions: {named}"]


def resolve(events: Events, sources: Sequence[Facts], reading: Reading, laws: Laws = NO_LAWS) -> NDArray[np.int8]:
    """Say how each event of a reading came out: 1, 0, UNRESOLVED or CALLED_OFF.

    Each fact and law is used by itself, again and again until nothing new follows; cases are not tried.
    """
    known, stated = _learn(events, sources, laws)
    truth = _truth(events, reading.event, known, stated)
    if np.all(reading.condition == CERTAIN):
        return truth
    condition = _truth(events, reading.condition, known, stated)
    truth[condition == 0] = CALLED_OFF
    truth[condition == UNRESOLVED] = UNRESOLVED
    return truth


def _truth(
    events: Events, sides: NDArray[np.int32], known: NDArray[np.int8], stated: NDArray[np.int8]
) -> NDArray[np.int8]:
    said = stated[sides]
    return np.where(said == UNRESOLVED, events.settle(sides, known), said)


def _learn(events: Events, sources: Sequence[Facts], laws: Laws) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Give what is known of each variable and what is stated about each side; refuse contradictions."""
    side = np.concatenate([source.side for source in sources])
    ends = np.cumsum([len(source.side) for source in sources])

    def say(fact: int) -> str:
        source = int(np.searchsorted(ends, fact, "right"))
        return sources[source].say(fact - int(ends[source]) + len(sources[source].side))

    stated = np.full(2 * len(events), UNRESOLVED, np.int8)
    stated[side] = 1
    clashes = np.flatnonzero(stated[side ^ 1] == 1).tolist()
    if clashes:
        problems = [f"{say(fact)} is given as true and as false" for fact in clashes[:SHOWN]]
        raise PanelError(_contradiction(problems, len(clashes)))
    stated[side ^ 1] = 0
    # Facts about single variables come first, so that a contradiction is reported at the compound event.
    order = np.argsort(np.diff(events.supports(side // 2)[0]), kind="stable")
    unknown = np.full(len(events.variables), UNRESOLVED, np.int8)
    known, broken = events.propagate(side[order], unknown)
    problems = []
    while broken is not None and len(problems) < SHOWN:
        fact = int(order[broken])
        problems.append(f"{say(fact)} contradicts {_known_parts(events, side[fact], known)}")
        order = np.delete(order, broken)
        known, broken = events.propagate(side[order], unknown)
    if problems:
        raise PanelError(_contradiction(problems, len(problems)))
    if len(laws):
        _check_laws(events, side, laws, say)
        known, _ = events.propagate(np.concatenate([side[order], laws.side]), unknown)
        stated[laws.side], stated[laws.side ^ 1] = 1, 0
    return known, stated


def _check_laws(events: Events, side: NDArray[np.int32], laws: Laws, say: Callable[[int], str]) -> None:
    """Refuse outcomes that break laws, and name the laws."""
    left = np.arange(len(side))
    problems: list[str] = []
    while len(problems) < SHOWN:
        conflict = find_conflict(events, np.concatenate([laws.side, side[left]]))
        if conflict is None:
            break
        facts = [int(left[index - len(laws)]) for index in conflict if index >= len(laws)]
        broken = " and ".join(laws.say(index) for index in conflict if index < len(laws))
        told = "; ".join(map(say, facts))
        problems.append(f"{told}: {'together these break' if len(facts) > 1 else 'this breaks'} the law {broken}")
        left = left[left != facts[-1]]
    if problems:
        raise PanelError(_contradiction(problems, len(problems)))


def _known_parts(events: Events, side: np.int32, known: NDArray[np.int8]) -> str:
    names = events.written_variables
    _, members = events.supports(np.array([side // 2], np.int32))
    parts = [f"{names[v]} is {'true' if known[v] else 'false'}" for v in members.tolist() if known[v] != UNRESOLVED]
    return "the other outcomes" + (f", which imply that {' and '.join(parts)}" if parts else "")


def _contradiction(problems: list[str], count: int) -> str:
    return summarise(problems, count) + "\nCorrect these outcomes, or leave them blank, which means unresolved."
