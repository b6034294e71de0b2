"""Intervals of ratios of sums over independent clusters, and of differences of such ratios.

Judge m has in cluster c the sum v_mc of a score over n_mc answers (or tuples). With V and N the sums over clusters,
the score is R_m = V_m / N_m; without cluster c it is R_m(-c) = (V_m - v_mc) / (N_m - n_mc). For weights a of judges
(one of them 1, or 1 and -1 for a difference) let D_c = sum over m of a_m (R_m(-c) - R_m). The variance is that of the
jackknife of clusters,

    (C - 1) / C * sum over the C clusters of (D_c - their mean)^2,

and the interval Student's, with C' - 1 degrees of freedom, where C' = (sum w)^2 / sum w^2 is the number of clusters if
all had the same weight w in the ratios. A difference is paired: what a cluster does to both judges cancels in D_c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.scoring.intervals.jackknife import LEAST_EFFECTIVE_UNITS, LEAST_UNITS

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.scoring.intervals.jackknife import Array


class ClusterRatios(NamedTuple):
    """Sums of a score and numbers of answers: one row per judge, one column per cluster."""

    values: Array
    counts: Array

    def ratios(self) -> Vector:
        """The score of each judge, NaN without answers."""
        total = self.counts.sum(axis=1)
        return _divided(self.values.sum(axis=1), total)

    def half_widths(self, contrasts: Array, confidence: float) -> Vector:
        """Half the width of the interval of each weighted sum of scores, one row of weights each; NaN without one.

        >>> one = ClusterRatios(np.array([[0.0, 1.0, 2.0, 3.0, 4.0]]), np.ones((1, 5)))
        >>> one.half_widths(np.ones((1, 1)), 0.95).round(4).tolist()  # 2.7764 * sqrt(2.5 / 5)
        [1.9632]
        """
        from scipy.special import stdtrit

        moves = self._moves()
        found = np.full(len(contrasts), np.nan)
        for row, contrast in enumerate(contrasts):
            own = np.flatnonzero(contrast)
            share = np.abs(contrast[own]) @ self._shares()[own]
            used = share > 0
            freedom = share.sum() ** 2 / max(np.sum(share**2), 1e-300) - 1.0
            count = int(used.sum())
            if count < LEAST_UNITS or freedom + 1.0 < LEAST_EFFECTIVE_UNITS:
                continue
            left_out = contrast[own] @ moves[own][:, used]
            variance = (count - 1.0) / count * np.sum((left_out - left_out.mean()) ** 2)
            found[row] = stdtrit(freedom, 0.5 + confidence / 2) * np.sqrt(variance)
        return found

    def _moves(self) -> Array:
        """How far each judge's score moves without each cluster."""
        rest = self.counts.sum(axis=1, keepdims=True) - self.counts
        without = _divided(self.values.sum(axis=1, keepdims=True) - self.values, rest)
        return without - self.ratios()[:, None]

    def _shares(self) -> Array:
        """The part of each judge's answers that each cluster has."""
        return np.nan_to_num(_divided(self.counts, self.counts.sum(axis=1, keepdims=True) + 0.0 * self.counts))


def _divided(value: Array, count: Array) -> Array:
    """Quotients, NaN where the divisor is 0."""
    found: Array = np.divide(value, count, out=np.full(count.shape, np.nan), where=count > 0)
    return found
