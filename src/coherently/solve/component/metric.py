"""The nearest mixture of worlds where nearness is measured by a matrix, not event by event."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.component.newton.feasible import make_engine
from coherently.solve.component.newton.limits import pin_rows
from coherently.solve.component.objective import Model
from coherently.solve.facts import Proof

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.worlds.oracle import Oracle


@dataclass(frozen=True, slots=True)
class MetricTuning:
    """What counts as rounding, and how much a proof may leave open."""

    finished: float = 1e-13
    """The relative gap at which nothing is left to gain."""
    steady: float = 1e-15
    """Relative decreases below this are rounding."""
    left_open: float = 0.1
    """The part of the tolerance that a proof may leave open."""
    effort: int = 2
    """How often the length of searches is doubled where dynamic programming has too many states."""


TUNING = MetricTuning()


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """The quadratic form (x - centre)' P (x - centre) over some coordinates, with P = `root` `root`'.

    `root` is a matrix, or a vector where P is diagonal.
    """

    coordinates: NDArray[np.int64]
    centre: NDArray[np.float64]
    root: NDArray[np.float64]

    @staticmethod
    def of(coordinates: NDArray[np.int64], centre: NDArray[np.float64], precision: NDArray[np.float64]) -> Metric:
        """The form of a positive definite matrix, or of the diagonal of one."""
        root = np.sqrt(precision) if precision.ndim == 1 else np.linalg.cholesky(precision)
        return Metric(coordinates, centre, root.astype(np.float64))

    def model(self, size: int) -> Model:
        """The form as squares of sums of `size` events: the entries of `root`' (x - centre)."""
        from scipy.sparse import csr_array, diags_array

        rows = csr_array(diags_array(self.root) if self.root.ndim == 1 else self.root.T)
        coordinates = self.coordinates[rows.indices].astype(np.int32)
        sums = rows.indptr.astype(np.int64), coordinates, np.zeros(rows.nnz, np.uint8), rows.data, -rows @ self.centre
        return Model(np.zeros(size), sums, np.full(len(self.centre), 2.0))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Nearby:
    """A mixture of worlds: `truth` has one row per world, `x` one probability per coordinate.

    No mixture has an objective below `bound`.
    """

    weight: NDArray[np.float64]
    truth: NDArray[np.bool_]
    x: NDArray[np.float64]
    objective: float
    bound: float
    proof: Proof
    interrupted: bool


class NearestByMetric:
    """The engine of rows for one form after the other: each begins with the worlds of the last answer.

    Wolfe (1976), Finding the nearest point in a polytope, Mathematical Programming 11.
    """

    def __init__(self, merged: Merged, oracle: Oracle) -> None:
        self.merged, self.oracle = merged, oracle
        self.engine = make_engine(merged, oracle, pin_rows(merged.terms.limits, len(merged)), 0)

    def solve(self, metric: Metric, budget: Budget) -> Nearby:
        """Improve the mixture until the gap is at most the tolerance times the objective, or 1 if that is more."""
        engine, bound, before = self.engine, 0.0, math.inf
        engine.set(*metric.model(len(self.merged)))
        while True:
            self._minimise(budget)
            objective = engine.objective()
            scale = max(1.0, objective)
            least = self.oracle.least(engine.gradient(), budget, TUNING.left_open * budget.tolerance * scale)
            # The gradient of a squared length is twice the normal of the hyperplane.
            bound = max(bound, _lower(objective, 0.5 * (engine.level() - least.bound)))
            aim = TUNING.finished if least.exact else budget.tolerance
            # The end also comes if the last world gained nothing beyond rounding.
            if objective - bound <= aim * scale or objective >= before * (1.0 - TUNING.steady) or budget.is_over():
                return self._found(metric, bound, least.proof, budget)
            before = objective
            engine.include(least.world[None])

    def approach(self, metric: Metric, budget: Budget) -> Nearby:
        """The nearest mixture that elimination or search finds, without a bound."""
        self.engine.set(*metric.model(len(self.merged)))
        self._minimise(budget)
        return self._found(metric, 0.0, Proof.NOTHING, budget)

    def _minimise(self, budget: Budget) -> None:
        engine, exact, done = self.engine, self.oracle.is_exact, False
        while not done and (seconds := budget.slice()) > 0:
            done = engine.eliminate(seconds, 0.0) if exact else engine.search(seconds, 0.0, TUNING.effort)

    def _found(self, metric: Metric, bound: float, proof: Proof, budget: Budget) -> Nearby:
        share, worlds = self.engine.worlds()
        share = share / share.sum()
        x = np.clip(share @ self.merged.functions.hold(worlds), 0.0, 1.0)
        objective = metric.model(len(x)).value(x)
        return Nearby(
            weight=share,
            truth=worlds.astype(np.bool_),
            x=x,
            objective=objective,
            bound=min(bound, objective),
            proof=proof,
            interrupted=budget.is_stopped,
        )


def _lower(objective: float, shortfall: float) -> float:
    """The least squared length, given that of a point and by how much corners may lie below its hyperplane."""
    if objective <= 0:
        return 0.0
    return max(0.0, objective - max(0.0, shortfall)) ** 2 / objective
