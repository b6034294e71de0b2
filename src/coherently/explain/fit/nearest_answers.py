"""The nearest answers that fit together: the least sum of squared changes, each times the chance of its condition.

Where worlds are few, the kernel of components with few worlds finds them; otherwise the exact solver does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently import _core
from coherently.errors import CoherentlyError
from coherently.explain.recent_values import kept_with_owner
from coherently.panel import Pins
from coherently.problem import BRIER, pose, settled, split
from coherently.solve.component.component_table import solve_alone
from coherently.solve.component.objective import objective_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.explain.fit.pieces import SheetPiece
    from coherently.explain.fit.read_sheets import ReadSheet
    from coherently.panel import Panel
    from coherently.solve.budget import Budget

    Vector = NDArray[np.float64]
    Mask = NDArray[np.bool_]

TOLERANCE, FLOOR = 1e-9, 1e-6
"""The relative gap of the sum of squares that is small enough, and the least sum to which it is relative.

A gap of their product means that no answer is off by more than its root, 3e-8.
"""
ROUNDING = 1e-7
"""Changes of a conditional answer up to this are rounding errors."""
HEAVY = 1e3
"""The weight of what must be met: locked answers, and the sum of all shares, which is 1."""
PINNED = 1e-6
"""Largest miss of a locked answer that is rounding."""
FEW_WORLDS = 64
"""Maximum number of worlds that the kernel mixes."""
UNLIKELY = 1e-4
"""Conditions below this are left to the exact solver."""


def nearest_in_few_worlds(piece: SheetPiece, value: Vector, active: Mask) -> Vector | None:
    """The same as `mended` for a piece of few listed worlds without pins, if it is proved; else None.

    Conditions that get nearly no chance are left to the exact solver, which knows what to do about them.
    """
    terms = _few_worlds(piece)
    if terms is None:
        return None
    # Answers about the same, or about complements, count as their mean: how far they are apart, times the chance of a
    # condition, is nobody's reason to make that less likely.
    weight: Vector = np.bincount(terms.of, active, len(terms.joint)).astype(np.float64)
    told = np.where(active, np.where(terms.turned, 1.0 - value, value), 0.0)
    mean = np.bincount(terms.of, told, len(terms.joint)) / np.maximum(weight, 1.0)
    found = _core.least_mixture(
        "brier",
        joint=terms.joint,
        rest=terms.rest,
        weight=weight,
        target=np.where(weight > 0, mean, 0.5),
        conditional=terms.conditional,
        worlds=terms.worlds,
    )
    if found is None:
        return None
    share, objective, bound = found
    if objective - bound > max(TOLERANCE * objective, TOLERANCE * FLOOR):
        return None
    assert piece.columns is not None
    likely, wins = share @ piece.columns.given, share @ piece.columns.joint
    if likely.min(initial=1.0) < UNLIKELY:
        return None
    near: Vector = np.clip(wins / likely, 0.0, 1.0)
    return near


class _FewWorlds(NamedTuple):
    """Distinct items by the worlds, as bits, in which they win, and in which they lose.

    `of` leads from all items to these; `turned` ones are about the complement.
    """

    joint: NDArray[np.uint64]
    rest: NDArray[np.uint64]
    conditional: NDArray[np.uint8]
    of: NDArray[np.int64]
    turned: NDArray[np.bool_]
    worlds: int


@kept_with_owner
def _few_worlds(piece: SheetPiece) -> _FewWorlds | None:
    columns = piece.columns
    assert columns is not None
    if len(columns) > FEW_WORLDS or len(columns.ties) or len(piece.pin_low):
        return None
    bit = np.uint64(1) << np.arange(len(columns), dtype=np.uint64)
    joint, rest = (
        np.where(truth, bit[:, None], np.uint64(0)).sum(axis=0, dtype=np.uint64)
        for truth in (columns.joint, columns.given & ~columns.joint)
    )
    turned = rest < joint
    sides = np.stack([np.minimum(joint, rest), np.maximum(joint, rest)], axis=1)
    distinct, first, of = np.unique(sides, axis=0, return_index=True, return_inverse=True)
    return _FewWorlds(
        joint=np.ascontiguousarray(distinct[:, 0]),
        rest=np.ascontiguousarray(distinct[:, 1]),
        conditional=piece.conditional[first].astype(np.uint8),
        of=of.ravel(),
        turned=turned,
        worlds=len(columns),
    )


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
            answer = solve_alone(part.merged, objective_of(part.merged, BRIER), spending)
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


def mended_where_granted(piece: SheetPiece, value: Vector, active: Mask, locked: Mask | None = None) -> Vector:
    """The conditional answers made coherent in the worlds of their condition; the same array if they are already.

    Answers given the same condition may contradict each other, and fit only if the condition is impossible: it should
    not be taken for impossible because of that.
    """
    found = value
    for group in _granted(piece):
        some = [k for k, i in enumerate(group.items) if active[i] and not np.isnan(value[i])]
        if not some:
            continue
        own = [group.items[k] for k in some]
        near = _nearest_point(group.truth[:, some], value[own], None if locked is None else locked[own])
        if np.abs(near - value[own]).max() > ROUNDING:
            found = found.copy() if found is value else found
            found[own] = near
    return found


class _Granted(NamedTuple):
    """Conditional items with one condition, and their truth in its worlds."""

    items: list[int]
    truth: Vector


@kept_with_owner
def _granted(piece: SheetPiece) -> list[_Granted]:
    columns = piece.columns
    assert columns is not None
    by_condition: dict[bytes, list[int]] = {}
    for i in np.flatnonzero(piece.conditional).tolist():
        by_condition.setdefault(columns.given[:, i].tobytes(), []).append(i)
    return [
        _Granted(own, columns.joint[columns.given[:, own[0]]][:, own].astype(np.float64))
        for own in by_condition.values()
    ]


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
