"""What an answer loses: one convex function of the events, whatever was forecast, and its quadratic models.

Every forecast is one term N h d(u / h, t) with u = P(E & H) and h = P(H). A plain forecast has h = 1; an interval has
t = the nearest point to u / h in [low, high]. With r = u / h the derivatives are

    by u: N d'(r),   by h: N (d(r) - r d'(r)),   second: (N d''(r) / h) (1, -r)(1, -r)^T,

so that c = u - r0 h is the only direction in which a term bends at r0 = u0 / h0. A linearised conditional is the square
N (u - t h)^2. The term F(u, h) = N h d(u / h) is the perspective of the convex N d, so it is convex and homogeneous
in (u, h). The tangent of d at any ratio r, times h, is the plane

    N (d'(r) u + (d(r) - r d'(r)) h) <= F(u, h).

The sum of the planes bounds the objective from below, also where h = 0 and no derivative exists.

The quadratic model at (u0, h0) is the sum of the planes at r0 and of 1/2 (N d''(r0) / h0) (u - r0 h)^2: as u0 - r0 h0 =
0, it has the value, gradient and second derivative of the terms there. The curvature is capped at STEEPEST. A
linearised conditional is its own model; its plane at a0 = u0 - t h0 is N (2 a0 (u - t h) - a0^2).

Where a condition vanishes, a term is smoothed by a mass in which the forecast stands: u + mass t, h + mass instead of
u, h. The smoothed sum is at most the loss, as F(u + mass t, h + mass) <= F(u, h) + F(mass t, mass) = F(u, h), and r
tends to the forecast.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.arrays import Indices, Mask, Truth, Vector
    from coherently.problem import Loss, Merged, Sides

    Sums: TypeAlias = "tuple[Indices, NDArray[np.int32], Truth, Vector, Vector]"

STEEPEST = 1e12
"""Largest curvature of a term in a model, times the weight."""
EDGE = 1e-14
"""Distance from 0 and 1 to which ratios are clipped if the loss is infinitely steep there."""
MILD = 200.0
"""Largest curvature, times the weight, in the model at the forecasts."""
TIE = 1e-6
"""The curvature inside an interval, times the weight: it breaks ties towards the middle."""


class Planes(NamedTuple):
    """A plane below each term, `by_joint` u + `by_condition` h, at ratios with their curvatures; then a `constant`.

    A term bends in the direction of u - `bent` h: `bent` is its ratio or, of a linearised conditional, its forecast.
    """

    ratio: Vector
    bent: Vector
    by_joint: Vector
    by_condition: Vector
    curvature: Vector
    constant: float


class Model(NamedTuple):
    """Costs of events, and the weights of squares of sums of events: what the engine minimises."""

    cost: Vector
    rows: Sums
    weight: Vector

    def value(self, sides: Vector) -> float:
        """The costs and the weighted squares, halved, at probabilities of sides."""
        starts, coordinates, turned, factors, away = self.rows
        size = len(self.cost)
        each = factors * sides[coordinates + size * turned.astype(np.int64)]
        sums = np.bincount(np.repeat(np.arange(len(away)), np.diff(starts)), each, len(away)) + away
        return float(self.cost @ sides[:size] + 0.5 * self.weight @ np.square(sums))


class Layout(NamedTuple):
    """The sums u - ratio h of terms without their factors; `second` has the places of conditions among these."""

    starts: Indices
    coordinates: NDArray[np.int32]
    turned: Truth
    second: Indices
    terms: Indices

    def sums(self, ratio: Vector, away: Vector) -> Sums:
        """The sums u - `ratio` h + `away`."""
        factors = np.ones(len(self.coordinates))
        factors[self.second] = -ratio[self.terms]
        return self.starts, self.coordinates, self.turned, factors, away


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Objective:
    """The terms of forecasts, as arrays; `joint` and `condition` are places in the sides of `size` events.

    `certain` marks terms without a condition, `linear` linearised ones (`has_linear`: whether there are any),
    `called_off` the rest, and `wide` lists the intervals. Where a term is not `free`, the possible worlds fix its ratio
    at `settled`, which is 0 or 1.
    """

    loss: Loss
    size: int
    joint: Indices
    condition: Indices
    weight: Vector
    low: Vector
    high: Vector
    middle: Vector
    certain: Mask
    linear: Mask
    called_off: Mask
    wide: Indices
    settled: Vector
    free: Mask
    is_steep: bool
    has_linear: bool
    layout: Layout
    ties: Layout

    def __len__(self) -> int:
        return len(self.weight)

    def terms(self, part: Merged) -> Objective:  # noqa: ARG002
        """Itself; see `Squares`."""
        return self

    @property
    def total(self) -> float:
        """The sum of the weights, or 1 where there is none."""
        return float(self.weight.sum()) or 1.0

    @property
    def is_quadratic(self) -> bool:
        """Whether all terms are squares in the probabilities of events: points under the Brier loss."""
        return self.loss.is_quadratic and not len(self.wide) and bool(self.certain.all())

    def value(self, sides: Vector) -> float:
        """The sum of the terms at probabilities of sides."""
        return self.smoothed_value(sides, 0.0)

    def smoothed_value(self, sides: Vector, mass: float) -> float:
        """The same, smoothed by a mass."""
        u, h = self._smoothed(sides, mass)
        r = self._ratio(u, h)
        t = np.clip(r, self.low, self.high) if len(self.wide) else self.middle
        lost = h * self.loss.divergence(r, t)
        if self.has_linear:
            lost = np.where(self.linear, np.square(u - t * h), lost)
        return float(self.weight @ lost)

    def planes(self, sides: Vector, mass: float) -> Planes:
        """The planes at the ratios of these sides, smoothed by a mass."""
        u, h = self._smoothed(sides, mass)
        r = self._ratio(u, h)
        if self.is_steep:
            r = np.clip(r, EDGE, 1.0 - EDGE)
        slope = self.loss.gradient(r)  # before settled ratios take their places, where it may be infinite
        r = np.where(self.free, r, self.settled)
        t, bent = self.middle, self.free
        if len(self.wide):
            t = np.clip(r, self.low, self.high)
            bent = bent & ((t != r) | (self.low == self.high))
        by_ratio = np.where(self.free, self.weight * (slope - self.loss.gradient(t)), 0.0)
        by_condition = self.weight * self.loss.divergence(r, t) - r * by_ratio
        with np.errstate(divide="ignore", invalid="ignore"):
            curvature = np.where(bent, np.minimum(self.loss.curvature(r) / h, STEEPEST) * self.weight, 0.0)
        if self.has_linear:
            return self._with_linear(
                Planes(
                    ratio=r, bent=r, by_joint=by_ratio, by_condition=by_condition, curvature=curvature, constant=0.0
                ),
                u - t * h,
                t,
                bent,
            )
        return Planes(ratio=r, bent=r, by_joint=by_ratio, by_condition=by_condition, curvature=curvature, constant=0.0)

    def _with_linear(self, planes: Planes, away: Vector, t: Vector, bent: Mask) -> Planes:
        linear, pull = self.linear, np.where(self.linear, 2.0 * self.weight * away, 0.0)
        return Planes(
            ratio=planes.ratio,
            bent=np.where(linear, t, planes.ratio),
            by_joint=np.where(linear, pull, planes.by_joint),
            by_condition=np.where(linear, -t * pull, planes.by_condition),
            curvature=np.where(linear, np.where(bent, 2.0 * self.weight, 0.0), planes.curvature),
            constant=-0.5 * float(pull @ away),
        )

    def _smoothed(self, sides: Vector, mass: float) -> tuple[Vector, Vector]:
        u, h = sides[self.joint], sides[self.condition]
        if mass > 0:
            u, h = u + mass * self.middle * self.called_off, h + mass * self.called_off
        return u, h

    def _ratio(self, u: Vector, h: Vector) -> Vector:
        r = np.divide(u, h, out=self.middle.copy(), where=h > 0)
        found: Vector = np.minimum(np.maximum(r, 0.0, out=r), 1.0, out=r)  # quicker than clip if terms are few
        return found

    def smoothing(self, planes: Planes, mass: float) -> float:
        """The amount that the mass adds to the planes."""
        if mass == 0:
            return 0.0
        return mass * float((planes.by_joint * self.middle + planes.by_condition) @ self.called_off)

    def coefficients(self, by_joint: Vector, by_condition: Vector) -> tuple[Vector, float]:
        """A linear function of sides as coefficients of the events that hold, and its value where none holds."""
        size, count = self.size, 2 * self.size + 1
        by_side = np.bincount(self.joint, by_joint, count) + np.bincount(self.condition, by_condition, count)
        return by_side[:size] - by_side[size : 2 * size], float(by_side[size:].sum())

    def model(self, planes: Planes, mass: float, *, tied: bool) -> Model:
        """The quadratic model at the ratios of planes; terms inside an interval are `tied` to its middle.

        If not `tied`, they are weakly tied to where they are: full steps without any curvature would cycle.
        """
        away = -planes.ratio * self.certain
        if mass > 0:
            away += mass * (self.middle - planes.ratio) * self.called_off
        by_joint, by_condition = planes.by_joint, planes.by_condition
        if self.has_linear:
            by_joint, by_condition = np.where(self.linear, 0.0, by_joint), np.where(self.linear, 0.0, by_condition)
        rows, weight = self.layout.sums(planes.bent, away), planes.curvature
        if len(self.wide):
            centre = self.middle if tied else planes.ratio
            rows = _joined(rows, self.ties.sums(centre, (-centre * self.certain)[self.wide]))
            weight = np.concatenate([weight, TIE * self.weight[self.wide]])
        return Model(self.coefficients(by_joint, by_condition)[0], rows, weight)

    def first_model(self) -> Model:
        """The model at the forecasts, which needs no answer to begin at."""
        weight = self.weight * np.minimum(self.loss.curvature(self.middle), MILD)
        return Model(np.zeros(self.size), self.layout.sums(self.middle, -self.middle * self.certain), weight)

    def even_model(self) -> Model:
        """The model that is least where every event is as likely as not."""
        half = np.full(len(self), 0.5)
        return Model(np.zeros(self.size), self.layout.sums(half, -half * self.certain), np.ones(len(half)))

    def with_settled(self, settled: Vector) -> Objective:
        """The same objective with the ratios that the possible worlds fix."""
        settled = np.where(self.linear, np.nan, settled)
        free = np.isnan(settled)
        if free.all():
            return self
        return replace(self, settled=np.nan_to_num(settled), free=free, called_off=self.called_off & free)


@dataclass(frozen=True, slots=True)
class Squares:
    """Squared distances of events from a number each: terms are made of them only where Newton's method needs some."""

    loss: Loss

    @property
    def is_quadratic(self) -> bool:
        """Always."""
        return True

    @property
    def has_linear(self) -> bool:
        """Never: there are no conditionals."""
        return False

    def terms(self, part: Merged) -> Objective:
        """The terms, as arrays."""
        return objective_of(part, self.loss)


def goal_of(part: Merged, loss: Loss, *, linearised: bool = False) -> Objective | Squares:
    """What a component's forecasts lose."""
    terms = part.terms
    if loss.is_quadratic and not len(terms.conditionals) and not len(terms.intervals):
        return Squares(loss)
    return objective_of(part, loss, linearised=linearised)


def _joined(first: Sums, second: Sums) -> Sums:
    return (
        np.concatenate([first[0], first[0][-1] + second[0][1:]]),
        np.concatenate([first[1], second[1]]),
        np.concatenate([first[2], second[2]]),
        np.concatenate([first[3], second[3]]),
        np.concatenate([first[4], second[4]]),
    )


def sides_at(x: Vector) -> Vector:
    """The probabilities of events, then of their complements, then of certainty."""
    return np.concatenate([x, 1.0 - x, [1.0]])


def place_sides(sides: Sides, size: int) -> Indices:
    """The places of sides among the events, then their complements, then certainty."""
    coordinate = sides.coordinate.astype(np.int64)
    return np.where(coordinate < 0, 2 * size, coordinate + size * sides.turned)


def _lay_out(joint: Indices, condition: Indices, size: int, some: Indices) -> Layout:
    joint, condition = joint[some], condition[some]
    given = condition != 2 * size
    starts = np.concatenate([[0], np.cumsum(1 + given)]).astype(np.int64)
    sides = np.empty(starts[-1], np.int64)
    second = starts[:-1][given] + 1
    sides[starts[:-1]], sides[second] = joint, condition[given]
    turned = sides >= size
    coordinates = np.where(turned, sides - size, sides).astype(np.int32)
    return Layout(
        starts=starts, coordinates=coordinates, turned=turned.astype(np.uint8), second=second, terms=some[given]
    )


def _is_steep(loss: Loss) -> bool:
    """Whether the loss is infinitely steep at 0 or 1."""
    with np.errstate(all="ignore"):
        return not bool(np.isfinite(loss.curvature(np.array([0.0, 1.0]))).all())


def objective_of(part: Merged, loss: Loss, *, linearised: bool = False) -> Objective:
    """The terms of a component's forecasts that have a positive weight."""
    given, intervals, size = part.terms.conditionals, part.terms.intervals, len(part)
    plain, about = np.flatnonzero(part.weight > 0), np.flatnonzero(given.weight > 0)
    single = np.flatnonzero(~intervals.conditional & (intervals.weight > 0))
    other = np.flatnonzero(intervals.conditional & (intervals.weight > 0))
    alone = np.concatenate([plain, intervals.about[single]]).astype(np.int64)
    pair = np.concatenate([about, intervals.about[other]]).astype(np.int64)
    joint = np.concatenate([alone, place_sides(given.joint, size)[pair]])
    condition = np.concatenate([np.full(len(alone), 2 * size), place_sides(given.condition, size)[pair]])
    least, most = loss.clipped(np.array([0.0, 1.0]))
    lower, upper = np.minimum(intervals.low, most), np.maximum(intervals.high, least)
    low = np.concatenate([part.mean[plain], lower[single], given.mean[about], lower[other]])
    high = np.concatenate([part.mean[plain], upper[single], given.mean[about], upper[other]])
    certain, wide = condition == 2 * size, np.flatnonzero(low < high)
    linear = ~certain & linearised
    return Objective(
        loss=loss,
        size=size,
        joint=joint,
        condition=condition,
        weight=np.concatenate(
            [part.weight[plain], intervals.weight[single], given.weight[about], intervals.weight[other]]
        ),
        low=low,
        high=high,
        middle=0.5 * (low + high),
        certain=certain,
        linear=linear,
        called_off=~certain & ~linear,
        wide=wide,
        settled=np.zeros(len(joint)),
        free=np.ones(len(joint), np.bool_),
        is_steep=_is_steep(loss),
        has_linear=bool(linear.any()),
        layout=_lay_out(joint, condition, size, np.arange(len(joint))),
        ties=_lay_out(joint, condition, size, wide),
    )
