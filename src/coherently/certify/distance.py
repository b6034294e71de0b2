"""How far bets are from coherent prices: the nearest ones, cluster by cluster."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.certify.bets import clusters_of
from coherently.problem import BRIER, Problem
from coherently.solve import AlternatingProjections
from coherently.solve.composite import CompositeNearest
from coherently.solve.nearest import Nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.certify.bets import Bets, Cluster
    from coherently.problem import Merged
    from coherently.solve import Progress

TOLERANCE = 1e-9
"""The Euclidean distance from coherent prices up to which bets count as coherent: a matter of rounding."""
ABSENT = 1e-6
"""The probability up to which a condition counts as impossible."""
NOISE = 1e-13
"""Changes of a price that are rounding errors."""
MOMENT = 0.1
"""Seconds after which prices that are coherent but for rounding errors are not looked at any more."""
LARGE = 20_000
"""Distinct events of a cluster past which only pairs of variables are made coherent, which bounds the distance."""
ACCURACY = 1e-6
"""The relative gap of squared distances that is aimed at where the best world is not found each time."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The coherent prices nearest to those of a cluster's bets.

    `value` has a price a bet and `chance` the probability that it is not called off; `worlds` and `weight` are the
    mixture that they come from. `square` is their squared distance from the prices, squares counting by their
    chance, and `least` a proved lower bound on it. Stakes of the prices less `value` win `sure` less `shortfall` in
    every world, which is infinite where nothing was proved, and least in the world `lowest` as far as is known.
    `proof` says on what these bounds rest.
    """

    cluster: Cluster
    value: NDArray[np.float64]
    chance: NDArray[np.float64]
    sure: float
    weight: NDArray[np.float64]
    worlds: NDArray[np.uint8]
    square: float
    least: float
    shortfall: float
    lowest: NDArray[np.uint8]
    proof: str

    @property
    def distance(self) -> float:
        """The Euclidean distance from the prices."""
        return math.sqrt(self.square)

    @property
    def is_mixture(self) -> bool:
        """Whether the prices are those of a mixture of worlds, and not of a relaxation that bounds the distance."""
        return len(self.weight) > 0

    @property
    def coherent(self) -> bool | None:
        """Whether the prices are coherent, to the tolerance; None where that was not decided in time."""
        if self.distance <= TOLERANCE:
            return True
        return False if self.least > 0.0 else None


def nearest_of(bets: Bets, deadline: float, progress: Progress | None = None) -> list[Answer]:
    """The nearest coherent prices, cluster by cluster."""
    answers = []
    clusters = clusters_of(bets)
    for cluster in clusters:
        answers.append(nearest(cluster, bets.price[cluster.bets], deadline))
        if progress is not None:
            progress(len(answers) / len(clusters))
    return answers


def nearest(cluster: Cluster, price: NDArray[np.float64], deadline: float) -> Answer:
    """The nearest coherent prices to those of the cluster's bets, each of weight 1."""
    if cluster.conditional.any():
        return _nearest_given(cluster, price, deadline)
    if len(cluster.part) > LARGE:
        return _locally_nearest(cluster, price)
    found = Nearest(cluster.part, 0, TOLERANCE**2)
    soon = min(deadline, time.monotonic() + MOMENT)
    found.improve(ACCURACY, soon, lambda: None)
    if time.monotonic() >= soon and found.objective > NOISE**2:
        found.improve(ACCURACY, deadline, lambda: None)
    core = found.core
    weight, worlds = core.worlds()
    value = cluster.on_bets(np.clip(core.x(), 0.0, 1.0))
    square = float(np.sum((price - value) ** 2))
    finished = found.proof.startswith("dynamic") and time.monotonic() < deadline
    least = square if finished else _least(found.bound, square - found.objective)
    chance = np.ones(len(price))
    return Answer(
        *(cluster, value, chance, square, weight / weight.sum(), worlds, square, least),
        *(core.shortfall(), core.lowest(), found.proof),
    )


def _nearest_given(cluster: Cluster, price: NDArray[np.float64], deadline: float) -> Answer:
    """The nearest coherent prices where some bets may be called off, whose squares count by the chance that they stand.

    With stakes s = p - x the profit in a world is, by the slopes of the distance at its least, at least the sum of s^2
    over the bets that stand for sure and of half of it, times its chance, over the others.
    """
    found = CompositeNearest(cluster.part, BRIER, 0, TOLERANCE**2, linearised=False)
    found.improve(ACCURACY, deadline, lambda: None)
    x = found.x
    value, chance = cluster.on_bets(x), cluster.chances(x)
    squares = chance * (price - value) ** 2
    sure = float(np.sum(np.where(cluster.conditional, 0.5, 1.0) * squares))
    scatter = float(np.sum(squares[~cluster.conditional])) - _plain_objective(cluster.part, x)
    weight, worlds = found.mixture()
    return Answer(
        *(cluster, value, chance, sure, weight / weight.sum(), worlds, float(squares.sum())),
        *(_least(found.bound, scatter), 0.5 * (found.objective - found.bound), worlds[0], found.proof),
    )


def _plain_objective(part: Merged, x: NDArray[np.float64]) -> float:
    return float(np.sum(part.weight * np.where(part.weight > 0, x - part.mean, 0.0) ** 2))


def _locally_nearest(cluster: Cluster, price: NDArray[np.float64]) -> Answer:
    """The nearest prices of which those of events over two variables are coherent: no farther than coherent ones."""
    part, count = cluster.part, len(price)
    turned = np.where(cluster.complemented, 1.0 - price, price)
    scatter = float(np.sum((turned - part.mean[cluster.coordinate]) ** 2))
    units = np.arange(count, dtype=np.int32)
    coordinate, plain = cluster.coordinate.astype(np.int32), np.zeros(count, np.bool_)
    problem = Problem(units, np.ones(count), price, coordinate, cluster.complemented, plain, part, scatter, BRIER)
    found = AlternatingProjections(groups="pairs", correction="dykstra").solve(problem)
    square = float(np.sum((price - found.value) ** 2))
    shortfall = 0.5 * max(0.0, square - (found.guaranteed_improvement or 0.0))
    none = np.zeros((0, part.n_variables), np.uint8)
    return Answer(
        *(cluster, found.value, np.ones(count), square, np.zeros(0), none, square),
        *(_least(found.lower_bound or 0.0, scatter), shortfall),
        *(np.zeros(part.n_variables, np.uint8), "relaxation to pairs of variables: the distance is at least this"),
    )


def _least(bound: float, scatter: float) -> float:
    return max(0.0, bound + max(0.0, scatter) - TOLERANCE**2)
