"""What a solver may spend: made once, at the door, and handed down."""

from __future__ import annotations

import math
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from coherently.errors import MethodError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor

    from coherently.engine.keep import Keep
    from coherently.engine.worker import Signal
    from coherently.panel import Progress

T = TypeVar("T")

SLICE = 0.05
"""Seconds between two looks at the clock and at whether to stop."""


def _nobody(_: float) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Budget:
    """A deadline by the monotonic clock, the gap that is small enough, a listener for progress, and when to stop.

    The gap is relative to the objective, or to `floor` where the objective is less. The work stops when `cancel` is
    set, which may happen in another thread, and when `interrupted` is: by Ctrl-C, or by a KeyboardInterrupt from
    `progress`. `engine` is where components are solved, if not here, and `keep` has those that are finished. With
    `hints`, answers say where their bounds were proved.

    >>> Budget(deadline=0.0).is_over(), Budget().is_over()
    (True, False)
    >>> button = threading.Event()
    >>> budget = Budget(cancel=button)
    >>> button.set()
    >>> budget.is_stopped, budget.left()
    (True, 0.0)
    """

    deadline: float = math.inf
    tolerance: float = 1e-6
    floor: float = 1.0
    progress: Progress = _nobody
    cancel: Signal = field(default_factory=threading.Event)
    interrupted: threading.Event = field(default_factory=threading.Event)
    engine: Executor | None = None
    keep: Keep | None = None
    hints: bool = False
    begun: float = field(default_factory=time.monotonic)

    @property
    def is_stopped(self) -> bool:
        """Whether somebody wants the work to end now, with the answer so far."""
        return self.interrupted.is_set() or self.cancel.is_set()

    def tell(self, done: float) -> None:
        """Report progress: the fraction of the work that is done."""
        try:
            self.progress(done)
        except KeyboardInterrupt:
            self.interrupted.set()

    def left(self) -> float:
        """The seconds that are left; 0 once stopped."""
        return 0.0 if self.is_stopped else max(0.0, self.deadline - time.monotonic())

    def slice(self) -> float:
        """The seconds until the next look, 0 if nothing is left; reports the fraction of the time that has passed."""
        self.tell(min(1.0, (time.monotonic() - self.begun) / max(1e-9, self.deadline - self.begun)))
        return min(SLICE, self.left())

    def is_over(self) -> bool:
        """Whether nothing is left."""
        return self.left() <= 0

    def is_late(self) -> bool:
        """Whether the deadline has passed; a stop does not count."""
        return time.monotonic() >= self.deadline

    def within(self, seconds: float) -> Budget:
        """The same budget with at most so many seconds from now."""
        now = time.monotonic()
        return replace(self, deadline=min(self.deadline, now + seconds), begun=now)

    def at_least(self, seconds: float) -> Budget:
        """The same budget with no fewer than so many seconds from now, for what must be tried; a stop stays one."""
        return replace(self, deadline=max(self.deadline, time.monotonic() + seconds))

    def share(self, part: float) -> Budget:
        """The same budget with a part of the time that is left."""
        now = time.monotonic()
        return replace(self, deadline=now + part * max(0.0, self.deadline - now))

    def is_enough(self, gap: float, objective: float) -> bool:
        """Whether a gap is at most the tolerance."""
        return gap <= self.tolerance * max(objective, self.floor)

    def watch(self, work: Callable[[], T], stop: Callable[[], object]) -> T:
        """Do work in a separate thread, and call `stop` when nothing is left; the work should then end soon."""
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(work)
            while not done.done():
                wait([done], timeout=0.5 * SLICE)
                if self.is_over():
                    stop()
            return done.result()

    @contextmanager
    def heeding_interrupts(self) -> Iterator[None]:
        """Let the first Ctrl-C stop the work, which then has the answer so far; the next one raises as usual.

        Only the main thread receives Ctrl-C; a program that handles it itself keeps its handler.
        """
        usual = signal.default_int_handler
        if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
            yield
            return

        def stop(*_: object) -> None:
            self.interrupted.set()
            signal.signal(signal.SIGINT, usual)

        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)


def check_time_limit(time_limit: float) -> None:
    """Refuse what is no number of seconds."""
    if not 0 <= time_limit < math.inf:
        raise MethodError(f"time_limit is {time_limit}; it must be a number of seconds, 0 or more")


def asked_budget(
    progress: Progress | None = None,
    cancel: Signal | None = None,
    engine: Executor | None = None,
    keep: Keep | None = None,
    *,
    hints: bool = False,
) -> Budget:
    """The budget of a public call that was given these options, or none of them."""
    cancel = cancel or threading.Event()
    return Budget(progress=progress or _nobody, cancel=cancel, engine=engine, keep=keep, hints=hints)


NO_TIME = Budget(deadline=-math.inf)
"""A budget that is over: with it, functions do only what they must."""
