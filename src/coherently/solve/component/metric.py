"""The nearest mixture of worlds where nearness is measured by a matrix, not event by event."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.budget import NO_TIME
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
    dropped: float = 1e-12
    """Shares of worlds below this are rounding errors."""
    left_open: float = 0.1
    """The part of the tolerance that a proof may leave open."""
    refinements: int = 2
    """Number of refinements of a solution by inner products, which square the condition number."""


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

    def from_centre(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Map rows of probabilities to points whose squared length is the form."""
        apart = x[..., self.coordinates] - self.centre
        return apart * self.root if self.root.ndim == 1 else apart @ self.root

    def slope(self, point: NDArray[np.float64], count: int) -> NDArray[np.float64]:
        """Half of the form's gradient at such a point, over all `count` coordinates."""
        slope = np.zeros(count)
        slope[self.coordinates] = self.root * point if self.root.ndim == 1 else self.root @ point
        return slope


@dataclass(frozen=True, slots=True, eq=False)
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
    """Wolfe's algorithm for the point of least norm in a polytope, whose corners an oracle finds.

    Wolfe (1976), Finding the nearest point in a polytope, Mathematical Programming 11.
    """

    def __init__(self, merged: Merged, oracle: Oracle) -> None:
        self.merged, self.oracle = merged, oracle
        self.truth = np.zeros((0, merged.n_variables), np.bool_)
        self.events = np.zeros((0, len(merged)))
        self.weight = np.zeros(0)

    def solve(self, metric: Metric, budget: Budget) -> Nearby:
        """Improve the mixture until the gap is at most the tolerance times the objective, or 1 if that is more."""
        bound, proof, tolerance = 0.0, Proof.NOTHING, budget.tolerance
        if not len(self.weight):
            self._add(self.oracle.least(np.zeros(len(self.merged)), NO_TIME).world)
            self.weight = np.ones(1)
        points = metric.from_centre(self.events)
        shortfall, before = math.inf, math.inf
        while True:
            self.weight = _least_norm(points, self.weight)
            points = points[self._drop()]
            point = self.weight @ points
            objective, slope = float(point @ point), metric.slope(point, len(self.merged))
            level, scale = float(slope @ (self.weight @ self.events)), max(1.0, objective)
            # A proof need not be finer than what is left to gain.
            slack = max(TUNING.left_open * tolerance * scale, 0.5 * min(shortfall, objective))
            least = self.oracle.least(slope, budget, slack)
            shortfall, proof = level - least.bound, least.proof
            bound = max(bound, _lower(objective, shortfall))
            aim = TUNING.finished if least.exact else tolerance
            if objective - bound <= aim * scale or budget.is_over():
                break
            if self._knows(least.world) and (least.exact or slack <= 2 * TUNING.left_open * tolerance * scale):
                break
            if objective >= before * (1.0 - TUNING.steady):  # the last world gained nothing beyond rounding
                break
            if not self._knows(least.world):
                before = objective
                self._add(least.world)
                self.weight = np.append(self.weight, 0.0)
                points = np.vstack([points, metric.from_centre(self.events[-1:])])
        x = np.clip(self.weight @ self.events, 0.0, 1.0)
        objective = float(np.sum(metric.from_centre(x) ** 2))
        return Nearby(self.weight, self.truth, x, objective, min(bound, objective), proof, budget.is_stopped)

    def _knows(self, world: NDArray[np.uint8]) -> bool:
        return bool((self.truth == world.astype(np.bool_)).all(axis=1).any())

    def _add(self, world: NDArray[np.uint8]) -> None:
        truth = world.astype(np.bool_)[None, :]
        self.truth = np.vstack([self.truth, truth])
        self.events = np.vstack([self.events, self.merged.functions.hold(truth).astype(np.float64)])

    def _drop(self) -> NDArray[np.bool_]:
        """Remove worlds without a share; returns which remain."""
        kept = self.weight > TUNING.dropped
        self.truth, self.events, weight = self.truth[kept], self.events[kept], self.weight[kept]
        self.weight = weight / weight.sum()
        return kept


def _lower(objective: float, shortfall: float) -> float:
    """The least squared length, given that of a point and by how much corners may lie below its hyperplane."""
    if objective <= 0:
        return 0.0
    return max(0.0, objective - max(0.0, shortfall)) ** 2 / objective


def _least_norm(points: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move the weights of points (rows) towards the least norm while they stay at least 0; points may lose theirs."""
    weight = weight.copy()
    active = np.ones(len(weight), np.bool_)
    while True:
        best = _affine(points[active])
        if (best > 0).all():
            weight[:] = 0.0
            weight[active] = best
            return weight
        own = weight[active]
        falling = best <= 0
        step = float(np.min(own[falling] / np.maximum(own[falling] - best[falling], np.finfo(np.float64).tiny)))
        own = np.maximum(own + min(1.0, step) * (best - own), 0.0)
        own[np.flatnonzero(falling)[np.argmin(own[falling])]] = 0.0
        weight[:] = 0.0
        weight[active] = own
        active &= weight > 0
        if np.count_nonzero(active) == 1:
            return active.astype(np.float64)


def _affine(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of the least norm that sum to 1 and may have any sign.

    They are y / sum(y), where (G + c 11') y = 1 with the inner products G and any c > 0 (Wolfe 1976).
    """
    from scipy import linalg

    scale = max(1.0, float(np.abs(points).max(initial=0.0))) ** 2
    try:
        factor = linalg.cho_factor(points @ points.T + scale)
    except linalg.LinAlgError:
        rows = np.vstack([np.full(len(points), np.sqrt(scale)), points.T])
        answer = np.linalg.lstsq(rows, np.eye(len(rows))[0], rcond=None)[0]
    else:
        answer = linalg.cho_solve(factor, np.ones(len(points)))
        for _ in range(TUNING.refinements):
            missing = 1.0 - points @ (points.T @ answer) - scale * answer.sum()
            answer = answer + linalg.cho_solve(factor, missing)
    total = answer.sum()
    return answer / total if abs(total) > 0 else np.full(len(points), 1.0 / len(points))
