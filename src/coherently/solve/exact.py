"""The nearest coherent forecasts themselves, with worlds that prove coherence and a bound that proves nearness."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from coherently.errors import MethodError
from coherently.problem import BRIER, split
from coherently.solve.composite import CompositeNearest
from coherently.solve.curved import CurvedNearest
from coherently.solve.nearest import Nearest
from coherently.solve.solution import Component, Solution, Status, Worlds, promised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.problem import Loss, Merged, Part, Problem
    from coherently.solve.solution import Progress

Answer: TypeAlias = "Nearest | CurvedNearest | CompositeNearest"
Conditionals: TypeAlias = Literal["called_off", "linearised"]


@dataclass(frozen=True, slots=True)
class Exact:
    """Finds the coherent forecasts that are nearest to the panel's: the problem CAP of the paper, solved.

    Each independent component is a mixture of possible worlds, to which worlds are added as long as one brings it
    nearer. Where the component has few variables or is like a tree, the best world of all is found each time, and the
    answer is exact; elsewhere local search finds worlds, and a relaxation with branch and bound proves how
    near the answer is. The method ends when the gap between the objective and the proved bound is at most `tolerance`
    times the objective (or 1, if that is more), or after `time_limit` seconds, with the best answer so far.

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

    def solve(self, problem: Problem, progress: Progress | None = None) -> Solution:
        """Answer the problem; an interruption gives the answer so far."""
        if self.conditionals == "linearised" and problem.loss.name != BRIER.name:
            raise MethodError(f"linearised conditionals need the loss brier, not {problem.loss.name}")
        deadline = time.monotonic() + self.time_limit
        parts = split(problem.merged)
        floor = 1.0 / max(1, len(parts))
        answers = [self._begin(part.merged, problem.loss, floor) for part in parts]
        share = self.tolerance if len(parts) == 1 else 0.5 * self.tolerance
        interrupted = _improve(answers, share, deadline, progress or (lambda _: None))
        found = _solution(problem, parts, answers, self.tolerance, interrupted=interrupted)
        if not len(problem.merged.terms.conditionals):
            return found
        return replace(found, conditionals=self.conditionals, degenerate=_degenerate(problem, parts, answers))

    def _begin(self, part: Merged, loss: Loss, floor: float) -> Answer:
        if len(part.terms):
            return CompositeNearest(part, loss, self.seed, floor, linearised=self.conditionals == "linearised")
        if loss.name == BRIER.name:
            return Nearest(part, self.seed, floor)
        return CurvedNearest(part, loss, self.seed, floor)


def _improve(answers: Sequence[Answer], tolerance: float, deadline: float, tell: Progress) -> bool:
    """Work on each component, the small ones first; whether that was interrupted."""
    begun, total = time.monotonic(), len(answers)
    done = 0

    def report() -> None:
        tell(max(done / total, (time.monotonic() - begun) / max(1e-9, deadline - begun)))

    try:
        for answer in sorted(answers, key=lambda answer: len(answer.part)):
            answer.improve(tolerance, deadline, report)
            done += 1
    except KeyboardInterrupt:
        return True
    return False


def _solution(
    problem: Problem,
    parts: Sequence[Part],
    answers: Sequence[Answer],
    tolerance: float,
    *,
    interrupted: bool,
) -> Solution:
    x = np.empty(len(problem.merged))
    worlds = []
    for part, answer in zip(parts, answers, strict=True):
        weight, truth = answer.mixture()
        x[part.coordinates] = answer.x
        worlds.append(Worlds(part.merged.origin, weight / weight.sum(), truth.view(np.bool_)))
    components = tuple(
        Component(a.part.n_variables, len(a.part), "global", a.route, a.proof, a.objective, a.bound) for a in answers
    )
    objective, bound = sum(c.objective for c in components), sum(c.lower_bound for c in components)
    optimal = objective - bound <= tolerance * max(1.0, objective)
    return Solution(
        problem.as_written(x),
        Status.OPTIMAL if optimal else Status.INTERRUPTED if interrupted else Status.TIME_LIMIT,
        "global",
        objective,
        bound,
        _guaranteed(problem, answers) if problem.loss.name == BRIER.name else None,
        violation=max((a.violation for a in answers if isinstance(a, CompositeNearest)), default=0.0),
        worlds=tuple(worlds),
        components=components,
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


def _guaranteed(problem: Problem, answers: Sequence[Answer]) -> float | None:
    """The Brier penalty saved in every world: of x with its shortfall g, or of the optimum less the way to it."""
    if len(problem.merged.terms.intervals) or len(problem.merged.terms.limits):
        return None
    weight = problem.merged.weight.sum() + problem.merged.terms.conditionals.weight.sum()
    saved = sum(a.saved() for a in answers if isinstance(a, CompositeNearest))
    plain = [a for a in answers if isinstance(a, Nearest)]
    objective, bound = sum(a.objective for a in plain), sum(a.bound for a in plain)
    gap, shortfall = objective - bound, sum(a.shortfall for a in plain)
    way = 2 * math.sqrt(max(0.0, gap) * sum(a.part.weight.sum() for a in plain)) + gap
    return promised(problem.scatter + saved + max(objective - 2 * shortfall, bound - way), weight)
