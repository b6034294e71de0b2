"""The verifier's own measure of nearness: the distance of an answer, what enumeration proves, what it must save."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from coherently.verifier.costs import Costs
from coherently.verifier.distinct_events import CLOSE, first_homes
from coherently.verifier.enumeration import Enumeration, proved
from coherently.verifier.optimum import Bracket, ConvexProgram, bracket
from coherently.verifier.running_counts import CountedComponents

if TYPE_CHECKING:
    from coherently.arrays import Indices, Mask, Vector
    from coherently.panel import Panel
    from coherently.problem import Loss
    from coherently.verifier.distinct_events import Distinct

ABSENT = 1e-6
"""A condition counts as impossible up to this probability."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Stated:
    """The probabilities of distinct events: `x` as stated, of conditionals the ratio, and `condition` of conditions.

    `condition` is 1 for unconditional events, and NaN where it is not known; `joint` is that of E & H. `form` says what
    conditionals lose: "called_off" (their loss, where the condition holds), "linearised" or "ratio" (their loss
    unless the condition is impossible).
    """

    distinct: Distinct
    loss: Loss
    x: Vector
    joint: Vector
    condition: Vector
    form: str

    def rows(self) -> Indices:
        """The distinct event of each cost: those of points, then those of intervals."""
        intervals = self.distinct.intervals
        return np.concatenate([np.flatnonzero(self.distinct.weight > 0), intervals.row[intervals.weight > 0]])

    def costs(self) -> Costs:
        """The losses of the forecasts; intervals are clipped as the loss clips probabilities."""
        distinct, intervals = self.distinct, self.distinct.intervals
        known, told = distinct.weight > 0, intervals.weight > 0
        least, most = self.loss.clipped(np.array([0.0, 1.0]))
        return Costs(
            loss=self.loss,
            weight=np.concatenate([distinct.weight[known], intervals.weight[told]]),
            low=np.concatenate([distinct.mean[known], np.minimum(intervals.low[told], most)]),
            high=np.concatenate([distinct.mean[known], np.maximum(intervals.high[told], least)]),
            linear=distinct.conditional[self.rows()] & (self.form == "linearised"),
        )

    def at(self) -> tuple[Vector, Vector]:
        """The u = P(E & H) and h = P(H) of each cost; with the ratio form, as if possible conditions were certain."""
        rows = self.rows()
        if self.form != "ratio":
            return np.clip(self.joint[rows], 0.0, self.condition[rows]), self.condition[rows]
        held = np.where(self.condition[rows] > 0, 1.0, 0.0)
        return held * np.clip(self.x[rows], 0.0, 1.0), held


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Nearness:
    """How near forecasts x are to the merged ones, one entry per component; losses are in units of the largest weight.

    `objective` is the distance f, and `blur` its error, for conditionals only, if P(E & H) and P(H) are off by CLOSE,
    as sums of shares may be. `shortfall` is g, the greatest <F, x - s> over the worlds s, with F the slope of the
    distance, or half of it, N(x - q), where it is `quadratic`: for points under the Brier loss. It is NaN where there
    are too many worlds to enumerate (`worlds` says so) or to go through by counts, where there are pins, which not all
    worlds obey, or an impossible condition.
    `saved` is the Brier penalty that is saved in every world, NaN where that is not known.
    """

    panel: Panel
    answer: Stated
    objective: Vector
    blur: Vector
    shortfall: Vector
    saved: Vector
    quadratic: Mask
    pinned: Mask
    worlds: Enumeration
    brackets: dict[int, Bracket] = field(default_factory=dict)

    def proved(self) -> Vector:
        """The lower bound that enumeration at x proves for each component; NaN where it does not.

        The distance of any loss is convex with the slope F at x, so it is at least f - g for all coherent forecasts.
        """
        convex = np.maximum(0.0, self.objective - np.maximum(0.0, self.shortfall))
        pairs = zip(self.objective.tolist(), self.shortfall.tolist(), strict=True)
        square = np.array([math.nan if math.isnan(g) else proved(f, g) for f, g in pairs])
        return np.where(self.quadratic, square, convex)

    def bracket(self, component: int) -> Bracket:
        """Bounds on the least objective of an enumerated component, pins obeyed, whatever x is."""
        if component not in self.brackets:
            posed = program(self.panel, self.answer, self.worlds, component)
            found = bracket(posed) if len(posed.costs) else Bracket(0.0, 0.0)
            # The ratio form loses at least as much as the called-off one, which is convex; an upper bound is not known.
            self.brackets[component] = Bracket(found.low) if self.answer.form == "ratio" else found
        return self.brackets[component]


def measure(panel: Panel, answer: Stated) -> Nearness:
    """Measure an answer; events of weight 0 do not count."""
    distinct, costs, rows = answer.distinct, answer.costs(), answer.rows()
    given = np.flatnonzero(distinct.conditional)
    sides = np.concatenate([distinct.side, distinct.condition[given]]).astype(np.int32)
    worlds = Enumeration(panel, distinct, sides, np.concatenate([distinct.component, distinct.component[given]]))
    u, h = answer.at()
    value = costs.value(u, h)
    steep, flat = costs.slopes(u, h)
    quadratic, home = _quadratic(answer), distinct.component[rows]
    share = np.where(quadratic[home], 0.5, 1.0)
    count = len(distinct.side)
    by_event = np.bincount(rows, share * steep, count)
    by_condition = np.where(distinct.conditional, np.bincount(rows, share * flat, count), 0.0)
    level = share * (steep * u + np.where(distinct.conditional[rows], flat * h, 0.0))
    counted = CountedComponents(panel, worlds)
    least = counted.least(np.concatenate([by_event, by_condition[given]]))
    pinned = np.isin(np.arange(distinct.n_components), _pin_homes(panel, distinct))
    unknown = pinned.copy()
    # Where a condition is almost impossible the slope is not unique, and only some slopes prove the bound.
    unknown[distinct.component[distinct.conditional & (answer.condition <= ABSENT)]] = True
    unknown[distinct.component[distinct.conditional]] |= answer.form == "ratio"
    # With a and h off by CLOSE, N h d(a / h) is off by N (|d'| + |d - r d'|) times that.
    blur = np.where(distinct.conditional[rows], np.abs(steep) + np.abs(flat), 0.0)
    return Nearness(
        panel=panel,
        answer=answer,
        objective=_summed(home, value, distinct),
        blur=CLOSE * _summed(home, blur, distinct),
        shortfall=np.where(unknown, np.nan, _summed(home, level, distinct) - least),
        saved=_saved(answer, counted, given),
        quadratic=quadratic,
        pinned=pinned,
        worlds=worlds,
    )


def _summed(home: Indices, values: Vector, distinct: Distinct) -> Vector:
    """Sum values over each component; `home` is the component of each value."""
    return np.bincount(home, values, distinct.n_components).astype(np.float64)


def program(panel: Panel, answer: Stated, worlds: Enumeration, component: int) -> ConvexProgram:
    """The problem of an enumerated component: its costs and pins in all its possible worlds."""
    distinct, rows, costs = answer.distinct, answer.rows(), answer.costs()
    mine = np.flatnonzero(distinct.component[rows] == component)
    own = rows[mine]
    pins = panel.laws.pins
    about = np.flatnonzero(_pin_homes(panel, distinct) == component)
    sides = np.concatenate([distinct.side[own], distinct.condition[own], pins.event[about], pins.condition[about]])
    truth = worlds.truths(component, sides.astype(np.int32)).astype(np.float64)
    joint, given, pin_joint, pin_given = np.split(truth, np.cumsum([len(own), len(own), len(about)]), axis=1)
    low, high = pins.low[about], pins.high[about]
    # A limit of 0 or 1 rules out worlds; as a row it would leave no interior.
    kept = ~((pin_joint > 0) & (high == 0) | (pin_given > pin_joint) & (low == 1)).any(axis=1)
    same = low == high
    below, above = np.flatnonzero((low > 0) & (low < 1)), np.flatnonzero((high < 1) & (high > 0) & ~same)
    limits = np.hstack([(pin_joint - low * pin_given)[:, below], (high * pin_given - pin_joint)[:, above]])
    chosen = Costs(
        loss=costs.loss,
        weight=costs.weight[mine],
        low=costs.low[mine],
        high=costs.high[mine],
        linear=costs.linear[mine],
    )
    equal = np.concatenate([same[below], np.zeros(len(above), np.bool_)])
    return ConvexProgram(
        costs=chosen,
        joint=joint[kept],
        given=given[kept],
        limits=limits[kept],
        equal=equal,
        simplex=np.zeros(int(kept.sum()), np.int64),
    )


def _quadratic(answer: Stated) -> Mask:
    """The components whose distance is a sum of squares of x - q."""
    distinct = answer.distinct
    plain = np.full(distinct.n_components, answer.loss.is_quadratic)
    plain[distinct.component[distinct.conditional]] = False
    plain[distinct.component[distinct.intervals.row]] = False
    return plain


def _pin_homes(panel: Panel, distinct: Distinct) -> Indices:
    """The component of each pin, -1 if it reaches no forecast or has no variables."""
    pins = panel.laws.pins
    return first_homes(panel, distinct.home_of_variable, pins.event, pins.condition)


def _saved(answer: Stated, worlds: CountedComponents, given: Indices) -> Vector:
    """The least of sum N ((v - q)^2 - (v - x)^2) over worlds v; conditionals count where their condition holds."""
    distinct = answer.distinct
    known = distinct.weight > 0
    x, mean = (np.where(known, values, 0.0) for values in (answer.x, distinct.plain))
    per_event, constant = -2 * distinct.weight * (mean - x), distinct.weight * (mean**2 - x**2)
    fixed = _summed(distinct.component, np.where(distinct.conditional, 0.0, constant), distinct)
    return fixed + worlds.least(np.concatenate([per_event, constant[given]]))


def saved(scatter: float, near: Nearness, bounds: Vector) -> float:
    """The Brier penalty saved in every world: the scatter and, for each component, what its worlds show.

    If they were not enumerated, a bound b on the least distance gives the part: if b was proved by (f - g)^2 / f, the
    worst world saves f - 2g = 2 sqrt(b f) - f. (That the nearest forecasts save b and are no further than sqrt(f - b)
    away gives less: 2b - f at most.)
    """
    by_shortfall = 2 * np.sqrt(np.maximum(0.0, bounds * near.objective)) - near.objective
    return scatter + float(np.where(np.isnan(near.saved), by_shortfall, near.saved).sum())
