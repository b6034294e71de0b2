"""The nearest numbers of a grid, each beside its true value, that keep relations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coherently.arrays import Indices, Mask, Vector

NODES = 1_000
"""Maximum number of nodes of a search; without an answer by then, there counts as none."""
ORDER = 1e-7
"""What it costs to round up one event rather than an earlier one that is as near: ties go to the earlier."""


@dataclass(frozen=True, slots=True)
class Row:
    """The sum of some whole numbers, each times its sign, lies between `least` and `most`."""

    members: tuple[int, ...]
    signs: tuple[int, ...]
    least: float
    most: float

    def holds(self, chosen: Indices) -> bool:
        """Whether numbers keep it."""
        return self.least <= sum(s * int(chosen[i]) for i, s in zip(self.members, self.signs, strict=True)) <= self.most

    def can_break(self, low: Indices, high: Indices) -> bool:
        """Whether some numbers between `low` and `high` break it."""
        ends = [
            (low[i], high[i]) if s > 0 else (-high[i], -low[i]) for i, s in zip(self.members, self.signs, strict=True)
        ]
        return sum(int(a) for a, _ in ends) < self.least or sum(int(b) for _, b in ends) > self.most


def search_grid(
    target: Vector, low: Indices, high: Indices, chosen: Indices, rows: Sequence[Row], shown: Indices
) -> Indices | None:
    """Change as little as needed of the numbers `chosen`, so that they keep all rows; None if that cannot be.

    Each number is `low` or `high`, the whole numbers on either side of its `target`. Numbers that no chain of rows
    leads to from a broken one stay. Of all choices, the one with the least sum of distances from the targets is taken;
    each distance counts as often as its number is `shown`.
    """
    active = [row for row in rows if row.can_break(low, high)]
    broken = [row for row in active if not row.holds(chosen)]
    if not broken:
        return chosen
    free = low < high
    home = _homes(len(target), active, free)
    wanted = {home[i] for row in broken for i in row.members if free[i]}
    if any(not free[list(row.members)].any() for row in broken):
        return None
    found = chosen.copy()
    for one in sorted(wanted):
        own = np.flatnonzero((home == one) & free)
        mine = [row for row in active if any(free[i] and home[i] == one for i in row.members)]
        cost = shown[own] * (1.0 - 2.0 * (target[own] - low[own]))
        up = _rounded_up(cost, own, mine, np.where(free, low, chosen))
        if up is None:
            return None
        found[own] = low[own] + up
    return found


def _homes(count: int, rows: Iterable[Row], free: Mask) -> Indices:
    """Numbers that rows tie together, directly or through others, have one home; only those that are free count."""
    home = list(range(count))

    def root(i: int) -> int:
        while home[i] != i:
            home[i] = home[home[i]]
            i = home[i]
        return i

    for row in rows:
        own = [root(i) for i in row.members if free[i]]
        for i in own:
            home[root(i)] = root(own[0])
    return np.array([root(i) for i in range(count)])


def _rounded_up(cost: Vector, own: Indices, rows: Sequence[Row], base: Indices) -> Indices | None:
    """Which of some numbers are 1 above their `base`: the least sum of costs, by a program in zeros and ones."""
    import highspy

    place = {int(i): k for k, i in enumerate(own)}
    solver: Any = highspy.Highs()
    solver.silent()
    for name, value in (("threads", 1), ("mip_rel_gap", 0.0), ("mip_abs_gap", 0.1 * ORDER), ("mip_max_nodes", NODES)):
        solver.setOptionValue(name, value)
    count = len(own)
    solver.addVars(count, np.zeros(count), np.ones(count))
    index = np.arange(count, dtype=np.int32)
    solver.changeColsCost(count, index, cost + ORDER * index)
    solver.changeColsIntegrality(count, index, np.full(count, highspy.HighsVarType.kInteger))
    for row in rows:
        fixed = sum(s * int(base[i]) for i, s in zip(row.members, row.signs, strict=True))
        free = [(place[i], s) for i, s in zip(row.members, row.signs, strict=True) if i in place]
        columns, signs = np.array([k for k, _ in free], np.int32), np.array([s for _, s in free], np.float64)
        solver.addRow(row.least - fixed, row.most - fixed, len(free), columns, signs)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    up: Indices = np.rint(np.array(solver.getSolution().col_value)).astype(np.int64)
    return up
