"""Many components, one call each: in this thread, over threads, or by the user's executor."""

from __future__ import annotations

import hashlib
import pickle
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

import coherently
from coherently.engine import Keep, batches_of, dispatch, order_here
from coherently.engine.threads import count_threads
from coherently.errors import EngineError
from coherently.solve.budget import SLICE, Budget
from coherently.solve.component.answer import Answer, Ended
from coherently.solve.component.pricing import CROSSING, estimated_seconds, pace_of
from coherently.solve.component.solving import solve_component
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor, Future

    from coherently.problem import Merged
    from coherently.solve.component.objective import Objective, Squares

SMALL = 64
"""Maximum number of events of a component that is solved before a thread would have started."""


@dataclass(frozen=True, slots=True, eq=False)
class Task(Value):
    """A component, its objective and the seed: all that an answer depends on if there is enough time."""

    part: Merged
    objective: Objective | Squares
    seed: int

    def solve(self, budget: Budget) -> Answer:
        """The answer within a budget."""
        return solve_component(self.part, self.objective, budget, seed=self.seed)

    def key(self, budget: Budget) -> bytes:
        """A hash of all that a finished answer depends on."""
        told = (coherently.__version__, self, budget.tolerance, budget.floor)
        return hashlib.sha256(pickle.dumps(told, pickle.HIGHEST_PROTOCOL)).digest()


def solve_all(tasks: Sequence[Task], budget: Budget, threads: int) -> Iterator[tuple[int, Answer]]:
    """The answers as they arrive: small components first, the others over threads or by the budget's executor.

    No answer depends on where it was computed. Those that the budget keeps already are not computed again.
    """
    if budget.engine is None and budget.keep is None:
        yield from _here(tasks, range(len(tasks)), budget, threads)
        return
    price = [estimated_seconds(task.part, pace_of(task.part, task.objective)) for task in tasks]
    costly = [i for i, seconds in enumerate(price) if seconds >= CROSSING]
    cheap = [i for i, seconds in enumerate(price) if seconds < CROSSING]
    shelf = _Shelf(tasks, budget)
    known, rest = shelf.divided(costly)
    yield from known
    if budget.engine is None:
        yield from _here(tasks, cheap, budget, threads)
        for i, answer in _here(tasks, rest, budget, threads):
            yield i, shelf.kept(i, answer)
    else:
        yield from _by_engine(tasks, cheap, {i: price[i] for i in rest}, shelf, budget.engine)
    if budget.keep is not None:
        budget.keep.save()


@dataclass(frozen=True, slots=True)
class _Shelf:
    """Finished answers: those that the budget keeps, or else those of this run, which are kept if it ends too soon."""

    tasks: Sequence[Task]
    budget: Budget
    finished: dict[int, Answer] = field(default_factory=dict)

    def divided(self, which: Sequence[int]) -> tuple[list[tuple[int, Answer]], list[int]]:
        """The components that are finished, with their answers, and the others."""
        keep = self.budget.keep
        if keep is None or not len(keep):
            return [], list(which)
        found = {i: keep.find(self.tasks[i].key(self.budget)) for i in which}
        known = [(i, Answer.from_bytes(told)) for i, told in found.items() if told is not None]
        return known, [i for i, told in found.items() if told is None]

    def kept(self, i: int, answer: Answer) -> Answer:
        """Keep an answer that more time would not change."""
        if answer.ended in (Ended.PROVED, Ended.ROUNDING):
            if self.budget.keep is None:
                self.finished[i] = answer  # the hash takes as long as the way to another process
            else:
                self.budget.keep.add(self.tasks[i].key(self.budget), answer.to_bytes())
        return answer

    def keep(self) -> Keep:
        """All that is finished."""
        found = Keep() if self.budget.keep is None else self.budget.keep
        for i, answer in self.finished.items():
            found.add(self.tasks[i].key(self.budget), answer.to_bytes())
        found.save()
        return found


def _here(tasks: Sequence[Task], which: Sequence[int], budget: Budget, threads: int) -> Iterator[tuple[int, Answer]]:
    """Answers in this process."""
    order = sorted(which, key=lambda i: len(tasks[i].part))
    small = [i for i in order if len(tasks[i].part) <= SMALL]
    large = order[len(small) :]
    count = min(count_threads(threads), len(large))
    if count <= 1:
        small, large = order, []
    for i in small:
        yield i, tasks[i].solve(budget)
    if not large:
        return
    with ThreadPoolExecutor(count) as pool:
        # The largest components start first, so that no long one starts last.
        own = {pool.submit(tasks[i].solve, budget): i for i in reversed(large)}
        left: set[Future[Answer]] = set(own)
        while left:
            done, left = wait(left, timeout=SLICE, return_when=FIRST_COMPLETED)
            budget.slice()
            for future in done:
                yield own[future], future.result()


def _by_engine(
    tasks: Sequence[Task], cheap: Sequence[int], price: dict[int, float], shelf: _Shelf, engine: Executor
) -> Iterator[tuple[int, Answer]]:
    """Answers by an executor; cheap components, which cost less than the way there, are solved here meanwhile.

    Components without an answer after a stop, or at the end of the time, get a first answer here.
    """
    budget, which = shelf.budget, list(price)
    batches = [[which[k] for k in batch] for batch in batches_of(list(price.values()))]
    missing, todo, solved_here = set(which), iter(cheap), []

    def meanwhile() -> bool:
        end = time.monotonic() + SLICE
        for i in todo:
            solved_here.append((i, tasks[i].solve(budget)))
            if time.monotonic() >= end:
                return True
        return False

    work = partial(_solve_batch, budget.tolerance, budget.floor)
    try:
        with closing(dispatch(engine, work, [[tasks[i] for i in b] for b in batches], budget, meanwhile)) as arriving:
            for k, answers in arriving:
                for i, answer in zip(batches[k], answers, strict=True):
                    yield i, shelf.kept(i, answer)
                missing -= set(batches[k])
    except EngineError as error:
        raise _with_keep(error, shelf.keep(), len(which), len(missing)) from None
    yield from solved_here
    for i in [*todo, *sorted(missing)]:
        yield i, tasks[i].solve(budget)


def _with_keep(error: EngineError, keep: Keep, total: int, missing: int) -> EngineError:
    kept = "keep=error.keep" if keep.file is None else f"keep={str(keep.file)!r}"
    told = EngineError(
        f"{error}. {total - missing:,} of {total:,} components sent there are finished and kept: the same call with "
        f"{kept} goes on from there"
    )
    told.keep = keep if keep.file is None else keep.file  # the file is closed by then
    return told


def _solve_batch(tolerance: float, floor: float, tasks: Sequence[Task], seconds: float) -> list[Answer]:
    """Solve components elsewhere, within some seconds from now."""
    budget = Budget(tolerance=tolerance, floor=floor, cancel=order_here() or Event()).within(seconds)
    return [task.solve(budget) for task in tasks]
