"""Steps of Newton's method: how terms change on the way to an aim, and how far to go."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coherently.solve.component.newton.support import Blend
    from coherently.solve.component.objective import Objective, Planes

INSIDE = 0.999
"""The longest step towards a point at which the loss is infinitely steep."""
SHORTEST = 1e-10
"""The shortest step."""
STEADY = 1e-15
"""An increase, relative to the weights, that is only rounding."""


def slope_towards(objective: Objective, here: Blend, aim: Blend, planes: Planes) -> float:
    """How the terms change at first on the way to the aim."""
    way = aim.sides - here.sides
    return float(planes.by_joint @ way[objective.joint] + planes.by_condition @ way[objective.condition])


def step_length(objective: Objective, here: Blend, aim: Blend, slope: float, mass: float) -> float:
    """The longest of 1, 1/2, 1/4 ... of the way at which the smoothed terms have fallen enough (Armijo 1966)."""
    length = INSIDE if objective.is_steep and _is_at_edge(objective, here, aim) else 1.0
    smooth, slack = objective.smoothed_value(here.sides, mass), STEADY * objective.total
    way = aim.sides - here.sides
    while length > SHORTEST:
        value = objective.smoothed_value(aim.sides if length == 1 else here.sides + length * way, mass)
        if value <= smooth + 1e-4 * length * min(0.0, slope) + slack:
            return length
        length *= 0.5
    return 0.0


def _is_at_edge(objective: Objective, here: Blend, aim: Blend) -> bool:
    """Whether the aim has a ratio at 0 or 1, or much nearer to it."""
    u, v = aim.sides[objective.joint], here.sides[objective.joint]
    h, w = aim.sides[objective.condition], here.sides[objective.condition]
    near = (u < (1.0 - INSIDE) * v) | (h - u < (1.0 - INSIDE) * (w - v))
    return bool((objective.free & near).any())
