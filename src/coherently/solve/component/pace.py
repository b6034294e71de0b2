"""How long a component takes, roughly: for batches, and for what is worth being sent elsewhere.

For n events and s states of dynamic programming over all worlds, the seconds are about

    base + each n + deep n^power s^0.75,

where s counts the entries of all tables of an elimination order, which is found at once (`bench/engines.py` measures
the model: half of the estimates are between 0.7 and 1.35 times the truth, and 98 of 100 between a third and twice).
Components that dynamic programming cannot solve take seconds, or all the time that they get.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.solve.worlds.grounds import Grounds

if TYPE_CHECKING:
    from coherently.problem import Merged
    from coherently.solve.component.objective import Objective, Squares

CROSSING = 3e-4
"""Seconds below which a component is solved sooner than it is sent elsewhere and back."""
FEW = 16
"""Up to so many events and variables, states do not count."""
STATES = 0.75
"""The power by which seconds grow with states."""
HARD = 1.0
"""Seconds, at least, of a component for which dynamic programming has too many states."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What events and states cost, in seconds."""

    base: float
    each: float
    deep: float
    power: float

    def seconds(self, events: int, states: float) -> float:
        """The seconds for so many events and states."""
        deep: float = self.deep * events**self.power * states**STATES
        return self.base + self.each * events + deep


COLUMNS = Pace(9e-5, 3e-6, 3e-9, 1.6)
"""The measured pace of column generation (the Brier loss)."""
NEWTON = Pace(1.7e-3, 4.3e-5, 9e-11, 2.6)
"""The measured pace of Newton's method (everything else)."""


def pace_of(part: Merged, objective: Objective | Squares) -> Pace:
    """The pace of the method that solves a component."""
    return COLUMNS if objective.is_quadratic and not len(part.terms.limits) else NEWTON


def estimated_seconds(part: Merged, pace: Pace) -> float:
    """The seconds that a component takes, roughly."""
    if len(part) <= FEW and part.n_variables <= FEW:
        return pace.seconds(len(part), 0.0)
    states = Grounds(part).cost
    if math.isinf(states):
        return HARD * (1.0 + 1e-3 * len(part)) + pace.seconds(len(part), 0.0)
    return pace.seconds(len(part), states)
