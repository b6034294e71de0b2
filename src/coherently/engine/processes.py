"""Processes on this machine, which are replaced when one is lost."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from coherently.engine.worker import Order, begin_process, obey

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

NAME = "processes"
"""The name of a pool among its own workers."""
PRELOADED = ["coherently.solve", "coherently.explain", "coherently.scoring"]
"""Modules that are loaded once, for all processes."""


class Processes(Executor):
    """An executor over `workers` processes; `renew` replaces them all, `withdraw` asks them to end their work."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        # A fork of this process would have its threads' locks, but not the threads.
        way = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        self._context = multiprocessing.get_context(way)
        if way == "forkserver":
            self._context.set_forkserver_preload(PRELOADED)
        self._withdrawals = self._context.RawValue("q", 0)
        self._pool = self._open()

    def _open(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, self._context, begin_process, (NAME, self._withdrawals))

    def submit(self, work: Callable[..., T], /, *arguments: Any, **options: Any) -> Future[T]:
        """Do work in a process."""
        return self._pool.submit(obey, Order(NAME, self._withdrawals.value), work, *arguments, **options)

    def renew(self) -> None:
        """Make new processes; the work of the old ones is lost."""
        if sys.version_info < (3, 11, 5):
            # A thread may wait for ever to write to processes that are gone (CPython issue 94777).
            vars(self._pool)["_call_queue"]._reader.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = self._open()

    def withdraw(self) -> None:
        """Ask work that is under way to end."""
        self._withdrawals.value += 1

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes."""
        if cancel_futures:
            self.withdraw()
        self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)
