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

    `objective` is the distance f, of the Brier loss if `quadratic`; `shortfall` is g, the greatest <F, x - s> over the
    worlds s with the force F = N(x - q), or N(phi'(x) - phi'(q)) of another loss, NaN where there are too many worlds
    to look at; `weight` is the sum of N.
    """

    objective: NDArray[np.float64]
    shortfall: NDArray[np.float64]
    weight: NDArray[np.float64]
    quadratic: bool

    def proved(self) -> NDArray[np.float64]:
        """The lower bound that enumeration proves for each component; NaN where it was not done.

        The distance of any loss is convex with the slope F at x, so that none is below f - g.
        """
        if not self.quadratic:
            return np.maximum(0.0, self.objective - np.maximum(0.0, self.shortfall))
        pairs = zip(self.objective.tolist(), self.shortfall.tolist(), strict=True)
        return np.array([math.nan if math.isnan(g) else proved(f, g) for f, g in pairs])


def measure(events: Events, distinct: Distinct, loss: Loss, x: NDArray[np.float64]) -> Nearness:
    """Measure forecasts x of distinct events; weightless ones do not count."""
    known = distinct.weight > 0
    at, mean = np.where(known, np.clip(x, 0.0, 1.0), 0.5), np.where(known, distinct.mean, 0.5)
    quadratic = loss.name == "brier"
    force = distinct.weight * (at - mean if quadratic else loss.gradient(at) - loss.gradient(mean))
    least = least_sums(events, distinct, force)
    return Nearness(
        distinct.by_component(distinct.weight * ((at - mean) ** 2 if quadratic else loss.divergence(at, mean))),
        distinct.by_component(force * at) - least,
        distinct.by_component(distinct.weight),
        quadratic,
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
