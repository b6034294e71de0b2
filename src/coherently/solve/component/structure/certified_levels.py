"""From probabilities that a structure gives to an answer: worlds, and the bound that the best of all worlds proves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem import KERNELS
from coherently.solve.component.answer import Answer, Ended
from coherently.solve.component.objective import sides_at
from coherently.solve.component.planes import PlaneBelow, tangent
from coherently.solve.facts import Proof
from coherently.solve.worlds.oracle import rounding_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.arrays import Truth, Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.objective import Objective, Squares
    from coherently.solve.facts import Route

NO_INDICES = np.empty(0, np.int64)
CLOSE = 1e-12
"""The gap, relative to all weights, at which an answer is as good as rounding allows, whatever the tolerance."""


def certified(
    part: Merged,
    objective: Objective | Squares,
    budget: Budget,
    *,
    mixture: tuple[Vector, Truth, Vector],
    least: Callable[[Vector], float],
    dual: Vector | None = None,
    noise: float = 0.0,
    route: Route,
    steps: int = 0,
) -> Answer | None:
    """The answer of a mixture: shares, worlds, and the probabilities of the events that these have.

    `least` is a lower bound on a sum of coefficients of events over all worlds, as good as rounding allows. None if
    that leaves a gap: then the structure's solver has met numbers that it cannot handle. `dual` has phi'(x) of each
    event, if that is known better than from x, which may be too near to 0 or 1 to say it.
    """
    share, worlds, x = mixture
    terms, sides = objective.terms(part), sides_at(x)
    value, plane = terms.value(sides), _plane_beside(terms, x, noise) if dual is None else _plane_at(terms, dual)
    lowest = least(plane.coefficients)
    bound = plane.bound(lowest)
    proved = budget.is_enough(value - bound, value)
    if not proved and not value - bound <= CLOSE * terms.total:
        return None
    quadratic = objective.is_quadratic
    return Answer(
        share=share,
        worlds=worlds,
        x=x,
        objective=value,
        bound=min(value, bound),
        route=route,
        proof=Proof.ALL_WORLDS,
        ended=Ended.PROVED if proved else Ended.ROUNDING,
        violation=0.0,
        saved=math.nan if quadratic else -math.inf,
        shortfall=max(0.0, 0.5 * (float(plane.coefficients @ x) - lowest)) if quadratic else math.nan,
        degenerate=NO_INDICES,
        steps=steps,
    )


def _plane_beside(objective: Objective, x: Vector, noise: float) -> PlaneBelow:
    """The plane that touches the losses at x, or nearer to 1/2 by as much as x may be off.

    A loss may be infinitely steep at 0, so that a little too much steepness there is much. Too little is no harm:
    what a slope at an event lacks, the implications about it make up for.
    """
    return tangent(objective, sides_at(np.where(x < 0.5, x + noise, x - noise)))


def _plane_at(objective: Objective, dual: Vector) -> PlaneBelow:
    """The plane below the losses of points that touches each where phi' is `dual`."""
    loss, q, w = objective.loss, objective.middle, objective.weight
    slope = dual[objective.joint]
    r = loss.inverse(slope)
    if type(loss) not in KERNELS:
        slope = loss.gradient(r)
    by_event, lost = w * (slope - loss.gradient(q)), w * loss.divergence(r, q)
    coefficients, _ = objective.coefficients(by_event, np.zeros(len(by_event)))
    rounding = rounding_of(by_event, lost, coefficients)
    return PlaneBelow(coefficients, float(np.sum(lost - r * by_event)), rounding)
