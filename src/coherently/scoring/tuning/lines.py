"""Lines in log-odds, fitted to outcomes under a ridge.

A line turns the log-odds z of a pool into a z + b. It minimises

    sum_i u_i log-loss(sigmoid(a z_i + b), y_i) + ridge / 2 ((a - 1.2)^2 + b^2),

with weights u whose mean is 1: a ridge of 2 counts as much as a handful of events, so that few outcomes move the line
little and none leave it at a = 1.2 (pools of many judges are timid) and b = 0. The problem is convex; Newton's method
solves it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.methods.judge_factors import sigmoid

if TYPE_CHECKING:
    from coherently.arrays import Vector

START = np.array([1.2, 0.0])
"""The line that no outcome teaches."""
LEAST_EXPONENT = 0.05
"""Minimum factor of a line: a pool that says the opposite of what happens is levelled, and not turned round."""
MOST_STEPS, STEP, CLOSE = 50, 2.0, 1e-9
"""Maximum number of Newton's steps, their largest length, and the length at which they end."""
FLAT = 1e-6
"""Minimum curvature of the loss of an event."""


def fitted_line(odds: Vector, outcome: Vector, weight: Vector, ridge: float) -> tuple[float, float]:
    """The factor and the shift of the line.

    >>> fitted_line(np.empty(0), np.empty(0), np.empty(0), 2.0)
    (1.2, 0.0)
    """
    if not len(odds):
        return float(START[0]), float(START[1])
    table = np.stack([odds, np.ones_like(odds)], axis=1)
    share, line = weight / weight.mean(), START
    for _ in range(MOST_STEPS):
        p = sigmoid(table @ line)
        slope = table.T @ (share * (p - outcome)) + ridge * (line - START)
        curve = (table * (share * np.maximum(p * (1.0 - p), FLAT))[:, None]).T @ table + ridge * np.eye(2)
        step = np.linalg.solve(curve, slope)
        length = float(np.abs(step).max())
        line = line - step * min(1.0, STEP / max(length, CLOSE))
        if length < CLOSE:
            break
    return max(float(line[0]), LEAST_EXPONENT), float(line[1])
