"""What an answer is scored by, when forecasts are conditional or intervals: one convex function of the events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.problem import Sides

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem import Loss, Merged

    Vector: TypeAlias = "NDArray[np.float64]"
    Squares: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int32], Vector, Vector, Vector]"

SOFT = 0.1
"""The curvature that a model lends to what has none, of that which it would have elsewhere."""
STEADY = 0.01
"""The curvature that it lends along the line to h = 0, of that for a target of h = 0."""
STIFF = 1e7
"""The most curvature that a model takes over, times the weight."""
EDGE = 1e-12
"""A probability that curvatures are computed no nearer to 0 and 1 than."""


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """The derivatives of each score by the joint probability a and that of the condition h, at some a and h.

    The second derivative along (da, dh) is `curvature` (da - `ratio` dh)^2; it is 0 inside an interval.
    """

    by_joint: Vector
    by_condition: Vector
    curvature: Vector
    ratio: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    r"""Weighted losses of forecasts "E given H", called off where H fails; plain forecasts are given the certain event.

    With a = P(E & H), h = P(H) and the interval [low, high], a single point for an ordinary forecast, each is

    $$w\, h\, d\!\left(\tfrac{a}{h}, t\right), \quad t = \text{the nearest point to } \tfrac{a}{h}
    \text{ in } [\text{low}, \text{high}]$$

    or, where `linear`, w (a - t h)^2. Both are convex in (a, h): the first is the perspective of a convex function.
    """

    loss: Loss
    joint: Sides
    condition: Sides
    weight: Vector
    low: Vector
    high: Vector
    linear: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def is_point(self) -> NDArray[np.bool_]:
        """Which are no intervals."""
        same: NDArray[np.bool_] = self.low == self.high
        return same

    def value(self, a: Vector, h: Vector) -> Vector:
        """Each score; infinite where the loss does not know a / h."""
        c, t = self._ratios(a, h)
        lost = np.where(self.linear, np.square(a - t * h), h * self.loss.divergence(c, t))
        if not self.loss.is_quadratic:
            lost = np.where((c >= 0) & (c <= 1), lost, np.inf)
        found: Vector = self.weight * lost
        return found

    def slopes(self, a: Vector, h: Vector) -> Slopes:
        """The derivatives; at h = 0, where there are many, those that are 0."""
        c, t = self._ratios(a, h)
        by_ratio = self.weight * (self.loss.gradient(c) - self.loss.gradient(t))
        by_condition = self.weight * self.loss.divergence(c, t) - c * by_ratio
        curved = self.is_point | (c < self.low) | (c > self.high)
        inner = self.weight * self.loss.curvature(np.clip(c, EDGE, 1.0 - EDGE))
        curvature = np.divide(inner, h, out=np.zeros_like(h), where=curved & (h > 0))
        pull = 2.0 * self.weight * (a - t * h)
        return Slopes(
            np.where(self.linear, pull, by_ratio),
            np.where(self.linear, -t * pull, by_condition),
            np.where(self.linear, np.where(curved, 2.0 * self.weight, 0.0), curvature),
            np.where(self.linear, t, c),
        )

    def _ratios(self, a: Vector, h: Vector) -> tuple[Vector, Vector]:
        c = np.divide(a, h, out=self.low.copy(), where=h > 0)
        return c, np.clip(c, self.low, self.high)


def scores_of(part: Merged, loss: Loss, *, linearised: bool) -> Scores:
    """The scores of a component's forecasts, without those of no weight."""
    given, intervals = part.terms.conditionals, part.terms.intervals
    plain, about = np.flatnonzero(part.weight > 0), np.flatnonzero(given.weight > 0)
    single = np.flatnonzero(~intervals.conditional & (intervals.weight > 0))
    other = np.flatnonzero(intervals.conditional & (intervals.weight > 0))
    coordinate = np.concatenate([plain, intervals.about[single]]).astype(np.int32)
    pair = np.concatenate([about, intervals.about[other]]).astype(np.int64)
    none, certain = np.zeros(len(coordinate), np.bool_), np.full(len(coordinate), -1, np.int32)
    low, high = np.minimum(intervals.low, loss.clipped(1.0)), np.maximum(intervals.high, loss.clipped(0.0))
    linear = np.full(len(coordinate) + len(pair), linearised)
    linear[: len(coordinate)] = False
    return Scores(
        loss,
        Sides(
            np.concatenate([coordinate, given.joint.coordinate[pair]]),
            np.concatenate([none, given.joint.turned[pair]]),
        ),
        Sides(
            np.concatenate([certain, given.condition.coordinate[pair]]),
            np.concatenate([none, given.condition.turned[pair]]),
        ),
        np.concatenate([part.weight[plain], intervals.weight[single], given.weight[about], intervals.weight[other]]),
        np.concatenate([part.mean[plain], low[single], given.mean[about], low[other]]),
        np.concatenate([part.mean[plain], high[single], given.mean[about], high[other]]),
        linear,
    )


class Objective:
    """The sum of scores as a function of the probabilities of coordinates."""

    def __init__(self, scores: Scores, size: int) -> None:
        self.scores, self.size = scores, size
        self.joint, self.condition = Affine(scores.joint), Affine(scores.condition)

    def value(self, x: Vector) -> float:
        """The sum."""
        return float(self.scores.value(*self._events(x)).sum())

    def gradient(self, x: Vector) -> Vector:
        """The derivatives by the coordinates."""
        slopes = self.scores.slopes(*self._events(x))
        return self.joint.pull(slopes.by_joint, self.size) + self.condition.pull(slopes.by_condition, self.size)

    def model(self, x: Vector) -> tuple[Vector, Vector, Squares]:
        """A quadratic model at x, as weights and targets of the coordinates and squares of sums of them.

        Half of the second derivatives, and some more where there are too few: inside an interval, and along the
        line to h = 0, on which a called-off score is linear.
        """
        scores = self.scores
        a, h = self._events(x)
        slopes = scores.slopes(a, h)
        slopes = replace(slopes, curvature=np.minimum(slopes.curvature, STIFF * scores.weight))
        plain = scores.condition.coordinate < 0
        soft = SOFT * scores.weight * np.minimum(STIFF, scores.loss.curvature(np.clip(slopes.ratio, EDGE, 1.0 - EDGE)))
        flat = np.where(slopes.curvature > 0, 0.0, soft)
        bent = plain & (slopes.curvature > 0)
        rest = slopes.by_condition + slopes.ratio * slopes.by_joint
        steady = STEADY * np.divide(np.abs(rest), h, out=np.zeros_like(h), where=~plain & (h > 0))
        weight = 0.5 * (
            self.joint.spread(np.where(bent, slopes.curvature, 0.0) + flat, self.size)
            + self.condition.spread(steady, self.size)
        )
        pull = self.joint.pull(np.where(plain, slopes.by_joint, 0.0), self.size)
        pull += self.condition.pull(np.where(plain, 0.0, rest), self.size)
        target = x - np.divide(0.5 * pull, weight, out=np.zeros_like(x), where=weight > 0)
        return weight, target, self._squares(slopes, np.flatnonzero(~plain & (slopes.curvature > 0)), x)

    def linearised(self) -> tuple[Vector, Vector, Squares]:
        """The model of the linearised Brier scores, which needs no x to begin at."""
        scores = self.scores
        middle = 0.5 * (scores.low + scores.high)
        plain = scores.condition.coordinate < 0
        weight = self.joint.spread(np.where(plain, scores.weight, 0.0), self.size)
        total = self.joint.spread(np.where(plain, scores.weight * middle, 0.0), self.size)
        target = np.divide(total, weight, out=np.full(self.size, 0.5), where=weight > 0)
        zero = np.zeros(len(scores))
        slopes = Slopes(zero, zero, 2.0 * scores.weight, middle)
        squares = self._squares(slopes, np.flatnonzero(~plain), np.zeros(self.size))
        at = self.joint.offset - middle * self.condition.offset
        return weight, target, (*squares[:4], -at[~plain])

    def _events(self, x: Vector) -> tuple[Vector, Vector]:
        h = np.clip(self.scores.condition.probability(x), 0.0, 1.0)
        return np.clip(self.scores.joint.probability(x), 0.0, h), h

    def _squares(self, slopes: Slopes, rows: NDArray[np.int64], x: Vector) -> Squares:
        """Of the rows: curvature / 2 times the square of a - ratio h, less where its minimum is."""
        scores, ratio, curvature = self.scores, slopes.ratio[rows], slopes.curvature[rows]
        first, second = scores.joint.coordinate[rows], scores.condition.coordinate[rows]
        factors = np.stack([self.joint.sign[rows], -ratio * self.condition.sign[rows]], axis=1)
        here = factors[:, 0] * x[first] + factors[:, 1] * x[second]
        return (
            2 * np.arange(len(rows) + 1),
            np.stack([first, second], axis=1).ravel().astype(np.int32),
            factors.ravel(),
            0.5 * curvature,
            here - slopes.by_joint[rows] / curvature,
        )


class Affine:
    """Sides as functions `offset` + `sign` x of coordinates; the certain event has the sign 0."""

    def __init__(self, sides: Sides) -> None:
        self.coordinate = np.maximum(sides.coordinate, 0)
        known = sides.coordinate >= 0
        self.sign = np.where(known, np.where(sides.turned, -1.0, 1.0), 0.0)
        self.offset = np.where(known, sides.turned, 1.0).astype(np.float64)

    def pull(self, value: Vector, size: int) -> Vector:
        """The derivatives by coordinates of what has these by sides."""
        return np.bincount(self.coordinate, self.sign * value, size).astype(np.float64)

    def spread(self, value: Vector, size: int) -> Vector:
        """The same of second derivatives."""
        return np.bincount(self.coordinate, np.abs(self.sign) * value, size).astype(np.float64)
