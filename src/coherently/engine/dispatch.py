"""Batches of work by an executor: results as they arrive, lost workers replaced, an end when the time is over."""

from __future__ import annotations

import time
from collections import Counter, deque
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, wait
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from coherently.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from concurrent.futures import Executor, Future

T = TypeVar("T")
Batch = TypeVar("Batch")

POLL = 0.05
"""Seconds between two looks at the clock and at whether to stop."""
AHEAD = 2
"""Batches that wait or run, for each worker: the next one is there when a worker has finished one."""
UNKNOWN = 64
"""The number of workers that an executor is taken to have if it does not say."""
GRACE = 30.0
"""Seconds after the end of the time in which answers may still arrive: some work cannot be cut into slices."""
RETRIES = 3
"""How often a batch runs again after its worker was lost: maybe the batch is what kills workers."""


class Timing(Protocol):
    """What `dispatch` asks a budget."""

    def left(self) -> float:
        """The seconds that are left; 0 once stopped."""

    def slice(self) -> float:
        """Report progress."""


def dispatch(
    engine: Executor,
    work: Callable[[Batch, float], T],
    batches: Sequence[Batch],
    timing: Timing,
    meanwhile: Callable[[], bool] = lambda: False,
) -> Generator[tuple[int, T], None, None]:
    """What `work(batch, seconds)` gives for each batch, with the number of the batch, as results arrive.

    `seconds` is the time that is left when the batch is sent. If the time is over or somebody stops the work, batches
    without a result are left out. `meanwhile` does a little of the caller's own work and says whether there is more.
    If a worker is lost, its batches run again; if the engine itself is, an `EngineError` says so.
    """
    run = _Outstanding(engine, work, batches, timing)
    try:
        while run.waiting or run.running:
            run.fill()
            yield from run.arrived(0.0 if meanwhile() else POLL)
            if run.is_over():
                yield from run.last()
                return
    finally:
        run.withdraw()


class _Outstanding(Generic[Batch, T]):
    """The batches that wait and those that an executor has.

    A batch is in `waiting`, in `running` by its future, or answered; losing a worker puts it back in front of
    `waiting`. Everything happens in the caller's thread, which blocks in `wait` only, so nothing is locked.
    """

    def __init__(
        self, engine: Executor, work: Callable[[Batch, float], T], batches: Sequence[Batch], timing: Timing
    ) -> None:
        self.engine, self.work, self.batches, self.timing = engine, work, batches, timing
        self.waiting = deque(range(len(batches)))
        self.running: dict[Future[T], int] = {}
        self.losses: Counter[int] = Counter()

    def fill(self) -> None:
        """Send batches until each worker has the next one."""
        room = AHEAD * workers_of(self.engine)
        while self.waiting and len(self.running) < room:
            i = self.waiting[0]
            try:
                future = self.engine.submit(self.work, self.batches[i], self.timing.left())
            except BrokenExecutor as error:
                self._renew([i], error)
                continue
            except RuntimeError as error:  # executors that were shut down
                raise EngineError(f"the engine takes no work: {error}") from None
            self.waiting.popleft()
            self.running[future] = i

    def arrived(self, timeout: float) -> Iterator[tuple[int, T]]:
        """The results that arrive within some seconds."""
        done, _ = wait(self.running, timeout=timeout, return_when=FIRST_COMPLETED)
        self.timing.slice()
        lost, reason = [], None
        for future in done:
            i = self.running.pop(future)
            try:
                result = future.result()
            except BrokenExecutor as error:
                lost.append(i)
                reason = error
                continue
            except CancelledError:
                raise EngineError("the engine was lost: it dropped work that nobody had cancelled") from None
            yield i, result
        if reason is not None:
            # All work of a broken executor is lost, also what is not reported yet.
            lost += self.running.values()
            self.running.clear()
            self._renew(lost, reason)

    def _renew(self, lost: list[int], reason: BrokenExecutor) -> None:
        """Replace workers and let lost batches run again, first."""
        self.losses.update(lost)
        renew: Callable[[], Any] | None = getattr(self.engine, "renew", None)
        if renew is None:
            raise EngineError(f"the executor broke, and only its owner can make a new one: {reason}") from None
        if max(self.losses[i] for i in lost) > RETRIES:
            raise EngineError(
                f"workers ended {RETRIES + 1} times while they had the same work: maybe it needs more memory than "
                "there is, or the script that asks for processes has no `if __name__ == '__main__':`"
            ) from None
        self.waiting.extendleft(sorted((i for i in lost if i not in self.waiting), reverse=True))
        renew()

    def is_over(self) -> bool:
        """Whether the time is over or the work was stopped."""
        return self.timing.left() <= 0

    def last(self) -> Iterator[tuple[int, T]]:
        """The results of batches that are under way, if they come soon: as far as their work got."""
        self.waiting.clear()
        if not self._end_work():
            for future in [one for one in self.running if one.cancel()]:
                del self.running[future]
        end = time.monotonic() + GRACE
        while self.running and time.monotonic() < end:
            yield from self.arrived(POLL)

    def withdraw(self) -> None:
        """Give up what has no result yet."""
        if self.running:
            self._end_work()
            for future in self.running:
                future.cancel()

    def _end_work(self) -> bool:
        """Ask the engine to end all work soon, if it can."""
        withdraw: Callable[[], Any] | None = getattr(self.engine, "withdraw", None)
        if withdraw is not None:
            withdraw()
        return withdraw is not None


def workers_of(engine: Executor) -> int:
    """The number of workers of an executor, if it says so."""
    count: int = getattr(engine, "workers", 0) or getattr(engine, "_max_workers", UNKNOWN)
    return max(1, count)
