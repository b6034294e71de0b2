"""What a look at answers may spend, and second attempts with more time at what did not finish.

Time is that of the processor in the thread that looks: the same answers get the same feedback on a busy machine.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from coherently.explain.recent_values import Lately
from coherently.solve.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

PATIENCE = 40.0
"""Seconds by the clock for each second of the processor; a machine that is busier than that gets no further."""
MORE = 4.0
"""How many times as long the next attempt may take."""


class Attempted(Protocol):
    """Something that was found: `finished` is false if time ran out before all of it was."""

    @property
    def finished(self) -> bool:
        """Whether more time would find no more."""


Found = TypeVar("Found", bound=Attempted)


class _ProcessorTime:
    """Is set once the thread that made it has used so many seconds of the processor; other threads may ask, too."""

    def __init__(self, seconds: float) -> None:
        read = getattr(time, "pthread_getcpuclockid", None)
        own = None if read is None else read(threading.get_ident())
        self._now: Callable[[], float] = time.thread_time if own is None else lambda: time.clock_gettime(own)
        self._end = self._now() + seconds

    def is_set(self) -> bool:
        return self._now() >= self._end


def processor_budget(seconds: float) -> Budget:
    """A budget of so many seconds of the processor, for work in this thread.

    >>> processor_budget(60.0).is_over(), processor_budget(0.0).is_over()
    (False, True)
    """
    return Budget(cancel=_ProcessorTime(seconds)).within(PATIENCE * seconds)


class Attempts(Generic[Found]):
    """What was found lately; what did not finish is tried again, with more time, when it is asked for again.

    `most` are the seconds of the last attempt. One long attempt is made at a time: whoever asks meanwhile gets what is
    known, so that no sheet keeps the others waiting.
    """

    def __init__(self, size: int, most: float) -> None:
        self._lately, self._most = Lately[tuple[Found, float]](size), most
        self._long = threading.Lock()

    def get(self, key: Hashable, seconds: float, find: Callable[[float], Found]) -> Found:
        """What is known under a key, or what `find` finds in some seconds, more from one attempt to the next."""
        known, spent = self._lately.get(key) or (None, 0.0)
        if known is None or (not known.finished and spent < seconds):
            return self._find(key, seconds, find)
        longer = min(MORE * spent, self._most)
        if known.finished or longer <= spent or not self._long.acquire(blocking=False):
            return known
        try:
            return self._find(key, longer, find)
        finally:
            self._long.release()

    def _find(self, key: Hashable, seconds: float, find: Callable[[float], Found]) -> Found:
        found = find(seconds)
        self._lately.put(key, (found, seconds))
        return found
