"""The contract of the solver floor: a component, an objective and a budget in, an answer out."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.component.answer import Answer, Ended
from coherently.solve.component.nearest import Nearest
from coherently.solve.facts import Proof, Route

if TYPE_CHECKING:
    from coherently.arrays import Truth
    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.objective import Objective, Squares


LARGE = 1_000
"""Minimum number of events, or of events times pins, from which cliques are quicker than one world after the other."""
BOTH, NO_INDICES = np.array([[0], [1]], np.uint8), np.empty(0, np.int64)
"""The worlds of one variable, and no conditionals."""
FIRST, QUICK = 2e-3, (0, 1e-3)
"""Seconds for a first answer if no time is left; effort of that search and the improvement at which it ends."""


def solve_component(
    part: Merged, objective: Objective | Squares, budget: Budget, start: Truth | None = None, *, seed: int = 0
) -> Answer:
    """The mixture of possible worlds that loses least, and a proof of how near it is to that.

    `start` are worlds to begin with. Large components of low treewidth go by their cliques. If weights differ so much
    that column generation ends in rounding, Newton's method takes over.
    """
    if (known := _alone(part, objective) or _by_cliques(part, objective, budget)) is not None:
        return known
    if not objective.is_quadratic or len(part.terms.limits) or len(part.terms.intervals):
        return _by_newton(part, objective, budget, start, seed)
    answer = _by_columns(part, budget, start, seed)
    if answer.ended is not Ended.ROUNDING or answer.proof is not Proof.ALL_WORLDS:
        return answer
    other = _by_newton(part, objective, budget, answer.worlds, seed)
    if other.gap >= answer.gap:
        return answer
    bound = min(other.objective, max(other.bound, answer.bound))
    proved = budget.is_enough(other.objective - bound, other.objective)
    return replace(other, bound=bound, ended=Ended.PROVED if proved else other.ended)


def _alone(part: Merged, objective: Objective | Squares) -> Answer | None:
    """The answer for a single event of one variable, which may be true or false: its forecast, exactly."""
    if len(part) != 1 or part.n_variables != 1 or not part.weight[0] > 0:
        return None
    if not objective.is_quadratic or not part.space.is_free or len(part.terms):
        return None
    share, worlds = np.array([1.0 - part.mean[0], part.mean[0]]), BOTH
    if share.min() <= 0:
        share, worlds = share[share > 0], worlds[share > 0]
    facts = Route.ENUMERATION, Proof.ALL_WORLDS, Ended.PROVED
    return Answer(share, worlds, part.mean, 0.0, 0.0, *facts, 0.0, math.nan, 0.0, NO_INDICES, 0)


def _by_cliques(part: Merged, objective: Objective | Squares, budget: Budget) -> Answer | None:
    """The best mixture over the cliques of a junction tree, if that is quicker and ends with a proof."""
    if max(len(part), len(part) * len(part.terms.limits)) < LARGE:
        return None
    from coherently.solve.component.cliques import solve_by_cliques

    answer = solve_by_cliques(part, objective.terms(part), budget)
    return answer if answer is not None and (answer.ended is Ended.PROVED or budget.is_over()) else None


def _by_newton(part: Merged, objective: Objective | Squares, budget: Budget, start: Truth | None, seed: int) -> Answer:
    """The best mixture by Newton's method, whose modules are loaded when they are needed: plain panels start sooner."""
    from coherently.solve.component.newton.newton import Newton

    return Newton(part, objective.terms(part), budget, seed).run(start)


def _by_columns(part: Merged, budget: Budget, start: Truth | None, seed: int) -> Answer:
    """The nearest mixture by the Brier loss; worlds to begin with save time only where all worlds are looked at."""
    nearest = Nearest(part, seed, budget.floor)
    if start is not None and nearest.is_eliminable:
        nearest.core.include(start)
    nearest.improve(budget)
    if nearest.timed_out and nearest.bound <= 0:  # maybe before it began
        nearest.core.search(FIRST, *QUICK)
    ended = Ended.ROUNDING
    if nearest.is_done(budget.tolerance):
        ended = Ended.PROVED
    elif nearest.timed_out:
        ended = Ended.INTERRUPTED if budget.is_stopped else Ended.TIME
    share, worlds = nearest.mixture()
    return Answer(
        share / share.sum(),
        worlds,
        nearest.x,
        nearest.objective,
        nearest.bound,
        nearest.route,
        nearest.proof,
        ended,
        0.0,
        math.nan,
        nearest.shortfall,
        NO_INDICES,
        0,
    )
