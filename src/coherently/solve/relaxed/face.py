"""The exact end of a relaxed problem: the least squares on the face that a nearly optimal point shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.relaxed.lifted import System

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.solve.relaxed.lifted import Lifted, Point

PROXIMAL_MIXTURE = 1e-7
"""The proximal term of mixtures, times the squared width of the group: it makes the solution unique."""
CORRECTIONS = 12
"""Maximum number of corrections on one face: each leaves about a thousandth of the residuals."""
SETTLING = 2
"""The residual may grow during the first corrections, up to this one: forces have to move."""
ROUNDS = 3
"""Maximum number of faces to try."""
NEGLIGIBLE = 1e-12
"""Feasibility tolerance for mixtures, slacks and equations (weights scaled to at most 1)."""


def land(problem: Lifted, point: Point) -> Point | None:
    """Move a nearly optimal point to the optimum, by the primal and dual active set method.

    An interior point has mixtures and slacks of about the root of its barrier where the optimum has 0 of both.
    Between the vertices that some optimum mixes and those that have no slack in any, every face leads to the same
    coordinates. A vertex that turns out wrong changes sides, and the next face is tried. The point moves as little
    as it must, in what the optimum leaves open. None if no face that is tried is right.
    """
    face = point.mixture > point.slack
    for _ in range(ROUNDS):
        face |= point.mixture >= problem.spread(np.maximum.reduceat(point.mixture, problem.starts))
        point, error = _on_face(problem, point, face)
        wrong = (point.mixture < -NEGLIGIBLE) | (point.slack < -NEGLIGIBLE)
        if not wrong.any():
            return point if error <= NEGLIGIBLE else None
        face ^= wrong
    return None


def _on_face(problem: Lifted, point: Point, face: NDArray[np.bool_]) -> tuple[Point, float]:
    """Solve with no slack on the face and no mixture off it; the largest residual that is left."""
    system = System(problem, np.where(face, 1.0 / (PROXIMAL_MIXTURE * problem.width**2.0), 0.0))
    point = replace(point, mixture=np.where(face, point.mixture, 0.0), slack=np.zeros_like(point.slack))
    least = np.inf
    for count in range(CORRECTIONS):
        right = problem.residuals(point)
        right[1][~face] = 0.0
        error = max(float(np.max(np.abs(part), initial=0.0)) for part in right)
        if error < 0.5 * least:
            best, least = point, error
        elif count > SETTLING:
            break
        point = point.plus(system.solve(*right))
    slack = problem.vertices @ best.forces + problem.spread(best.level)
    return replace(best, slack=np.where(face, 0.0, slack)), least
