"""How far bets are from coherent prices: the nearest ones, cluster by cluster."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.nearest import Nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.certify.bets import Cluster

TOLERANCE = 1e-9
"""The Euclidean distance from coherent prices up to which bets count as coherent: a matter of rounding."""
NOISE = 1e-13
"""Changes of a price that are rounding errors."""
ACCURACY = 1e-6
"""The relative gap of squared distances that is aimed at where the best world is not found each time."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The coherent prices nearest to those of a cluster's bets.

    `value` has a price a bet; `worlds` and `weight` are the mixture that they come from. `square` is their squared
    distance from the prices and `least` a proved lower bound on it. Stakes of the prices less `value` win the square
    less `shortfall` in every world, which is infinite where nothing was proved, and least in the world `lowest` as far
    as is known. `proof` says on what these bounds rest.
    """

    cluster: Cluster
    value: NDArray[np.float64]
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
    def coherent(self) -> bool | None:
        """Whether the prices are coherent, to the tolerance; None where that was not decided in time."""
        if self.distance <= TOLERANCE:
            return True
        return False if self.least > 0.0 else None


def nearest(cluster: Cluster, price: NDArray[np.float64], deadline: float) -> Answer:
    """The nearest coherent prices to those of the cluster's bets, each of weight 1."""
    found = Nearest(cluster.part, 0, TOLERANCE**2)
    found.improve(ACCURACY, deadline, lambda: None)
    weight, worlds = found.core.worlds()
    value = cluster.on_bets(np.clip(found.core.x(), 0.0, 1.0))
    square = float(np.sum((price - value) ** 2))
    scatter = square - found.objective
    finished = found.proof.startswith("dynamic") and time.monotonic() < deadline
    least = square if finished else max(0.0, found.bound + max(0.0, scatter) - TOLERANCE**2)
    core = found.core
    return Answer(
        cluster, value, weight / weight.sum(), worlds, square, least, core.shortfall(), core.lowest(), found.proof
    )
