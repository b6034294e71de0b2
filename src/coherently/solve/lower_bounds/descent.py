"""Descent on a smooth function, in plain sums: the same on every machine, and on one thread."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.arrays import Vector

REMEMBERED = 10
"""Number of steps from which the curvature is estimated."""
MOST_STEPS, MOST_HALVINGS = 1000, 20
"""Maximum number of steps, and of trials of the length of one."""
FALL = 1e-4
"""The part of the slope by which the function must fall along a step."""
FLAT = 1e-9
"""The largest entry of a gradient that counts as none."""


def descend(
    value: Callable[[Vector], tuple[float, Vector]], start: Vector, close: float, is_over: Callable[[], bool]
) -> Vector:
    """Go down from a point until a step gains at most the part `close`, or the work is over (L-BFGS, Nocedal 1980).

    `value` gives the function and its gradient. Libraries for this use threads, which wait for each other where the
    machine is busy: a descent on vectors of a few thousand entries took 20 times as long.

    >>> descend(lambda x: (float(((x - 3.0) ** 2).sum()), 2.0 * (x - 3.0)), np.zeros(2), 1e-9, lambda: False).round(6)
    array([3., 3.])
    """
    x, (f, gradient) = start, value(start)
    steps: deque[tuple[Vector, Vector]] = deque(maxlen=REMEMBERED)
    for _ in range(MOST_STEPS):
        if is_over() or np.abs(gradient).max() <= FLAT:
            break
        direction = _direction(gradient, steps)
        slope = _dot(direction, gradient)
        if slope >= 0:
            steps.clear()
            direction, slope = -gradient, -_dot(gradient, gradient)
        length = 1.0 if steps else min(1.0, 1.0 / float(np.abs(gradient).sum()))
        for _ in range(MOST_HALVINGS):
            lower, next_gradient = value(x + length * direction)
            if lower <= f + FALL * length * slope:
                break
            length *= 0.5
        else:
            break
        steps.append((length * direction, next_gradient - gradient))
        if _dot(*steps[-1]) <= 0:  # no curvature to learn from
            steps.pop()
        x, gained, f, gradient = x + length * direction, f - lower, lower, next_gradient
        if gained <= close * max(abs(f), 1.0):
            break
    return x


def _direction(gradient: Vector, steps: deque[tuple[Vector, Vector]]) -> Vector:
    """Minus the gradient times the inverse of the curvature that the steps show."""
    direction, weights = -gradient, []
    for step, change in reversed(steps):
        weights.append(_dot(step, direction) / _dot(step, change))
        direction = direction - weights[-1] * change
    if steps:
        step, change = steps[-1]
        direction = direction * (_dot(step, change) / _dot(change, change))
    for (step, change), weight in zip(steps, reversed(weights), strict=True):
        direction = direction + (weight - _dot(change, direction) / _dot(step, change)) * step
    return direction


def _dot(a: Vector, b: Vector) -> float:
    return float(np.einsum("i,i->", a, b))
