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
    from coherently.arrays import Indices, Vector

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


def fitted_lines(owner: Indices, odds: Vector, outcome: Vector, *, count: int, ridge: float) -> Vector:
    """A line for each of `count` owners of odds, shrunk to that of all together: one row per owner, factor and shift.

    The line of all is shrunk to the factor 1 and the shift 0, with the same ridge. Newton's method for all owners at
    once: each step solves a system of two equations per owner.

    >>> fitted_lines(np.zeros(0, np.int64), np.empty(0), np.empty(0), count=2, ridge=8.0).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    common = _newton(np.zeros(len(odds), np.int64), odds, outcome, np.array([[1.0, 0.0]]), ridge=ridge)
    return _newton(owner, odds, outcome, np.repeat(common, count, axis=0), ridge=ridge)


def _newton(owner: Indices, odds: Vector, outcome: Vector, start: Vector, *, ridge: float) -> Vector:
    count, line = len(start), start
    for _ in range(MOST_STEPS):
        p = sigmoid(line[owner, 0] * odds + line[owner, 1])
        miss, bend = p - outcome, np.maximum(p * (1.0 - p), FLAT)
        sums = np.stack([np.bincount(owner, miss * odds, count), np.bincount(owner, miss, count)], axis=1)
        slope = sums + ridge * (line - start)
        first = np.bincount(owner, bend * odds**2, count) + ridge
        cross, last = np.bincount(owner, bend * odds, count), np.bincount(owner, bend, count) + ridge
        above = np.stack([last * slope[:, 0] - cross * slope[:, 1], first * slope[:, 1] - cross * slope[:, 0]], axis=1)
        step = above / (first * last - cross**2)[:, None]
        length = np.abs(step).max(axis=1, initial=0.0)
        line = line - step * np.minimum(1.0, STEP / np.maximum(length, CLOSE))[:, None]
        if length.max(initial=0.0) < CLOSE:
            break
    return line
