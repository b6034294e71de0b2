"""Many components, one call each: in this thread, over threads, or elsewhere."""

from __future__ import annotations

import math
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING

from coherently.engine.threads import count_threads
from coherently.solve.budget import SLICE
from coherently.solve.component.answer import Ended
from coherently.solve.component.component_solver import solve_component
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.answer import Answer
    from coherently.solve.component.objective import Objective, Squares
    from coherently.solve.lazy_table import WorldRows

SMALL = 64
"""Maximum number of events of a component that is solved before a thread would have started."""
RESERVE = 0.3
"""The last part of the time limit, kept for components that have not begun by then."""


@dataclass(frozen=True, slots=True, eq=False)
class Task(Value):
    """A component, its objective and the seed: all that an answer depends on if there is enough time."""

    part: Merged
    objective: Objective | Squares
    seed: int

    def solve(self, budget: Budget, start: WorldRows | None = None) -> Answer:
        """The answer within a budget; `start` are worlds to begin with."""
        return solve_component(self.part, self.objective, budget, start, seed=self.seed)


def solve_all(
    tasks: Sequence[Task], budget: Budget, threads: int, starts: Sequence[WorldRows] | None = None
) -> Iterator[tuple[int, Answer]]:
    """The answers as they arrive: small components first, the others over threads or by the budget's executor.

    No answer depends on where it was computed. Those that the budget keeps already are not computed again. `starts`
    has worlds to begin with, for each component that is solved here.
    """
    if budget.engine is None and budget.keep is None:
        return solve_here(tasks, range(len(tasks)), budget, threads, starts=starts)
    from coherently.solve.component.remote_components import (
        solve_elsewhere,
    )  # not for plain panels, which start sooner without

    return solve_elsewhere(tasks, budget, threads)


def solve_here(
    tasks: Sequence[Task],
    which: Sequence[int],
    budget: Budget,
    threads: int,
    starts: Sequence[WorldRows] | None = None,
) -> Iterator[tuple[int, Answer]]:
    """Answers in this process.

    Where time is short, components that ended early for the sake of others go on in what these have left.
    """
    early: dict[int, Answer] = {}
    first = {} if starts is None else {i: starts[i] for i in which}
    for i, answer in _solve_fairly(tasks, which, budget, threads, known=first):
        if answer.ended is Ended.TIME and not budget.is_over():
            early[i] = answer
        else:
            yield i, answer
    for i, answer in _solve_fairly(
        tasks, list(early), budget, threads, known={i: answer.rows for i, answer in early.items()}
    ):
        yield i, min(answer, early[i], key=lambda one: one.gap)


def _solve_fairly(
    tasks: Sequence[Task], which: Sequence[int], budget: Budget, threads: int, known: Mapping[int, WorldRows]
) -> Iterator[tuple[int, Answer]]:
    """Answers, each within its share of the time; those of which worlds are known begin with these."""
    order = sorted(which, key=lambda i: len(tasks[i].part))
    small = [i for i in order if len(tasks[i].part) <= SMALL]
    large = order[len(small) :]
    count = min(count_threads(threads), len(large))
    if count <= 1:
        small, large, count = order, [], 1
    time_for = FairTime(budget, len(which), count)

    def solve(i: int) -> Answer:
        return tasks[i].solve(time_for.next(), known.get(i))

    for i in small:
        yield i, solve(i)
    if not large:
        return
    with ThreadPoolExecutor(count) as pool:
        # The largest components start first, so that no long one starts last.
        own = {pool.submit(solve, i): i for i in reversed(large)}
        left: set[Future[Answer]] = set(own)
        while left:
            done, left = wait(left, timeout=SLICE, return_when=FIRST_COMPLETED)
            budget.slice()
            for future in done:
                yield own[future], future.result()


@dataclass(slots=True)
class FairTime:
    """How long each of some components may take, so that the last to begin has time as well.

    A component may go on until `1 - RESERVE` of the time has passed; the rest is shared by those that have not begun
    by then. `waiting` counts them, and `workers` are at work at the same time.
    """

    budget: Budget
    waiting: int
    workers: int
    _lock: Lock = field(default_factory=Lock)
    _usual: Budget | None = None  # what all have as long as time is plenty

    def next(self) -> Budget:
        """The budget of the component that begins now."""
        with self._lock:
            waiting = self.waiting
            self.waiting -= 1
        budget, whole = self.budget, self.budget.deadline - self.budget.begun
        if waiting <= self.workers or not 0 < whole < math.inf:
            return budget
        now = time.monotonic()
        fair = now + (budget.deadline - now) * self.workers / waiting
        part = min(1.0, max(1.0 - RESERVE, (fair - budget.begun) / whole))
        if part > 1.0 - RESERVE or self._usual is None:
            told = replace(budget, deadline=budget.begun + part * whole, progress=lambda gone: budget.tell(gone * part))
            if part > 1.0 - RESERVE:
                return told
            self._usual = told
        return self._usual
