"""Sets of events of which exactly one comes true."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.events import CERTAIN
from coherently.problem.truths import LARGEST_TABLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from coherently.panel import Panel
    from coherently.problem.problem import Merged, Problem


def partitions(problem: Problem, declared: Iterable[NDArray[np.int64]] = ()) -> list[NDArray[np.int64]]:
    """Find partitions among the units: sets of which exactly one comes true; no unit is in two of them.

    Those declared come first, the largest before others; then units over the same variables that exclude each other
    and leave nothing out, gathered in their order; an event and its complement are the simplest of these.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> texts = ["p & q", "r", "p & ~q", "~p & q", "~r", "~p & ~q"]
    >>> problem = pose(Panel.from_records([("Ann", text, 0.5) for text in texts]))
    >>> [units.tolist() for units in partitions(problem)]
    [[0, 2, 3, 5], [1, 4]]
    """
    found = []
    taken = np.zeros(len(problem.coordinate), np.bool_)
    for units in sorted(declared, key=len, reverse=True):
        if not taken[units].any():
            taken[units] = True
            found.append(units)
    for alike in _over_the_same(problem.merged, problem.coordinate):
        truths = {unit: _truth(problem, unit) for unit in alike.tolist() if not taken[unit]}
        found += [
            np.array(units) for units in _covers(truths, _everything(problem.merged, problem.coordinate[alike[0]]))
        ]
    return found


def declared_partitions(panel: Panel) -> list[NDArray[np.int64]]:
    """The written events of a panel that a declared variable or a law `exactly(1; ...)` makes a partition."""
    events = panel.events
    starts, variables = events.supports(panel.written.event // 2)
    plain = (np.diff(starts) == 1) & (panel.written.event % 2 == 0) & (panel.written.condition == CERTAIN)
    rows = np.flatnonzero(plain)
    place = np.full(len(events.variables), -1, np.int64)
    place[variables[starts[rows]]] = rows
    sets = [choice.atoms for choice in events.choices() if choice.complete and not choice.ordered]
    sets += _exactly_one(panel)
    return [place[atoms] for atoms in sets if len(atoms) > 1 and (place[atoms] >= 0).all()]


def _exactly_one(panel: Panel) -> list[NDArray[np.int32]]:
    """The variables of each law that says that exactly one of them is true."""
    sides = np.unique(panel.laws.side)
    starts, variables = panel.events.supports(sides // 2)
    table_starts, tables = panel.events.tables(sides // 2)
    found = []
    for i in np.flatnonzero(np.diff(starts) > 1).tolist():
        own = variables[starts[i] : starts[i + 1]]
        table = _number(tables[table_starts[i] : table_starts[i + 1]])
        if _is_one_of(table, len(own), complemented=bool(sides[i] % 2)):
            found.append(own)
    return found


def _is_one_of(table: int, size: int, *, complemented: bool) -> bool:
    """Whether a truth table, or a cardinality's counts, is that of exactly one of its variables."""
    if size > LARGEST_TABLE:
        words = -(-size // 64) * 64
        counted, counts = table & ((1 << words) - 1), table >> words
        flipped = counted == 0
        one = 1 << (size - 1 if flipped else 1)
        every = (1 << (size + 1)) - 1
        return counted in (0, (1 << size) - 1) and (every ^ counts if complemented else counts) == one
    one = sum(1 << (1 << i) for i in range(size))
    every = (1 << (1 << size)) - 1
    return (every ^ table if complemented else table) == one


def _number(words: NDArray[np.uint64]) -> int:
    """Words of bits, the low ones first, as one number."""
    return int.from_bytes(words.astype("<u8").tobytes(), "little")


def _over_the_same(merged: Merged, coordinate: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """Units over the same variables and under the same condition, where there are two or more."""
    groups: dict[tuple[int, bytes], list[int]] = {}
    small = (merged.sizes() <= LARGEST_TABLE).tolist()
    for unit, j in enumerate(coordinate.tolist()):
        if small[j]:
            key = merged.variables[merged.starts[j] : merged.starts[j + 1]].tobytes()
            if merged.condition[j] != CERTAIN:
                # Only "E given H" and "~E given H" are known to be apart: what else H grants is not looked at.
                key = b"given" + int(j).to_bytes(4, "little")
            groups.setdefault((int(merged.condition[j]), key), []).append(unit)
    return [np.array(units) for units in groups.values() if len(units) > 1]


def _truth(problem: Problem, unit: int) -> int:
    merged, j = problem.merged, problem.coordinate[unit]
    if merged.condition[j] != CERTAIN:
        return 2 if problem.complemented[unit] else 1
    table = _number(merged.tables[merged.table_starts[j] : merged.table_starts[j + 1]])
    return _everything(merged, j) ^ table if problem.complemented[unit] else table


def _everything(merged: Merged, j: int) -> int:
    if merged.condition[j] != CERTAIN:
        return 3
    return (1 << (1 << int(merged.starts[j + 1] - merged.starts[j]))) - 1


def _covers(truths: dict[int, int], everything: int) -> list[list[int]]:
    """Take each truth table in turn and add later ones that are disjoint from all so far, until nothing is left."""
    found = []
    free = dict(truths)
    for unit, start in truths.items():
        if unit not in free:
            continue
        own, union = [unit], start
        for other, table in free.items():
            if other != unit and table & union == 0:
                own.append(other)
                union |= table
        if union == everything and len(own) > 1:
            found.append(own)
            for used in own:
                del free[used]
    return found
