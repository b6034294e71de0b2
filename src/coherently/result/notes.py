"""What a reader should know about conditionals and pins, in the words of the panel."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import ContradictionError, ListedProblem, Where
from coherently.events import CERTAIN
from coherently.problem import ABSENT, possible
from coherently.solve import Global
from coherently.solve.solution import promised

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from coherently.panel import Panel
    from coherently.problem import Loss, Problem
    from coherently.solve import Solution

_GIVEN = re.compile(r"\bgiven\b", re.IGNORECASE)
_SHOWN = 3  # conditions that a note names
_ROUNDING = 1e-12  # differences below this part of the numbers are rounding


def pins_in_conflict(panel: Panel, pins: Iterable[int]) -> ContradictionError:
    """No coherent forecasts satisfy some pins: an error with one problem for each."""
    texts, remedy = [panel.laws.pins.text[i] for i in pins], "Change or drop one of them"
    return ContradictionError(
        f"no coherent forecasts satisfy these pins together with the laws: {'; '.join(texts)}. {remedy}",
        problems=[ListedProblem(text, ContradictionError.code, Where(event=text), remedy) for text in texts],
    )


def clipped(panel: Panel, loss: Loss) -> str | None:
    """Say how many forecasts are nearer to 0 or 1 than the loss allows."""
    moved = int(np.count_nonzero((loss.clipped(panel.probability) != panel.probability) & (panel.weight > 0)))
    return f"Forecasts outside the clip of the loss {loss.name}, moved to it: {moved:,}." if moved else None


def with_settled(panel: Panel, plain: Panel, solution: Solution) -> Solution:
    """Name the conditionals that are constants, and promise nothing that they save where they are called off.

    `plain` is the panel with these conditionals as constants (`coherently.problem.settled`). A forecast p of one that
    is the constant c saves w (p - c)^2 in the worlds of its condition and nothing in others, whatever else is saved: so
    the improvement that counts it in all worlds holds without it.
    """
    units = np.flatnonzero(panel.written.condition != plain.written.condition)
    if not len(units):
        return solution
    constant = np.where(plain.written.event == CERTAIN, 1.0, 0.0)
    texts = [panel.written.text[unit] for unit in units[:_SHOWN].tolist()]
    more = f" and {len(units) - _SHOWN:,} more" if len(units) > _SHOWN else ""
    said = f"These conditionals are 0 or 1 by logic and laws, whatever was forecast: {', '.join(texts)}{more}."
    value = solution.value.copy()
    value[units] = np.where(np.isnan(value[units]), constant[units], value[units])
    return replace(
        solution,
        value=value,
        guaranteed_improvement=_without(solution.guaranteed_improvement, _called_off(panel, units, constant)),
        note=f"{solution.note} {said}" if solution.note else said,
    )


def _called_off(panel: Panel, units: NDArray[np.int64], constant: NDArray[np.float64]) -> float:
    """What the constants of some conditionals save only where a condition holds that may fail."""
    fails = units[possible(panel, panel.written.condition[units] ^ np.int32(1))]
    rows = np.flatnonzero(np.isin(panel.event_index, fails))
    apart = panel.probability[rows] - constant[panel.event_index[rows]]
    with np.errstate(over="ignore"):
        return float(np.sum(panel.weight[rows] * apart**2))


def _without(improvement: float | None, part: float) -> float | None:
    """The improvement without a part of it; differences of rounding are 0."""
    if improvement is None or not part:
        return improvement
    left = improvement - part
    return 0.0 if abs(left) <= _ROUNDING * part else promised(left)


def with_notes(panel: Panel, problem: Problem, solution: Solution) -> Solution:
    """The solution, with notes on conditions that have no probability, or that nobody forecast."""
    if solution.conditionals is None:
        return solution
    told = _told(panel, problem)
    adrift, standing = set[int](), set[int]()
    if isinstance(solution, Global):
        standing = set(solution.standing)
        adrift = set(solution.degenerate) | standing.difference(np.flatnonzero(told).tolist())
    silent = [k for k in np.flatnonzero(~told).tolist() if k not in adrift | standing]
    notes = [solution.note] if solution.note else []
    for some, extreme, so in (
        (adrift & standing, "0", "; forecasts conditional on it are thus unconstrained"),
        (adrift - standing, "1", ""),
    ):
        if some:
            notes.append(
                f"In this answer the probability of {_conditions(panel, problem, some)} is {extreme}, although no "
                f"forecast, law or pin says so{so}. Add a forecast or a pin for it."
            )
    notes += _standing_notes(panel, problem, standing)
    if silent:
        notes.append(
            f"Nobody forecast {_conditions(panel, problem, silent)}, on which other forecasts are conditional: its "
            "probability is whatever suits those best. Add a forecast or a pin for it to fix it."
        )
    return replace(solution, note=" ".join(notes) or None)


def _told(panel: Panel, problem: Problem) -> NDArray[np.bool_]:
    """Which conditionals have a condition that a forecast, a law or a pin is about."""
    merged, terms = problem.merged, problem.merged.terms
    condition = terms.conditionals.condition
    told = np.isin(condition.coordinate, np.flatnonzero(merged.weight > 0))
    told |= np.isin(condition.coordinate, terms.intervals.about[~terms.intervals.conditional])
    told |= np.isin(condition.coordinate, terms.limits.joint.coordinate[terms.limits.condition.coordinate < 0])
    rest = np.flatnonzero(~told)
    side = merged.event[condition.coordinate[rest]] ^ condition.turned[rest]
    told[rest[~possible(panel, (side ^ 1).astype(np.int32))]] = True
    return told


def _standing_notes(panel: Panel, problem: Problem, standing: set[int]) -> list[str]:
    """Where forecasts stand whose condition has no probability."""
    forecasts, given = problem.forecasts, problem.merged.terms.conditionals
    own = forecasts.unit[(forecasts.weight > 0) & problem.conditional[forecasts.unit]]
    count = np.bincount(problem.coordinate[own], minlength=len(given))
    known = {k for k in standing if not np.isnan(given.stated[k])}
    below = f"the probability of the condition is below {ABSENT:g}"
    notes = []
    if known:
        merged = ", but for merging several forecasts of one conditional" if count[sorted(known)].max() > 1 else ""
        notes.append(f"Forecasts conditional on {_conditions(panel, problem, known)} are unchanged{merged}: {below}.")
    if unknown := standing - known:
        notes.append(
            f"Nothing is known of conditionals on {_conditions(panel, problem, unknown)}, which are shown as 0.5: no "
            f"forecast of them has any weight, and {below}."
        )
    return notes


def condition_text(conditional: str) -> str:
    """The condition of a conditional, as written.

    >>> condition_text("flood given rain & wind")
    'rain & wind'
    """
    return _GIVEN.split(conditional)[-1].strip()


def _conditions(panel: Panel, problem: Problem, numbers: Iterable[int]) -> str:
    """The conditions of some conditionals, as first written."""
    wanted = set(numbers)
    texts = [
        condition_text(panel.written.text[unit])
        for unit in np.flatnonzero(problem.conditional).tolist()
        if int(problem.coordinate[unit]) in wanted
    ]
    distinct = list(dict.fromkeys(texts))
    more = f" and {len(distinct) - _SHOWN:,} more" if len(distinct) > _SHOWN else ""
    return ", ".join(distinct[:_SHOWN]) + more
