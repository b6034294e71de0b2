"""Processes that work out what answers mean, so that no sheet slows another and no page waits for long.

Whoever asks waits for a moment and otherwise goes on without an answer: the work does not stop, and whoever asks the
same again gets what it found. Work that takes long steps back behind the rest, and is ended if too much of it piles up.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from coherently.explain.recent_values import Lately

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkServerContext, SpawnContext
    from multiprocessing.process import BaseProcess

Found = TypeVar("Found")
LEAST = 0.05
"""Seconds for which is waited in any case: several looks of one page share its seconds."""
LOOK = 0.1
"""Seconds between two looks at the processes."""
SLOW = 0.5
"""Seconds of the processor after which work steps back: another process takes its place among the quick ones."""
MORE = 2
"""Number of processes for work that takes long, beside the others."""
LONGEST = 60.0
"""Seconds of the processor after which a process is ended with what it does."""
NICE = 10
"""How far work that takes long steps back."""
PRELOADED = [
    "__main__",
    "coherently.web.access.desk_crew",
    "coherently.explain.judge_sheet",
    "scipy.optimize",
    "coherently.solve",
]
"""What is loaded once, before processes are made: each of them would load the program that runs, too."""
KEPT = 200
"""Number of answers that are kept until somebody asks for them again."""


_BEGUN: ContextVar[float | None] = ContextVar("begun", default=None)


def begin_request() -> None:
    """Note when the request began that is answered in this context, and what it calls."""
    _BEGUN.set(time.monotonic())


def _left(seconds: float) -> float:
    """What is left of so many seconds since the request began."""
    begun = _BEGUN.get()
    return seconds if begun is None else max(LEAST, begun + seconds - time.monotonic())


class Desk(Protocol):
    """Where work is done that reads answers; `ask` gives None if there is no answer yet."""

    def ask(self, who: str, wait: float, function: Callable[..., Found], *arguments: Any) -> Found | None:
        """What a function of a module gives for some values that can be pickled and hashed.

        The seconds of `wait` begin with the request, so that a page that asks twice does not take twice as long.
        """

    def close(self) -> None:
        """End."""


class InlineDesk:
    """Work in the thread that asks, however long it takes: for programs and tests."""

    def ask(self, who: str, wait: float, function: Callable[..., Found], *arguments: Any) -> Found | None:
        """The value of the function."""
        del who, wait
        return function(*arguments)

    def close(self) -> None:
        """There is nothing to end."""


@dataclass(eq=False)
class _DeskTask:
    who: str
    key: Hashable
    work: tuple[Callable[..., Any], tuple[Any, ...]]
    done: threading.Event = field(default_factory=threading.Event)
    value: Any = None
    error: BaseException | None = None
    is_answered: bool = False

    def end(self, value: Any = None, error: BaseException | None = None, *, answered: bool = True) -> None:
        self.value, self.error, self.is_answered = value, error, answered
        self.done.set()


@dataclass(eq=False)
class _DeskWorker:
    process: BaseProcess
    channel: Connection
    task: _DeskTask | None = None
    spent: float = 0.0
    """Seconds of the processor that it had taken when its task began."""
    is_slow: bool = False
    knows: set[str] = field(default_factory=set)
    """For whom it worked: what it found for them lately is still in its memory."""


class DeskCrew:
    """So many processes that answer quickly, and a few more for what takes long.

    `_lock` guards `_waiting`, `_under_way` and the fields of workers; each worker has a thread here that hands it tasks
    and waits for it, and one more thread keeps watch. Of tasks of one person that wait only the last is done:
    the others are about answers that do not stand any longer.
    """

    def __init__(self, processes: int) -> None:
        self._size, self._lock = max(1, processes), threading.Lock()
        self._context = _context()
        self._waiting: deque[_DeskTask] = deque()
        self._under_way: dict[Hashable, _DeskTask] = {}
        self._lately = Lately[tuple[Any]](KEPT)
        self._workers: list[_DeskWorker] = []
        self._wake = threading.Condition(self._lock)
        self._is_begun = self._is_closed = False
        self._watch = threading.Thread(target=self._look, name="desk watch", daemon=True)

    def start(self) -> None:
        """Begin the processes, unless that was done."""
        with self._lock:
            if self._is_begun or self._is_closed:
                return
            self._is_begun = True
        for _ in range(self._size):
            self._begin()
        self._watch.start()

    def ask(self, who: str, wait: float, function: Callable[..., Found], *arguments: Any) -> Found | None:
        """The value of the function, or None if it is not there in time; its errors are raised."""
        key = (function, arguments)
        known = self._lately.get(key)
        if known is not None:
            value: Found = known[0]
            return value
        self.start()
        task = self._put(who, key, (function, arguments))
        task.done.wait(_left(wait))
        if task.error is not None:
            raise task.error
        return task.value if task.is_answered else None

    def _put(self, who: str, key: Hashable, work: tuple[Callable[..., Any], tuple[Any, ...]]) -> _DeskTask:
        with self._lock:
            known = self._under_way.get(key)
            if known is not None:
                return known
            for old in [task for task in self._waiting if task.who == who and task.work[0] is work[0]]:
                self._waiting.remove(old)
                self._under_way.pop(old.key, None)
                old.end(answered=False)
            task = _DeskTask(who, key, work)
            self._under_way[key] = task
            self._waiting.append(task)
            self._wake.notify_all()
            return task

    def _begin(self) -> None:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_work, args=(there, os.getpid()), daemon=True)
        process.start()
        there.close()
        worker = _DeskWorker(process, here)
        with self._lock:
            self._workers.append(worker)
        threading.Thread(target=self._serve, args=(worker,), name="desk worker", daemon=True).start()

    def _serve(self, worker: _DeskWorker) -> None:
        """Hand tasks to a worker once it is ready, until it ends, or steps back for good."""
        with suppress(OSError, EOFError):
            worker.channel.recv()
        while (task := self._next(worker)) is not None:
            try:
                worker.channel.send(task.work)
                is_value, found = worker.channel.recv()
            except (OSError, EOFError, ValueError):
                self._finish(worker, task, answered=False)
                break
            self._finish(worker, task, value=found if is_value else None, error=None if is_value else found)
        with self._lock:
            if worker in self._workers:
                self._workers.remove(worker)
        with suppress(OSError):
            worker.channel.close()
        worker.process.join()

    def _next(self, worker: _DeskWorker) -> _DeskTask | None:
        with self._wake:
            while not self._is_closed:
                if worker.is_slow:  # it was replaced while it worked: one of the two is too many
                    return None
                task = self._choose(worker)
                if task is not None:
                    worker.task, worker.spent = task, processor_seconds(worker.process)
                    worker.knows.add(task.who)
                    return task
                self._wake.wait()
            return None

    def _choose(self, worker: _DeskWorker) -> _DeskTask | None:
        """The first task that waits, or one of somebody whom this worker knows if others are idle, too."""
        if not self._waiting:
            return None
        idle = [each for each in self._workers if each.task is None and not each.is_slow]
        for task in self._waiting:
            knowing = [each for each in idle if task.who in each.knows]
            if not knowing or worker in knowing:
                self._waiting.remove(task)
                return task
        return None

    def _finish(
        self,
        worker: _DeskWorker,
        task: _DeskTask,
        *,
        value: Any = None,
        error: BaseException | None = None,
        answered: bool = True,
    ) -> None:
        with self._wake:
            worker.task = None
            self._under_way.pop(task.key, None)
            self._wake.notify_all()
        # What would find more with more time is worth asking for again, and is not kept.
        if answered and error is None and getattr(value, "finished", True):
            self._lately.put(task.key, (value,))
        task.end(value, error, answered=answered)

    def _look(self) -> None:
        """Let slow work step back, end what takes too long, and begin processes for those that are gone."""
        while not self._is_closed:
            time.sleep(LOOK)
            with self._lock:
                busy = {each: processor_seconds(each.process) - each.spent for each in self._workers if each.task}
                for worker, taken in busy.items():
                    if taken > SLOW and self._waiting and not worker.is_slow:
                        worker.is_slow = True
                        _step_back(worker.process)
                slow = sorted((each for each in busy if each.is_slow), key=lambda each: -busy[each])
                missing = self._size - sum(not each.is_slow for each in self._workers)
                late = [each for each, taken in busy.items() if taken > LONGEST]
                late += slow[: max(0, len(slow) - MORE)]
            for worker in late:
                _end(worker.process)
            with suppress(OSError, EOFError):  # the system gives no process now: the next look tries again
                for _ in range(missing if not self._is_closed else 0):
                    self._begin()

    def close(self) -> None:
        """End the processes and what they do."""
        with self._wake:
            self._is_closed = True
            waiting, workers = list(self._waiting), list(self._workers)
            self._waiting.clear()
            self._wake.notify_all()
        if self._watch.is_alive():
            self._watch.join()
        for task in waiting:
            task.end(answered=False)
        with self._lock:
            workers = list({id(each): each for each in [*workers, *self._workers]}.values())
        for worker in workers:
            _end(worker.process)
        for worker in workers:
            worker.process.join()


def _context() -> ForkServerContext | SpawnContext:
    """Processes that begin quickly where the system can fork one that is prepared."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def processor_seconds(process: BaseProcess) -> float:
    """Seconds of the processor that a process has taken; where the system does not say, the clock stands for it."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return time.monotonic()


def _step_back(process: BaseProcess) -> None:
    if process.pid is not None and hasattr(os, "setpriority"):
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, NICE)


def _end(process: BaseProcess) -> None:
    with suppress(OSError, ValueError):
        process.kill()


def _work(channel: Connection, parent: int) -> None:
    """Do what is asked until the other side is gone."""
    from coherently.explain import judge_sheet as desk

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()
    desk.warm_up()
    gc.freeze()  # what is loaded stays, and is not looked through again and again for what could go
    with suppress(OSError):
        channel.send(None)  # it is ready: what came before is no part of any task
    while True:
        try:
            function, arguments = channel.recv()
        except (OSError, EOFError):
            return
        try:
            told = (True, function(*arguments))
        except Exception as error:  # whoever asked is told, and the process goes on
            told = (False, error)
        try:
            channel.send(told)
        except (OSError, ValueError):
            return
        except Exception as error:  # a value that cannot be sent is an error of whoever asked for it
            channel.send((False, RuntimeError(f"{type(error).__name__}: {error}")))


def _watch_parent(parent: int) -> None:
    while True:
        try:
            os.kill(parent, 0)
        except OSError:
            os._exit(1)
        time.sleep(1.0)
