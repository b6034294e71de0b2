"""Sets of events of which exactly one comes true."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.problem.functions import LARGEST_TABLE
from coherently.problem.spaces.space import BlockForm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem.problem import Problem


def partitions(problem: Problem) -> list[NDArray[np.int64]]:
    """Find partitions among the units: sets of which exactly one comes true; no unit is in two of them.

    First are the values of declared variables, and variables of which a law says that exactly one is true, if all are
    forecast. Then follow units over the same variables that exclude each other and leave nothing out, gathered in their
    order; an event and its complement, given the same condition or none, are the simplest of these.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> texts = ["p & q", "r", "p & ~q", "~p & q", "~r", "~p & ~q"]
    >>> problem = pose(Panel.from_records([("Ann", text, 0.5) for text in texts]))
    >>> [units.tolist() for units in partitions(problem)]
    [[0, 2, 3, 5], [1, 4]]
    """
    found = _of_blocks(problem)
    taken = np.zeros(len(problem.coordinate), np.bool_)
    taken[[unit for units in found for unit in units]] = True
    for alike in _over_the_same(problem):
        truths = {unit: _truth(problem, unit) for unit in alike if not taken[unit]}
        found += [np.array(units) for units in _covers(truths, _everything(problem, alike[0]))]
    return found


def _of_blocks(problem: Problem) -> list[NDArray[np.int64]]:
    """The units that are the variables of a block in which exactly one is true."""
    merged = problem.merged
    blocks = [
        block.variables
        for block in merged.space.blocks
        if len(block.variables) > 1 and block.form is BlockForm.EXACTLY_ONE
    ]
    if not blocks:
        return []
    plain = np.flatnonzero(~problem.conditional & ~problem.complemented)
    plain = plain[merged.sizes()[problem.coordinate[plain]] == 1]
    place = np.full(merged.n_variables, -1, np.int64)
    place[merged.functions.variables[merged.functions.starts[problem.coordinate[plain]]]] = plain
    return [place[variables] for variables in blocks if (place[variables] >= 0).all()]


def _over_the_same(problem: Problem) -> list[list[int]]:
    """Units over the same variables, or conditionals that differ only by a complement, if there are two or more."""
    merged = problem.merged
    small = (merged.sizes() <= LARGEST_TABLE).tolist()
    groups: dict[bytes | int, list[int]] = {}
    pairs = zip(problem.coordinate.tolist(), problem.conditional.tolist(), strict=True)
    for unit, (j, conditional) in enumerate(pairs):
        if conditional:
            groups.setdefault(j, []).append(unit)
        elif small[j]:
            groups.setdefault(merged.functions.of(j).tobytes(), []).append(unit)
    return [units for units in groups.values() if len(units) > 1]


def _truth(problem: Problem, unit: int) -> int:
    """The truth table of a unit as bits of a number; for a conditional, the worlds in which its condition holds."""
    table = 1
    if not problem.conditional[unit]:
        words = problem.merged.functions.words(int(problem.coordinate[unit]))
        table = int.from_bytes(words.astype("<u8").tobytes(), "little")
    return _everything(problem, unit) ^ table if problem.complemented[unit] else table


def _everything(problem: Problem, unit: int) -> int:
    if problem.conditional[unit]:
        return 3
    return (1 << (1 << len(problem.merged.functions.of(int(problem.coordinate[unit]))))) - 1


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
