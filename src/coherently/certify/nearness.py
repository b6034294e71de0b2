"""The verifier's own account of how near an answer is: its distance, what enumeration proves, what it must save."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.certify.enumeration import least_sums, proved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.certify.merging import Distinct
    from coherently.events import Events
    from coherently.problem import Loss

CLOSE = 1e-9
"""How far a number may lie from what it must be, relative to it or to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Nearness:
    """How near forecasts x lie to the merged ones, an entry a component.

    `objective` is the distance f; `shortfall` is g, the greatest <N(x - q), x - s> over the worlds s, NaN where there
    are too many to look at; `weight` is the sum of N.
    """

    objective: NDArray[np.float64]
    shortfall: NDArray[np.float64]
    weight: NDArray[np.float64]

    def proved(self) -> NDArray[np.float64]:
        """The lower bound that enumeration proves for each component; NaN where it was not done."""
        pairs = zip(self.objective.tolist(), self.shortfall.tolist(), strict=True)
        return np.array([math.nan if math.isnan(g) else proved(f, g) for f, g in pairs])


def measure(events: Events, distinct: Distinct, x: NDArray[np.float64]) -> Nearness:
    """Measure forecasts x of distinct events under the Brier loss; weightless ones do not count."""
    known = distinct.weight > 0
    apart = np.where(known, x - distinct.mean, 0.0)
    force = distinct.weight * apart
    least = least_sums(events, distinct, force)
    return Nearness(
        distinct.by_component(force * apart),
        distinct.by_component(force * np.where(known, x, 0.0)) - least,
        distinct.by_component(distinct.weight),
    )


def distance(distinct: Distinct, loss: Loss, x: NDArray[np.float64]) -> float:
    """The weighted distance of forecasts x from the merged ones, in the measure of the loss."""
    known = distinct.weight > 0
    x, mean = x[known], distinct.mean[known]
    apart = (x - mean) ** 2 if loss.name == "brier" else loss.divergence(x, mean)
    return float(distinct.weight[known] @ apart)


def saved(scatter: float, near: Nearness, bounds: NDArray[np.float64]) -> float:
    """The Brier penalty saved in every world: the scatter and, for each component, f - 2g.

    Where g is not known, a bound b on the least distance gives the part: if b was proved by (f - g)^2 / f, then
    f - 2g = 2 sqrt(b f) - f; and the nearest coherent forecasts save b and lie at most a distance of sqrt(f - b) away.
    """
    gap = np.maximum(0.0, near.objective - bounds)
    by_shortfall = 2 * np.sqrt(np.maximum(0.0, bounds * near.objective)) - near.objective
    by_distance = bounds - gap - 2 * np.sqrt(gap * near.weight)
    parts = np.where(
        np.isnan(near.shortfall), np.maximum(by_shortfall, by_distance), near.objective - 2 * near.shortfall
    )
    return scatter + float(parts.sum())
