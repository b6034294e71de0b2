"""Pins as sums of events that are to be 0, or at least 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import ContradictionError
from coherently.solve.component.objective import place_sides

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.arrays import Indices, Mask, Vector
    from coherently.problem import Limits
    from coherently.solve.component.objective import Sums


class InfeasiblePinsError(ContradictionError):
    """Pins that no distribution over the possible worlds satisfies; `pins` is a minimal such set."""

    def __init__(self, pins: tuple[int, ...]) -> None:
        super().__init__(f"no coherent forecasts satisfy these pins together: {', '.join(map(str, pins))}")
        self.pins = pins


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PinRows:
    """Sums `sign` (P(E & H) - `edge` P(H)) that are to be at least 0, or 0 where `equal`.

    `joint` and `condition` are places in the sides of `size` events; `pin` is the number of the panel's pin.
    """

    size: int
    joint: Indices
    condition: Indices
    sign: Vector
    edge: Vector
    equal: Mask
    pin: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.pin)

    def value(self, sides: Vector) -> Vector:
        """The value of each row; below 0 it is violated."""
        found: Vector = self.sign * (sides[self.joint] - self.edge * sides[self.condition])
        return found

    def violation(self, sides: Vector) -> float:
        """The largest amount by which a row is missed."""
        value = self.value(sides)
        return max(0.0, float(np.max(np.where(self.equal, np.abs(value), -value), initial=0.0)))

    def coefficients(self, prices: Vector) -> tuple[Vector, float]:
        """The sum of price times row: the coefficients of the events that hold, and the value where none holds."""
        size, by = self.size, prices * self.sign
        by_side = np.bincount(self.joint, by, 2 * size + 1) - np.bincount(self.condition, by * self.edge, 2 * size + 1)
        return by_side[:size] - by_side[size : 2 * size], float(by_side[size:].sum())

    def sums(self) -> Sums:
        """The rows in the form of the engine."""
        sides = np.stack([self.joint, self.condition], axis=1)
        factors = np.stack([self.sign, -self.sign * self.edge], axis=1)
        certain = sides == 2 * self.size
        known = ~certain
        starts = np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int64)
        offset = np.where(certain, factors, 0.0).sum(axis=1)
        flat = sides[known]
        turned = flat >= self.size
        coordinates = np.where(turned, flat - self.size, flat).astype(np.int32)
        return starts, coordinates, turned.astype(np.uint8), factors[known], offset

    def of(self, pins: list[int]) -> PinRows:
        """The rows of some pins."""
        rows = np.flatnonzero(np.isin(self.pin, pins))
        return PinRows(
            size=self.size,
            joint=self.joint[rows],
            condition=self.condition[rows],
            sign=self.sign[rows],
            edge=self.edge[rows],
            equal=self.equal[rows],
            pin=self.pin[rows],
        )


def pin_rows(limits: Limits, size: int) -> PinRows:
    """The rows of limits, without those that every probability satisfies."""
    same = limits.low == limits.high
    below, above = np.flatnonzero((limits.low > 0) | same), np.flatnonzero((limits.high < 1) & ~same)
    rows = np.concatenate([below, above])
    return PinRows(
        size=size,
        joint=place_sides(limits.joint, size)[rows],
        condition=place_sides(limits.condition, size)[rows],
        sign=np.repeat([1.0, -1.0], [len(below), len(above)]),
        edge=np.concatenate([limits.low[below], limits.high[above]]),
        equal=same[rows],
        pin=limits.pin[rows],
    )
