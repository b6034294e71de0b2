"""The verifier's own account of how near an answer is: its distance, what enumeration proves, what it must save."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.certify.enumeration import Enumeration, proved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.certify.merging import Distinct
    from coherently.panel import Panel
    from coherently.problem import Loss

    Vector = NDArray[np.float64]

CLOSE = 1e-9
"""How far a number may lie from what it must be, relative to it or to 1."""

ABSENT = 1e-6
"""The probability up to which a condition counts as impossible."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The probabilities of distinct events: `x` as stated, of conditionals the ratio, and `condition` of conditions.

    `condition` is 1 for unconditional events, and NaN where it is not known. `form` says what conditionals lose:
    "called_off" (their loss, where the condition holds), "linearised" or "ratio" (their loss whatever happens).
    """

    distinct: Distinct
    loss: Loss
    x: Vector
    condition: Vector
    form: str

    def terms(self) -> _Terms:
        """What each event adds to the distance, and the slopes of that."""
        distinct, known = self.distinct, self.distinct.weight > 0
        at = np.clip(np.nan_to_num(self.x, nan=0.5), 0.0, 1.0)
        mean = np.where(known, distinct.mean, at)
        value, slope = distinct.weight * self._apart(at, mean), distinct.weight * self._slope(at, mean)
        intervals, other = distinct.intervals, np.zeros(len(at))
        row = intervals.row
        inside = np.clip(at[row], intervals.low, intervals.high)
        if self.form == "linearised":
            # The square of h (x - p) has the slopes 2 N h (x - p) by P(E & H) and -p times that by P(H).
            value, slope = value * self.condition**2, slope * self.condition
            other = -mean * slope
            steep = intervals.weight * self.condition[row]
            np.add.at(value, row, steep * self.condition[row] * self._apart(at[row], inside))
            np.add.at(slope, row, steep * self._slope(at[row], inside))
            np.add.at(other, row, -inside * steep * self._slope(at[row], inside))
            return _Terms(value, slope, np.where(distinct.conditional, other, 0.0))
        for sums, more in ((value, self._apart), (slope, self._slope)):
            np.add.at(sums, row, intervals.weight * more(at[row], inside))
        if self.form == "ratio":
            return _Terms(value, np.full_like(slope, np.nan), np.full_like(slope, np.nan))
        other = np.where(distinct.conditional, value - at * slope, 0.0)
        return _Terms(np.where(distinct.conditional, self.condition * value, value), slope, other)

    def _apart(self, x: Vector, p: Vector) -> Vector:
        return (x - p) ** 2 if self.loss.name == "brier" else self.loss.divergence(x, self.loss.clipped(p))

    def _slope(self, x: Vector, p: Vector) -> Vector:
        if self.loss.name == "brier":
            return 2 * (x - p)
        return np.where(x == p, 0.0, self.loss.gradient(x) - self.loss.gradient(self.loss.clipped(p)))


@dataclass(frozen=True, slots=True, eq=False)
class _Terms:
    """What each distinct event adds to the distance, with the slopes by P(E & H) and by P(H)."""

    value: Vector
    slope: Vector
    condition_slope: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Nearness:
    """How near forecasts x lie to the merged ones, an entry a component.

    `objective` is the distance f; `shortfall` is g, the greatest <F, x - s> over the worlds s, with F the slope of the
    distance, or half of it, N(x - q), where it is `quadratic`: of the Brier loss alone. It is NaN where there are too
    many worlds to look at, pins, which not all worlds obey, or a condition without a chance. `saved` is the Brier
    penalty that is saved in every world, in components whose worlds were looked at. `weight` is the sum of N.
    """

    objective: Vector
    shortfall: Vector
    saved: Vector
    weight: Vector
    quadratic: NDArray[np.bool_]
    worlds: Enumeration

    def proved(self) -> Vector:
        """The lower bound that enumeration proves for each component; NaN where it was not done.

        The distance of any loss is convex with the slope F at x, so that none is below f - g.
        """
        convex = np.maximum(0.0, self.objective - np.maximum(0.0, self.shortfall))
        pairs = zip(self.objective.tolist(), self.shortfall.tolist(), strict=True)
        square = np.array([math.nan if math.isnan(g) else proved(f, g) for f, g in pairs])
        return np.where(self.quadratic, square, convex)


def measure(panel: Panel, answer: Answer) -> Nearness:
    """Measure an answer; weightless events do not count."""
    distinct = answer.distinct
    given = np.flatnonzero(distinct.conditional)
    sides = np.concatenate([distinct.side, distinct.condition[given]]).astype(np.int32)
    worlds = Enumeration(panel, distinct, sides, np.concatenate([distinct.component, distinct.component[given]]))
    terms = answer.terms()
    quadratic = _quadratic(answer)
    force = np.where(quadratic[distinct.component], 0.5, 1.0) * terms.slope
    joint = np.clip(answer.x, 0.0, 1.0) * answer.condition
    level = force * np.nan_to_num(joint) + terms.condition_slope * answer.condition
    least = worlds.least(np.concatenate([force, terms.condition_slope[given]]))
    shortfall = distinct.by_component(level) - least
    shortfall[_pinned(panel, distinct)] = np.nan
    # Where a condition is all but impossible the slope is any of many, and only some of them prove the bound.
    shortfall[distinct.component[distinct.conditional & (answer.condition <= ABSENT)]] = np.nan
    return Nearness(
        distinct.by_component(terms.value),
        shortfall,
        _saved(answer, worlds, given),
        distinct.by_component(distinct.weight),
        quadratic,
        worlds,
    )


def _quadratic(answer: Answer) -> NDArray[np.bool_]:
    """The components whose distance is a sum of squares of x - q."""
    distinct = answer.distinct
    plain = np.full(distinct.n_components, answer.loss.name == "brier")
    plain[distinct.component[distinct.conditional]] = False
    plain[distinct.component[distinct.intervals.row]] = False
    return plain


def _pinned(panel: Panel, distinct: Distinct) -> NDArray[np.int64]:
    """The components that have pins."""
    pins = panel.laws.pins
    variables = panel.events.supports(np.concatenate([pins.event, pins.condition]) // 2)[1]
    found = np.unique(distinct.home_of_variable[variables])
    return found[found >= 0]


def _saved(answer: Answer, worlds: Enumeration, given: NDArray[np.int64]) -> Vector:
    """The least of sum N ((v - q)^2 - (v - x)^2) over worlds v, conditionals counting where their condition holds."""
    distinct = answer.distinct
    known = distinct.weight > 0
    x, mean = (np.where(known, values, 0.0) for values in (answer.x, distinct.mean))
    per_event, constant = -2 * distinct.weight * (mean - x), distinct.weight * (mean**2 - x**2)
    fixed = distinct.by_component(np.where(distinct.conditional, 0.0, constant))
    return fixed + worlds.least(np.concatenate([per_event, constant[given]]))


def saved(scatter: float, near: Nearness, bounds: Vector) -> float:
    """The Brier penalty saved in every world: the scatter and, for each component, what its worlds show.

    Where they were not looked at, a bound b on the least distance f gives the part: if b was proved by (f - g)^2 / f,
    then f - 2g = 2 sqrt(b f) - f; and the nearest coherent forecasts save b and lie at most a distance of sqrt(f - b)
    away.
    """
    gap = np.maximum(0.0, near.objective - bounds)
    by_shortfall = 2 * np.sqrt(np.maximum(0.0, bounds * near.objective)) - near.objective
    by_distance = bounds - gap - 2 * np.sqrt(gap * near.weight)
    parts = np.where(np.isnan(near.saved), np.maximum(by_shortfall, by_distance), near.saved)
    return scatter + float(parts.sum())
