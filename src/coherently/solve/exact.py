"""The nearest coherent forecasts themselves, with worlds that prove coherence and a bound that proves nearness."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from coherently.errors import MethodError
from coherently.problem import BRIER, drawn_together, split
from coherently.solve.budget import Budget
from coherently.solve.composite import CompositeNearest
from coherently.solve.curved import CurvedNearest
from coherently.solve.facts import Coherence, Status
from coherently.solve.measure import UNMOVED
from coherently.solve.nearest import Nearest
from coherently.solve.scores import Objective, scores_of
from coherently.solve.solution import Component, Global, Worlds, promised

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from coherently.problem import Loss, Merged, Part, Problem

    Vector: TypeAlias = "NDArray[np.float64]"

Answer: TypeAlias = "Nearest | CurvedNearest | CompositeNearest"
Conditionals: TypeAlias = Literal["called_off", "linearised"]


@dataclass(frozen=True, slots=True)
class Exact:
    """Finds the coherent forecasts that are nearest to the panel's: the problem CAP of the paper, solved.

    Each independent component is a mixture of possible worlds, to which worlds are added as long as one brings it
    nearer. Where the component has few variables or is like a tree, the best world of all is found each time, and the
    answer is exact; elsewhere local search finds worlds, and a relaxation with branch and bound proves how
    near the answer is. The method ends when the gap between the objective and the proved bound is at most `tolerance`
    times the objective (or the median weight's power of two, if that is more: 1 where all forecasts count alike), or
    after `time_limit` seconds, with the best answer so far.

    A conditional forecast p of E given H loses P(H) d(P(E & H) / P(H), p), d being the loss: nothing where H fails
    ("called_off"). With `conditionals="linearised"` it loses (P(E & H) - p P(H))^2. Pins are kept to 1e-9.

    >>> import coherently as co
    >>> rows = [("A", "p", 0.2), ("A", "q", 0.3), ("A", "p & q", 0.5), ("A", "p | q", 0.9)]
    >>> result = co.aggregate(co.Panel.from_records(rows), co.Exact())
    >>> [round(result.probability(event), 6) for event in ("p", "q", "p & q", "p | q")]
    [0.425, 0.525, 0.275, 0.675]
    """

    tolerance: float = 1e-6
    time_limit: float = 60.0
    seed: int = 0
    conditionals: Conditionals = "called_off"

    def __post_init__(self) -> None:
        if not 0 <= self.tolerance < math.inf:
            raise MethodError(f"tolerance is {self.tolerance}; it must be a number of 0 or more")
        if not 0 <= self.time_limit < math.inf:
            raise MethodError(f"time_limit is {self.time_limit}; it must be a number of seconds, 0 or more")
        if not 0 <= self.seed < 2**64:
            raise MethodError(f"seed is {self.seed}; it must be a whole number from 0 to 2^64 - 1")
        if self.conditionals not in ("called_off", "linearised"):
            raise MethodError(f"conditionals is {self.conditionals!r}; it may be called_off or linearised")

    @property
    def name(self) -> str:
        """The word for it."""
        return "exact"

    def solve(self, problem: Problem, budget: Budget | None = None) -> Global:
        """Answer the problem; a stop gives the answer so far."""
        if self.conditionals == "linearised" and not problem.loss.is_quadratic:
            raise MethodError(f"linearised conditionals need the loss brier, not {problem.loss.name}")
        deadline = time.monotonic() + self.time_limit
        parts = split(problem.merged)
        floor = 1.0 / max(1, len(parts))
        answers = [self._begin(drawn_together(part.merged), problem.loss, floor, deadline) for part in parts]
        share = self.tolerance if len(parts) == 1 else 0.5 * self.tolerance
        interrupted = self._improve(answers, share, (budget or Budget()).within(deadline - time.monotonic()))
        return self._solution(problem, parts, answers, interrupted=interrupted)

    def _begin(self, part: Merged, loss: Loss, floor: float, deadline: float) -> Answer:
        if len(part.terms):
            linearised = self.conditionals == "linearised"
            return CompositeNearest(part, loss, self.seed, floor, linearised=linearised, deadline=deadline)
        if loss.is_quadratic:
            return Nearest(part, self.seed, floor)
        return CurvedNearest(part, loss, self.seed, floor)

    def _improve(self, answers: list[Answer], tolerance: float, budget: Budget) -> bool:
        """Work on each component, the small ones first; whether that was interrupted."""
        begun, total, deadline = time.monotonic(), len(answers), budget.deadline
        done = 0

        def report() -> None:
            budget.tell(max(done / total, (time.monotonic() - begun) / max(1e-9, deadline - begun)))
            if budget.is_stopped:
                raise KeyboardInterrupt

        try:
            for i in sorted(range(total), key=lambda i: len(answers[i].part)):
                answer = answers[i]
                answer.improve(tolerance, deadline, report)
                if isinstance(answer, Nearest) and answer.is_stuck(tolerance):
                    answers[i] = self._by_newton(answer, tolerance, deadline, report)
                done += 1
        except KeyboardInterrupt:
            return True
        return False

    def _by_newton(self, answer: Nearest, tolerance: float, deadline: float, tell: Callable[[], None]) -> Answer:
        """Where weights are so different that column generation ends at rounding: the interior point method."""
        other = CompositeNearest(answer.part, BRIER, self.seed, answer.floor, linearised=False, deadline=deadline)
        other.improve(tolerance, deadline, tell)
        if other.objective - other.bound >= answer.objective - answer.bound:
            return answer
        other.bound = max(other.bound, answer.bound)
        return other

    def _solution(
        self, problem: Problem, parts: Sequence[Part], answers: Sequence[Answer], *, interrupted: bool
    ) -> Global:
        x, worlds, components = np.empty(len(problem.merged)), [], []
        for part, answer in zip(parts, answers, strict=True):
            weight, truth = answer.mixture()
            x[part.coordinates] = _reported(answer)
            worlds.append(Worlds(part.merged.origin, weight / weight.sum(), truth.view(np.bool_)))
            components.append(self._component(part, answer, problem.loss))
        objective, bound = sum(c.objective for c in components), sum(c.lower_bound for c in components)
        optimal = objective - bound <= self.tolerance * max(1.0, objective)
        late = any(answer.timed_out for answer in answers)
        ended = Status.INTERRUPTED if interrupted else Status.TIME_LIMIT if late else Status.UNPROVED
        given = problem.merged.terms.conditionals
        return Global(
            problem.as_written(x),
            Status.OPTIMAL if optimal else ended,
            objective=objective,
            lower_bound=bound,
            guaranteed_improvement=_guaranteed(problem, parts, answers) if problem.loss.is_quadratic else None,
            violation=max((a.violation for a in answers if isinstance(a, CompositeNearest)), default=0.0),
            worlds=tuple(worlds),
            components=tuple(components),
            note=_note(parts, answers),
            conditionals=self.conditionals if len(given) else None,
            degenerate=_degenerate(problem, parts, answers) if len(given) else (),
            standing=tuple(np.flatnonzero(given.standing(x)).tolist()) if len(given) else (),
        )

    def _component(self, part: Part, answer: Answer, loss: Loss) -> Component:
        """What was done; the objective is that of the weights as they are."""
        objective = answer.objective
        if answer.part is not part.merged:
            scores = scores_of(part.merged, loss, linearised=self.conditionals == "linearised")
            objective = Objective(scores, len(part.merged)).value(answer.x)
        size = answer.part.n_variables, len(answer.part)
        return Component(*size, Coherence.GLOBAL, answer.route, answer.proof, objective, min(objective, answer.bound))


def _reported(answer: Answer) -> Vector:
    """The probabilities; where nothing has moved but by rounding, those are the forecasts themselves."""
    if not isinstance(answer, Nearest) or _moves(answer):
        return answer.x
    return np.where(answer.part.weight > 0, answer.part.mean, answer.x)


def _moves(answer: Nearest) -> bool:
    part = answer.part
    if answer.objective > UNMOVED**2 * part.weight.sum():
        return True
    return bool(np.abs(answer.x - part.mean).max(initial=0.0, where=part.weight > 0) > UNMOVED)


def _note(parts: Sequence[Part], answers: Sequence[Answer]) -> str | None:
    if all(answer.part is part.merged for part, answer in zip(parts, answers, strict=True)):
        return None
    return (
        "Weights more than 2^33 times the next lighter one were solved as 2^33 times that: the probabilities are right "
        "to about 1e-10, and the gap is that of the weights as given."
    )


def _degenerate(problem: Problem, parts: Sequence[Part], answers: Sequence[Answer]) -> tuple[int, ...]:
    """The conditionals on what the answer makes impossible or certain by itself."""
    joint = problem.merged.terms.conditionals.joint.coordinate
    found = [
        np.flatnonzero(np.isin(joint, part.coordinates))[answer.degenerate()]
        for part, answer in zip(parts, answers, strict=True)
        if isinstance(answer, CompositeNearest) and len(answer.part.terms.conditionals)
    ]
    return tuple(sorted(np.concatenate([np.empty(0, np.int64), *found]).tolist()))


def _guaranteed(problem: Problem, parts: Sequence[Part], answers: Sequence[Answer]) -> float | None:
    """The Brier penalty saved in every world: of x with its shortfall g, or of the optimum less the way to it."""
    if len(problem.merged.terms.intervals) or len(problem.merged.terms.limits):
        return None
    if any(answer.part is not part.merged for part, answer in zip(parts, answers, strict=True)):
        return None
    saved = sum(a.saved() for a in answers if isinstance(a, CompositeNearest))
    plain = [a for a in answers if isinstance(a, Nearest) and _moves(a)]
    objective, bound = sum(a.objective for a in plain), sum(a.bound for a in plain)
    gap, shortfall = objective - bound, sum(a.shortfall for a in plain)
    way = 2 * math.sqrt(max(0.0, gap) * sum(a.part.weight.sum() for a in plain)) + gap
    return promised(problem.scatter + saved + max(objective - 2 * shortfall, bound - way))
