"""What an answer loses: one convex function of the events, whatever was forecast, and its quadratic models.

Every forecast is one term N h d(u / h, t) with u = P(E & H) and h = P(H). A plain forecast has h = 1; an interval has
t = the nearest point to u / h in [low, high]. With r = u / h the derivatives are

    by u: N d'(r),   by h: N (d(r) - r d'(r)),   second: (N d''(r) / h) (1, -r)(1, -r)^T,

so that c = u - r0 h is the only direction in which a term bends at r0 = u0 / h0. A linearised conditional is the square
N (u - t h)^2. The term is convex and homogeneous in (u, h): the plane through any ratio r at all,

    N (d'(r) u + (d(r) - r d'(r)) h),

lies below it. That bounds the sum, also where h = 0 and no derivative exists.

Where a condition vanishes, a term is smoothed by a mass eps in which the forecast stands: u + eps t, h + eps instead of
u, h. The sum lies below the loss then, and r tends to the forecast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem import Loss, Merged, Sides

    Vector: TypeAlias = "NDArray[np.float64]"
    Index: TypeAlias = "NDArray[np.int64]"
    Sums: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8], Vector, Vector]"

STEEPEST = 1e12
"""The most curvature that a model takes over, times the weight."""
EDGE = 1e-14
"""Ratios are taken no nearer to 0 and 1 than this where the loss is infinitely steep there."""
MILD = 200.0
"""The most curvature, times the weight, of the model at the forecasts."""
TIE = 1e-6
"""The curvature inside an interval, times the weight: it breaks ties towards the middle."""


class Planes(NamedTuple):
    """A plane below each term: `by_joint` u + `by_condition` h + `constant`, at ratios with their curvatures."""

    ratio: Vector
    by_joint: Vector
    by_condition: Vector
    constant: Vector
    curvature: Vector


class Model(NamedTuple):
    """Costs of events, and the weights of squares of sums of events: what the engine minimises."""

    cost: Vector
    rows: Sums
    weight: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """Terms as arrays. `joint` and `condition` are places in the sides of `size` events (see `place_sides`).

    `certain` marks the terms that are about no condition, `linear` the linearised ones; where `settled` is 0 or 1 the
    possible worlds leave the ratio no choice (NaN elsewhere).
    """

    loss: Loss
    size: int
    joint: Index
    condition: Index
    weight: Vector
    low: Vector
    high: Vector
    linear: NDArray[np.bool_]
    settled: Vector

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Which terms have no condition."""
        found: NDArray[np.bool_] = self.condition == 2 * self.size
        return found

    @property
    def called_off(self) -> NDArray[np.bool_]:
        """Which terms count only where their condition holds."""
        return ~self.certain & ~self.linear

    @property
    def middle(self) -> Vector:
        """The forecasts; of an interval its middle."""
        found: Vector = 0.5 * (self.low + self.high)
        return found

    @property
    def is_steep(self) -> bool:
        """Whether the loss is infinitely steep at 0 or 1."""
        return not bool(np.isfinite(self.loss.curvature(np.array([0.0, 1.0]))).all())

    def value(self, sides: Vector) -> float:
        """The sum of the terms at probabilities of sides."""
        return float(self.values(sides).sum())

    def values(self, sides: Vector, eps: float = 0.0) -> Vector:
        """Each term, smoothed by a mass."""
        u, h = self._smoothed(sides, eps)
        r = np.divide(u, h, out=self.middle, where=h > 0)
        r = np.clip(r, 0.0, 1.0, out=r)
        t = np.clip(r, self.low, self.high)
        lost = h * self.loss.divergence(r, t)
        if self.linear.any():
            lost = np.where(self.linear, np.square(u - np.clip(r, self.low, self.high) * h), lost)
        found: Vector = self.weight * lost
        return found

    def planes(self, sides: Vector, eps: float = 0.0) -> Planes:
        """The planes at the ratios of these sides, smoothed by a mass."""
        u, h = self._smoothed(sides, eps)
        r = np.divide(u, h, out=self.middle, where=h > 0)
        edge = EDGE if self.is_steep else 0.0
        r = np.clip(r, edge, 1.0 - edge, out=r)
        free = np.isnan(self.settled)
        r = np.where(free, r, np.nan_to_num(self.settled))
        t = np.clip(r, self.low, self.high)
        bent = free & ((r < self.low) | (r > self.high) | (self.low == self.high))
        by_ratio = np.where(free, self.weight * (self.loss.gradient(r) - self.loss.gradient(t)), 0.0)
        by_condition = self.weight * self.loss.divergence(r, t) - r * by_ratio
        inner = self.weight * np.minimum(self.loss.curvature(np.where(free, r, 0.5)), STEEPEST)
        curvature = np.where(bent, inner / np.maximum(h, 1e-300), 0.0)
        curvature = np.minimum(curvature, STEEPEST * self.weight)
        constant = np.zeros(len(self))
        if self.linear.any():
            away = u - t * h
            pull = np.where(self.linear, 2.0 * self.weight * away, 0.0)
            by_ratio = np.where(self.linear, pull, by_ratio)
            by_condition = np.where(self.linear, -t * pull, by_condition)
            constant -= 0.5 * pull * away
            curvature = np.where(self.linear, np.where(self._is_bent(r), 2.0 * self.weight, 0.0), curvature)
            r = np.where(self.linear, t, r)
        return Planes(r, by_ratio, by_condition, constant, curvature)

    def _is_bent(self, r: Vector) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = (r < self.low) | (r > self.high) | (self.low == self.high)
        return found

    def _smoothed(self, sides: Vector, eps: float) -> tuple[Vector, Vector]:
        u, h = sides[self.joint], sides[self.condition]
        if eps > 0:
            given = self.called_off & np.isnan(self.settled)
            u, h = u + np.where(given, eps * self.middle, 0.0), h + np.where(given, eps, 0.0)
        return np.minimum(u, h), h

    def smoothing(self, planes: Planes, eps: float) -> float:
        """What the mass adds to the planes."""
        given = self.called_off & np.isnan(self.settled)
        return eps * float(((planes.by_joint * self.middle + planes.by_condition) * given).sum())

    def coefficients(self, by_joint: Vector, by_condition: Vector) -> tuple[Vector, float]:
        """A function of sides as one of the events that hold, and what it is where none does."""
        size = self.size
        by_side = np.bincount(self.joint, by_joint, 2 * size + 1) + np.bincount(
            self.condition, by_condition, 2 * size + 1
        )
        return by_side[:size] - by_side[size : 2 * size], float(by_side[size:].sum())

    def model(self, planes: Planes, eps: float, *, tied: bool) -> Model:
        """The quadratic model at the ratios of planes; what is free inside an interval is `tied` to its middle.

        Or else it is held a little where it is: full steps with no curvature at all would cycle.
        """
        away = np.where(self.certain, -planes.ratio, 0.0)
        if eps > 0:
            away += np.where(self.called_off, eps * (self.middle - planes.ratio), 0.0)
        cost, _ = self.coefficients(
            np.where(self.linear, 0.0, planes.by_joint), np.where(self.linear, 0.0, planes.by_condition)
        )
        rows, weight = self._rows(planes.ratio, away), planes.curvature
        flat = np.flatnonzero(self.low < self.high)
        if len(flat):
            centre = self.middle if tied else planes.ratio
            ties = self._rows(centre, np.where(self.certain, -centre, 0.0), flat)
            rows = _joined(rows, ties)
            weight = np.concatenate([weight, TIE * self.weight[flat]])
        return Model(cost, rows, weight)

    def first_model(self) -> Model:
        """The model at the forecasts, which needs no answer to begin at."""
        middle = self.middle
        weight = self.weight * np.minimum(self.loss.curvature(middle), MILD)
        away = np.where(self.certain, -middle, 0.0)
        return Model(np.zeros(self.size), self._rows(middle, away), weight)

    def _rows(self, ratio: Vector, away: Vector, some: Index | None = None) -> Sums:
        """The sums u - ratio h + away."""
        index = np.arange(len(self)) if some is None else some
        joint, condition, certain = self.joint[index], self.condition[index], self.certain[index]
        width = np.where(certain, 1, 2)
        starts = np.concatenate([[0], np.cumsum(width)])
        sides, factors = np.empty(starts[-1], np.int64), np.ones(starts[-1])
        sides[starts[:-1]] = joint
        second = starts[:-1][~certain] + 1
        sides[second], factors[second] = condition[~certain], -ratio[index][~certain]
        turned = sides >= self.size
        coordinates = np.where(turned, sides - self.size, sides).astype(np.int32)
        # What is certain stands as a joint event of its own where a forecast is of it.
        return starts, coordinates, turned.astype(np.uint8), factors, away[index]


def _joined(first: Sums, second: Sums) -> Sums:
    return (
        np.concatenate([first[0], first[0][-1] + second[0][1:]]),
        np.concatenate([first[1], second[1]]),
        np.concatenate([first[2], second[2]]),
        np.concatenate([first[3], second[3]]),
        np.concatenate([first[4], second[4]]),
    )


def place_sides(sides: Sides, size: int) -> Index:
    """The places of sides among the events, then their complements, then what is certain."""
    coordinate = sides.coordinate.astype(np.int64)
    return np.where(coordinate < 0, 2 * size, coordinate + size * sides.turned)


def objective_of(part: Merged, loss: Loss, *, linearised: bool = False) -> Objective:
    """The terms of a component's forecasts, without those of no weight."""
    given, intervals, size = part.terms.conditionals, part.terms.intervals, len(part)
    plain, about = np.flatnonzero(part.weight > 0), np.flatnonzero(given.weight > 0)
    if not len(part.terms):
        return Objective(
            loss,
            size,
            plain,
            np.full(len(plain), 2 * size),
            part.weight[plain],
            part.mean[plain],
            part.mean[plain],
            np.zeros(len(plain), np.bool_),
            np.full(len(plain), np.nan),
        )
    single = np.flatnonzero(~intervals.conditional & (intervals.weight > 0))
    other = np.flatnonzero(intervals.conditional & (intervals.weight > 0))
    pair = np.concatenate([about, intervals.about[other]]).astype(np.int64)
    alone = np.concatenate([plain, intervals.about[single]]).astype(np.int64)
    low, high = np.minimum(intervals.low, loss.clipped(1.0)), np.maximum(intervals.high, loss.clipped(0.0))
    linear = np.repeat([False, linearised], [len(alone), len(pair)])
    return Objective(
        loss,
        size,
        np.concatenate([alone, place_sides(given.joint, size)[pair]]),
        np.concatenate([np.full(len(alone), 2 * size), place_sides(given.condition, size)[pair]]),
        np.concatenate([part.weight[plain], intervals.weight[single], given.weight[about], intervals.weight[other]]),
        np.concatenate([part.mean[plain], low[single], given.mean[about], low[other]]),
        np.concatenate([part.mean[plain], high[single], given.mean[about], high[other]]),
        linear,
        np.full(len(linear), np.nan),
    )
