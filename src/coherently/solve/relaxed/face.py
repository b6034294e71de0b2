"""The exact end of a relaxed problem: the least squares on the face that a nearly optimal point shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.relaxed.lifted import TUNING, System

if TYPE_CHECKING:
    from coherently.arrays import Mask
    from coherently.solve.relaxed.lifted import Lifted, Point


def land(problem: Lifted, point: Point) -> Point | None:
    """Move a nearly optimal point to the optimum by the primal-dual active set method (Hintermueller and others 2003).

    An interior point has mixtures and slacks of about the root of its barrier where the optimum has 0 of both. Every
    face between the vertices that some optimum mixes and those that have no slack in any optimum leads to the same
    coordinates. A vertex on the wrong side changes sides, and the next face is tried. Where the optimum is not unique,
    the point moves as little as possible. None if no tried face is right.
    """
    # With m s = 0 replaced by s = 0 on a face F and m = 0 off it, the conditions of `lifted` are linear:
    #
    #     k (x - q) = P' f,   V f + l = 0 on F,   V' m = P x,   S m = 1,   m = 0 off F.
    #
    # The solution is optimal if m >= 0 on F and s = V f + l >= 0 off F; vertices that break this change sides. The
    # vertex of the largest mixture in each group stays on F, so that S m = 1 can be solved.
    face = point.mixture > point.slack
    for _ in range(TUNING.rounds):
        face |= point.mixture >= problem.spread(np.maximum.reduceat(point.mixture, problem.starts))
        point, error = _on_face(problem, point, face)
        wrong = (point.mixture < -TUNING.negligible) | (point.slack < -TUNING.negligible)
        if not wrong.any():
            return point if error <= TUNING.negligible else None
        face ^= wrong
    return None


def _on_face(problem: Lifted, point: Point, face: Mask) -> tuple[Point, float]:
    """Solve with no slack on the face and no mixture off it; returns the point and its largest residual."""
    # The matrix may be singular: mixtures and forces need not be unique. Each correction is a step of the proximal
    # method of multipliers, the system of `lifted` with h = its proximal term on F, and give = 0 off F.
    system = System(problem, np.where(face, 1.0 / (TUNING.proximal_face * problem.width**2.0), 0.0))
    point = replace(point, mixture=np.where(face, point.mixture, 0.0), slack=np.zeros_like(point.slack))
    least = np.inf
    for count in range(TUNING.corrections):
        right = problem.residuals(point)
        right[1][~face] = 0.0
        error = max(float(np.max(np.abs(part), initial=0.0)) for part in right)
        if error < 0.5 * least:
            best, least = point, error
        elif count > TUNING.settling:
            break
        point = point.plus(system.solve(*right))
    slack = problem.vertices @ best.forces + problem.spread(best.level)
    return replace(best, slack=np.where(face, 0.0, slack)), least
