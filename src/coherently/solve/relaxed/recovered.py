"""From an answer for the coordinates of groups to the probabilities of events and conditionals as written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.problem import ABSENT

if TYPE_CHECKING:
    from coherently.arrays import Mask, Vector
    from coherently.problem import Attached, Problem


def written(problem: Problem, attached: Attached, x: Vector) -> Vector:
    """The answer for each unit; coordinates that have no value are NaN in x."""
    if not problem.conditional.any():
        return problem.as_written(x)
    answer = np.empty(len(problem.coordinate))
    given = problem.conditional
    answer[~given] = x[problem.coordinate[~given]]
    answer[given] = conditional(attached, x)[0][problem.coordinate[given]]
    return np.where(problem.complemented, 1.0 - answer, answer)


def conditional(attached: Attached, x: Vector) -> tuple[Vector, Mask]:
    """The conditional probabilities, and which of them stand as stated because nothing else is known.

    P(E & H) / P(H) if both are known. If one is, the other follows from the price of the bet that is called off,
    P(E & H) + p (1 - P(H)). If none is, or the condition has probability 0, the forecasts stand.
    """
    of = attached.merged.terms.conditionals
    joint, condition = of.joint.probability(x), of.condition.probability(x)
    known = attached.given >= 0
    drift = np.zeros(len(of))
    drift[known] = x[attached.given[known]] - of.mean[known]
    with np.errstate(invalid="ignore", divide="ignore"):
        joint = np.where(np.isnan(joint), of.mean * condition + drift, joint)
        condition = np.where(np.isnan(condition), (joint - drift) / of.mean, condition)
        found = condition >= ABSENT
        value = np.where(found, np.clip(joint / condition, 0.0, 1.0), of.as_stated())
    return value, ~found


def remark(attached: Attached, x: Vector, *, corrected: bool) -> str | None:
    """A note on conditionals, intervals and pins."""
    terms = attached.merged.terms
    said = []
    if len(terms.conditionals):
        said.append("Conditional forecasts count by their linearised distance, N (P(E & H) - p P(H))^2.")
        stand = int(np.count_nonzero(conditional(attached, x)[1] & ~np.isnan(terms.conditionals.stated)))
        if stand:
            why = "the condition has no probability" + (", or nothing is known of it" if not corrected else "")
            said.append(f"{stand} of them stand{'s' * (stand == 1)} as forecast: {why}.")
    if not corrected and len(terms.limits):
        left = int(np.count_nonzero(np.isnan(x[terms.limits.joint.coordinate])))
        if left:
            said.append(
                f"{left} pin{'s' * (left > 1)} about events that nobody forecast {'are' if left > 1 else 'is'} left "
                f"out; correction='dykstra' heeds them."
            )
    return " ".join(said) or None
