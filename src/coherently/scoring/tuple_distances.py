"""Distances of answers from coherence under the log loss: of all answers of a judge, and of many tuples at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.conversion.tuples import LADDER, PARTITION
from coherently.panel import Panel
from coherently.problem import components_of
from coherently.result import aggregate
from coherently.solve import Exact, Status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from coherently.arrays import Vector
    from coherently.conversion import Tuple
    from coherently.problem import Log
    from coherently.result import Result
    from coherently.solve import Signal

TOLERANCE = 1e-9
"""The gap to which a tuple's distance is proved, relative to it or to its part of 1; tuples are small enough for it."""
AT_ONCE = 2_000
"""Number of tuples that are solved in one call, as independent components of one panel."""
UNFINISHED = (Status.TIME_LIMIT, Status.INTERRUPTED)


@dataclass(frozen=True, slots=True, eq=False)
class JointDistance:
    """The distance of all answers of a judge from coherence, and a proved lower bound on it.

    `rows` has what each answer loses, so that sums over whole components, or over clusters of them, are theirs.

    As a function of the weights w of answers the distance is f(w) = min_x sum of w_i d(x_i, p_i), whose derivative by
    w_i is d(x_i, p_i) at the best x: what answer i loses is also, to first order, how far the distance falls if the
    answer is left out. So intervals that leave out answers by their losses are those of the infinitesimal jackknife.
    """

    value: float
    lower_bound: float
    rows: Vector
    is_finished: bool


def joint_distance(
    panel: Panel,
    loss: Log,
    tolerance: float,
    time_limit: float,
    cancel: Signal | None = None,
    engine: Executor | None = None,
) -> JointDistance:
    """The divergence of the nearest coherent forecasts from the forecasts as given.

    It is the sum of the objective, which is about merged forecasts, and of what merging leaves out: the divergence of
    the merged forecasts from those that were merged. Conditionals are merged by definition, so theirs does not count.
    """
    result = aggregate(panel, Exact(tolerance=tolerance, time_limit=time_limit), loss, cancel=cancel, engine=engine)
    problem = result.problem
    given, unit = problem.forecasts, problem.forecasts.unit
    told = (given.weight > 0) & ~problem.conditional[unit] & ~np.isnan(problem.mean[unit]) & ~given.interval
    merged = problem.merged.mean[problem.coordinate[unit[told]]]
    apart = np.zeros(len(unit))
    apart[told] = given.weight[told] * loss.divergence(merged, loss.clipped(problem.turned()[told]))
    left_out = float(apart.sum())
    value = max(0.0, float(result.objective or 0.0) + left_out)
    least = min(value, max(0.0, float(result.lower_bound or 0.0) + left_out))
    return JointDistance(value, least, _answer_losses(result, loss, apart), result.status not in UNFINISHED)


def _answer_losses(result: Result, loss: Log, apart: Vector) -> Vector:
    """What each answer loses: its divergence, in proportion, so that those of a component sum to what it loses.

    `apart` is what merging leaves out. The proportion is 1 but for rounding and for conditionals, whose divergence
    counts as often as their condition comes true.
    """
    problem = result.problem
    given, component = problem.forecasts, components_of(problem)[problem.forecasts.unit]
    rows = given.weight * loss.divergence(result.solution.value[given.unit], loss.clipped(given.probability))
    rows = np.where((component >= 0) & ~given.interval, np.nan_to_num(rows), 0.0)
    parts = np.array([one.objective for one in result.components])
    known = component >= 0
    total = parts + np.bincount(component[known], apart[known], len(parts))
    own = np.bincount(component[known], rows[known], len(parts))
    rows[known] *= np.divide(total, own, out=np.zeros(len(parts)), where=own > 0)[component[known]]
    return np.where(known, rows, apart)


def tuple_distances(
    tuples: Sequence[Tuple],
    loss: Log,
    time_limit: float,
    cancel: Signal | None = None,
    engine: Executor | None = None,
) -> tuple[Vector, int]:
    """The distance of each of some tuples, and the number of those that were not finished.

    Each tuple has variables of its own, so all of them are components of one problem. What a tuple loses follows from
    the coherent answers x: the sum of the divergences of x from the answers as given, those of conditionals times the
    probability of their condition.
    """
    rows, laws, starts = list[tuple[str, str, float]](), list[str](), [0]
    for number, item in enumerate(tuples):
        events, own = item.posed(number)
        rows += [("A", event, p) for event, p in zip(events, item.answers.values(), strict=True)]
        laws += own
        starts.append(len(rows))
    panel = Panel.from_records(rows, laws=laws)
    method = Exact(tolerance=TOLERANCE, time_limit=time_limit)
    result = aggregate(panel, method, loss, cancel=cancel, engine=engine)
    x = result.solution.value[result.problem.forecasts.unit]
    lost = loss.divergence(x, loss.clipped(panel.probability))
    parts = [
        lost[first:end] * _likely(item, x[first:end])
        for item, first, end in zip(tuples, starts[:-1], starts[1:], strict=True)
    ]
    values = np.array([max(0.0, float(part.sum())) for part in parts])
    return values, len(tuples) if result.status in UNFINISHED else 0


def _likely(item: Tuple, x: Vector) -> Vector:
    """The probability of the condition of each answer, 1 where it has none, from the coherent answers."""
    likely = np.ones(len(x))
    if item.check in (LADDER, PARTITION):
        return likely
    if item.check in ("Cond", "CondCond"):
        likely[1] = x[0]
    if item.check == "CondCond":
        likely[2] = x[0] * x[1]
    if item.check == "ExpectedEvidence":
        likely[2], likely[3] = x[1], 1.0 - x[1]
    return likely
