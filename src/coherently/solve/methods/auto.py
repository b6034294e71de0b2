"""The default method: exact where possible, and it says where not."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from coherently.solve.facts import Coherence, Proof, Route, Status
from coherently.solve.measure import probabilities
from coherently.solve.methods.alternating_projections import AlternatingProjections
from coherently.solve.methods.exact import Exact
from coherently.solve.relaxed.pairs import fits
from coherently.solve.solution import Component

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.arrays import Vector
    from coherently.problem import Problem
    from coherently.solve.budget import Budget
    from coherently.solve.solution import Global, Local, Solution

LARGEST = 20_000
"""Maximum number of distinct events of a component that is made globally coherent."""


@dataclass(frozen=True, slots=True)
class Auto:
    """Chooses for each independent component: exact, or locally coherent where it has more than 20,000 events.

    A component that is not proved to the `tolerance` within `time_limit` seconds has the best globally coherent answer
    that was found, with its gap. `note` and `components` of the result say what was done.

    >>> import coherently as co
    >>> rows = [("A", "p", 0.2), ("A", "q", 0.3), ("A", "p & q", 0.5), ("A", "p | q", 0.9)]
    >>> result = co.aggregate(co.Panel.from_records(rows))
    >>> result.status, result.coherence, round(result.probability("p & q"), 6)
    ('optimal', 'global', 0.275)
    """

    name: ClassVar[str] = "auto"
    from_means: ClassVar[bool] = True

    tolerance: float = 1e-6
    time_limit: float = 10.0
    seed: int = 0
    threads: int = 0

    def __post_init__(self) -> None:
        self._exact()

    def _exact(self) -> Exact:
        return Exact(self.tolerance, self.time_limit, self.seed, threads=self.threads)

    def solve(self, problem: Problem, budget: Budget | None = None) -> Solution:
        """Answer the problem; a stop gives the answer so far."""
        merged = problem.merged
        component = merged.components()
        large = np.bincount(component)[component] > LARGEST if len(component) else np.zeros(0, np.bool_)
        exact = self._exact()
        if not large.any():
            return exact.solve(problem, budget)
        part, way = problem.keep(large)
        local = locally(part, budget)
        if large.all():
            return local
        rest, rest_way = problem.keep(~large)
        found = exact.solve(rest, budget)
        return _join(local, found, way.back(local.value, rest_way.back(found.value)))


def locally(part: Problem, budget: Budget | None = None) -> Local:
    """The components beyond the limit, made coherent within groups of events."""
    design = "pairs" if part.loss.is_quadratic and fits(part.merged, "pairs") else "logical"
    solution = AlternatingProjections(groups=design, correction="dykstra").solve(part, budget)
    labels = part.merged.components()
    sizes = np.bincount(labels).tolist()
    objective = _objectives(part, solution, labels)
    bound = [solution.lower_bound or 0.0] if len(sizes) == 1 else [0.0] * len(sizes)
    home = np.full(part.merged.n_variables, -1, np.int64)
    home[part.merged.functions.variables] = np.repeat(labels, part.merged.sizes())
    known = np.bincount(home[home >= 0], minlength=len(sizes))
    proof = Proof.PAIR_GROUPS if design == "pairs" else Proof.LOGICAL_GROUPS
    listed = tuple(
        Component(
            variables=int(known[i]),
            events=size,
            coherence=Coherence.LOCAL,
            route=Route.PROJECTIONS,
            proof=proof,
            objective=objective[i],
            lower_bound=bound[i],
        )
        for i, size in enumerate(sizes)
    )
    which = f"{len(sizes)} component{'s' * (len(sizes) > 1)} ({', '.join(f'{size:,}' for size in sizes[:5])} events)"
    note = f"Beyond {LARGEST:,} events a component is made coherent within groups ({design}) only: {which}."
    return replace(solution, components=listed, note=note)


def _objectives(part: Problem, solution: Local, labels: NDArray[np.int32]) -> list[float]:
    """The objective of each component; NaN for several with conditionals, intervals or pins, where it is not known."""
    count, merged = int(labels.max()) + 1, part.merged
    if len(merged.terms):
        return [solution.objective or 0.0] if count == 1 else [math.nan] * count
    weighty = merged.weight > 0
    x = probabilities(part, solution)[weighty]
    lost = merged.weight[weighty] * part.loss.divergence(x, merged.mean[weighty])
    objectives: list[float] = np.bincount(labels[weighty], lost, count).tolist()
    return objectives


def _join(local: Local, exact: Global, value: Vector) -> Local:
    """Join the answers for large and other components; the weaker promise holds for the whole."""
    worse = local.status if exact.status is Status.OPTIMAL else exact.status
    return replace(
        local,
        value=value,
        status=worse,
        objective=_sum(local.objective, exact.objective),
        lower_bound=_sum(local.lower_bound, exact.lower_bound),
        guaranteed_improvement=_sum(local.guaranteed_improvement, exact.guaranteed_improvement),
        components=(*local.components, *exact.components),
    )


def _sum(*values: float | None) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
