"""The best answer so far."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.component.newton.support import Blend, blend_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem import Merged
    from coherently.solve.component.newton.limits import PinRows
    from coherently.solve.component.objective import Objective

VANISHING = (1e-4, 1e-7)
"""If a condition is less likely than this, the answer is tried without it as well."""
WORTHWHILE = 1e-12
"""Improvement, relative to the objective, that an answer without some conditions must bring."""
MISSED = 1e-13
"""An answer without some conditions may miss pins by this, or by as much as the answer with them."""


class Incumbent:
    """The mixture of the least loss so far, and its loss; tolerances are relative to at least `floor`."""

    def __init__(self, part: Merged, pins: PinRows, floor: float) -> None:
        self.part, self.pins, self.floor = part, pins, floor
        self.blend: Blend | None = None
        self.value = math.inf

    @property
    def scale(self) -> float:
        """What tolerances are relative to."""
        return max(self.value, self.floor)

    def take(self, objective: Objective, blend: Blend, slack: float = 0.0) -> None:
        """Keep an answer that loses less, or more by at most `slack`; try it without unlikely conditions, too."""
        value = objective.value(blend.sides)
        if value < self.value + slack:
            self.blend, self.value = blend, value
        h = blend.sides[objective.condition]
        for most in VANISHING:
            small = objective.called_off & (h < most) & (h > 0)
            if small.any():
                self._take_without(objective, blend, small, slack)

    def _take_without(self, objective: Objective, blend: Blend, terms: NDArray[np.bool_], slack: float) -> None:
        truth = self.part.functions.hold(blend.worlds)
        sides = np.hstack([truth, ~truth])
        kept = ~sides[:, objective.condition[terms]].any(axis=1) & (blend.share > 0)
        if not kept.any():
            return
        other = blend_of(self.part, blend.share[kept] / blend.share[kept].sum(), blend.worlds[kept])
        if len(self.pins) and self.pins.violation(other.sides) > max(MISSED, self.pins.violation(blend.sides)):
            return
        value = objective.value(other.sides)
        if value < self.value - (WORTHWHILE * self.scale if slack == 0 else -slack):
            self.blend, self.value = other, value
