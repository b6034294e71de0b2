"""The losses of forecasts as convex functions of the probabilities of events and conditions, for the verifier only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from coherently.arrays import Mask, Vector
    from coherently.problem import Loss

STEEP = 1e-12
"""Curvatures, which only guide the search, are computed at least this far from 0 and 1; so are infinite slopes.

The plane with the slope at this distance from 0 or 1 lies above a convex loss by at most the slope times STEEP.
"""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Costs:
    """Weighted losses of forecasts of E given H, with u = P(E & H) and h = P(H); h is 1 for a plain event.

    With r = u / h and t the nearest point to r of [`low`, `high`], a point for an ordinary forecast, each is
    N h d(r, t), or N (u - t h)^2 where `linear`. Both are convex in (u, h): the first is the perspective of a convex
    function of r, the second a squared distance from a cone.
    """

    loss: Loss
    weight: Vector
    low: Vector
    high: Vector
    linear: Mask

    def __len__(self) -> int:
        return len(self.weight)

    def value(self, u: Vector, h: Vector) -> Vector:
        """Each loss; 0 where the condition is impossible."""
        r, t = self.ratios(u, h)
        lost: Vector = self.weight * np.where(self.linear, (h * (r - t)) ** 2, h * self.loss.divergence(r, t))
        return lost

    def slopes(self, u: Vector, h: Vector) -> tuple[Vector, Vector]:
        """The derivatives by u and by h.

        By u they are N d'(r) and by h N (d(r) - r d'(r)); where linear, 2 N h (r - t) and -t times that.
        """
        r, t = self.ratios(u, h)
        slope = np.where(r == t, 0.0, self._gradient(r) - self.loss.gradient(t))
        steep = self.weight * np.where(self.linear, 2.0 * h * (r - t), slope)
        flat = np.where(self.linear, -t * steep, self.weight * self.loss.divergence(r, t) - r * steep)
        return steep, flat

    def _gradient(self, r: Vector) -> Vector:
        with np.errstate(all="ignore"):
            found = self.loss.gradient(r)
        finite: Vector = np.where(np.isfinite(found), found, self.loss.gradient(np.clip(r, STEEP, 1.0 - STEEP)))
        return finite

    def curvature(self, u: Vector, h: Vector) -> tuple[Vector, Vector]:
        """The k and c of the second derivatives k (du - c dh)^2: N d''(r) / h and r, or 2 N and t where linear."""
        r, t = self.ratios(u, h)
        bent = (self.low == self.high) | (r < self.low) | (r > self.high)
        inner = np.divide(self.loss.curvature(np.clip(r, STEEP, 1.0 - STEEP)), h, out=np.zeros_like(h), where=h > 0)
        found = np.where(bent, self.weight * np.where(self.linear, 2.0, inner), 0.0)
        return found, np.where(self.linear, t, r)

    def ratios(self, u: Vector, h: Vector) -> tuple[Vector, Vector]:
        """The conditional probability, and the nearest one without loss; the forecast if the condition has chance 0."""
        r = np.clip(np.divide(u, h, out=self.low.copy(), where=h > 0), 0.0, 1.0)
        return r, np.clip(r, self.low, self.high)
