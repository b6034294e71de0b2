"""How the answer of a component moves when its objective is tilted: the derivative, where no world comes or goes.

Coherent x are the hull of the worlds' truth vectors a. With the gradient g of the objective F at the answer x, the
worlds of the face on which x lies are those with the least <g, a>; where pins hold with equality, <g - C' mu, a> with
their prices mu. As long as these active worlds stay the same, x stays in their affine hull, and on those pins. Let the
columns of Q be an orthonormal basis of its directions, and H the second derivative of F. The answer to F + <f, x>,
for a small f, has Q' (g + f + H dx) = 0 with dx = Q z, so that

    dx = -K f,   K = Q (Q' H Q)^-1 Q'.

K is symmetric. It holds everything: a merged forecast t of weight N adds N phi''(t) (t's change) to the force on its
event, so the derivative by t is K times that, which for the Brier loss is the projection on the face in the metric of
the weights. Where Q' H Q is singular, no forecast says where the answer lies in some directions, and what moves there
has no derivative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem.spaces.enumerated import possible_worlds
from coherently.solve.component.newton.limits import pin_rows
from coherently.solve.component.objective import objective_of, sides_at
from coherently.values import Value

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.problem import Loss, Merged
    from coherently.solve.component.objective import Objective, Planes

MOST_WORLDS = 4096
"""Maximum number of worlds that are listed in order to find the active ones."""
MOST_WORK = 2e8
"""Maximum number of worlds times the square of the number of events."""
ACTIVE = (1e-7, 1e-6, 1e-5, 1e-4)
"""A world is active if its sum of the gradient is above the least by at most such a part of the weights."""
MET = 1e-6
"""How far an answer may be from the affine hull of its active worlds."""
FREE, FLAT = 1e-6, 1e-11
"""Parts of a force or a move in free directions that count as none; curvatures that do, relative to the largest."""


@dataclass(frozen=True, slots=True, eq=False)
class AnswerResponse(Value):
    """K for the events of a component, and the directions (orthonormal rows) in which no forecast says anything."""

    matrix: Vector
    loose: Vector

    def to(self, force: Vector) -> Vector:
        """How the events move if the objective falls by `force` per unit of each, one column per force.

        NaN where the force points in a direction that nothing holds. Events also move freely in `loose` directions.
        """
        moved: Vector = self.matrix @ force
        if len(self.loose):
            lost = np.abs(self.loose @ force).max(axis=0) > FREE * np.abs(force).max(axis=0)
            moved[:, lost] = np.nan
        return moved


def response_of(part: Merged, loss: Loss, x: Vector, *, linearised: bool = False) -> AnswerResponse | None:
    """The response of a component at its answer x; None if its worlds are too many to list."""
    if (worlds := possible_worlds(part, MOST_WORLDS)) is None or len(worlds) * len(part) ** 2 > MOST_WORK:
        return None
    truth = part.functions.hold(worlds).astype(np.float64)
    objective, sides = objective_of(part, loss, linearised=linearised), sides_at(x)
    planes = objective.planes(sides, 0.0)
    gradient = objective.coefficients(planes.by_joint, planes.by_condition)[0]
    pins = _active_pins(part, sides)
    basis = _face(truth, _above(truth, gradient, pins, x) / objective.total, x)
    if basis is None:
        return None
    if len(pins):
        basis = basis @ _null(pins @ basis)
    return _inverted(basis, bend_of(objective, planes))


def bend_of(objective: Objective, planes: Planes) -> Vector:
    """The second derivative of the objective: the sum of curvature c c' with c = joint - ratio condition."""
    rows = np.arange(len(objective))
    lead = np.zeros((len(rows), 2 * objective.size + 1))
    lead[rows, objective.joint] = 1.0
    np.subtract.at(lead, (rows, objective.condition), np.where(objective.certain, 0.0, planes.bent))
    by_event = lead[:, : objective.size] - lead[:, objective.size : 2 * objective.size]
    bend: Vector = by_event.T @ (planes.curvature[:, None] * by_event)
    return bend


def _active_pins(part: Merged, sides: Vector) -> Vector:
    """The coefficients of the pins that hold with equality, one row each."""
    rows, size = pin_rows(part.terms.limits, len(part)), len(part)
    tight = np.flatnonzero(np.abs(rows.value(sides)) <= 1e-8) if len(rows) else np.empty(0, np.int64)
    found = np.zeros((len(tight), 2 * size + 1))
    at = np.arange(len(tight))
    np.add.at(found, (at, rows.joint[tight]), 1.0)
    np.subtract.at(found, (at, rows.condition[tight]), rows.edge[tight])
    by_event: Vector = found[:, :size] - found[:, size : 2 * size]
    return by_event


def _above(truth: Vector, gradient: Vector, pins: Vector, x: Vector) -> Vector:
    """By how much the sum of the gradient in each world is above the least; pins take off as much as suits x best.

    With pins, prices mu and the level l have <g - C' mu, a> >= l for all worlds, and equality at x: a linear program.
    """
    priced = gradient
    if len(pins):
        from scipy.optimize import linprog

        # max <g - C' mu, x> is not bounded by x alone: l <= <g - C' mu, a> for all a, and the largest l - <...>, 0.
        columns = np.hstack([np.ones((len(truth), 1)), truth @ pins.T])
        aim = -np.concatenate([[1.0], pins @ x])
        bounds = [(None, None)] * (1 + len(pins))
        solved = linprog(aim, A_ub=columns, b_ub=truth @ gradient, bounds=bounds)
        priced = gradient - (solved.x[1:] @ pins if solved.status == 0 else 0.0)
    sums: Vector = truth @ priced
    above: Vector = sums - sums.min()
    return above


def _face(truth: Vector, above: Vector, x: Vector) -> Vector | None:
    """An orthonormal basis of the differences of active worlds, one column per direction.

    An answer that is not exact has a gradient that is not, so that worlds with shares may lie above the least: the
    slack is the smallest with which x lies in the affine hull. None if none of those that make sense is enough.
    """
    for slack in ACTIVE:
        some = truth[above <= slack]
        middle = some.mean(axis=0)
        value, vector = np.linalg.eigh((some - middle).T @ (some - middle))
        basis: Vector = vector[:, value > FLAT * max(1.0, float(value.max(initial=0.0)))]
        away = x - middle
        if np.abs(away - basis @ (basis.T @ away)).max(initial=0.0) <= MET:
            return basis
    return None


def _null(rows: Vector) -> Vector:
    """A basis of what some rows leave free, one column per direction."""
    _, value, vector = np.linalg.svd(rows, full_matrices=True)
    rank = int(np.count_nonzero(value > FLAT * max(1.0, float(value.max(initial=0.0)))))
    found: Vector = vector[rank:].T
    return found


def _inverted(basis: Vector, bend: Vector) -> AnswerResponse:
    value, vector = np.linalg.eigh(basis.T @ bend @ basis)
    curved = value > FLAT * max(float(value.max(initial=0.0)), 1e-300)
    held = basis @ vector[:, curved]
    return AnswerResponse((held / value[curved]) @ held.T, (basis @ vector[:, ~curved]).T)
