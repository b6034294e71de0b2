"""Losses of events as a function of the levels of nodes: the probabilities of literals in an order.

Literals that imply each other are one node. The probability of an event is a sum of levels (see `literal_order`), so
the losses are a convex function f of the levels z, with z_i <= z_j along implications, z >= 0 and z <= 1. The second
derivative of f has entries only where an event joins two nodes, and that of a barrier only where an implication does.
Numbered by the algorithm of Cuthill and McKee, bins and thresholds of k variables with laws between them have a band
of about k entries, so that a system of equations is solved in time in proportion to the number of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently import _core
from coherently.problem.functions import take_rows
from coherently.solve.component.objective import sides_at
from coherently.solve.component.structure.literal_order import sums_at

if TYPE_CHECKING:
    from coherently.arrays import Indices, Vector
    from coherently.solve.component.objective import Objective, Planes
    from coherently.solve.component.structure.literal_order import LiteralOrder


class BandEntries(NamedTuple):
    """Where the products of terms go in the band of a matrix: `flat` places, the `term` of each and its `factor`."""

    flat: Indices
    term: Indices
    factor: Vector


@dataclass(frozen=True, slots=True, eq=False)
class LevelProgram:
    """Nodes numbered along the band; the levels of places `size` and `size + 1` are 0 and 1.

    `place` has the place of each literal. Implications lead from places `below` to places `above`. The matrix of a
    step has entries at most `width` places beside the diagonal, of which the bands say how they are made.
    """

    objective: Objective
    order: LiteralOrder
    size: int
    width: int
    place: Indices
    below: Indices
    above: Indices
    by_terms: BandEntries
    by_slacks: BandEntries

    @property
    def unit(self) -> float:
        """The mean weight of a term."""
        return self.total / max(1, len(self.objective))

    @property
    def total(self) -> float:
        """The sum of all weights."""
        return self.objective.total

    def lost(self, z: Vector) -> float:
        """What the events lose."""
        return self.objective.value(sides_at(self.order.probabilities(self.literals(z))))

    def literals(self, z: Vector) -> Vector:
        """The probabilities of literals."""
        found: Vector = np.concatenate([z, [0.0, 1.0]])[self.place]
        return found

    def slacks(self, z: Vector) -> Vector:
        """The differences z_j - z_i."""
        ends = np.concatenate([z, [0.0, 1.0]])
        found: Vector = ends[self.above] - ends[self.below]
        return found

    def changes(self, dz: Vector) -> Vector:
        """The changes of the slacks."""
        ends = np.concatenate([dz, [0.0, 0.0]])
        found: Vector = ends[self.above] - ends[self.below]
        return found

    def pull(self, y: Vector) -> Vector:
        """The sum of y over implications that end at a node, less that over those that begin there."""
        count = self.size + 2
        return (sums_at(self.above, y, count) - sums_at(self.below, y, count))[: self.size]

    def model(self, z: Vector) -> tuple[Vector, Planes]:
        """The gradient, and the planes of the terms."""
        planes = self.objective.planes(sides_at(self.order.probabilities(self.literals(z))), 0.0)
        by_event = self.objective.coefficients(planes.by_joint, planes.by_condition)[0]
        by_literal = self.order.by_literal(by_event)
        return sums_at(self.place, by_literal, self.size + 2)[: self.size], planes

    def factor(self, planes: Planes, ratio: Vector, raised: float) -> _core.BandFactor:
        """The factor of the second derivative of f plus that of slacks weighed by `ratio`, its diagonal `raised`."""
        total = (self.width + 1) * self.size
        band = sums_at(self.by_terms.flat, self.by_terms.factor * planes.curvature[self.by_terms.term], total)
        band += sums_at(self.by_slacks.flat, self.by_slacks.factor * ratio[self.by_slacks.term], total)
        band[:: self.width + 1] *= 1.0 + raised
        return _core.BandFactor(self.size, self.width, band)

    def damped_factor(self, planes: Planes, damping: float) -> _core.BandFactor:
        """The factor of the second derivative of f, with a part of its largest entry added to the diagonal."""
        total = (self.width + 1) * self.size
        band = sums_at(self.by_terms.flat, self.by_terms.factor * planes.curvature[self.by_terms.term], total)
        diagonal = band[:: self.width + 1]
        diagonal += damping * float(diagonal.max(initial=1.0))
        return _core.BandFactor(self.size, self.width, band)

    def pooled(self, z: Vector, tight: Indices) -> tuple[LevelProgram, Vector, Indices] | None:
        """The program with the ends of some implications made one node, levels for it, and the new place of each.

        None if 0 would be 1.
        """
        every = np.arange(self.size + 2)
        rows = np.concatenate(
            [np.stack([self.below[tight], self.above[tight]], axis=1), np.stack([every, every], axis=1)]
        )
        starts = np.arange(0, 2 * len(rows) + 1, 2, dtype=np.int64)
        label = _core.connected_rows(starts, rows.ravel().astype(np.int32), len(every))[len(tight) :]
        zero, one = int(label[-2]), int(label[-1])
        if zero == one:
            return None
        free = np.ones(int(label.max()) + 1, np.bool_)
        free[[zero, one]] = False
        size = int(np.count_nonzero(free))
        number = np.where(free, np.cumsum(free) - 1, size)
        number[one] = size + 1
        node = number[label]
        below, above = node[self.below], node[self.above]
        apart = below != above
        made = arranged(
            self.objective, self.order, node=node[self.place], below=below[apart], above=above[apart], size=size
        )
        if made is None:
            return None
        program, places = made
        own = node[: self.size]
        mean = sums_at(own, z, size + 2)[:size] / np.bincount(own, minlength=size + 2)[:size]
        return program, mean[np.argsort(places)], np.append(places, [size, size + 1])[own]


MOST_WORK = 2e8
"""Maximum number of multiplications of a step: nodes times the square of the band."""


def level_program(order: LiteralOrder, objective: Objective) -> tuple[LevelProgram, Vector] | None:
    """The program of an order, and levels strictly inside; None if its band is too wide."""
    size, node = order.order.n_nodes, order.order.nodes().astype(np.int64)
    first, second = order.order.implications().astype(np.int64).T
    lowest, highest = np.ones(size, np.bool_), np.ones(size, np.bool_)
    lowest[second], highest[first] = False, False
    bottom, top = np.flatnonzero(lowest), np.flatnonzero(highest)
    below = np.concatenate([first, np.full(len(bottom), size), top])
    above = np.concatenate([second, bottom, np.full(len(top), size + 1)])
    found = arranged(objective, order, node=node, below=below, above=above, size=size)
    return None if found is None else (found[0], order.order.inner_levels()[np.argsort(found[1])])


def arranged(
    objective: Objective, order: LiteralOrder, *, node: Indices, below: Indices, above: Indices, size: int
) -> tuple[LevelProgram, Indices] | None:
    """The program with its nodes numbered along the band, and these numbers; `node` has the node of each literal."""
    starts, entry = _entries(order, objective)
    first, second = pairs_within(starts)
    literal = node[order.literal[entry]]
    inner = (literal[first] < size) & (literal[second] < size)
    first, second = first[inner], second[inner]
    within = np.flatnonzero((below < size) & (above < size))
    ends = [np.append(literal[one], end[within]).astype(np.int32) for one, end in ((first, below), (second, above))]
    number = _core.band_order(size, *ends).astype(np.int64)
    width = int(np.abs(number[ends[0]] - number[ends[1]]).max(initial=0))
    if size * (width + 1.0) ** 2 > MOST_WORK:
        return None
    places = np.append(number, [size, size + 1])
    i, j = places[literal[first]], places[literal[second]]
    lower = i >= j
    term = np.repeat(np.arange(len(objective)), np.diff(starts) ** 2)[inner]
    factor = order.factor[entry[first]] * order.factor[entry[second]]
    program = LevelProgram(
        objective=objective,
        order=order,
        size=size,
        width=width,
        place=places[node],
        below=places[below],
        above=places[above],
        by_terms=BandEntries((j * (width + 1) + i - j)[lower], term[lower], factor[lower]),
        by_slacks=_slack_band(places[below], places[above], size, width + 1),
    )
    return program, number


def _entries(order: LiteralOrder, objective: Objective) -> tuple[Indices, Indices]:
    """The entries of each term's event, as starts and members."""
    by_event = np.argsort(order.event, kind="stable")
    counts = np.bincount(order.event, minlength=len(order.constant))
    return take_rows(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), by_event, objective.joint)


def pairs_within(starts: Indices) -> tuple[Indices, Indices]:
    """All ordered pairs of members of the same row, members with themselves included."""
    count = np.diff(starts)
    squares = count**2
    row = np.repeat(np.arange(len(count)), squares)
    inside = np.arange(len(row)) - np.repeat(np.cumsum(squares) - squares, squares)
    return starts[row] + inside // count[row], starts[row] + inside % count[row]


def _slack_band(below: Indices, above: Indices, size: int, across: int) -> BandEntries:
    """Each slack z_j - z_i adds its ratio to both diagonal entries, and takes it from the entry of i and j."""
    up, down = np.flatnonzero(above < size), np.flatnonzero(below < size)
    inner = np.intersect1d(up, down, assume_unique=True)
    low, high = np.minimum(below, above)[inner], np.maximum(below, above)[inner]
    return BandEntries(
        np.concatenate([above[up] * across, below[down] * across, low * across + high - low]),
        np.concatenate([up, down, inner]),
        np.concatenate([np.ones(len(up) + len(down)), -np.ones(len(inner))]),
    )
