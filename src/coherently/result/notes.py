"""What a reader should know about conditionals and pins, in the words of the panel."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem import ABSENT
from coherently.solve import Global

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coherently.panel import Panel
    from coherently.problem import Loss, Problem
    from coherently.solve import Solution

_GIVEN = re.compile(r"\bgiven\b", re.IGNORECASE)
_SHOWN = 3  # conditions that a note names


def pins_in_conflict(panel: Panel, pins: Iterable[int]) -> str:
    """Say that no coherent forecasts satisfy some pins."""
    listed = "; ".join(panel.laws.pins.text[i] for i in pins)
    return f"no coherent forecasts satisfy these pins together with the laws: {listed}. Change or drop one of them"


def clipped(panel: Panel, loss: Loss) -> str | None:
    """Say how many forecasts are nearer to 0 or 1 than the loss allows."""
    moved = int(np.count_nonzero((loss.clipped(panel.probability) != panel.probability) & (panel.weight > 0)))
    return f"Forecasts outside the clip of the loss {loss.name}, moved to it: {moved:,}." if moved else None


def without_promise(panel: Panel, plain: Panel, solution: Solution) -> Solution:
    """Name the conditionals that are constants, and promise no improvement: where called off, they bring none."""
    units = np.flatnonzero(panel.written.condition != plain.written.condition)
    if not len(units):
        return solution
    texts = [panel.written.text[unit] for unit in units[:_SHOWN].tolist()]
    more = f" and {len(units) - _SHOWN:,} more" if len(units) > _SHOWN else ""
    said = f"These conditionals are 0 or 1 by logic and laws, whatever was forecast: {', '.join(texts)}{more}."
    note = f"{solution.note} {said}" if solution.note else said
    return replace(solution, guaranteed_improvement=None, note=note)


def with_notes(panel: Panel, problem: Problem, solution: Solution) -> Solution:
    """The solution, with notes on conditions that no forecast, law or pin determines."""
    if solution.conditionals is None:
        return solution
    adrift, standing = set[int](), set[int]()
    if isinstance(solution, Global):
        adrift, standing = set(solution.degenerate), set(solution.standing)
    given, terms = problem.merged.terms.conditionals, problem.merged.terms
    told = np.isin(given.condition.coordinate, np.flatnonzero(problem.merged.weight > 0))
    told |= np.isin(given.condition.coordinate, terms.intervals.about[~terms.intervals.conditional])
    told |= np.isin(given.condition.coordinate, terms.limits.joint.coordinate[terms.limits.condition.coordinate < 0])
    silent = [k for k in np.flatnonzero(~told).tolist() if k not in adrift | standing]
    notes = [solution.note] if solution.note else []
    if adrift:
        notes.append(
            f"In this answer the probability of {_conditions(panel, problem, adrift)} is 0 or 1, although no forecast, "
            "law or pin says so; forecasts conditional on it are thus unconstrained. Add a forecast or a pin for it."
        )
    if standing:
        notes.append(
            f"Forecasts conditional on {_conditions(panel, problem, standing)} are unchanged: the probability of the "
            f"condition is below {ABSENT:g}."
        )
    if silent:
        notes.append(
            f"Nobody forecast {_conditions(panel, problem, silent)}, on which other forecasts are conditional: its "
            "probability is whatever suits those best. Add a forecast or a pin for it to fix it."
        )
    return replace(solution, note=" ".join(notes) or None)


def _conditions(panel: Panel, problem: Problem, numbers: Iterable[int]) -> str:
    """The conditions of some conditionals, as first written."""
    wanted = set(numbers)
    texts = [
        _GIVEN.split(panel.written.text[unit])[-1].strip()
        for unit in np.flatnonzero(problem.conditional).tolist()
        if int(problem.coordinate[unit]) in wanted
    ]
    distinct = list(dict.fromkeys(texts))
    more = f" and {len(distinct) - _SHOWN:,} more" if len(distinct) > _SHOWN else ""
    return ", ".join(distinct[:_SHOWN]) + more
