"""What a solver may spend: made once, at the door, and handed down."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SLICE = 0.05
"""Seconds between two looks at the clock, the keyboard and `stop`."""


def _never() -> bool:
    return False


def _nobody() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Budget:
    """A deadline by the monotonic clock, the gap that is enough, whom to tell of progress, and when to stop.

    The gap is relative to the objective, or to `floor` where the objective is less.

    >>> Budget(deadline=0.0).is_over(), Budget().is_over(), Budget(stop=lambda: True).is_over()
    (True, False, True)
    """

    deadline: float = math.inf
    tolerance: float = 1e-6
    floor: float = 1.0
    progress: Callable[[], None] = _nobody
    stop: Callable[[], bool] = _never

    def left(self) -> float:
        """The seconds that are left, 0 after a stop; tells of progress."""
        self.progress()
        return 0.0 if self.stop() else max(0.0, self.deadline - time.monotonic())

    def is_over(self) -> bool:
        """Whether nothing is left."""
        return self.left() <= 0

    def share(self, part: float) -> Budget:
        """The same with a part of the time that is left."""
        now = time.monotonic()
        return replace(self, deadline=now + part * max(0.0, self.deadline - now))

    def is_enough(self, gap: float, objective: float) -> bool:
        """Whether a gap is at most the tolerance."""
        return gap <= self.tolerance * max(objective, self.floor)
