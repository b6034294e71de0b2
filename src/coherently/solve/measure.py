"""How far an answer is from the forecasts, whatever method gave it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.problem.spaces.space import rows_by_home
from coherently.problem.spaces.states import truths
from coherently.solve.solution import Global, LazyWorlds

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.arrays import Mask, Vector
    from coherently.problem import Problem
    from coherently.solve.solution import Solution

UNMOVED = 1e-13
"""Changes of probabilities below this are rounding: sums of a few hundred shares, to 2^-53 each."""


def probabilities(problem: Problem, solution: Solution) -> Vector:
    """The probability of each coordinate: from the worlds if there are any, else from the events as written.

    Without worlds, P(E & H) follows from E given H and H; it is NaN if nobody forecast H.
    """
    merged, plain = problem.merged, ~problem.conditional
    x = np.full(len(merged), np.nan)
    value = np.where(problem.complemented, 1.0 - solution.value, solution.value)
    x[problem.coordinate[plain]] = value[plain]
    if not isinstance(solution, Global):
        given = merged.terms.conditionals
        joint = given.condition.probability(x)[problem.coordinate[~plain]] * value[~plain]
        side, turned = (column[problem.coordinate[~plain]] for column in (given.joint.coordinate, given.joint.turned))
        x[side] = np.where(np.isnan(x[side]), np.where(turned, 1.0 - joint, joint), x[side])
        return x
    if isinstance(solution.worlds, LazyWorlds):
        return solution.worlds.probability.copy()
    home = np.full(merged.n_variables + 1, len(solution.worlds))
    for i, part in enumerate(solution.worlds):
        home[part.variables] = i
    first = np.append(merged.functions.variables, merged.n_variables)[merged.functions.starts[:-1]]
    first[merged.sizes() == 0] = merged.n_variables
    for part, mine in zip(solution.worlds, rows_by_home(home[first], len(solution.worlds)), strict=True):
        ascending = np.argsort(part.variables)
        truth = truths(merged, mine, part.truth[:, ascending].view(np.uint8), part.variables[ascending])
        x[mine] = np.clip(part.weight @ truth, 0.0, 1.0)
    return x


def distance(problem: Problem, x: Vector, conditionals: str | None = None) -> float:
    """The weighted distance of coordinates' probabilities from the merged forecasts, as the loss measures it.

    `conditionals` says what conditional forecasts lose, as in `coherently.solve.Solution` (default: called_off). Those
    whose condition has no known probability, or none at all, do not count.
    """
    merged, divergence = problem.merged, problem.loss.divergence
    given, intervals = merged.terms.conditionals, merged.terms.intervals
    total = _sum(merged.weight, lambda known: divergence(x[known], merged.mean[known]))
    value, condition = given.ratio(x), given.condition.probability(x)
    if conditionals == "linearised":
        total += _sum(given.weight, lambda known: (condition * (value - given.mean))[known] ** 2)
    else:
        share = np.where(condition > 0, 1.0, 0.0) if conditionals == "ratio" else condition
        total += _sum(given.weight, lambda known: share[known] * divergence(value[known], given.mean[known]))
    joint, condition = (side.probability(x) for side in merged.terms.of_intervals())
    at = np.clip(np.divide(joint, condition, out=intervals.low.copy(), where=condition > 0), 0.0, 1.0)
    inside = np.clip(at, intervals.low, intervals.high)
    held = np.where(condition > 0, 1.0, 0.0) if conditionals == "ratio" else condition
    return total + _sum(intervals.weight, lambda known: (held * divergence(at, inside))[known])


def _sum(weight: Vector, lost: Callable[[Mask], Vector]) -> float:
    known = weight > 0
    return float(np.nansum(weight[known] * lost(known)))
