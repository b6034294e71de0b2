"""Many components, one call each: in this thread, over threads, or elsewhere."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.engine.threads import count_threads
from coherently.solve.budget import SLICE
from coherently.solve.component.solving import solve_component
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from coherently.problem import Merged
    from coherently.solve.budget import Budget
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

    No answer depends on where it was computed. Those that the budget keeps already are not computed again.
    """
    if budget.engine is None and budget.keep is None:
        return solve_here(tasks, range(len(tasks)), budget, threads)
    from coherently.solve.component.sending import solve_elsewhere  # not for plain panels, which start sooner without

    return solve_elsewhere(tasks, budget, threads)


def solve_here(
    tasks: Sequence[Task], which: Sequence[int], budget: Budget, threads: int
) -> Iterator[tuple[int, Answer]]:
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
