"""Steps of Newton's method: how long its aim is searched for, the slope towards it, and the length of the step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from coherently.solve.component.newton.support import Blend
    from coherently.solve.component.objective import Objective, Planes

INSIDE = 0.999
"""Longest step, as a part of the way, towards a point at which the loss is infinitely steep."""
SHORTEST = 1e-10
"""Shortest step, as a part of the way."""
STEADY = 1e-15
"""Increases below this, relative to the weights, are rounding."""


class SearchPlan(NamedTuple):
    """How long worlds are searched for: how often the length of a search is doubled, and what ends it sooner.

    That is a round which gains less than it is worth, or the model's goal.
    """

    effort: int
    worth: float = 0.0
    goal: float = -math.inf


HASTY = SearchPlan(0)


def slope_towards(objective: Objective, here: Blend, aim: Blend, planes: Planes) -> float:
    """The derivative of the terms in the direction of the aim."""
    way = aim.sides - here.sides
    return float(planes.by_joint @ way[objective.joint] + planes.by_condition @ way[objective.condition])


def step_length(objective: Objective, here: Blend, aim: Blend, slope: float, mass: float, smooth: float) -> float:
    """The longest of 1, 1/2, 1/4 ... of the way at which the smoothed terms fall enough (Armijo 1966).

    `smooth` is their value here.
    """
    length = INSIDE if objective.is_steep and _is_at_edge(objective, here, aim) else 1.0
    slack = STEADY * objective.total
    way = aim.sides - here.sides
    while length > SHORTEST:
        value = objective.smoothed_value(aim.sides if length == 1 else here.sides + length * way, mass)
        if value <= smooth + 1e-4 * length * min(0.0, slope) + slack:
            return length
        length *= 0.5
    return 0.0


def _is_at_edge(objective: Objective, here: Blend, aim: Blend) -> bool:
    """Whether a ratio of the aim is 0 or 1, or much nearer to it than now."""
    u, v = aim.sides[objective.joint], here.sides[objective.joint]
    h, w = aim.sides[objective.condition], here.sides[objective.condition]
    near = (u < (1.0 - INSIDE) * v) | (h - u < (1.0 - INSIDE) * (w - v))
    return bool((objective.free & near).any())
