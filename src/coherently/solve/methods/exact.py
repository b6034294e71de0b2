"""The nearest coherent forecasts themselves, with worlds that prove coherence and a bound that proves nearness."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from coherently.errors import MethodError
from coherently.problem import LARGEST_GROUP, is_level, split, split_some
from coherently.solve.budget import Budget
from coherently.solve.component.answer import KEPT, Answer, Ended
from coherently.solve.component.component_map import Task, solve_all
from coherently.solve.component.component_table import ComponentTable
from coherently.solve.component.objective import goal_of
from coherently.solve.facts import Proof, Status
from coherently.solve.measure import UNMOVED
from coherently.solve.solution import BoundHints, Global, promised
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Mask, Vector
    from coherently.problem import Merged, Part, Problem
    from coherently.solve.component.answer_table import AnswerTable


Conditionals: TypeAlias = Literal["called_off", "linearised"]


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What is known before components are solved: answers for some, by number, which stand.

    `before` are answers for the same components with other numbers: the general method begins with their worlds.
    """

    answers: Mapping[int, Answer] = field(default_factory=dict)
    before: AnswerTable | None = None


@dataclass(frozen=True, slots=True)
class Exact(Viewed):
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
        table = self._table(problem)
        tolerance = self.tolerance if len(table) == 1 else 0.5 * self.tolerance
        own = replace(budget, tolerance=tolerance, floor=1.0 / max(1, len(table)))
        answers = self._answered(problem, table, own, Known())
        solution = self.joined(problem, answers)
        return replace(solution, hints=_hints(problem, answers)) if budget.hints else solution

    def answers(self, problem: Problem, budget: Budget, known: Known | None = None) -> AnswerTable:
        """The answer for each component, in the order of `split`, each to the budget's tolerance."""
        return self._answered(problem, self._table(problem), budget, known or Known())

    def _table(self, problem: Problem) -> ComponentTable:
        return ComponentTable(problem.merged, problem.loss, linearised=self.conditionals == "linearised")

    def _answered(self, problem: Problem, table: ComponentTable, budget: Budget, known: Known) -> AnswerTable:
        """Answers; components of few worlds are solved in one call, and what that does not prove one by one.

        After a stop some have only a first answer.
        """
        done, total = 0, max(1, len(table))
        budget = replace(budget, progress=lambda gone, tell=budget.tell: tell(max(done / total, gone)))
        tabled, left = table.solve(budget, self.threads)
        left[list(known.answers)] = False
        which, others = np.flatnonzero(left).tolist(), dict(known.answers)
        done = len(table) - len(which)
        if which:
            starts = None if known.before is None else [known.before[i].rows for i in which]
            tasks = self._tasks(problem, split_some(problem.merged, table.tied, left))
            for i, answer in solve_all(tasks, budget, self.threads, starts):
                others[which[i]] = answer if budget.hints else replace(answer, hints=None)
                done += 1
        return tabled.with_others(others)

    def tasks(self, problem: Problem) -> list[Task]:
        """What is to be solved for each component, in the order of `split`."""
        return self._tasks(problem, split(problem.merged))

    def _tasks(self, problem: Problem, parts: Sequence[Part]) -> list[Task]:
        linearised, own = self.conditionals == "linearised", [part.merged for part in parts]
        return [Task(one, goal_of(one, problem.loss, linearised=linearised), self.seed) for one in own]

    def joined(self, problem: Problem, answers: AnswerTable) -> Global:
        """The solution that answers for the components make."""
        merged, given = problem.merged, problem.merged.terms.conditionals
        moves = _moving(merged, answers)
        x = _reported(merged, answers, moves)
        objective, bound = float(answers.objective.sum()), float(np.minimum(answers.objective, answers.bound).sum())
        violation = max((one.violation for one in answers.others.values()), default=0.0)
        optimal = objective - bound <= self.tolerance * max(1.0, objective) and violation <= KEPT
        is_even = is_level(merged) or all(is_level(part.merged) for part in split(merged))
        return Global(
            problem.as_written(x),
            Status.OPTIMAL if optimal else _status({one.ended for one in answers.others.values()}),
            objective=objective,
            lower_bound=bound,
            guaranteed_improvement=_guaranteed(problem, answers, moves)
            if problem.loss.is_quadratic and is_even
            else None,
            violation=violation,
            worlds=answers.worlds(),
            components=answers.components(),
            note=_note(answers, is_even=is_even),
            conditionals=self.conditionals if len(given) else None,
            degenerate=_degenerate(problem, answers) if len(given) else (),
            standing=tuple(np.flatnonzero(given.standing(x)).tolist()) if len(given) else (),
        )


def _hints(problem: Problem, answers: AnswerTable) -> BoundHints:
    """Where bounds were proved: at the answers, unless a component says otherwise."""
    x, mass = answers.x.copy(), np.zeros(len(answers.x))
    price, forces, trees = dict[int, float](), [], []
    for i, answer in answers.others.items():
        if (hints := answer.hints) is None:
            continue
        own = answers.events.of(i)
        x[own], mass[own] = hints.x, hints.mass
        if hints.price is not None and len(hints.price):
            price |= _prices(problem.merged, own, hints.price)
        if hints.forces is not None:
            x[own] = hints.forces.x[: len(own)]
            forces.append(hints.forces)
        if hints.tree is not None:
            trees.append(hints.tree)
    return BoundHints(x=x, mass=mass, price=price, forces=tuple(forces), trees=tuple(trees))


def _prices(merged: Merged, own: NDArray[np.int32], price: Vector) -> dict[int, float]:
    """The price of each pin of a component, as a factor of P(E & H) - e P(H); one without need has the price 0."""
    from coherently.solve.component.newton.limits import pin_rows

    limits = merged.terms.limits
    mine = np.flatnonzero(np.isin(limits.joint.coordinate, own) | np.isin(limits.condition.coordinate, own))
    rows = pin_rows(limits.take(mine, np.arange(len(merged))), len(merged))
    signed = np.where(rows.equal, price, np.maximum(price, 0.0)) * rows.sign
    return dict(zip(rows.pin.tolist(), signed.tolist(), strict=True))


def _moving(merged: Merged, answers: AnswerTable) -> Mask:
    """Which components have answers that differ from the forecasts by more than rounding."""
    told = merged.weight > 0
    apart = np.abs(answers.x - merged.mean, out=np.zeros(len(merged)), where=told)
    far = answers.objective > UNMOVED**2 * answers.events.sums(merged.weight)
    return np.asarray(far | (answers.events.most(apart) > UNMOVED))


def _reported(merged: Merged, answers: AnswerTable, moves: Mask) -> Vector:
    """The probabilities, or the forecasts themselves where these differ only by rounding."""
    stay = np.zeros(len(merged), np.bool_)
    stay[answers.events.items] = np.repeat(~moves & ~np.isnan(answers.shortfall), answers.events.sizes())
    return np.where(stay & (merged.weight > 0), merged.mean, answers.x)


def _status(ended: set[Ended]) -> Status:
    if Ended.INTERRUPTED in ended:
        return Status.INTERRUPTED
    return Status.TIME_LIMIT if Ended.TIME in ended else Status.UNPROVED


def _note(answers: AnswerTable, *, is_even: bool) -> str | None:
    notes = []
    if not is_even:
        notes.append(
            "Weights more than 2^33 times the next lighter one count as 2^33 times that, which by itself moves "
            "probabilities by about 1e-10; the objective and the gap are those of the weights as given, so that an "
            "event whose forecasts are far lighter than others may be off by more within the gap."
        )
    others = answers.others.values()
    if count := sum(one.ended is Ended.ROUNDING and one.proof is Proof.NOTHING for one in others):
        notes.append(
            f"Nothing is proved about {count:,} of {len(answers):,} components: they have events that are too large "
            f"for every method of proof, and search found nothing better. Events of at most {LARGEST_GROUP} variables, "
            "and counts, have proofs."
        )
    return " ".join(notes) or None


def _degenerate(problem: Problem, answers: AnswerTable) -> tuple[int, ...]:
    """The conditionals whose condition the answer alone makes impossible or certain."""
    joint = problem.merged.terms.conditionals.joint.coordinate
    found = [
        np.flatnonzero(np.isin(joint, answers.events.of(i)))[one.degenerate]
        for i, one in answers.others.items()
        if len(one.degenerate)
    ]
    return tuple(sorted(np.concatenate([np.empty(0, np.int64), *found]).tolist()))


def _guaranteed(problem: Problem, answers: AnswerTable, moves: Mask) -> float | None:
    """The Brier penalty saved in every world: of x with its shortfall g, or of the optimum minus the distance to it."""
    if len(problem.merged.terms.intervals) or len(problem.merged.terms.limits):
        return None
    plain = ~np.isnan(answers.shortfall)
    saved = float(answers.saved[~plain].sum())
    plain &= moves
    objective, bound = float(answers.objective[plain].sum()), float(answers.bound[plain].sum())
    gap, shortfall = objective - bound, float(answers.shortfall[plain].sum())
    weight = float(answers.events.sums(problem.merged.weight)[plain].sum())
    way = 2 * math.sqrt(max(0.0, gap) * weight) + gap
    return promised(problem.scatter + saved + max(objective - 2 * shortfall, bound - way))
