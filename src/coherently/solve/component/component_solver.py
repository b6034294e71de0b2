"""The contract of the solver floor: a component, an objective and a budget in, an answer out."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem import is_level, layers_of, unit_of
from coherently.solve.component.answer import Answer, Ended, Hints
from coherently.solve.component.nearest import Nearest
from coherently.solve.component.objective import goal_of, sides_at
from coherently.solve.facts import Proof, Route

if TYPE_CHECKING:
    from coherently.problem import Layer, Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.objective import Objective, Squares
    from coherently.solve.lazy_table import WorldRows


LARGE = 1_000
"""Minimum number of events, or of events times pins, from which cliques are quicker than one world after the other."""
FEW_VARIABLES = 6
"""Maximum number of variables of a component that is not asked for its structure under the Brier loss."""
BOTH, NO_INDICES = np.array([[0], [1]], np.uint8), np.empty(0, np.int64)
"""The worlds of one variable, and no conditionals."""
FIRST, QUICK = 2e-3, (0, 1e-3)
"""Seconds for a first answer if no time is left; effort of that search and the improvement at which it ends."""


def solve_component(
    part: Merged, objective: Objective | Squares, budget: Budget, start: WorldRows | None = None, *, seed: int = 0
) -> Answer:
    """The mixture of possible worlds that loses least, and a proof of how near it is to that.

    `start` are worlds to begin with. Weights that differ too much for doubles are solved layer by layer.
    """
    if (known := _alone(part, objective)) is not None:
        return known
    if is_level(part):
        return _solve_level(part, objective, budget, start, seed=seed)
    return _solve_uneven(part, objective, budget, start, seed=seed)


def _solve_uneven(
    part: Merged, objective: Objective | Squares, budget: Budget, start: WorldRows | None, seed: int
) -> Answer:
    """The answer where doubles cannot tell weights apart; its objective and its bound are for the weights as given.

    Layer by layer, from the heaviest, lighter forecasts choose among what is nearest to the heavier ones. Lighter
    weights and fewer forecasts only lower the least distance, so the best bound of a layer and what is above it holds
    for the whole: a light forecast takes nothing away from it.
    """
    layers = layers_of(part)
    answer = best = _solve_layer(layers[0], layers[0].drawn(part), objective, budget, start=start, seed=seed)
    for layer in layers[1:]:
        held = layer.anchored(part, answer.x)
        answer = _solve_layer(layer, held, objective, budget, start=answer.rows, seed=seed)
    lost = objective.terms(part).value(sides_at(answer.x))
    for layer in layers[1:]:
        if budget.is_enough(lost - best.bound, lost):
            break
        other = _solve_layer(layer, layer.drawn(part), objective, budget, start=answer.rows, seed=seed)
        best = max(best, other, key=lambda one: one.bound)
    bound, ended = min(lost, best.bound), answer.ended
    if budget.is_enough(lost - bound, lost):
        ended = Ended.PROVED
    elif ended is Ended.PROVED:
        ended = Ended.ROUNDING
    hints = best.hints or Hints(x=best.x)
    return replace(answer, objective=lost, bound=bound, proof=best.proof, ended=ended, hints=hints)


def _solve_layer(
    layer: Layer, part: Merged, objective: Objective | Squares, budget: Budget, start: WorldRows | None, seed: int
) -> Answer:
    """The answer of a layer, in units of the layer and to the budget's tolerance in these, or better.

    If the best of all worlds is known, it goes on to the limit of rounding: heavy weights multiply what is left.
    """
    unit = unit_of(np.array([layer.least, layer.most]))
    own = part.times(1.0 / unit)
    goal = goal_of(own, objective.loss, linearised=objective.has_linear)
    budget = replace(budget, floor=budget.floor * min(1.0, 1.0 / unit))
    answer = _solve_level(own, goal, budget, start, seed=seed)
    if answer.proof is Proof.ALL_WORLDS and answer.ended is Ended.PROVED:
        finer = _solve_level(own, goal, replace(budget, tolerance=0.0), answer.rows, seed=seed)
        answer = replace(finer, bound=max(finer.bound, answer.bound), ended=Ended.PROVED)
    return replace(answer, objective=unit * answer.objective, bound=unit * answer.bound)


def _solve_level(
    part: Merged, objective: Objective | Squares, budget: Budget, start: WorldRows | None, seed: int
) -> Answer:
    """The answer for weights that doubles can tell apart: by the structure of the component, if it has a known one."""
    known = _by_structure(part, objective, budget)
    return solve_by_worlds(part, objective, budget, start, seed=seed) if known is None else known


def solve_by_worlds(
    part: Merged, objective: Objective | Squares, budget: Budget, start: WorldRows | None = None, *, seed: int = 0
) -> Answer:
    """The answer for any component whose weights doubles can tell apart.

    Large components of low treewidth go by their cliques. If column generation ends in rounding, Newton's method takes
    over.
    """
    if (known := _by_cliques(part, objective, budget)) is not None:
        return known
    if not objective.is_quadratic or len(part.terms.limits) or len(part.terms.intervals):
        return _by_newton(part, objective, budget, start, seed=seed)
    answer = _by_columns(part, budget, start, seed)
    if answer.ended is not Ended.ROUNDING or answer.proof is not Proof.ALL_WORLDS:
        return answer
    other = _by_newton(part, objective, budget, answer.rows, seed=seed)
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
    return Answer(
        share=share,
        rows=worlds,
        x=part.mean,
        objective=0.0,
        bound=0.0,
        route=Route.ENUMERATION,
        proof=Proof.ALL_WORLDS,
        ended=Ended.PROVED,
        violation=0.0,
        saved=math.nan,
        shortfall=0.0,
        degenerate=NO_INDICES,
        steps=0,
    )


def _by_structure(part: Merged, objective: Objective | Squares, budget: Budget) -> Answer | None:
    """The answer by a known structure; if no world is impossible there is none, and nothing has to be loaded.

    A few worlds are sooner looked at, under the Brier loss.
    """
    if part.space.is_free or (objective.is_quadratic and part.n_variables <= FEW_VARIABLES):
        return None
    from coherently.solve.component.structure.structure_rules import solve_by_structure

    return solve_by_structure(part, objective, budget)


def _by_cliques(part: Merged, objective: Objective | Squares, budget: Budget) -> Answer | None:
    """The best mixture over the cliques of a junction tree, if that is quicker and ends with a proof."""
    if max(len(part), len(part) * len(part.terms.limits)) < LARGE:
        return None
    from coherently.solve.component.cliques import solve_by_cliques

    answer = solve_by_cliques(part, objective.terms(part), budget)
    return answer if answer is not None and (answer.ended is Ended.PROVED or budget.is_over()) else None


def _by_newton(
    part: Merged, objective: Objective | Squares, budget: Budget, start: WorldRows | None, seed: int
) -> Answer:
    """The best mixture by Newton's method, whose modules are loaded when they are needed: plain panels start sooner."""
    from coherently.solve.component.newton.newton import Newton

    return Newton(part, objective.terms(part), budget, seed).run(start)


def _by_columns(part: Merged, budget: Budget, start: WorldRows | None, seed: int) -> Answer:
    """The nearest mixture by the Brier loss; worlds to begin with save time only where all worlds are looked at."""
    nearest = Nearest(part, seed, budget.floor)
    if start is not None and nearest.is_eliminable:
        nearest.core.include(np.ascontiguousarray(start, np.uint8))
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
        share=share / share.sum(),
        rows=worlds,
        x=nearest.x,
        objective=nearest.objective,
        bound=nearest.bound,
        route=nearest.route,
        proof=nearest.proof,
        ended=ended,
        violation=0.0,
        saved=math.nan,
        shortfall=nearest.shortfall,
        degenerate=NO_INDICES,
        steps=0,
        hints=nearest.hints,
    )
