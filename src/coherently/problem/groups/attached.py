"""Conditionals, intervals and pins as coordinates and groups beside those of a design.

All are points of the unit cube and hulls of such points, so whatever projects on groups of events handles them:

- a conditional with the merged forecast p is the price of a bet on E that is called off, with p paid back, unless H is
  true: P(E & H) + p (1 - P(H)), with target p. The squared distance is that of the linearised form,
  (P(E & H) - p P(H))^2;
- an interval [low, high] is the probability with the interval shrunk to the point `low`, which is its target. The hull
  of (0, 0), (low, low), (high, low) and (1, 1 - high + low) keeps it at least as far from `low` as the probability is
  from the interval. For a conditional, the same with a bet that is called off;
- a pin is the hull of low and high, or of (P(H), P(E & H)) = (0, 0), (1, low) and (1, high).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem.groups.restricted import Setting
from coherently.problem.groups.simple import number_patterns
from coherently.problem.terms import Intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem.groups.simple import Group, Groups
    from coherently.problem.problem import Merged
    from coherently.problem.terms import Sides


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Attached:
    """Groups with the weights and targets of all coordinates: the problem's, auxiliary ones, then those of terms.

    The coordinate of conditional i is `given[i]`, -1 if it has weight 0; that of interval i is `inner[i]`.
    """

    merged: Merged
    groups: Groups
    weight: NDArray[np.float64]
    target: NDArray[np.float64]
    given: NDArray[np.int64]
    inner: NDArray[np.int64]

    def completed(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Compute the coordinates of terms from those of events."""
        terms = self.merged.terms
        x = x.copy()
        known = self.given >= 0
        joint, condition = terms.conditionals.joint.probability(x), terms.conditionals.condition.probability(x)
        x[self.given[known]] = (joint + terms.conditionals.mean * (1.0 - condition))[known]
        if len(self.inner):
            joint, condition = (side.probability(x) for side in terms.of_intervals())
            low, high = terms.intervals.low, terms.intervals.high
            x[self.inner] = low + joint - np.clip(joint, low * condition, high * condition)
        return x

    def objective(self, x: NDArray[np.float64]) -> float:
        """The weighted squared distance from the targets."""
        weighty = self.weight > 0
        return float(np.sum(self.weight[weighty] * (x - self.target)[weighty] ** 2))


def distance(merged: Merged, attached: Attached, x: NDArray[np.float64]) -> float:
    """The weighted squared distance from the intervals themselves, for an answer in which they entered as points.

    Intervals of conditionals stay points: their loss depends on the condition, which may not be known.
    """
    weighty = merged.weight > 0
    total = np.sum((merged.weight * (x[: len(merged)] - merged.mean) ** 2)[weighty])
    inner = merged.terms.intervals
    events = ~inner.conditional
    at = x[inner.about[events]]
    miss = at - np.clip(at, inner.low[events], inner.high[events])
    given = attached.given[attached.given >= 0]
    bets = attached.weight[given] * (x[given] - attached.target[given]) ** 2
    return float(total + np.sum(inner.weight[events] * miss**2) + np.sum(bets))


def attach(merged: Merged, groups: Groups) -> Attached:
    """Add the coordinates and groups of a problem's conditionals, intervals and pins to those of a design."""
    terms = merged.terms
    count = len(merged) + groups.auxiliary
    weighty = terms.conditionals.weight > 0
    given = np.where(weighty, count + np.cumsum(weighty) - 1, -1)
    inner = count + int(weighty.sum()) + np.arange(len(terms.intervals))
    if len(terms):
        found = _with_conditionals(merged, _apart(groups), given)
        found += _of_intervals(merged, inner) + _of_limits(merged)
        groups = replace(number_patterns(groups.design, found), auxiliary=groups.auxiliary)
    none = np.zeros(groups.auxiliary)
    return Attached(
        merged=merged,
        groups=groups,
        weight=np.concatenate([merged.weight, none, terms.conditionals.weight[weighty], terms.intervals.weight]),
        target=np.concatenate([merged.mean, none * np.nan, terms.conditionals.mean[weighty], terms.intervals.low]),
        given=given,
        inner=inner,
    )


def without_weightless(attached: Attached) -> Attached:
    """Leave coordinates of weight 0 out of the groups, which keep the hulls of the others."""
    if np.all(attached.weight[attached.groups.members] > 0):
        return attached
    found = []
    for members, rows in _apart(attached.groups):
        kept = [k for k, i in enumerate(members) if attached.weight[i] > 0]
        if kept:
            found.append(([members[k] for k in kept], np.unique(rows[:, kept], axis=0)))
    return replace(attached, groups=number_patterns(attached.groups.design, found))


def with_points(merged: Merged) -> Merged:
    """Replace each interval by its point nearest to the mean of the other forecasts.

    If there are no others, that is the mean of the middles of the intervals.
    """
    terms = merged.terms
    intervals = terms.intervals
    if not len(intervals):
        return merged
    events, given = ~intervals.conditional, intervals.conditional
    weight, mean = _joined(merged.weight, merged.mean, intervals, events)
    of = terms.conditionals
    more, other = _joined(of.weight, of.mean, intervals, given)
    conditionals = replace(of, weight=more, mean=other)
    return replace(
        merged, weight=weight, mean=mean, terms=replace(terms, conditionals=conditionals, intervals=Intervals())
    )


def _joined(
    weight: NDArray[np.float64], mean: NDArray[np.float64], intervals: Intervals, chosen: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights and means with the points of some intervals."""
    about, w = intervals.about[chosen], intervals.weight[chosen]
    low, high = intervals.low[chosen], intervals.high[chosen]
    added = np.bincount(about, w, len(weight))
    middle = np.divide(
        np.bincount(about, w * (low + high) / 2, len(weight)), added, out=np.zeros(len(weight)), where=added > 0
    )
    start = np.where(weight > 0, np.nan_to_num(mean), middle)
    point = np.clip(start[about], low, high)
    total = weight + added
    sums = weight * np.nan_to_num(mean) + np.bincount(about, w * point, len(weight))
    return total, np.divide(sums, total, out=mean.copy(), where=total > 0)


def _apart(groups: Groups) -> list[Group]:
    cuts = groups.starts[1:-1]
    members = [part.tolist() for part in np.split(groups.members, cuts)] if len(groups) else []
    return [(own, groups.patterns[i]) for own, i in zip(members, groups.pattern.tolist(), strict=True)]


def _with_conditionals(merged: Merged, groups: list[Group], given: NDArray[np.int64]) -> list[Group]:
    """Give each conditional to the first group that has its event and its condition, or to a new one."""
    conditionals = merged.terms.conditionals
    homes = defaultdict[int, set[int]](set)
    for g, (members, _) in enumerate(groups):
        for i in members:
            homes[i].add(g)
    setting: Setting | None = None
    for k in np.flatnonzero(given >= 0).tolist():
        pair = [int(conditionals.joint.coordinate[k]), int(conditionals.condition.coordinate[k])]
        both = homes[pair[0]] & homes[pair[1]]
        if not both:
            setting = setting or Setting(merged)
            both = {len(groups)}
            groups.append(setting.group(setting.draft(list(dict.fromkeys(pair)))))
        home = min(both)
        members, rows = groups[home]
        joint, condition = (_column(rows, members, sides, k) for sides in (conditionals.joint, conditionals.condition))
        price = joint + conditionals.mean[k] * (1.0 - condition)
        groups[home] = ([*members, int(given[k])], np.column_stack([rows, price]))
    return groups


def _column(rows: NDArray[np.float64], members: list[int], sides: Sides, k: int) -> NDArray[np.float64]:
    truth = rows[:, members.index(int(sides.coordinate[k]))]
    return 1.0 - truth if sides.turned[k] else truth


def _of_intervals(merged: Merged, inner: NDArray[np.int64]) -> list[Group]:
    intervals, (joint, condition) = merged.terms.intervals, merged.terms.of_intervals()
    found = []
    for k, (low, high) in enumerate(zip(intervals.low.tolist(), intervals.high.tolist(), strict=True)):
        shrunk = [[1.0, 0.0, 0.0], [1.0, low, low], [1.0, high, low], [1.0, 1.0, 1.0 - high + low]]
        members, rows = _placed(np.array([*shrunk, [0.0, 0.0, low]]), condition, joint, k)
        found.append(([*members, int(inner[k])], rows))
    return found


def _of_limits(merged: Merged) -> list[Group]:
    limits = merged.terms.limits
    return [
        _placed(np.array([[0.0, 0.0], [1.0, low], [1.0, high]]), limits.condition, limits.joint, k)
        for k, (low, high) in enumerate(zip(limits.low.tolist(), limits.high.tolist(), strict=True))
    ]


def _placed(rows: NDArray[np.float64], condition: Sides, joint: Sides, k: int) -> Group:
    """Distinct points (P(H), P(E & H), ...) in the coordinates that stand for H, unless it is certain, and E & H."""
    first, second = int(condition.coordinate[k]), int(joint.coordinate[k])
    if first < 0:
        rows = rows[rows[:, 0] == 1]
    if first == second:  # E & H is H: a point is possible if both are the same
        rows = rows[rows[:, 0] == rows[:, 1]]
    for column, sides in enumerate((condition, joint)):
        if sides.turned[k]:
            rows[:, column] = 1.0 - rows[:, column]
    members, start = ([first, second], 0) if 0 <= first != second else ([second], 1)
    return members, np.unique(rows[:, start:], axis=0)
