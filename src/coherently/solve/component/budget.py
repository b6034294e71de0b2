"""What a solver may spend: made once, at the door, and handed down."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

SLICE = 0.05
"""Seconds between two looks at the clock, the keyboard and `stop`."""


def _never() -> bool:
    return False


def _nobody() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Budget:
    """A deadline by the monotonic clock, the relative gap that is enough, whom to tell of progress, and when to stop."""

    deadline: float = math.inf
    tolerance: float = 1e-6
    progress: Callable[[], None] = _nobody
    stop: Callable[[], bool] = _never

    def left(self) -> float:
        """The seconds that are left, 0 after a stop; tells of progress."""
        self.progress()
        return 0.0 if self.stop() else max(0.0, self.deadline - time.monotonic())

    def slice(self) -> float:
        """The seconds for one call that cannot be stopped."""
        return min(SLICE, self.left())

    def is_over(self) -> bool:
        """Whether nothing is left."""
        return self.left() <= 0

    def share(self, part: float) -> Budget:
        """The same with a part of the time that is left."""
        if math.isinf(self.deadline):
            return self
        now = time.monotonic()
        return replace(self, deadline=now + part * max(0.0, self.deadline - now))
