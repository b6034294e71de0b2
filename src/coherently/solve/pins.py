"""Limits on probabilities, as functions of the events that are to be at least 0, and mixtures that keep them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.errors import ContradictionError
from coherently.solve.scores import Affine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem import Limits, Merged, Sides
    from coherently.solve.oracle import Oracle
    from coherently.solve.scores import Squares

    Vector: TypeAlias = "NDArray[np.float64]"
    Truth: TypeAlias = "NDArray[np.uint8]"

KEPT = 1e-9
"""What a probability may miss its limit by, summed over all limits."""


class InfeasiblePinsError(ContradictionError):
    """Pins that no distribution over the possible worlds satisfies; `pins` are as few as make the contradiction."""

    def __init__(self, pins: tuple[int, ...]) -> None:
        super().__init__(f"no coherent forecasts satisfy these pins together: {', '.join(map(str, pins))}")
        self.pins = pins


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Rows `by_joint` a + `by_condition` h >= 0, or = 0 where `equal`, with a = P(E & H) and h = P(H).

    `pin` is the number of the panel's pin.
    """

    joint: Sides
    condition: Sides
    by_joint: Vector
    by_condition: Vector
    equal: NDArray[np.bool_]
    pin: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.pin)

    def value(self, x: Vector) -> Vector:
        """How much each row has left; below 0 it is violated."""
        found: Vector = self.by_joint * self.joint.probability(x) + self.by_condition * self.condition.probability(x)
        return found

    def violation(self, x: Vector) -> float:
        """The largest amount by which a row is missed."""
        value = self.value(x)
        return float(np.max(np.where(self.equal, np.abs(value), -value), initial=0.0))

    def gradient(self, prices: Vector, size: int) -> Vector:
        """The derivatives of the sum of price times row by coordinates."""
        return Affine(self.joint).pull(prices * self.by_joint, size) + Affine(self.condition).pull(
            prices * self.by_condition, size
        )

    def squares(self, prices: Vector, stiffness: float, x: Vector) -> Squares:
        """The squares of the augmented Lagrangian (Hestenes 1969) for the rows that bind at x and these prices."""
        rows = np.flatnonzero(self.equal | (self.value(x) < prices / stiffness))
        sides = [Affine(self.joint), Affine(self.condition)]
        factors = [self.by_joint, self.by_condition]
        offset = sum(factor * side.offset for factor, side in zip(factors, sides, strict=True))
        return (
            2 * np.arange(len(rows) + 1),
            np.stack([side.coordinate[rows] for side in sides], axis=1).ravel().astype(np.int32),
            np.stack([(factor * side.sign)[rows] for factor, side in zip(factors, sides, strict=True)], axis=1).ravel(),
            np.full(len(rows), 0.5 * stiffness),
            (prices / stiffness - offset)[rows],
        )

    def in_worlds(self, truth: Vector) -> Vector:
        """The rows in worlds, a column a row; `truth` is that of the coordinates."""
        return self.by_joint * in_worlds(self.joint, truth) + self.by_condition * in_worlds(self.condition, truth)

    def of(self, pins: list[int]) -> Bounds:
        """The rows of some pins."""
        rows = np.flatnonzero(np.isin(self.pin, pins))
        number = np.arange(1 + max(self.joint.coordinate.max(), self.condition.coordinate.max()))
        return Bounds(
            self.joint.take(rows, number),
            self.condition.take(rows, number),
            self.by_joint[rows],
            self.by_condition[rows],
            self.equal[rows],
            self.pin[rows],
        )


def in_worlds(sides: Sides, truth: Vector) -> Vector:
    """The truth of sides in worlds, a row a world."""
    value = np.hstack([truth, np.ones((len(truth), 1))])[:, sides.coordinate]
    return np.where(sides.turned, 1.0 - value, value)


def bounds_of(limits: Limits) -> Bounds:
    """The rows of limits, without those that every probability keeps."""
    same = limits.low == limits.high
    below, above = np.flatnonzero((limits.low > 0) | same), np.flatnonzero((limits.high < 1) & ~same)
    rows = np.concatenate([below, above])
    sign = np.repeat([1.0, -1.0], [len(below), len(above)])
    edge = np.concatenate([limits.low[below], limits.high[above]])
    number = np.arange(1 + max(limits.joint.coordinate.max(initial=0), limits.condition.coordinate.max(initial=0)))
    return Bounds(
        limits.joint.take(rows, number),
        limits.condition.take(rows, number),
        sign,
        -sign * edge,
        same[rows],
        limits.pin[rows],
    )


def feasible_mixture(part: Merged, bounds: Bounds, oracle: Oracle, worlds: Truth) -> tuple[Truth, Vector]:
    """Worlds and shares that keep all rows, beginning with some worlds; an error names pins that none keeps."""
    found = _least_violation(part, bounds, oracle, worlds)
    if found.shares is not None:
        return found.worlds, found.shares
    pins = sorted(set(bounds.pin[found.blamed].tolist()))
    for pin in list(pins):
        fewer = [other for other in pins if other != pin]
        if fewer and _least_violation(part, bounds.of(fewer), oracle, found.worlds).shares is None:
            pins = fewer
    raise InfeasiblePinsError(tuple(pins))


@dataclass(frozen=True, slots=True, eq=False)
class _Violation:
    """Shares that violate nothing, or None, and then the rows that prove it."""

    worlds: Truth
    shares: Vector | None
    blamed: NDArray[np.bool_]


def _least_violation(part: Merged, bounds: Bounds, oracle: Oracle, worlds: Truth) -> _Violation:
    """Minimise the sum of the violations by column generation.

    With prices y of the rows in [-1, 1], no mixture violates them by less than the least of - <y, rows> over worlds.
    """
    while True:
        truth = part.functions.hold(worlds).astype(np.float64)
        share, prices, least = _elastic(bounds.in_worlds(truth), bounds.equal)
        blamed = np.abs(prices) > KEPT
        if least <= KEPT:
            return _Violation(worlds, share, blamed)
        coefficients = -bounds.gradient(prices, len(part))
        constant = -float(prices @ bounds.value(np.zeros(len(part))))
        found = oracle.least(coefficients, _PATIENCE, KEPT)
        if found.bound + constant > KEPT:
            return _Violation(worlds, None, blamed)
        if found.value + constant >= least - KEPT or (worlds == found.world).all(axis=1).any():
            return _Violation(worlds, None, blamed)
        worlds = np.vstack([worlds, found.world])


_PATIENCE = 60.0  # seconds for the best world
_FEASIBLE = 1e-10  # what a row may be off in the program: less than KEPT, which its answer is held against


def _elastic(rows: Vector, equal: NDArray[np.bool_]) -> tuple[Vector, Vector, float]:
    """The shares of the least violation, the prices of the rows, and that violation."""
    from scipy.optimize import linprog

    worlds, count = rows.shape
    even = np.flatnonzero(equal)
    lacking = np.hstack([-np.eye(count), np.eye(count)[:, even]])
    answer = linprog(
        np.concatenate([np.zeros(worlds), np.ones(count + len(even))]),
        A_ub=np.hstack([-rows.T, lacking])[~equal] if len(even) < count else None,
        b_ub=np.zeros(count - len(even)) if len(even) < count else None,
        A_eq=np.vstack(
            [np.concatenate([np.ones(worlds), np.zeros(count + len(even))]), np.hstack([-rows.T, lacking])[equal]]
        ),
        b_eq=np.concatenate([[1.0], np.zeros(len(even))]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": _FEASIBLE, "dual_feasibility_tolerance": _FEASIBLE},
    )
    share = np.maximum(answer.x[:worlds], 0.0)
    prices = np.empty(count)
    if len(even) < count:
        prices[~equal] = -answer.ineqlin.marginals
    prices[equal] = -answer.eqlin.marginals[1:]
    return share / share.sum(), prices, float(answer.fun)
