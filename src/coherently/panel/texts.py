"""Event texts of a table to numbered events, with errors that name the rows."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from coherently.events import Reading
from coherently.panel.table import Problems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.events import Events
    from coherently.panel.table import Table


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
    """Number the distinct keys in the order of their first appearance, and say where each one's first is.

    >>> number, first = by_appearance(np.array([7, 3, 7]))
    >>> number.tolist(), first.tolist()
    ([0, 1, 0], [0, 1])
    """
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), np.int32)
    rank[order] = np.arange(len(first))
    return rank[number], first[order]


def number_texts(table: Table, texts: Sequence[str], events: Events, *, plain_events: bool) -> Reading:
    """Read the text of each row and add its event; texts that cannot be read are raised together."""
    codes, distinct = encode(texts)
    reading = events.add_names(distinct) if plain_events else events.add(distinct)
    if reading.faults:
        faults = {fault.index: fault for fault in reading.faults}
        rows = np.flatnonzero(np.isin(codes, list(faults))).tolist()
        problems = Problems()
        problems.add(rows, lambda row: f"{table.place(row)}: {faults[int(codes[row])]}")
        problems.check()
    return Reading(reading.sides[codes], ())
