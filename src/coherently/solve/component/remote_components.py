"""Components that are solved by an executor, or were solved before and kept."""

from __future__ import annotations

import hashlib
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

import coherently
from coherently.engine.batches import batches_of
from coherently.engine.dispatch import dispatch
from coherently.engine.keep import Keep
from coherently.engine.worker import order_here
from coherently.errors import EngineError
from coherently.solve.budget import SLICE, Budget
from coherently.solve.component.answer import Answer, Ended
from coherently.solve.component.component_map import Task, solve_here
from coherently.solve.component.pace import CROSSING, estimated_seconds, pace_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor


def solve_elsewhere(tasks: Sequence[Task], budget: Budget, threads: int) -> Iterator[tuple[int, Answer]]:
    """The answers as they arrive, by the budget's executor or, if it has none, here; finished ones are kept."""
    price = [estimated_seconds(task.part, pace_of(task.part, task.objective)) for task in tasks]
    costly = [i for i, seconds in enumerate(price) if seconds >= CROSSING]
    cheap = [i for i, seconds in enumerate(price) if seconds < CROSSING]
    finished = _Finished(tasks, budget)
    known, rest = finished.divided(costly)
    yield from known
    if budget.engine is None:
        yield from solve_here(tasks, cheap, budget, threads)
        for i, answer in solve_here(tasks, rest, budget, threads):
            yield i, finished.kept(i, answer)
    else:
        yield from _by_engine(tasks, cheap, {i: price[i] for i in rest}, finished, engine=budget.engine)
    if budget.keep is not None:
        budget.keep.save()


def key_of(task: Task, budget: Budget) -> bytes:
    """A hash of all that a finished answer depends on."""
    told = (coherently.__version__, task, budget.tolerance, budget.floor)
    return hashlib.sha256(pickle.dumps(told, pickle.HIGHEST_PROTOCOL)).digest()


@dataclass(frozen=True, slots=True)
class _Finished:
    """Finished answers: those that the budget keeps, or else those of this run, which are kept if it ends too soon."""

    tasks: Sequence[Task]
    budget: Budget
    answers: dict[int, Answer] = field(default_factory=dict)

    def divided(self, which: Sequence[int]) -> tuple[list[tuple[int, Answer]], list[int]]:
        """The components that are finished, with their answers, and the others; who wants hints finds none in bytes."""
        keep = self.budget.keep
        if keep is None or not len(keep) or self.budget.hints:
            return [], list(which)
        found = {i: keep.find(key_of(self.tasks[i], self.budget)) for i in which}
        known = [(i, Answer.from_bytes(told)) for i, told in found.items() if told is not None]
        return known, [i for i, told in found.items() if told is None]

    def kept(self, i: int, answer: Answer) -> Answer:
        """Keep an answer that more time would not change."""
        if answer.ended in (Ended.PROVED, Ended.ROUNDING):
            if self.budget.keep is None:
                self.answers[i] = answer  # the hash takes as long as the way to another process
            else:
                self.budget.keep.add(key_of(self.tasks[i], self.budget), answer.to_bytes())
        return answer

    def keep(self) -> Keep:
        """All that is finished."""
        found = Keep() if self.budget.keep is None else self.budget.keep
        for i, answer in self.answers.items():
            found.add(key_of(self.tasks[i], self.budget), answer.to_bytes())
        found.save()
        return found


def _by_engine(
    tasks: Sequence[Task], cheap: Sequence[int], price: dict[int, float], finished: _Finished, engine: Executor
) -> Iterator[tuple[int, Answer]]:
    """Answers by an executor; cheap components, which cost less than the way there, are solved here meanwhile.

    Components without an answer after a stop, or at the end of the time, get a first answer here.
    """
    budget, which = finished.budget, list(price)
    batches = [[which[k] for k in batch] for batch in batches_of(list(price.values()))]
    missing, todo, solved_here = set(which), iter(cheap), []

    def meanwhile() -> bool:
        end = time.monotonic() + SLICE
        for i in todo:
            solved_here.append((i, tasks[i].solve(budget)))
            if time.monotonic() >= end:
                return True
        return False

    work = partial(_solve_batch, budget.tolerance, budget.floor, budget.hints)
    if isinstance(engine, ThreadPoolExecutor):
        work = partial(_solve_beside, budget)
    try:
        with closing(
            dispatch(engine, work, [[tasks[i] for i in b] for b in batches], budget, meanwhile=meanwhile)
        ) as arriving:
            for k, answers in arriving:
                for i, answer in zip(batches[k], answers, strict=True):
                    yield i, finished.kept(i, _as_seen_here(answer, budget))
                missing -= set(batches[k])
    except EngineError as error:
        raise _with_keep(error, finished, len(which), len(missing)) from None
    yield from solved_here
    for i in [*todo, *sorted(missing)]:
        yield i, tasks[i].solve(budget)


def _with_keep(error: EngineError, finished: _Finished, total: int, missing: int) -> EngineError:
    keep = finished.keep()
    kept = "keep=error.keep" if keep.file is None else f"keep={str(keep.file)!r}"
    kept += " and without proof=True" if finished.budget.hints else ""
    told = EngineError(
        f"{error}. {total - missing:,} of {total:,} components sent there are finished and kept: the same call with "
        f"{kept} goes on from there"
    )
    told.keep = keep if keep.file is None else keep.file  # the file is closed by then
    return told


def _as_seen_here(answer: Answer, budget: Budget) -> Answer:
    """At the end of the time, workers are asked to stop, but nobody has interrupted anything."""
    if answer.ended is Ended.INTERRUPTED and not budget.is_stopped:
        return replace(answer, ended=Ended.TIME)
    return answer


def _solve_beside(budget: Budget, tasks: Sequence[Task], _: float) -> list[Answer]:
    """Solve components in another thread, which sees a stop by itself."""
    return [task.solve(budget) for task in tasks]


def _solve_batch(tolerance: float, floor: float, hints: bool, tasks: Sequence[Task], seconds: float) -> list[Answer]:
    """Solve components elsewhere, within some seconds from now; hints that nobody wants need not travel."""
    budget = Budget(tolerance=tolerance, floor=floor, cancel=order_here() or Event(), hints=hints).within(seconds)
    answers = [task.solve(budget) for task in tasks]
    return answers if hints else [replace(answer, hints=None) for answer in answers]
