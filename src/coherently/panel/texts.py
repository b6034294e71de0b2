"""Event texts of a table to numbered events, with errors that name the rows."""

from __future__ import annotations

import difflib
import itertools
import re
from collections import defaultdict
from dataclasses import dataclass, field
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import SHOWN, ListedProblem, counted
from coherently.events import PackedTexts, parts
from coherently.panel.cell_table import ProblemList
from coherently.panel.columnar.coded import CodedCells
from coherently.panel.event_dictionary import speak

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from coherently.events import Events, Fault, Reading
    from coherently.panel.cell_table import Table
    from coherently.panel.event_dictionary import Spoken

TICKER = re.compile(r"[A-Z][\w.]*(?:[&|][A-Z][\w.]*)+")
"""Capitals around an operator, as in S&P500."""
WIDTH = 120
"""Maximum number of characters of an event that a note quotes."""
MOST_NAMES = 5_000
"""Maximum number of names that are searched for the nearest one: some tens of milliseconds."""
SPARSE = 8
"""Keys are not sorted but get places in a list if their range is at most this many times their number."""
SPACES = (
    "Inside a cell of a CSV file each quote is written twice: {}. "
    "If each cell is one name, pass --plain-events (plain_events=True)."
)


UNCLEAR = "Write the one that is meant into the cell, with its quotes."


def encode(values: Sequence[str]) -> tuple[NDArray[np.int32], list[str]]:
    """Number the distinct values in the order of their first appearance.

    >>> codes, distinct = encode(["q", "p", "q"])
    >>> codes.tolist(), distinct
    ([0, 1, 0], ['q', 'p'])
    """
    numbers: defaultdict[str, int] = defaultdict(itertools.count().__next__)
    codes = np.fromiter(map(numbers.__getitem__, values), np.int32, len(values))
    return codes, list(numbers)


def by_appearance(keys: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number the distinct keys in the order of their first appearance, and give the index of each one's first.

    >>> number, first = by_appearance(np.array([7, 3, 7]))
    >>> number.tolist(), first.tolist()
    ([0, 1, 0], [0, 1])
    """
    if len(keys) and keys.min() >= 0 and keys.max() < SPARSE * len(keys):
        return _by_place(keys)
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), np.int32)
    rank[order] = np.arange(len(first))
    return rank[number], first[order]


def _by_place(keys: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Do the same for keys so small that each has a place of its own in a list."""
    rows = np.arange(len(keys))
    place = np.empty(int(keys.max()) + 1, np.int64)
    place[keys[::-1]] = rows[::-1]  # the first row of each key is written last
    first = np.flatnonzero(place[keys] == rows)
    place[keys[first]] = rows[: len(first)]
    return place[keys].astype(np.int32), first


@dataclass(frozen=True, slots=True)
class NumberedTexts:
    """The texts of a column, as the event language has them, their events, and what a person should know.

    `titles` has what people wrote in the place of formulas.
    """

    texts: CodedCells
    reading: Reading
    titles: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def number_texts(
    table: Table,
    texts: CodedCells,
    events: Events,
    *,
    plain_events: bool,
    labels: Callable[[], Mapping[str, str]] | None = None,
) -> NumberedTexts:
    """Read the distinct texts of a column and add their events; one error lists all rows that cannot be read.

    With `labels`, which gives those that are known, names may be written as people write them, with spaces: the texts
    and the labels are the dictionary.
    """
    before, spoken = events.calls(), None
    reading = events.add_names(texts.distinct) if plain_events else events.add(texts.distinct)
    if reading.faults and labels is not None:
        declared = set(events.declared)
        faulty = [fault.index for fault in reading.faults if _may_be_a_name(fault, declared)]
        spoken = speak(list(texts.distinct), faulty, labels())
        _refuse_unclear(table, texts, spoken)
        words = [spoken.formulas.get(i, text) for i, text in enumerate(texts.distinct)]
        titles = {words[i]: texts.distinct[i] for i in spoken.formulas}
        events.take_back(before)
        texts, reading = CodedCells(texts.codes, words), events.add(words)
    if reading.faults:
        faults = {fault.index: fault for fault in reading.faults}
        rows = np.flatnonzero(np.isin(texts.codes, list(faults))).tolist()
        spaced = next((fault.spaced for fault in reading.faults if fault.spaced), None)
        remedies = [SPACES.format(spaced.replace('"', '""').join('""'))] if spaced else []
        problems = ProblemList()
        problems.add(rows, lambda row: _unreadable(table, row, faults[int(texts.codes[row])]), remedies)
        problems.check()
    if spoken is None:
        return NumberedTexts(texts, reading)
    return NumberedTexts(texts, reading, titles, tuple(f"{table.source}: {note}" for note in spoken.notes))


def _may_be_a_name(fault: Fault, declared: set[str]) -> bool:
    """Whether a text without quotes cannot be read, and speaks of no declared variable."""
    return fault.kind == "syntax" and '"' not in fault.text and declared.isdisjoint(fault.text.split())


def _refuse_unclear(table: Table, texts: CodedCells, spoken: Spoken) -> None:
    problems = ProblemList()
    rows = np.flatnonzero(np.isin(texts.codes, list(spoken.unclear))).tolist()

    def say(row: int) -> ListedProblem:
        number = int(texts.codes[row])
        ways = ", or ".join(spoken.unclear[number])
        found = f"{texts.distinct[number]!r} can be read in {len(spoken.unclear[number])} ways: {ways}"
        return table.problem(row, None, "unclear-event", found, UNCLEAR)

    problems.add(rows, say, [UNCLEAR])
    problems.check()


def _unreadable(table: Table, row: int, fault: Fault) -> ListedProblem:
    """A fault of an event, with the row of the table that it is in."""
    cell = table.where(row)
    message = f"{table.place(row)}: {fault}"
    return ListedProblem(message, fault.code, fault.where(cell.file, cell.row), fault.remedy)


def name_some(names: Iterable[str]) -> str:
    """Name the first few, and count the rest."""
    listed = list(names)
    more = f" and {len(listed) - SHOWN:,} more" if len(listed) > SHOWN else ""
    return ", ".join(listed[:SHOWN]) + more


def suggest(name: str, names: Sequence[str]) -> str:
    """Suggest names that are spelt nearly like this one or, if there are none, names that contain it.

    >>> suggest("rian", ["rain", "wind"]), suggest("gpt", ["gpt-4-turbo", "gpt-5-mini"]), suggest("snow", ["rain"])
    (" (did you mean 'rain'?)", " (did you mean 'gpt-4-turbo' or 'gpt-5-mini'?)", '')
    """
    plain = {known.casefold(): known for known in names} if len(names) <= MOST_NAMES else {}
    wanted = name.strip('" ').casefold()
    close = difflib.get_close_matches(wanted, plain, 1) or [known for known in plain if wanted and wanted in known]
    return f" (did you mean {' or '.join(repr(plain[known]) for known in close[:3])}?)" if close else ""


def compact_notes(source: str, written: Sequence[str], events: Events, sides: NDArray[np.int32]) -> list[str]:
    """Say which texts look like tickers, such as S&P500, but were read as formulas; no other event has their parts."""
    joined = written.data if isinstance(written, PackedTexts) else np.frombuffer("\n".join(written).encode(), np.uint8)
    after = joined[np.flatnonzero((joined[:-1] == ord("&")) | (joined[:-1] == ord("|"))) + 1]
    if not np.any((after >= ord("A")) & (after <= ord("Z"))):  # no capital behind an operator
        return []
    tight = [i for i, text in enumerate(written) if " " not in text and TICKER.fullmatch(text)]
    if not tight:
        return []
    starts, members = events.supports(sides // 2)
    uses = np.bincount(members)
    alone = [i for i in tight if uses[members[starts[i] : starts[i + 1]]].max(initial=0) == 1]
    named = [f"{written[i]} ({counted(int(starts[i + 1] - starts[i]), 'variable')})" for i in alone]
    return [f"{source}: read as formulas; put quotes around those that are names: {name_some(named)}"] if alone else []


def plain_notes(source: str, texts: Sequence[str], *, related: bool) -> list[str]:
    """Say which names of plain events look like formulas of other names, and whether anything is `related` at all.

    >>> plain_notes("panel.csv", ["rain", "wind", "rain and not wind"], related=True)
    ["panel.csv: with plain events 'rain and not wind' is a name, unrelated to 'rain' and 'wind'; if they are ..."]
    """
    known = {text.casefold(): text for text in texts}
    alike = {text: [part.casefold() for _, part in parts(text) if part != text] for text in dict.fromkeys(texts)}
    formulas = {text: list(dict.fromkeys(filter(known.__contains__, found))) for text, found in alike.items()}
    formulas = {text: found for text, found in formulas.items() if found}
    notes = []
    if formulas:
        text, found = next(iter(formulas.items()))
        others = " and ".join(shorten(repr(known[name]), WIDTH) for name in found)
        more = f", and so are {len(formulas) - 1:,} more such cells" if len(formulas) > 1 else ""
        notes.append(
            f"{source}: with plain events {shorten(repr(text), WIDTH)} is a name, unrelated to {others}{more}; "
            f"if they are related, put the names in quotes instead"
        )
    if not related and len(known) > 1:
        notes.append(
            f"{source}: with plain events and no laws about them nothing relates one event to another, so "
            f"forecasts of two events cannot contradict each other"
        )
    return notes
