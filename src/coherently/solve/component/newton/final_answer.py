"""From the work of Newton's method to its answer: few worlds that satisfy the pins, and the savings in every world."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.budget import NO_TIME
from coherently.solve.component.answer import KEPT, Answer, Ended, Hints
from coherently.solve.component.newton.feasible import feasible_mixture
from coherently.solve.component.newton.support import Blend, blend_of, fewest
from coherently.solve.component.planes import find_degenerate, savings
from coherently.solve.facts import Route
from coherently.solve.worlds.oracle import Oracle

if TYPE_CHECKING:
    from coherently import _core
    from coherently.arrays import Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.newton.limits import PinRows
    from coherently.solve.component.objective import Objective
    from coherently.solve.facts import Proof


FEW_WORLDS = 300
"""Up to this many worlds, those that are not needed are left out in no time."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FinishedWork:
    """What the work on a component has come to.

    `blend` is the best mixture, None if there is none; `bound` is proved by `proof` in so many `steps`. `proved` has
    the coefficients of the last plane that a proof was about, and a lower bound on their sum in any world.
    """

    part: Merged
    objective: Objective
    pins: PinRows
    oracle: Oracle
    engine: _core.RowEngine
    budget: Budget
    seed: int
    blend: Blend | None
    bound: float
    proof: Proof
    steps: int
    proved: tuple[Vector, float]
    hints: Hints | None


def finish(work: FinishedWork, ended: Ended) -> Answer:
    """The answer of the work so far."""
    best = _reduced(work)
    value, x = work.objective.value(best.sides), np.clip(best.sides[: len(work.part)], 0.0, 1.0)
    return Answer(
        share=best.share,
        rows=best.worlds,
        x=x,
        objective=value,
        bound=min(value, work.bound),
        route=Route.NEWTON,
        proof=work.proof,
        ended=ended,
        violation=work.pins.violation(best.sides),
        saved=_saved(work, best.sides) if work.objective.loss.is_quadratic and work.steps else -math.inf,
        shortfall=math.nan,
        degenerate=find_degenerate(work.part, x, work.oracle, work.budget),
        steps=work.steps,
        hints=work.hints,
    )


def _reduced(work: FinishedWork) -> Blend:
    """The best mixture, of few distinct worlds unless the time is over; after a stop any that satisfies the pins."""
    part, best = work.part, work.blend
    if best is None or work.pins.violation(best.sides) > KEPT:
        oracle = Oracle(part, work.seed)
        best = feasible_mixture(part, oracle, oracle.least(np.zeros(len(part)), NO_TIME).world[None])
    share, worlds = best.distinct()
    if len(share) > len(part) + 1 and (len(share) <= FEW_WORLDS or not work.budget.is_over()):
        share = fewest(share, part.functions.hold(worlds).astype(np.float64))
        share, worlds = share[share > 0], worlds[share > 0]
    return blend_of(part, share, worlds)


def _saved(work: FinishedWork, sides: Vector) -> float:
    """The Brier penalty that the answer saves in every world.

    It is the least of <a, v> + b over worlds v, with the plane a, b of `savings`. Without elimination the last proof
    has shown that <a', v> >= m for nearby coefficients a'; every v is 0 or 1 in each event, so that

        <a, v> = <a', v> + <a - a', v> >= m - sum of |a - a'|.
    """
    plane = savings(work.objective, sides)
    if work.oracle.is_exact:
        return plane.constant + work.engine.minimise(plane.coefficients)[0]
    known, least = work.proved
    return plane.constant + least - float(np.abs(plane.coefficients - known).sum())
