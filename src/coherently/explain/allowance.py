"""One time limit for all work of a check, now or later on request."""

from __future__ import annotations

import time
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING

from coherently.solve.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from coherently.solve import Signal


class Allowance:
    """The seconds of work that are left; time between two pieces of work does not count."""

    def __init__(
        self, seconds: float, threads: int = 1, cancel: Signal | None = None, engine: Executor | None = None
    ) -> None:
        self.seconds = self.left = seconds
        self.threads, self.cancel, self.engine = threads, cancel, engine

    def __getstate__(self) -> dict[str, object]:
        """Leave out the cancel signal and the engine: copies and pickles cannot be cancelled, and work here."""
        return {**self.__dict__, "cancel": None, "engine": None}

    def leave_engine(self) -> None:
        """The engine closes: what is asked later is found here."""
        self.engine = None

    @property
    def is_stopped(self) -> bool:
        """Whether somebody wanted the work to end before its time."""
        return self.cancel is not None and self.cancel.is_set()

    @contextmanager
    def spend(self, share: float) -> Iterator[Budget]:
        """The budget of a piece of work that may take this share of the time left."""
        budget = Budget(cancel=self.cancel or Event(), engine=self.engine).within(share * self.left)
        try:
            yield budget
        finally:
            self.left = max(0.0, self.left - (time.monotonic() - budget.begun))
