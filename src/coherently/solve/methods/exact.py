"""The nearest coherent forecasts themselves, with worlds that prove coherence and a bound that proves nearness."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from coherently.errors import MethodError
from coherently.problem import LARGEST_GROUP, is_level, split
from coherently.solve.budget import Budget
from coherently.solve.component.answer import KEPT, Answer, Ended
from coherently.solve.component.component_map import Task, solve_all
from coherently.solve.component.objective import goal_of
from coherently.solve.facts import Coherence, Proof, Status
from coherently.solve.measure import UNMOVED
from coherently.solve.solution import Component, Global, Worlds, promised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Vector
    from coherently.problem import Loss, Part, Problem


Conditionals: TypeAlias = Literal["called_off", "linearised"]


@dataclass(frozen=True, slots=True)
class Exact:
    """Finds the coherent forecasts that are nearest to the panel's: the problem CAP of the paper, solved.

    The answer of each independent component is a mixture of possible worlds, which grows as long as a world brings it
    nearer. If the component has few variables or is like a tree, the best of all worlds is found each time, and the
    answer is exact; otherwise local search finds worlds, and a relaxation with branch and bound proves how near the
    answer is. The method ends when the gap between the objective and the proved bound is at most `tolerance`
    times the objective (or the median weight's power of two, if that is more: 1 if all forecasts count the same), or
    after `time_limit` seconds, with the best answer so far.

    A conditional forecast p of E given H loses P(H) d(P(E & H) / P(H), p), where d is the loss: nothing where H fails
    ("called_off"). With `conditionals="linearised"` it loses (P(E & H) - p P(H))^2. Pins are kept to 1e-9.

    Independent components are solved over `threads`, by default one per processor, or by the executor
    that is given to `co.aggregate`; the answer is the same.

    >>> import coherently as co
    >>> rows = [("A", "p", 0.2), ("A", "q", 0.3), ("A", "p & q", 0.5), ("A", "p | q", 0.9)]
    >>> result = co.aggregate(co.Panel.from_records(rows), co.Exact())
    >>> [round(result.probability(event), 6) for event in ("p", "q", "p & q", "p | q")]
    [0.425, 0.525, 0.275, 0.675]
    """

    name: ClassVar[str] = "exact"
    from_means: ClassVar[bool] = True

    tolerance: float = 1e-6
    time_limit: float = 60.0
    seed: int = 0
    conditionals: Conditionals = "called_off"
    threads: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.tolerance < math.inf:
            raise MethodError(f"tolerance is {self.tolerance}; it must be a number of 0 or more")
        if not 0 <= self.time_limit < math.inf:
            raise MethodError(f"time_limit is {self.time_limit}; it must be a number of seconds, 0 or more")
        if not 0 <= self.seed < 2**64:
            raise MethodError(f"seed is {self.seed}; it must be a whole number from 0 to 2^64 - 1")
        if self.threads < 0:
            raise MethodError(f"threads is {self.threads}; it must be 0 (one per processor) or more")
        if self.conditionals not in ("called_off", "linearised"):
            raise MethodError(f"conditionals is {self.conditionals!r}; it may be called_off or linearised")

    def solve(self, problem: Problem, budget: Budget | None = None) -> Global:
        """Answer the problem; a stop gives the answer so far."""
        if self.conditionals == "linearised" and not problem.loss.is_quadratic:
            raise MethodError(f"linearised conditionals need the loss brier, not {problem.loss.name}")
        budget = (budget or Budget()).within(self.time_limit)
        parts = _unsolved(problem)
        self._answer(parts, problem.loss, budget)
        return self._solution(problem, parts)

    def tasks(self, problem: Problem) -> list[Task]:
        """What is to be solved for each component, in the order of `split`."""
        return self._tasks(_unsolved(problem), problem.loss)

    def joined(self, problem: Problem, answers: Sequence[Answer]) -> Global:
        """The solution that answers for the components make, in the order of `split`."""
        parts = _unsolved(problem)
        for one, answer in zip(parts, answers, strict=True):
            one.settle(answer)
        return self._solution(problem, parts)

    def _tasks(self, parts: Sequence[_Solved], loss: Loss) -> list[Task]:
        linearised = self.conditionals == "linearised"
        merged = [one.part.merged for one in parts]
        return [Task(one, goal_of(one, loss, linearised=linearised), self.seed) for one in merged]

    def _answer(self, parts: list[_Solved], loss: Loss, budget: Budget) -> None:
        """Answer each component; after a stop those that were not started have only a first answer."""
        done, total = 0, len(parts)
        own = replace(
            budget,
            tolerance=self.tolerance if total == 1 else 0.5 * self.tolerance,
            floor=1.0 / max(1, total),
            progress=lambda gone: budget.tell(max(done / total, gone)),
        )
        for i, answer in solve_all(self._tasks(parts, loss), own, self.threads):
            parts[i].settle(answer)
            done += 1

    def _solution(self, problem: Problem, parts: Sequence[_Solved]) -> Global:
        x, worlds, components = np.empty(len(problem.merged)), [], []
        for one in parts:
            x[one.part.coordinates] = one.reported()
            worlds.append(Worlds(one.part.merged.origin, one.answer.share, one.answer.worlds.view(np.bool_)))
            components.append(_component(one))
        objective, bound = sum(c.objective for c in components), sum(c.lower_bound for c in components)
        violation = max((one.answer.violation for one in parts), default=0.0)
        optimal = objective - bound <= self.tolerance * max(1.0, objective) and violation <= KEPT
        given = problem.merged.terms.conditionals
        return Global(
            problem.as_written(x),
            Status.OPTIMAL if optimal else _status({one.answer.ended for one in parts}),
            objective=objective,
            lower_bound=bound,
            guaranteed_improvement=_guaranteed(problem, parts) if problem.loss.is_quadratic else None,
            violation=violation,
            worlds=tuple(worlds),
            components=tuple(components),
            note=_note(parts),
            conditionals=self.conditionals if len(given) else None,
            degenerate=_degenerate(problem, parts) if len(given) else (),
            standing=tuple(np.flatnonzero(given.standing(x)).tolist()) if len(given) else (),
        )


@dataclass(slots=True, eq=False)
class _Solved:
    """A component, whether doubles can tell its weights apart, and its answer."""

    part: Part
    is_level: bool
    answer: Answer = field(init=False)
    moves: bool = field(init=False)

    @property
    def is_plain(self) -> bool:
        """Whether the shortfall of the answer is known."""
        return not math.isnan(self.answer.shortfall)

    def settle(self, answer: Answer) -> None:
        """Take the answer, and find out whether it differs from the forecasts by more than rounding."""
        merged, self.answer = self.part.merged, answer
        self.moves = bool(
            answer.objective > UNMOVED**2 * merged.weight.sum()
            or np.abs(answer.x - merged.mean).max(initial=0.0, where=merged.weight > 0) > UNMOVED
        )

    def reported(self) -> Vector:
        """The probabilities, or the forecasts themselves if these differ only by rounding."""
        if not self.is_plain or self.moves:
            return self.answer.x
        return np.where(self.part.merged.weight > 0, self.part.merged.mean, self.answer.x)


def _unsolved(problem: Problem) -> list[_Solved]:
    """The components, still without answers."""
    level = is_level(problem.merged)
    return [_Solved(part, level or is_level(part.merged)) for part in split(problem.merged)]


def _component(one: _Solved) -> Component:
    answer, merged = one.answer, one.part.merged
    facts = Coherence.GLOBAL, answer.route, answer.proof, answer.objective, min(answer.objective, answer.bound)
    return Component(merged.n_variables, len(merged), *facts)


def _status(ended: set[Ended]) -> Status:
    if Ended.INTERRUPTED in ended:
        return Status.INTERRUPTED
    return Status.TIME_LIMIT if Ended.TIME in ended else Status.UNPROVED


def _note(parts: Sequence[_Solved]) -> str | None:
    notes = []
    if not all(one.is_level for one in parts):
        notes.append(
            "Weights more than 2^33 times the next lighter one count as 2^33 times that, which by itself moves "
            "probabilities by about 1e-10; the objective and the gap are those of the weights as given, so that an "
            "event whose forecasts are far lighter than others may be off by more within the gap."
        )
    if count := sum(one.answer.ended is Ended.ROUNDING and one.answer.proof is Proof.NOTHING for one in parts):
        notes.append(
            f"Nothing is proved about {count:,} of {len(parts):,} components: they have events that are too large for "
            f"every method of proof, and search found nothing better. Events of at most {LARGEST_GROUP} variables, and "
            "counts, have proofs."
        )
    return " ".join(notes) or None


def _degenerate(problem: Problem, parts: Sequence[_Solved]) -> tuple[int, ...]:
    """The conditionals whose condition the answer alone makes impossible or certain."""
    joint = problem.merged.terms.conditionals.joint.coordinate
    found = [
        np.flatnonzero(np.isin(joint, one.part.coordinates))[one.answer.degenerate]
        for one in parts
        if len(one.answer.degenerate)
    ]
    return tuple(sorted(np.concatenate([np.empty(0, np.int64), *found]).tolist()))


def _guaranteed(problem: Problem, parts: Sequence[_Solved]) -> float | None:
    """The Brier penalty saved in every world: of x with its shortfall g, or of the optimum minus the distance to it."""
    if len(problem.merged.terms.intervals) or len(problem.merged.terms.limits):
        return None
    if not all(one.is_level for one in parts):
        return None
    saved = sum(one.answer.saved for one in parts if not one.is_plain)
    plain = [one for one in parts if one.is_plain and one.moves]
    objective, bound = sum(one.answer.objective for one in plain), sum(one.answer.bound for one in plain)
    gap, shortfall = objective - bound, sum(one.answer.shortfall for one in plain)
    way = 2 * math.sqrt(max(0.0, gap) * sum(one.part.merged.weight.sum() for one in plain)) + gap
    return promised(problem.scatter + saved + max(objective - 2 * shortfall, bound - way))
