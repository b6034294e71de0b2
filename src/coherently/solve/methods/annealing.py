"""Simulated annealing of possible worlds: globally coherent forecasts of any events."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from coherently import _core
from coherently.errors import MethodError
from coherently.problem import LARGEST_TABLE
from coherently.solve.budget import Budget
from coherently.solve.facts import Promise, Status
from coherently.solve.measure import distance
from coherently.solve.methods.moves import plan, terms_of
from coherently.solve.solution import Global, Worlds
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.arrays import Mask
    from coherently.problem import Merged, Problem

MAX_COLUMNS = 100_000
"""Maximum number of equally likely worlds of an answer."""
MAX_STEPS = 10**15
"""Maximum number of random flips."""
MAX_PASSES = 10**6
"""Maximum number of passes over all bits."""
MAX_BITS = 500_000_000
"""Maximum number of columns times variables."""


@dataclass(frozen=True, slots=True)
class AnnealingTuning:
    """The schedule of annealing, as far as it is no option."""

    steps_per_bit: int = 500
    """Default number of random flips per bit."""
    stages: int = 100
    """Number of temperatures."""
    samples: int = 1000
    """Number of flips that measure the unit of temperature."""
    work: int = 10_000_000
    """Number of events evaluated between two looks at the budget."""
    rounding: float = 1e-9
    """Violations of a pin below this are rounding."""
    cooling: float = 0.9
    """The part of the time that cooling may take, so that the descent has the rest."""


TUNING = AnnealingTuning()


@dataclass(frozen=True, slots=True)
class Annealing(Viewed):
    """Flips bits of equally likely worlds until they fit the forecasts (SAPA; Osherson and Vardi 2006).

    An event's probability is its share of the `columns` worlds, so the answer is globally coherent whatever the
    schedule, and a multiple of 1/columns. The energy is the weighted squared distance from the merged forecasts.
    A step flips the truth of a random variable in a random world, and takes it back with the probability
    1 - exp(-change/temperature) if the energy grows. There are `steps` of them (None: 500 for each bit, of which there
    are columns times variables). `temperature` is the first one, in units of the mean change that a flip makes at
    the random start; it is multiplied by `cooling` after each hundredth of the steps. Finally up to `passes` passes
    over all bits make every flip that lowers the energy; the method has converged when none does.
    After 9 tenths of `time_limit` seconds the cooling stops, and after all of them the descent: the answer so far is
    coherent, too. The same `seed` gives the same answer, unless the time ran out.

    Worlds obey declared variables and laws: if there are any, a step sets the variables that they tie together to
    another of their possible joint states, or, if these are more than 4,096, the variables of a few laws, obeying the
    others. A conditional p of E given H costs N (P(E & H) / P(H) - p)^2, Osherson and Vardi's form, which is not
    convex, and nothing where H is true in no world. Only forecasts and pins of H prevent that; the note says where it
    happened. Intervals cost nothing inside. A pin is a penalty; `violation` is what is left.

    >>> import coherently as co
    >>> rows = [("A", "p", 0.2), ("A", "q", 0.3), ("A", "p & q", 0.5), ("A", "p | q", 0.9)]
    >>> result = co.aggregate(co.Panel.from_records(rows), co.Annealing(columns=200))
    >>> [round(result.probability(event), 3) for event in ("p", "q", "p & q", "p | q")]
    [0.425, 0.525, 0.275, 0.675]
    """

    name: ClassVar[str] = "annealing"
    from_means: ClassVar[bool] = True
    # Random flips follow the order, and probabilities are multiples of 1/columns.
    exceptions: ClassVar[frozenset[Promise]] = frozenset({Promise.IGNORES_ORDER, Promise.KEEPS_COHERENT})

    columns: int = 1000
    steps: int | None = None
    seed: int = 0
    temperature: float = 0.1
    cooling: float = 0.95
    passes: int = 100
    time_limit: float = 60.0

    def __post_init__(self) -> None:
        _check_whole("columns", self.columns, 1, MAX_COLUMNS)
        if self.steps is not None:
            _check_whole("steps", self.steps, 0, MAX_STEPS)
        _check_whole("seed", self.seed, 0, 2**64 - 1)
        _check_whole("passes", self.passes, 0, MAX_PASSES)
        if not 0 <= self.temperature < math.inf:
            raise MethodError(f"temperature is {self.temperature}; it must be a number of 0 or more")
        if not 0 < self.cooling <= 1:
            raise MethodError(f"cooling is {self.cooling}; it must be above 0 and at most 1")
        if not 0 <= self.time_limit < math.inf:
            raise MethodError(f"time_limit is {self.time_limit}; it must be a number of seconds, 0 or more")

    def solve(self, problem: Problem, budget: Budget | None = None) -> Global:
        """Answer the problem; a stop gives the answer so far."""
        merged, budget = problem.merged, (budget or Budget()).within(self.time_limit)
        cooling = budget.share(TUNING.cooling)
        self._check(problem)
        annealer, bits = self._start(merged)
        cooled = self._cool(annealer, merged, bits, cooling)
        status = self._descend(annealer, merged, budget)
        if budget.is_stopped:
            status = Status.INTERRUPTED
        elif not cooled:
            status = Status.TIME_LIMIT
        value = annealer.counts() / self.columns
        given, limits = merged.terms.conditionals, merged.terms.limits
        joint, condition = limits.joint.probability(value), limits.condition.probability(value)
        broken = np.abs(joint - np.clip(joint, limits.low * condition, limits.high * condition)).max(initial=0.0)
        return Global(
            problem.as_written(value),
            status,
            objective=distance(problem, value, "ratio"),
            lower_bound=0.0,
            violation=float(broken) if len(limits) else None,
            worlds=(_distinct(annealer.worlds().view(np.bool_)),),
            note=_remark(broken, self.columns),
            conditionals="ratio" if len(given) else None,
            standing=tuple(np.flatnonzero(given.standing(value)).tolist()),
        )

    def _start(self, merged: Merged) -> tuple[_core.Annealer, int]:
        """The first worlds, and the number of their bits, which is the number of flips or moves per round."""
        given = (merged.handle, merged.weight, np.nan_to_num(merged.mean), self.columns, self.seed)
        if merged.space.is_free and not len(merged.terms):
            return _core.Annealer(*given), self.columns * merged.n_variables
        sets = plan(merged, self.columns, self.seed)
        none = np.empty(0, np.uint8)
        annealer = _core.Annealer(
            *given,
            *terms_of(merged),
            np.cumsum([0, *map(len, sets.variables)], dtype=np.int64),
            np.concatenate([none, *sets.variables]).astype(np.int32),
            np.cumsum([0, *map(len, sets.states)], dtype=np.int64),
            np.concatenate([none, *(rows.ravel() for rows in sets.states)]),
            sets.slots(),
            sets.laws.handle(merged.n_variables),
            sets.laws.truth.astype(np.uint8),
            sets.worlds,
        )
        return annealer, self.columns * sets.bits()

    def _check(self, problem: Problem) -> None:
        merged = problem.merged
        if not problem.loss.is_quadratic:
            raise MethodError(f"annealing knows only the loss brier, not {problem.loss.name}; use the method exact")
        bits = self.columns * merged.n_variables
        if bits > MAX_BITS:
            raise MethodError(
                f"{self.columns:,} columns of {merged.n_variables:,} variables are {bits:,} bits; "
                f"{MAX_BITS:,} is the maximum: choose at most {MAX_BITS // merged.n_variables:,} columns"
            )

    def _cool(self, annealer: _core.Annealer, merged: Merged, bits: int, budget: Budget) -> bool:
        """Take the steps; false if the budget was over before the last."""
        steps = TUNING.steps_per_bit * bits if self.steps is None else self.steps
        temperature = self.temperature * annealer.roughness(TUNING.samples)
        for stage in range(TUNING.stages):
            begin, end = steps * stage // TUNING.stages, steps * (stage + 1) // TUNING.stages
            for done, size in _slices(begin, end, merged):
                if budget.is_over():
                    return False
                annealer.advance(size, temperature)
                budget.tell(done / steps)
            temperature *= self.cooling
        return True

    def _descend(self, annealer: _core.Annealer, merged: Merged, budget: Budget) -> Status:
        """Make every flip that lowers the energy, within the limits of passes and time."""
        annealer.harden()
        calm = annealer.descend(0)
        for _, size in _slices(0, self.passes * annealer.choices(), merged):
            if calm:
                break
            if budget.is_over():
                return Status.TIME_LIMIT
            calm = annealer.descend(size)
        return Status.CONVERGED if calm else Status.PASS_LIMIT


def _remark(broken: float, columns: int) -> str | None:
    """A note on pins."""
    if broken <= TUNING.rounding:
        return None
    return f"A pin is missed by {broken:.6g}, the most of all: probabilities are multiples of 1/{columns}."


def _check_whole(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or not low <= value <= high:
        raise MethodError(f"{name} is {value}; it must be a whole number from {low:,} to {high:,}")


def _slices(begin: int, end: int, merged: Merged) -> Iterator[tuple[int, int]]:
    """Cut steps into parts of about equal work: the end of each, and its size."""
    size = merged.sizes()
    seen = np.sum(size * np.minimum(size, LARGEST_TABLE)) / max(1, merged.n_variables)
    most = max(1, int(TUNING.work / max(1.0, seen)))
    while begin < end:
        part = min(most, end - begin)
        begin += part
        yield begin, part


def _distinct(truth: Mask) -> Worlds:
    """The distinct worlds; `truth` has one row per world, all equally likely."""
    _, first, count = np.unique(np.packbits(truth, axis=1), axis=0, return_index=True, return_counts=True)
    return Worlds(np.arange(truth.shape[1], dtype=np.int32), count / len(truth), truth[first])
