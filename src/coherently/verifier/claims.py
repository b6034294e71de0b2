"""Claims about all worlds, the lower bound and the guaranteed improvement, checked by enumeration.

All losses here are in units of the largest weight of a forecast.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem import LOSSES, Log
from coherently.verifier.distinct_events import merge
from coherently.verifier.locally import relaxed
from coherently.verifier.nearness import saved
from coherently.verifier.promises import Unchecked, cut, kind_of, tolerance_of

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.problem import Loss
    from coherently.result import Result
    from coherently.verifier.distinct_events import Distinct
    from coherently.verifier.nearness import Nearness

ENUMERATION, ELIMINATION = "own enumeration", "own elimination of variables"
NOTHING = "no distance is below 0"
RELAXATION = "the relaxation to groups, on the result's word"
OWN_RELAXATION = "own relaxation to groups"
WORD = "the result's word"
BOUNDS = ("lower_bound", "components.lower_bound")
IMPROVEMENT = ("guaranteed_improvement",)


@dataclass(slots=True, eq=False)
class BoundCheck:
    """The findings about a lower bound.

    `proved` has one entry per component: what enumeration at the answer proves, NaN if nothing; `believed`, too: what
    any enumeration proves, else what is claimed, within reason.
    """

    proved: Vector = field(default_factory=lambda: np.empty(0))
    believed: Vector = field(default_factory=lambda: np.empty(0))
    problems: list[str] = field(default_factory=list)
    rests_on: list[str] = field(default_factory=list)
    unchecked: list[Unchecked] = field(default_factory=list)


def check_objective(result: Result, distinct: Distinct, near: Nearness) -> list[str]:
    """The objective must be the distance of the forecasts."""
    claim, f = _in_units(result.objective, distinct), float(near.objective.sum())
    if abs(claim - f) <= distinct.close * max(1.0, f) + near.blur.sum():
        return []
    return [f"the objective is {result.objective:.12g}; the forecasts give {f * distinct.unit:.12g}"]


def check_bound(result: Result, distinct: Distinct, near: Nearness) -> BoundCheck:
    """Check the lower bound of a globally coherent result, component by component where the result has them."""
    proved = near.proved()
    found = BoundCheck(proved, np.nan_to_num(proved))
    kind = kind_of(result.method.name, result.coherence)
    if result.lower_bound is None and (not (result.components or kind.splits) or kind.of_others):
        others = Unchecked(("components",), "the components, which are those of another problem")
        found.unchecked = [others] if kind.of_others else []
        return found
    claim, f = _in_units(result.lower_bound, distinct), float(near.objective.sum())
    slack = distinct.close * max(1.0, f) + float(near.blur.sum())
    problems = []
    if result.lower_bound is not None and not near.pinned.any() and not -slack <= claim <= f + slack:
        # Answers satisfy pins to 1e-9, so a bound may lie above the objective by the price of that.
        problems.append(f"the lower bound {result.lower_bound:.12g} is not between 0 and the objective")
    mismatches = _mismatches(result, distinct, near) if result.components or kind.splits else []
    if result.components and not mismatches:
        claims = [_in_units(component.lower_bound, distinct) for component in result.components]
        problems += [p for i, one in enumerate(claims) for p in _check_component(i, one, result, near, found=found)]
    elif not result.components:
        problems += _check_whole(claim, near, found)
    problems += mismatches
    found.problems = cut(problems)
    if result.status == "optimal" and not problems:
        found.problems = _check_optimal(result, near, found)
    return found


def check_local_bound(result: Result, distinct: Distinct, near: Nearness) -> BoundCheck:
    """Check the lower bound on the distance of all forecasts that are coherent within groups."""
    proved = near.proved()
    found = BoundCheck(proved, np.nan_to_num(proved))
    if result.lower_bound is None:
        return found
    claim, f = _in_units(result.lower_bound, distinct), float(near.objective.sum())
    slack = distinct.close * max(1.0, f) + float(near.blur.sum())
    if not -slack <= claim <= f + slack:
        found.problems = [f"the lower bound {result.lower_bound:.12g} is not between 0 and the objective"]
        return found
    own = relaxed(near.panel, result.loss, str(result.groups)) if not result.components else None
    if own is not None and claim > own.high + slack:
        found.problems = [
            f"the lower bound is {result.lower_bound:.12g}; forecasts that are coherent within groups reach "
            f"{own.high * distinct.unit:.12g}"
        ]
    found.rests_on = [component.proof for component in result.components] or [RELAXATION]
    if claim <= slack:
        found.rests_on = [NOTHING]
    elif own is not None and claim <= own.low + slack:
        found.rests_on = [OWN_RELAXATION]
    else:
        found.unchecked = [Unchecked(("lower_bound",), "the lower bound of the relaxed problem")]
    return found


def check_improvement(
    result: Result, distinct: Distinct, near: Nearness, bounds: Vector, called_off: float = 0.0
) -> tuple[list[str], list[Unchecked]]:
    """Check the guaranteed improvement: the problems, and what could not be checked.

    `called_off` is the part of the savings of all worlds that some worlds do not have.
    """
    if result.guaranteed_improvement is None:
        return [], []
    claim = _in_units(result.guaranteed_improvement, distinct)
    if len(distinct.intervals.row):
        return ["there is a guaranteed improvement, but the panel has intervals, which have no Brier penalty"], []
    hidden = np.isnan(near.saved)
    if hidden.any() and (result.coherence != "global" or not near.quadratic[hidden].all()):
        return [], [Unchecked(IMPROVEMENT, "the guaranteed improvement: there are too many worlds to enumerate")]
    most = saved(distinct.scatter, near, bounds) - called_off
    # A sum over all forecasts, each of which adds at most its weight.
    if claim <= most + distinct.close * max(1.0, distinct.weight.sum()):
        rests = "the guaranteed improvement, which rests on the lower bounds of components with too many worlds"
        return [], [Unchecked(IMPROVEMENT, rests)] if hidden.any() else []
    unit = distinct.unit
    return [
        f"the guaranteed improvement is {claim * unit:.12g}; what is saved in every world is {most * unit:.12g}"
    ], []


def indistinct(result: Result, near: Nearness) -> list[Unchecked]:
    """The loss, its clip and the loss of conditionals, where others would give the same objective."""
    answer, own, found = near.answer, float(near.objective.sum()), []
    slack = 2 * (answer.distinct.close * max(1.0, own) + float(near.blur.sum()))

    def is_same(loss: Loss, form: str) -> bool:
        mean = answer.distinct.mean if loss is answer.loss else merge(near.panel, loss).mean
        other = replace(answer, distinct=replace(answer.distinct, mean=mean), loss=loss, form=form)
        return abs(float(other.costs().value(*other.at()).sum()) - own) <= slack

    if any(is_same(kind(), answer.form) for name, kind in LOSSES.items() if name != result.loss.name):
        found.append(Unchecked(("loss", "clip"), "the loss: another one would give the same objective"))
    elif isinstance(result.loss, Log) and is_same(Log(result.loss.clip / 2), answer.form):
        found.append(Unchecked(("clip",), "the clip of the loss: another one would give the same objective"))
    forms = kind_of(result.method.name, result.coherence).conditionals if result.conditionals else ()
    if any(is_same(result.loss, form) for form in forms if form != answer.form):
        found.append(Unchecked(("conditionals",), "what conditionals lose: another way would give the same objective"))
    return found


def _in_units(loss: float | None, distinct: Distinct) -> float:
    return math.nan if loss is None else loss / distinct.unit


def _mismatches(result: Result, distinct: Distinct, near: Nearness) -> list[str]:
    """Components must be those of the panel, by first appearance, and sum to the whole."""
    components = result.components
    if len(components) != distinct.n_components:
        return [f"the result has {len(components):,} components, the panel {distinct.n_components:,}"]
    known = np.bincount(distinct.home_of_variable[distinct.home_of_variable >= 0], minlength=distinct.n_components)
    problems = []
    for i, component in enumerate(components):
        for what, count in (("events", int(distinct.events[i])), ("variables", int(known[i]))):
            if getattr(component, what) != count:
                problems.append(f"component {i} has {getattr(component, what):,} {what}, in the panel {count:,}")
        claim, f = _in_units(component.objective, distinct), float(near.objective[i])
        if not abs(claim - f) <= distinct.close * max(1.0, f) + near.blur[i]:
            problems.append(
                f"the objective of component {i} is {component.objective:.12g}; its forecasts give "
                f"{f * distinct.unit:.12g}"
            )
        if result.lower_bound is None and not component.lower_bound <= distinct.close * distinct.unit:
            problems.append(f"component {i} has the lower bound {component.lower_bound:.12g}, and the result has none")
    total = math.fsum(_in_units(component.lower_bound, distinct) for component in components)
    if result.lower_bound is not None and not abs(total - result.lower_bound / distinct.unit) <= distinct.close * max(
        1.0, total
    ):
        problems.append(
            f"the lower bound is {result.lower_bound}; those of the components sum to {total * distinct.unit:.12g}"
        )
    return problems


def _check_component(i: int, claim: float, result: Result, near: Nearness, found: BoundCheck) -> list[str]:
    """Check the claim for a component by its worlds, at x or by the verifier's own search."""
    f, low, unit = float(near.objective[i]), float(found.proved[i]), near.answer.distinct.unit
    slack = near.answer.distinct.close * max(1.0, f) + float(near.blur[i])
    proof = result.components[i].proof if result.components else WORD
    if claim < -slack or math.isnan(claim):
        return [f"the lower bound of component {i} is {claim * unit:.12g}, below 0"]
    if claim <= low + slack or claim <= 0:
        how = ENUMERATION if near.worlds.possible[i] else ELIMINATION
        found.rests_on.append(how if claim <= low + slack else NOTHING)
        return []
    if not near.worlds.possible[i]:
        found.believed[i] = min(claim, f)
        found.rests_on.append(proof)
        many = f"the lower bound of component {i}, which has too many worlds to enumerate"
        found.unchecked.append(Unchecked(BOUNDS, many))
        return _above(i, claim, f, slack, unit=unit) if not near.pinned[i] else []
    own = near.bracket(i)
    found.believed[i] = np.nanmax([low, own.low])
    high = min(own.high, math.inf if near.pinned[i] else f)
    if claim <= own.low + slack:
        found.rests_on.append(ENUMERATION)
    else:
        found.rests_on.append(proof)
        beyond = f"the lower bound of component {i} beyond {found.believed[i] * unit:.12g}"
        found.unchecked.append(Unchecked(BOUNDS, beyond))
    return _above(i, claim, high, slack, unit=unit)


def _above(i: int, claim: float, high: float, slack: float, unit: float) -> list[str]:
    if claim <= high + slack:
        return []
    return [f"the lower bound of component {i} is {claim * unit:.12g}; coherent forecasts reach {high * unit:.12g}"]


def _check_whole(claim: float, near: Nearness, found: BoundCheck) -> list[str]:
    """Check a bound of the whole."""
    objective, unit = float(near.objective.sum()), near.answer.distinct.unit
    slack = near.answer.distinct.close * max(1.0, objective) + float(near.blur.sum())
    if claim <= slack:
        found.rests_on = [NOTHING]
        return [] if claim >= -slack else [f"the lower bound is {claim * unit:.12g}, below 0"]
    if claim <= found.believed.sum() + slack:
        found.rests_on = [ENUMERATION]
        return []
    low, high = _ends(near, found)
    if claim > high + slack:
        return [f"the lower bound is {claim * unit:.12g}; coherent forecasts reach {high * unit:.12g}"]
    found.rests_on = [ENUMERATION if claim <= low + slack else WORD]
    if claim > low + slack:
        found.unchecked.append(Unchecked(BOUNDS[:1], f"the lower bound beyond {low * unit:.12g}"))
    return []


def _ends(near: Nearness, found: BoundCheck) -> tuple[float, float]:
    """Bounds on the least objective of all components together."""
    low = high = 0.0
    for i, f in enumerate(near.objective.tolist()):
        most = math.inf if near.pinned[i] else f
        if near.worlds.possible[i]:
            own = near.bracket(i)
            found.believed[i] = max(found.believed[i], own.low)
            most = min(most, own.high)
        low, high = low + float(found.believed[i]), high + most
    return low, high


def _check_optimal(result: Result, near: Nearness, found: BoundCheck) -> list[str]:
    """Optimal means that no coherent forecasts are nearer by more than the tolerance: proved, refuted or unchecked."""
    objective, unit = float(near.objective.sum()), near.answer.distinct.unit
    most = tolerance_of(result) * max(near.answer.distinct.floor, objective)
    most += near.answer.distinct.close * max(1.0, objective) + float(near.blur.sum())
    if objective - found.believed.sum() <= most:
        return []
    reached = near.objective.copy()
    for i in np.flatnonzero(near.worlds.possible & (found.believed < near.objective)).tolist():
        own = near.bracket(i)
        found.believed[i], reached[i] = max(found.believed[i], own.low), min(reached[i], own.high)
    if objective - found.believed.sum() <= most:
        return []
    if objective - reached.sum() > most:
        return [
            f"the status is optimal, but coherent forecasts reach {reached.sum() * unit:.12g}, for the objective "
            f"{objective * unit:.12g}"
        ]
    proved = f"that the answer is optimal: what is proved is {found.believed.sum() * unit:.12g}"
    found.unchecked.append(Unchecked(("status",), proved))
    return []
