"""One time limit for all that a check does, now or when it is asked for."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Allowance:
    """Seconds of work that are left; what happens between two pieces of work costs nothing."""

    def __init__(self, seconds: float, threads: int = 1) -> None:
        self.seconds = self.left = seconds
        self.threads = threads

    @contextmanager
    def spend(self, share: float) -> Iterator[float]:
        """A piece of work that may take this share of what is left: gives the time when that is over."""
        begun = time.monotonic()
        try:
            yield begun + share * self.left
        finally:
            self.left = max(0.0, self.left - (time.monotonic() - begun))
