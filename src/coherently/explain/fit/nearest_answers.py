"""The nearest answers that fit together, by the exact solver: the least sum of squared changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import CoherentlyError
from coherently.panel import Pins
from coherently.problem import BRIER, pose, settled, split
from coherently.solve.component.component_solver import solve_component
from coherently.solve.component.objective import objective_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.explain.fit.pieces import CliqueStates
    from coherently.explain.fit.read_sheets import ReadSheet
    from coherently.panel import Panel
    from coherently.solve.budget import Budget

    Vector = NDArray[np.float64]
    Mask = NDArray[np.bool_]

TOLERANCE, FLOOR = 1e-9, 1e-9
"""The relative gap of the sum of squares that is small enough, and the least sum to which it is relative."""
ROUNDING = 1e-7
"""Changes of a conditional answer up to this are rounding errors."""
HEAVY = 1e3
"""The weight of what must be met: locked answers, and the sum of all shares, which is 1."""
PINNED = 1e-6
"""Largest miss of a locked answer that is rounding."""


def mended(
    sheet: ReadSheet, items: NDArray[np.int64], value: Vector, active: Mask, budget: Budget, locked: Mask | None = None
) -> Vector | None:
    """Give the coherent values of items that are nearest to the `active` answers; `locked` ones keep theirs.

    None if there are none, or if time ran out before some were found. Items that are not active get what the others
    make of them.
    """
    panel = sheet.panel.select(sheet.row[items])
    panel = replace(panel, probability=np.where(active, value, 0.5), weight=active.astype(np.float64))
    if locked is not None and locked.any():
        panel = _pinned(panel, np.flatnonzero(locked), value)
    problem = pose(settled(panel))
    x = np.full(len(problem.merged), 0.5)
    spending = replace(budget, tolerance=TOLERANCE, floor=FLOOR)
    try:
        for part in split(problem.merged):
            answer = solve_component(part.merged, objective_of(part.merged, BRIER), spending)
            if answer.violation > PINNED:
                return None
            x[part.coordinates] = answer.x
    except CoherentlyError:
        return None
    found: Vector = np.clip(problem.as_written(x), 0.0, 1.0)[panel.event_index]
    return found


def _pinned(panel: Panel, some: NDArray[np.int64], value: Vector) -> Panel:
    """The panel with laws that some of its forecasts, by number, keep their values."""
    pins, event = panel.laws.pins, panel.event_index[some]
    more = Pins(
        text=(*pins.text, *("locked" for _ in some)),
        event=np.concatenate([pins.event, panel.written.event[event]]),
        condition=np.concatenate([pins.condition, panel.written.condition[event]]),
        low=np.concatenate([pins.low, value[some]]),
        high=np.concatenate([pins.high, value[some]]),
    )
    return replace(panel, laws=replace(panel.laws, pins=more))


def mended_where_granted(
    columns: CliqueStates, conditional: Mask, value: Vector, active: Mask, locked: Mask | None = None
) -> Vector:
    """The conditional answers made coherent in the worlds of their condition; the same array if they are already.

    Answers given the same condition may contradict each other, and fit only if the condition is impossible: it should
    not be taken for impossible because of that.
    """
    found = value
    conditional = active & conditional & ~np.isnan(value)
    by_condition: dict[bytes, list[int]] = {}
    for i in np.flatnonzero(conditional).tolist():
        by_condition.setdefault(columns.given[:, i].tobytes(), []).append(i)
    for own in by_condition.values():
        truth = columns.joint[columns.given[:, own[0]]][:, own].astype(np.float64)
        near = _nearest_point(truth, value[own], None if locked is None else locked[own])
        if np.abs(near - value[own]).max() > ROUNDING:
            found = found.copy() if found is value else found
            found[own] = near
    return found


def _nearest_point(truth: Vector, target: Vector, locked: Mask | None) -> Vector:
    """The nearest point to a target in the convex hull of rows, by nonnegative least squares."""
    if len(target) == 1:
        return np.clip(target, truth.min(), truth.max())
    from scipy.optimize import nnls

    rows = np.unique(truth, axis=0)
    weight = np.append(np.ones(len(target)) if locked is None else np.where(locked, HEAVY, 1.0), HEAVY)
    heavy = weight[:, None] * np.vstack([rows.T, np.ones(len(rows))])
    share, _ = nnls(heavy, weight * np.append(target, 1.0))
    point: Vector = share @ rows / share.sum()
    return point
