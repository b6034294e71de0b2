"""From probabilities that a structure gives to an answer: worlds, and the bound that the best of all worlds proves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem import KERNELS
from coherently.solve.component.answer import Answer, Ended
from coherently.solve.component.objective import sides_at
from coherently.solve.component.planes import PlaneBelow, savings, tangent
from coherently.solve.facts import Proof
from coherently.solve.worlds.oracle import rounding_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.arrays import Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.objective import Objective, Squares
    from coherently.solve.facts import Route
    from coherently.solve.lazy_table import WorldRows

NO_INDICES = np.empty(0, np.int64)
CLOSE = 1e-12
"""The gap, relative to all weights, at which an answer is as good as rounding allows, whatever the tolerance."""


def certified(
    part: Merged,
    objective: Objective | Squares,
    budget: Budget,
    *,
    mixture: tuple[Vector, WorldRows, Vector],
    least: Callable[[Vector], float],
    plane: PlaneBelow | None = None,
    route: Route,
    steps: int = 0,
    violation: float = 0.0,
) -> Answer | None:
    """The answer of a mixture: shares, worlds, and the probabilities of the events that these have.

    `least` is a lower bound on a sum of coefficients of events over all worlds, as good as rounding allows. None if
    that leaves a gap, unless the time was over after some steps: then the solver has met numbers that it cannot handle.
    `plane` lies below the losses, if one is known that proves more than the one at x. `violation` is by how much pins
    are missed.
    """
    share, rows, x = mixture
    terms, sides = objective.terms(part), sides_at(x)
    value, plane = terms.value(sides), tangent(terms, sides) if plane is None else plane
    lowest = least(plane.coefficients)
    bound = max(0.0, plane.bound(lowest))
    proved = budget.is_enough(value - bound, value)
    is_late = steps > 0 and budget.is_over()
    if not proved and not is_late and not value - bound <= CLOSE * terms.total:
        return None
    quadratic = objective.is_quadratic and not len(part.terms.limits)
    return Answer(
        share=share,
        rows=rows,
        x=x,
        objective=value,
        bound=min(value, bound),
        route=route,
        proof=Proof.ALL_WORLDS,
        ended=Ended.PROVED if proved else _late(budget) if is_late else Ended.ROUNDING,
        violation=violation,
        saved=_saved(terms, sides, least, quadratic=quadratic),
        shortfall=max(0.0, 0.5 * (float(plane.coefficients @ x) - lowest)) if quadratic else math.nan,
        degenerate=NO_INDICES,
        steps=steps,
    )


def _late(budget: Budget) -> Ended:
    """What ended the work of a budget that is over."""
    return Ended.INTERRUPTED if budget.is_stopped else Ended.TIME


def _saved(objective: Objective, sides: Vector, least: Callable[[Vector], float], *, quadratic: bool) -> float:
    """The Brier penalty that the answer saves in every world; of plain forecasts, its shortfall says that."""
    if quadratic or not objective.loss.is_quadratic:
        return math.nan if quadratic else -math.inf
    plane = savings(objective, sides)
    return plane.constant + least(plane.coefficients)


def plane_at(objective: Objective, dual: Vector) -> PlaneBelow:
    """The plane below the losses of points that touches each where phi' is `dual`.

    That may be known better than from x, which may be too near to 0 or 1 to say it.
    """
    loss, q, w = objective.loss, objective.middle, objective.weight
    slope = dual[objective.joint]
    r = loss.inverse(slope)
    if type(loss) not in KERNELS:
        slope = loss.gradient(r)
    by_event, lost = w * (slope - loss.gradient(q)), w * loss.divergence(r, q)
    coefficients, _ = objective.coefficients(by_event, np.zeros(len(by_event)))
    rounding = rounding_of(by_event, lost, coefficients)
    return PlaneBelow(coefficients, float(np.sum(lost - r * by_event)), rounding)
