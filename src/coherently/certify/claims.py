"""Claims about all worlds, the lower bound and the guaranteed improvement, held against enumeration."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from coherently.certify.enumeration import squeeze
from coherently.certify.nearness import CLOSE, saved
from coherently.certify.promises import TOLERANCE, cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.certify.merging import Distinct
    from coherently.certify.nearness import Nearness
    from coherently.result import Result

ENUMERATION = "own enumeration"
NOTHING = "no distance is below 0"
RELAXATION = "the relaxation to groups, on the result's word"


@dataclass(slots=True, eq=False)
class Bound:
    """What was found out about a lower bound.

    `believed` has an entry a component: what enumeration proves, else what is claimed, within reason.
    """

    believed: NDArray[np.float64]
    problems: list[str] = field(default_factory=list)
    rests_on: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


def check_bound(result: Result, distinct: Distinct, x: NDArray[np.float64], near: Nearness) -> Bound:
    """Check the lower bound of forecasts x, component by component where the result has them."""
    found = Bound(np.nan_to_num(near.proved()))
    if result.lower_bound is None:
        return found
    if result.coherence != "global":
        found.rests_on = [component.proof for component in result.components] or [RELAXATION]
        found.unchecked = ["the lower bound of the relaxed problem"]
    elif result.components:
        found.problems = _mismatches(result, distinct, near)
        if not found.problems:
            _check_components(result, distinct, x, near, found)
    else:
        _check_whole(result.lower_bound, distinct, x, near, found)
    if result.status == "optimal" and not found.problems:
        found.problems = _check_optimal(result, near, found.believed)
    return found


def check_improvement(
    result: Result, scatter: float, near: Nearness, bounds: NDArray[np.float64]
) -> tuple[list[str], list[str]]:
    """Check the guaranteed improvement: the problems, and what could not be checked."""
    claim = result.guaranteed_improvement
    if claim is None:
        return [], []
    if result.loss.name != "brier":
        return [], [f"the guaranteed improvement under the loss {result.loss.name}"]
    hidden = np.isnan(near.saved)
    if hidden.any() and (result.coherence != "global" or not near.quadratic[hidden].all()):
        return [], ["the guaranteed improvement: there are too many worlds to look at"]
    most = max(0.0, saved(scatter, near, bounds))
    if claim <= most + CLOSE * max(1.0, near.weight.sum()):
        return [], []
    return [f"the guaranteed improvement is {claim:.12g}; what is saved in every world is {most:.12g}"], []


def _mismatches(result: Result, distinct: Distinct, near: Nearness) -> list[str]:
    """Components must be those of the panel, by first appearance, and sum to the whole."""
    components = result.components
    if len(components) != distinct.n_components:
        return [f"the result has {len(components):,} components, the panel {distinct.n_components:,}"]
    problems = []
    for i, (component, count, f) in enumerate(
        zip(components, distinct.events.tolist(), near.objective.tolist(), strict=True)
    ):
        if component.events != count:
            problems.append(f"component {i} has {component.events:,} events, in the panel {count:,}")
        if not abs(component.objective - f) <= CLOSE * max(1.0, f):
            problems.append(
                f"the objective of component {i} is {component.objective:.12g}; its forecasts give {f:.12g}"
            )
    total = math.fsum(component.lower_bound for component in components)
    if result.lower_bound is None or not abs(total - result.lower_bound) <= CLOSE * max(1.0, total):
        problems.append(f"the lower bound is {result.lower_bound}; those of the components sum to {total:.12g}")
    return cut(problems)


def _check_components(result: Result, distinct: Distinct, x: NDArray[np.float64], near: Nearness, found: Bound) -> None:
    own = near.proved()
    problems = []
    for i, component in enumerate(result.components):
        claim, high = component.lower_bound, float(near.objective[i])
        slack = CLOSE * max(1.0, high)
        low = float(own[i])
        if near.quadratic[i] and low + slack < claim <= high + slack:
            low, high = squeeze(near.worlds, distinct, i, x, claim - slack)
        if claim > high + slack:
            problems.append(f"the lower bound of component {i} is {claim:.12g}; coherent forecasts reach {high:.12g}")
        found.believed[i] = min(claim, high) if math.isnan(low) else low
        found.rests_on.append(ENUMERATION if claim <= low + slack else NOTHING if claim <= 0 else component.proof)
    found.problems = cut(problems)


def _check_whole(claim: float, distinct: Distinct, x: NDArray[np.float64], near: Nearness, found: Bound) -> None:
    """Check a bound for which no component is named."""
    slack = CLOSE * max(1.0, near.objective.sum())
    own = near.proved()
    if claim <= slack:
        found.rests_on = [NOTHING]
        return
    if claim <= np.nansum(own) + slack:
        found.rests_on = [ENUMERATION]
        return
    ends = [
        (np.nan_to_num(b), f)
        if math.isnan(b) or not near.quadratic[i]
        else squeeze(near.worlds, distinct, i, x, math.nan)
        for i, (f, b) in enumerate(zip(near.objective.tolist(), own.tolist(), strict=True))
    ]
    low, high = np.sum(ends, axis=0).tolist()
    if claim > high + slack:
        found.problems = [f"the lower bound is {claim:.12g}; coherent forecasts reach {high:.12g}"]
    found.rests_on = [ENUMERATION if claim <= low + slack else "the result's word"]


def _check_optimal(result: Result, near: Nearness, believed: NDArray[np.float64]) -> list[str]:
    tolerance = getattr(result.method, "tolerance", None)
    objective, bound = float(near.objective.sum()), float(believed.sum())
    most = (TOLERANCE if tolerance is None else tolerance) * max(1.0, objective)
    if objective - bound <= most + CLOSE * max(1.0, objective):
        return []
    return [f"the status is optimal, but enumeration proves {bound:.12g} alone, for the objective {objective:.12g}"]
