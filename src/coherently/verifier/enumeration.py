"""Evaluation of many independent parts at once, for the verifier: row j has world j of every part side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.verifier.distinct_events import first_homes
from coherently.verifier.stop_signal import stop_if_asked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Mask, Vector
    from coherently.panel import Panel
    from coherently.verifier.distinct_events import Distinct

CELLS = 2**25
"""Maximum number of worlds times variables or events in memory."""
MOST_WORLDS = 2**16
"""Enumerate a component only if it has at most this many worlds ..."""
MOST_CELLS = 2**27
"""... and at most this many world-event pairs."""


class Enumeration:
    """All worlds of the components that have few enough: truth assignments that declarations and laws allow.

    `sides` are the events in question and `component` the component of each. World j of a component gives each
    of its free variables a bit of j; a declared variable has a digit of j, its value.
    """

    def __init__(self, panel: Panel, distinct: Distinct, sides: NDArray[np.int32], component: Indices) -> None:
        self.events, self.sides, self.component = panel.events, sides, component
        self.home = distinct.home_of_variable
        self._place_variables(panel)
        counts = np.ones(distinct.n_components)
        known = self.home >= 0
        with np.errstate(over="ignore"):  # an infinite number is too many, too
            np.multiply.at(counts, self.home[known], self.factor[known])
        cells = np.bincount(component, minlength=distinct.n_components) * counts
        self.possible = (counts <= MOST_WORLDS) & (cells <= MOST_CELLS)
        self.counts = np.where(self.possible, counts, 0).astype(np.int64)
        self.laws = panel.laws.side
        self.law_home = first_homes(panel, self.home, self.laws)

    def _place_variables(self, panel: Panel) -> None:
        """The digit of each variable: j // stride % size, and whether it is true at `value`, or up to it."""
        count = len(self.home)
        self.size, self.value = np.full(count, 2, np.int64), np.ones(count, np.int64)
        self.ordered = np.zeros(count, np.bool_)
        self.factor = np.full(count, 2.0)
        first = np.arange(count)
        for choice in panel.events.choices():
            atoms = choice.atoms
            self.size[atoms] = len(atoms) + (choice.ordered or not choice.complete)
            self.value[atoms] = np.arange(len(atoms))
            self.ordered[atoms] = choice.ordered
            self.factor[atoms] = 1.0
            self.factor[atoms[:1]] = self.size[atoms[:1]]
            first[atoms] = atoms[0]
        order = np.argsort(self.home, kind="stable")
        log = np.cumsum(np.log2(self.factor[order]))
        begin = np.searchsorted(self.home[order], self.home[order])
        before = np.where(begin > 0, log[begin - 1], 0.0)
        power = np.empty(count)
        power[order] = log - np.log2(self.factor[order]) - before
        self.stride = np.rint(2.0 ** np.minimum(power, 62.0))[first].astype(np.int64)

    def rows(self, begin: int, end: int, components: Mask) -> Mask:
        """The worlds from `begin` to `end`, of all variables; those of other components are false."""
        worlds = np.zeros((end - begin, len(self.home)), np.bool_)
        used = np.flatnonzero((self.home >= 0) & np.append(components, False)[self.home])
        digit = np.arange(begin, end)[:, None] // self.stride[used] % self.size[used]
        worlds[:, used] = np.where(self.ordered[used], digit <= self.value[used], digit == self.value[used])
        return worlds

    def least(self, coefficients: Vector) -> Vector:
        """The least sum of coefficients of events that hold in a world of each component; NaN where not enumerated."""
        least = np.where(self.possible, np.inf, np.nan)
        order = np.argsort(self.component, kind="stable")
        for begin, end in blocks(self.counts, len(self.home) + len(order)):
            active = self.counts > begin
            mine, laws = order[active[self.component[order]]], np.flatnonzero(np.append(active, False)[self.law_home])
            worlds = self.rows(begin, end, active)
            holds = self.events.evaluate(self.sides[mine], worlds)
            found, starts = np.unique(self.component[mine], return_index=True)
            sums = np.full((end - begin, len(least)), np.inf)
            sums[:, found] = np.add.reduceat(holds * coefficients[mine], starts, axis=1)
            sums[np.arange(begin, end)[:, None] >= self.counts] = np.inf
            broken, law = np.nonzero(~self.events.evaluate(self.laws[laws], worlds))
            sums[broken, self.law_home[laws[law]]] = np.inf
            least = np.where(active, np.minimum(least, sums.min(axis=0)), least)
        return least

    def truths(self, component: int, sides: NDArray[np.int32]) -> Mask:
        """The truth of some events of a component in its possible worlds; one row for each distinct case."""
        one = np.arange(len(self.counts)) == component
        laws = self.laws[self.law_home == component]
        found = []
        for begin, end in blocks(self.counts[component : component + 1], len(self.home) + len(sides)):
            worlds = self.rows(begin, end, one)
            worlds = worlds[self.events.evaluate(laws, worlds).all(axis=1)]
            packed = np.packbits(self.events.evaluate(sides, worlds), axis=1)
            found.append(np.unique(packed, axis=0))
        rows = np.unique(np.concatenate(found), axis=0)
        return np.unpackbits(rows, axis=1, count=len(sides)).astype(np.bool_)


def proved(objective: float, shortfall: float) -> float:
    """The lower bound that the greatest <N(x - q), x - s> over worlds s proves: max(0, f - g)^2 / f.

    >>> round(proved(1.21, 0.11), 6)
    1.0
    """
    return max(0.0, objective - max(0.0, shortfall)) ** 2 / objective if objective > 0 else 0.0


def blocks(counts: NDArray[np.int64], width: int) -> Iterator[tuple[int, int]]:
    """Cut rows into blocks that fit; blocks grow as parts with few worlds are finished."""
    begin, most = 0, int(counts.max(initial=0))
    largest = max(64, CELLS // max(1, width) // 64 * 64)
    while begin < most:
        stop_if_asked()
        end = min(most, begin + min(largest, max(64, begin)))
        yield begin, end
        begin = end
