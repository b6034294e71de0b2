"""Stateless calls in processes of their own: a panel that takes all memory or all time takes no other's."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any, TypeVar

from coherently.web.jobs.memory import limit_memory, memory_taken
from coherently.web.refusals import RefusedError, too_many

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from coherently.web.settings import ServiceLimits

T = TypeVar("T")

GRACE = 2.0
"""A call that takes this many times its seconds is ended with its process."""
START = 20.0
"""Seconds that a process may take to begin, on top."""
NICE = 5
"""How far processes step back behind the one that answers requests."""
KEPT = 64
"""Number of answers that are kept until somebody fetches them."""
LOOK = 0.2
"""Seconds between two looks at the memory of a process."""


def begin_calling(most: int) -> None:
    """Begin a process: it steps back, leaves Ctrl-C to its parent, and ends without it or with too much memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICE)
    limit_memory(most)
    parent = os.getppid()

    def watch() -> None:
        while memory_taken() <= most and os.getppid() == parent:
            time.sleep(LOOK)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Calculator:
    """Runs functions in processes, at most `limits.calls` at once; each is limited in time and memory.

    `_places` counts calls, without waiting: who finds none is refused. `_lock` is held only to look at or to exchange
    the pool, never while a call runs. A pool that one call broke, or had to be ended, is dropped by whoever notices
    first (`self._pool is pool`); calls that come meanwhile get a new one. `_asked` has what nobody has fetched yet.
    """

    def __init__(self, limits: ServiceLimits, processes: int = 1) -> None:
        self.limits, self.processes = limits, processes
        self._places = threading.BoundedSemaphore(limits.calls)
        self._lock = threading.Lock()
        self._pool: ProcessPoolExecutor | None = None
        self._asked: dict[Hashable, Future[Any]] = {}

    def ask(self, key: Hashable, wait: float, function: Callable[..., T], *arguments: Any) -> T | None:
        """The value of `call`, or None if it is not there in so many seconds.

        The work goes on then, and whoever asks under the same key again gets what it found, once.
        """
        with self._lock:
            future = self._asked.get(key)
            if future is None:
                future = self._asked[key] = Future()
                threading.Thread(target=self._answer, args=(future, function, *arguments), daemon=True).start()
        try:
            value: T = future.result(wait)
        except TimeoutError:
            if not future.done():  # what the call itself raises may be of the same kind
                return None
            raise
        finally:
            if future.done():
                self._forget(key, future)
        return value

    def _answer(self, future: Future[Any], function: Callable[..., Any], *arguments: Any) -> None:
        try:
            future.set_result(self.call(function, *arguments))
        except Exception as error:
            future.set_exception(error)
        with self._lock:  # what nobody fetches is not kept for ever
            for key in [key for key, known in self._asked.items() if known.done()][:-KEPT]:
                del self._asked[key]

    def _forget(self, key: Hashable, future: Future[Any]) -> None:
        with self._lock:
            if self._asked.get(key) is future:
                del self._asked[key]

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Run a function of a module, and give its value or raise what it raised."""
        if not self._places.acquire(blocking=False):
            raise too_many("calculations at once", self.limits.calls, "Wait for an answer before you ask again.")
        try:
            return self._run(function, *arguments)
        finally:
            self._places.release()

    def _run(self, function: Callable[..., T], *arguments: Any) -> T:
        seconds = self.limits.call_seconds
        pool = self._opened()
        try:
            future = pool.submit(function, *arguments, seconds)
            return future.result(GRACE * seconds * self.limits.calls + START)
        except TimeoutError:
            self._drop(pool)
            raise RefusedError(
                422,
                "too-long",
                "The calculation took too long.",
                allowed=f"{seconds:g} seconds",
                remedy="Send a smaller panel, or make a panel of it and aggregate it as a job.",
            ) from None
        except BrokenProcessPool:
            self._drop(pool)
            raise RefusedError(
                422,
                "too-much-memory",
                "The calculation was ended, most likely because it took too much memory.",
                allowed=f"{self.limits.job_memory:,} bytes",
                remedy="Send a smaller panel.",
            ) from None

    def _opened(self) -> ProcessPoolExecutor:
        with self._lock:
            if self._pool is None:
                context = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(self.processes, context, begin_calling, (self.limits.job_memory,))
            return self._pool

    def _drop(self, pool: ProcessPoolExecutor) -> None:
        with self._lock:
            if self._pool is pool:
                self._pool = None
        for process in list(getattr(pool, "_processes", None) or {}):
            end_process(process)
        pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """End the processes."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            self._drop(pool)


def end_process(number: int) -> None:
    """End a process that was started here."""
    try:
        os.kill(number, signal.SIGKILL)
    except ProcessLookupError:
        return
