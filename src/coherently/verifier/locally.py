"""Coherence within groups of events, checked group by group, and the bound on the nearest such forecasts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.problem import attach, find_design, pose, with_auxiliary
from coherently.verifier.costs import Costs
from coherently.verifier.distinct_events import CLOSE, scaled
from coherently.verifier.optimum import Bracket, ConvexProgram, bracket
from coherently.verifier.promises import SETTLED, Unchecked, kind_of, tolerance_of
from coherently.verifier.stop_signal import stop_if_asked

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.panel import Panel
    from coherently.problem import Groups, Loss, Merged, Problem
    from coherently.result import Result

MOST_GROUPS = 20_000
"""Maximum number of groups that are checked."""
MOST_COLUMNS, MOST_ROWS = 2_000, 250
"""Maximum numbers of truth vectors of all groups, and of ties between groups, for finding the nearest forecasts."""


@dataclass(frozen=True, slots=True)
class Violation:
    """How far probabilities are from the coherent sets of their groups.

    `proved` is a lower bound on the largest difference of a group from any coherent probabilities; `largest` is the
    largest difference from the nearest ones (by least squares), over groups all of whose events are known; `whole`
    says whether those are all groups.
    """

    proved: float
    largest: float
    whole: bool


def check_local(panel: Panel, result: Result, stated: Vector) -> tuple[list[str], list[Unchecked]]:
    """Check probabilities of the events as written by the groups of the result's design.

    A group's coherent set is the hull of its truth vectors v, so the nearest point P to x in it is a small problem of
    least squares, and a = x - P proves the distance: in some event it is at least (<a, x> - max <a, v>) / |a|_1,
    whatever P is. Events whose probabilities are not known do not count.
    """
    admitted, left = result.violation or 0.0, _left(result)
    problem = pose(replace(panel, weight=scaled(panel)[0]), result.loss)
    try:
        groups = attach(problem.merged, find_design(str(result.groups))(problem.merged)).groups
    except MethodError as error:
        return [], [
            *left,
            Unchecked(("violation",), f"the coherence of groups of the design {result.groups!r}: {error}"),
        ]
    if len(groups) > MOST_GROUPS:
        why = f"the coherence of {len(groups):,} groups, more than {MOST_GROUPS:,}"
        return [], [*left, Unchecked(("violation",), why)]
    found = violation_of(groups, _known(problem, stated, len(groups.members) and int(groups.members.max()) + 1))
    if found.proved > admitted + CLOSE:
        return [f"a group of events is incoherent by {found.proved:.6g}; the stated violation is {admitted:.6g}"], []
    exactly = result.loss.is_quadratic and found.whole and not result.components
    if result.loss.is_quadratic and (
        found.largest > admitted + CLOSE or (exactly and admitted > found.largest + CLOSE)
    ):
        return [f"the stated violation is {admitted:.6g}; a probability is off by {found.largest:.6g}"], []
    if result.status == "converged" and admitted > _settled(result, panel, len(groups)):
        return [f"the status is converged, but the violation is {admitted:.6g}"], []
    if problem.conditional.any():
        left.append(Unchecked(("violation",), "the coherence of conditional forecasts within groups"))
    if not exactly:
        left.append(Unchecked(("violation",), "that no group is violated less than is stated"))
    return [], left


def _left(result: Result) -> list[Unchecked]:
    """What groups and their violation do not show of a locally coherent result."""
    found = [
        Unchecked(("groups", "sweeps"), "the design of the groups and the number of sweeps"),
        Unchecked(("forecasts.probability",), "single probabilities: others may be as near and as coherent"),
    ]
    listed = [Unchecked(("components",), "the components of a locally coherent result")]
    return found + (listed if "components" not in kind_of(result.method.name, "local").without else [])


def _settled(result: Result, panel: Panel, groups: int) -> float:
    """The largest violation after a sweep that moves no probability by more than the tolerance.

    Each projection of the sweep moved its group by the violation that it found, in a norm by weights: the plain norm
    differs by at most the root of the ratio of the weights. The projections after it moved it again.
    """
    weight = np.sqrt(panel.weight[panel.weight > 0])
    ratio = math.sqrt(len(weight)) * float(weight.max(initial=0.0) / weight.min(initial=math.inf))
    return max(SETTLED, tolerance_of(result) * (1 + groups) * ratio)


def _known(problem: Problem, stated: Vector, count: int) -> Vector:
    """The probability of each coordinate as stated; NaN where it is not an event that was forecast."""
    x = np.full(max(count, len(problem.merged)), np.nan)
    plain = ~problem.conditional
    x[problem.coordinate[plain]] = np.where(problem.complemented, 1.0 - stated, stated)[plain]
    return x


def violation_of(groups: Groups, x: Vector) -> Violation:
    """Check every group; coordinates that are NaN are left out of theirs, which keep the hulls of the others.

    >>> from coherently.problem import Groups
    >>> rows = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    >>> one = np.zeros(1, np.int32)
    >>> both = np.array([0, 1], np.int32)
    >>> implies = Groups(design="logical", starts=np.array([0, 2]), members=both, pattern=one, patterns=(rows,))
    >>> found = violation_of(implies, np.array([0.2, 0.6]))
    >>> round(found.proved, 9), round(found.largest, 9)
    (0.2, 0.2)
    """
    proved, largest, whole = 0.0, 0.0, True
    for (begin, end), number in zip(pairwise(groups.starts.tolist()), groups.pattern.tolist(), strict=True):
        stop_if_asked()
        own = x[groups.members[begin:end]]
        known = ~np.isnan(own)
        whole &= bool(known.all())
        if not known.any():
            continue
        rows = groups.patterns[number][:, known]
        apart = own[known] - _nearest(rows, own[known])
        total = float(np.abs(apart).sum())
        if total > 0:
            proved = max(proved, float(apart @ own[known] - (rows @ apart).max()) / total)
        if known.all():
            largest = max(largest, float(np.abs(apart).max()))
    return Violation(proved, largest, whole)


def _nearest(rows: Vector, point: Vector) -> Vector:
    """The point of the hull of rows that is nearest: with a_i = row i - point, least |sum z a|^2 + (1 - sum z)^2.

    At the least, z / sum z are the shares of the nearest point (Lawson and Hanson 1974, problem LDP).
    """
    from scipy.optimize import nnls

    share, _ = nnls(np.vstack([(rows - point).T, np.ones(len(rows))]), np.append(np.zeros(len(point)), 1.0))
    found: Vector = share @ rows / share.sum()
    return found


def relaxed(panel: Panel, loss: Loss, design: str) -> Bracket | None:
    """Bounds on the least distance of forecasts that are coherent within groups; None if the problem is too large.

    Groups share the variables that nobody forecast, as with `auxiliary`, which results do not state: without it, the
    least distance is no larger. Distances are in units of the largest weight.
    """
    merged = pose(replace(panel, weight=scaled(panel)[0]), loss).merged
    if len(merged.terms):
        return None
    try:
        groups = with_auxiliary(find_design(design), merged)
    except MethodError:
        return None
    sizes = [len(groups.patterns[number]) for number in groups.pattern.tolist()]
    ties = len(groups.members) - len(np.unique(groups.members)) + len(groups)
    if sum(sizes) > MOST_COLUMNS or ties > MOST_ROWS:
        return None
    return bracket(_program(merged, loss, groups, sizes)) if sizes else Bracket(0.0, 0.0)


def _program(merged: Merged, loss: Loss, groups: Groups, sizes: list[int]) -> ConvexProgram:
    """One simplex per group; the first group of an event gives its probability, and others must agree."""
    simplex = np.repeat(np.arange(len(sizes)), sizes)
    ends = np.cumsum([0, *sizes]).tolist()
    home: dict[int, Vector] = {}
    ties = []
    for g, (begin, end) in enumerate(pairwise(groups.starts.tolist())):
        rows = groups.patterns[groups.pattern[g]]
        for k, i in enumerate(groups.members[begin:end].tolist()):
            column = np.zeros(len(simplex))
            column[ends[g] : ends[g + 1]] = rows[:, k]
            if i in home:
                ties.append(home[i] - column)
            else:
                home[i] = column
    told = [i for i in home if i < len(merged) and merged.weight[i] > 0]
    none = np.empty((len(simplex), 0))
    joint = np.column_stack([home[i] for i in told]) if told else none
    given = np.repeat((simplex == 0)[:, None], len(told), axis=1).astype(np.float64)
    costs = Costs(
        loss=loss,
        weight=merged.weight[told],
        low=merged.mean[told],
        high=merged.mean[told],
        linear=np.zeros(len(told), np.bool_),
    )
    limits = np.column_stack(ties) if ties else none
    return ConvexProgram(
        costs=costs, joint=joint, given=given, limits=limits, equal=np.ones(len(ties), np.bool_), simplex=simplex
    )
