"""What came true: outcomes of variables or of any event, and all that follows from them by logic and laws."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.errors import SHOWN, ListedProblem, PanelError
from coherently.events import MAX_CONFLICTS, UNDECIDED, Reading, entail, find_conflict, quote_name
from coherently.panel import cells
from coherently.panel.cell_table import Table
from coherently.panel.columnar.cell_values import is_missing
from coherently.panel.columnar.coded import CodedCells
from coherently.panel.frames import table_from_frame
from coherently.panel.laws import NO_LAWS, Laws, shorten, touching
from coherently.panel.layout import ROLES, pick
from coherently.panel.panel_record import CALLED_OFF, UNRESOLVED
from coherently.panel.readers import read_table
from coherently.panel.texts import encode, name_some, number_texts, suggest
from coherently.panel.value_outcomes import declared_rows, value_facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.errors import Where
    from coherently.events import Events
    from coherently.panel.panel import Panel

Outcomes: TypeAlias = str | os.PathLike[str] | Mapping[str, object] | object
"""A file, a mapping from event to outcome, or a frame."""


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Sides that came true, each with the row of the table that says so; no side appears twice.

    `is_blank` says that no row gives an outcome. One that does may have no side: a value of a declared variable that no
    event compares with a value.
    """

    table: Table
    event_column: str
    outcome_column: str
    side: NDArray[np.int32]
    row: NDArray[np.int64]
    is_blank: bool

    @staticmethod
    def gather(
        table: Table, event_column: str, outcome_column: str, reading: Reading, outcome: NDArray[np.int8]
    ) -> Facts:
        """Take the rows of a table that give an outcome; `reading` and `outcome` have one entry per row.

        "E given H" came out true if E & H did, and false if ~E & H did: both say that H came true.
        """
        rows = np.flatnonzero(outcome != UNRESOLVED)
        sides = np.where(outcome[rows] == 1, reading.event[rows], reading.rest[rows])
        place = np.full(int(sides.max(initial=0)) + 1, -1)
        place[sides[::-1]] = rows[::-1]  # the first row of each side is written last
        unique = np.flatnonzero(place >= 0)
        return Facts(
            table, event_column, outcome_column, unique.astype(np.int32), row=place[unique], is_blank=not len(rows)
        )

    def text(self, row: int) -> str:
        """Quote the event of a row."""
        return str(self.table.columns[self.event_column][row]).strip()

    def where(self, row: int) -> Where:
        """The place of the outcome that a row gives."""
        return self.table.where(row, self.outcome_column, self.text(row))

    def say(self, row: int) -> str:
        """Quote the outcome that a row gives, and its place."""
        outcome = str(self.table.columns[self.outcome_column][row]).strip()
        return f"{self.table.place(row)}: the outcome of '{shorten(self.text(row))}' is {outcome}"


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
        return _read_events(table, event_column, outcome_column, texts, events=events, plain_events=plain_events)
    plain = [row for row in range(len(texts)) if row not in values]
    is_blank = all(is_missing(table.columns[outcome_column][i]) for i in values)
    side, row = np.empty(0, np.int32), np.empty(0, np.int64)
    if plain:
        some = table.take(plain)
        found = _read_events(
            some, event_column, outcome_column, [texts[i] for i in plain], events=events, plain_events=False
        )
        side, row = found.side, np.array(plain)[found.row]
        is_blank = is_blank and found.is_blank
    # Values come last: they speak about all comparisons, those that only outcomes make among them.
    more, origin = value_facts(table, outcome_column, values, events)
    side, first = np.unique(np.concatenate([side, more]), return_index=True)
    return Facts(table, event_column, outcome_column, side, row=np.concatenate([row, origin])[first], is_blank=is_blank)


def _read_events(
    table: Table, event_column: str, outcome_column: str, texts: Sequence[str], events: Events, *, plain_events: bool
) -> Facts:
    outcome = cells.outcomes(table, outcome_column)
    coded = CodedCells(*encode(texts))

    def known() -> dict[str, str]:
        return {quote_name(name): name for name in events.variables}

    reading = number_texts(table, coded, events, plain_events=plain_events, labels=known).reading
    return Facts.gather(table, event_column, outcome_column, Reading(reading.sides[coded.codes], ()), outcome=outcome)


def shares_variables(panel: Panel, text: str) -> bool:
    """Whether an outcome of this text can mean anything for the forecasts and laws of a panel.

    >>> from coherently.panel import Panel
    >>> panel = Panel.from_records([("Ann", "rain & wind", 0.2)], laws=["storm -> wind"])
    >>> [shares_variables(panel, text) for text in ("wind", "rain | snow", "storm", "snow")]
    [True, True, True, False]
    """
    events = deepcopy(panel.events)
    if declared_rows([text], events):
        return True
    reading = events.add([text])
    if reading.faults:
        raise reading.faults[0].error()
    return bool(touching(events, reading.event, _used_sides(panel)).any())


def _used_sides(panel: Panel) -> NDArray[np.int32]:
    written, laws = panel.written, panel.laws
    return np.concatenate([written.event, written.condition, laws.side, laws.pins.event, laws.pins.condition])


def unused_outcomes(facts: Facts, panel: Panel) -> list[str]:
    """Name the outcomes of events that share no variable with a forecast or a law: they have no effect."""
    used = _used_sides(panel)
    unused = np.flatnonzero(~touching(panel.events, facts.side, used))
    texts = list(dict.fromkeys(facts.text(row) for row in np.sort(facts.row[unused]).tolist()))
    if not texts:
        return []
    variables = panel.events.variables
    known = [variables[v] for v in np.unique(panel.events.supports(used // 2)[1]).tolist()]
    shown = [f"{text!r}{suggest(text, known)}" for text in texts[:SHOWN]]
    named = name_some([*shown, *texts[SHOWN:]])
    return [f"{facts.table.source}: outcomes of events that no forecast or law mentions: {named}"]


@dataclass(frozen=True, slots=True, eq=False)
class Resolution:
    """How each event came out: 1, 0, UNRESOLVED or CALLED_OFF, and what the search left undecided.

    `undecided` counts the events whose outcome may follow, or not, from those that are given. `possible` is None if it
    was not decided whether the given outcomes can all be true together.
    """

    outcome: NDArray[np.int8]
    undecided: int = 0
    possible: bool | None = True

    def notes(self) -> list[str]:
        """Say what was not decided."""
        limit = f"was not decided within {MAX_CONFLICTS:,} dead ends of the search in a component"
        notes = [f"whether the outcomes can all be true together {limit}"] if self.possible is None else []
        if self.undecided:
            those = "an event that is" if self.undecided == 1 else f"{self.undecided:,} events that are"
            notes.append(f"whether an outcome follows for {those} left unresolved {limit}")
        return notes


def resolve(events: Events, sources: Sequence[Facts], reading: Reading, laws: Laws = NO_LAWS) -> Resolution:
    """Say how each event of a reading came out, by all that follows from outcomes, laws and logic.

    As long as no outcome is given, nothing has come out: no event is resolved, not even a certain one. Outcomes that
    no possible world has are refused.
    """
    if all(source.is_blank for source in sources):
        return Resolution(np.full(len(reading.event), UNRESOLVED, np.int8))
    facts = np.concatenate([*(source.side for source in sources), laws.side])
    found = entail(events, facts, np.concatenate([reading.event, reading.condition]), MAX_CONFLICTS)
    if found.possible is False:
        raise _contradiction(events, sources, laws)
    event, condition = np.split(found.truth, 2)
    outcome = np.where(event == UNDECIDED, UNRESOLVED, event)
    outcome[condition == 0] = CALLED_OFF
    outcome[condition < 0] = UNRESOLVED
    undecided = (condition == UNDECIDED) | ((event == UNDECIDED) & (condition == 1))
    return Resolution(outcome, int(undecided.sum()), found.possible)


def _contradiction(events: Events, sources: Sequence[Facts], laws: Laws) -> PanelError:
    """Describe minimal sets of outcomes and laws that no possible world has together, one for each conflict."""
    sides = np.concatenate([laws.side, *(source.side for source in sources)])
    owner = [(-1, law) for law in range(len(laws))]
    owner += [(number, row) for number, source in enumerate(sources) for row in source.row.tolist()]
    distinct = sorted(set(owner))
    number = {statement: i for i, statement in enumerate(distinct)}
    statements = np.array([number[statement] for statement in owner])
    problems: list[ListedProblem] = []
    remedy = "Correct these outcomes, or leave them blank, which means unresolved."
    while len(problems) < SHOWN:
        conflict = find_conflict(events, sides, statements)
        if conflict is None:
            break
        members = [distinct[i] for i in sorted(conflict)]
        given = [sources[source].say(row) for source, row in members if source >= 0]
        broken = [f"{laws.place[law]}: {shorten(laws.text[law])}" for source, law in members if source < 0]
        where = next((sources[source].where(row) for source, row in members if source >= 0), None)
        problems.append(ListedProblem(_describe(given, broken), "contradictory-outcomes", where, remedy))
        kept = statements != max(conflict)
        sides, statements = sides[kept], statements[kept]
    return PanelError.listing(problems, remedies=[remedy])


def _describe(given: list[str], broken: list[str]) -> str:
    listed = "\n".join(f"  {one}" for one in (*given, *broken))
    if len(given) + len(broken) == 1:
        return f"this outcome is impossible:\n{listed}"
    subject = "these outcomes contradict" if len(given) > 1 else "this outcome contradicts"
    others = "each other" if not broken else "the law" if len(broken) == 1 else "the laws"
    return (
        f"{subject} {others}. No possible world has these {len(given) + len(broken)} statements together, and without "
        f"any one of them there is no such conflict:\n{listed}"
    )
