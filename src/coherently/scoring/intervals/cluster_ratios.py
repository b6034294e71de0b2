"""Intervals of ratios of sums over independent clusters, and of differences of such ratios.

Judge m has in cluster c the sum v_mc of a score over n_mc answers (or tuples). With V and N the sums over clusters,
the score is R_m = V_m / N_m; without cluster c it is R_m(-c) = (V_m - v_mc) / (N_m - n_mc). For weights a of judges
(one of them 1, or 1 and -1 for a difference) let D_c = sum over m of a_m (R_m(-c) - R_m). The variance is that of the
jackknife of clusters,

    (C - 1) / C * sum over the C clusters of (D_c - their mean)^2,

and the interval Student's, with C' - 1 degrees of freedom, where C' = (sum w)^2 / sum w^2 is the number of clusters if
all had the same weight w in the ratios; but at most as many as the variance itself is worth. A sum of squares with nu
degrees of freedom has the relative variance 2 / nu; that of C squares of deviations d_c has (K - 1) / C with their
kurtosis K = C sum d^4 / (sum d^2)^2, so nu = 2 / (sum d^4 / (sum d^2)^2 - 1 / C), which is C - 1 for normal deviates
after Bessel's (C - 1) / C. A few clusters that have nearly all of the variance say little about it.

A difference is paired: what a cluster does to both judges cancels in D_c.

Where nearly all answers hang together, what is independent is smaller than that: units, of which a cluster may have
several (see `unit_sets`). Then D_u leaves out all clusters with unit u, and the formulas are those above with units for
clusters. What is due to a cluster alone counts for each of its units, which is cautious: without these repeats (see
`jackknife`) the variance is right on average, but so uncertain, with few units and skewed scores, that intervals cover
less than they say; and answers also lose by their neighbours, which only the repeats make up for.

A score is not negative, and its distribution is skewed: an estimate that is too low comes with a variance that is too
low. On the logarithmic scale both effects nearly cancel, so the interval of a single score is R exp(-+ t s / R), with s
the root of the variance and t Student's quantile (measured in docs/reliability.md). Differences are symmetric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.scoring.intervals.jackknife import LEAST_EFFECTIVE_UNITS, LEAST_UNITS

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.scoring.intervals.jackknife import Array


class ClusterRatios(NamedTuple):
    """Sums of a score and numbers of answers: one row per judge, one column per cluster.

    `members` has one row per cluster and one column per unit, 1 where the cluster has the unit; None if each cluster is
    a unit of its own.
    """

    values: Array
    counts: Array
    members: Array | None = None

    def ratios(self) -> Vector:
        """The score of each judge, NaN without answers."""
        total = self.counts.sum(axis=1)
        return _divided(self.values.sum(axis=1), total)

    def ends(self, confidence: float) -> tuple[Vector, Vector]:
        """The lower and the upper end of the interval of each judge's score, NaN without one.

        >>> low, high = ClusterRatios(np.array([[0.0, 1.0, 2.0, 3.0, 4.0]]), np.ones((1, 5))).ends(0.95)
        >>> low.round(4).tolist(), high.round(4).tolist()  # 2 exp(-+ 1.9632 / 2)
        ([0.7494], [5.3376])
        """
        value, half = self.ratios(), self.half_widths(np.eye(len(self.values)), confidence)
        factor = np.exp(np.divide(half, value, out=np.zeros_like(half), where=~(value == 0)))
        return value / factor, value * factor

    def half_widths(self, contrasts: Array, confidence: float) -> Vector:
        """Half the width of the interval of each weighted sum of scores, one row of weights each; NaN without one.

        >>> one = ClusterRatios(np.array([[0.0, 1.0, 2.0, 3.0, 4.0]]), np.ones((1, 5)))
        >>> one.half_widths(np.ones((1, 1)), 0.95).round(4).tolist()  # 2.7764 * sqrt(2.5 / 5)
        [1.9632]
        """
        from scipy.special import stdtrit

        moves, shares = self._moves(), self._shares()
        found = np.full(len(contrasts), np.nan)
        for row, contrast in enumerate(contrasts):
            own = np.flatnonzero(contrast)
            share = np.abs(contrast[own]) @ shares[own]
            used = share > 0
            count, effective = int(used.sum()), share.sum() ** 2 / max(np.sum(share**2), 1e-300)
            if count < LEAST_UNITS or effective < LEAST_EFFECTIVE_UNITS:
                continue
            left_out = contrast[own] @ moves[own][:, used]
            square = (left_out - left_out.mean()) ** 2
            variance = (count - 1.0) / count * np.sum(square)
            freedom = max(1.0, min(effective - 1.0, _worth(square)))
            found[row] = stdtrit(freedom, 0.5 + confidence / 2) * np.sqrt(variance)
        return found

    def _by_unit(self, table: Array) -> Array:
        return table if self.members is None else table @ self.members

    def _moves(self) -> Array:
        """How far each judge's score moves without each unit."""
        rest = self.counts.sum(axis=1, keepdims=True) - self._by_unit(self.counts)
        without = _divided(self.values.sum(axis=1, keepdims=True) - self._by_unit(self.values), rest)
        return without - self.ratios()[:, None]

    def _shares(self) -> Array:
        """The part of each judge's answers that each unit has; what units share counts in each of them."""
        counts = self._by_unit(self.counts)
        return np.nan_to_num(_divided(counts, counts.sum(axis=1, keepdims=True) + 0.0 * counts))


def _worth(square: Vector) -> float:
    """The degrees of freedom that a sum of squares of deviations is worth, by their kurtosis."""
    count, total = len(square), float(square.sum())
    above = float(np.sum((square / total) ** 2)) - 1.0 / count if total > 0 else 0.0
    return 2.0 * (count - 1.0) / count / above if above > 0 else np.inf


def _divided(value: Array, count: Array) -> Array:
    """Quotients, NaN where the divisor is 0."""
    found: Array = np.divide(value, count, out=np.full(count.shape, np.nan), where=count > 0)
    return found
