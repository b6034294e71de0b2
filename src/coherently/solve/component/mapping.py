"""Many components, one call each: in this thread, over threads, or by the user's executor."""

from __future__ import annotations

import time
from concurrent.futures import FIRST_COMPLETED, Executor, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coherently.solve.budget import NO_TIME, SLICE, Budget
from coherently.solve.component.solving import solve_component
from coherently.solve.threads import count_threads
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from coherently.problem import Merged
    from coherently.solve.component.answer import Answer
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


def solve_all(tasks: Sequence[Task], budget: Budget, threads: int) -> Iterator[tuple[int, Answer]]:
    """The answers as they arrive: small components first, the others over threads or by the budget's executor.

    No answer depends on where it was computed.
    """
    order = sorted(range(len(tasks)), key=lambda i: len(tasks[i].part))
    small = [i for i in order if len(tasks[i].part) <= SMALL]
    large = order[len(small) :]
    count = min(count_threads(threads), len(large))
    if budget.engine is None and count <= 1:
        small, large = order, []
    for i in small:
        yield i, tasks[i].solve(budget)
    if not large:
        return
    if budget.engine is not None:
        yield from _by_executor(tasks, large, budget, budget.engine)
        return
    with ThreadPoolExecutor(count) as pool:
        yield from _by_executor(tasks, large, budget, pool)


def _by_executor(
    tasks: Sequence[Task], which: Sequence[int], budget: Budget, engine: Executor
) -> Iterator[tuple[int, Answer]]:
    """Answers by an executor; after a stop, components unfinished in other processes get a first answer here."""
    # The largest components start first, so that no long one starts last.
    if isinstance(engine, ThreadPoolExecutor):
        own = {engine.submit(tasks[i].solve, replace(budget, engine=None)): i for i in reversed(which)}
    else:
        end = time.time() + budget.left()
        own = {engine.submit(_elsewhere, tasks[i], end, budget.tolerance, budget.floor): i for i in reversed(which)}
    left: set[Future[Answer]] = set(own)
    while left:
        done, left = wait(left, timeout=SLICE, return_when=FIRST_COMPLETED)
        budget.slice()
        for future in done:
            yield own[future], future.result()
        if budget.is_stopped and not isinstance(engine, ThreadPoolExecutor):
            for future in left:
                future.cancel()
                yield own[future], tasks[own[future]].solve(NO_TIME)
            return


def _elsewhere(task: Task, end: float, tolerance: float, floor: float) -> Answer:
    """Solve in another process, until a time by the wall clock."""
    return task.solve(Budget(tolerance=tolerance, floor=floor).within(end - time.time()))
