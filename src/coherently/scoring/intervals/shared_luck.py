r"""How much more scores vary if clusters that are scored also teach each other: nobody is scored by own outcomes alone.

Let e_u be the outcome of cluster u less its probability, a_u what u gets from the aggregates as they would be without
any luck, and g_uv how far the luck of v moves the aggregate that u is scored by. To second order, the estimated score
less the expected score *of these aggregates* is a sum over clusters and pairs of clusters in different folds,

    sum_u a_u e_u + sum_{u < v} (g_uv + g_vu) e_u e_v,

whose terms are uncorrelated. With the variance of each e_u as 1, its variance is

    sum a_u^2 + sum_{u < v} (g_uv + g_vu)^2  <=  [sum a_u^2 + sum_{u /= v} g_uv^2] + sum_{u /= v} g_uv^2,

by (x + y)^2 <= 2 x^2 + 2 y^2, with equality if u moves v as v moves u. The bracket is what a jackknife over clusters
with aggregates as they are estimates: it takes them as given. So the last sum must be added, T. It is how much the
scores vary with the luck of the teachers, and the jackknife over teaching folds estimates it: with S_uj the score of
cluster u if fold j does not teach for it, m folds that do, and the mean over j taken off,

    T = (m - 1) / m * sum over u and j of S_uj^2.

T is a part of the bracket, and so never counts more than that. Where nobody teaches back, as in the order of time, one
of g_uv and g_vu is 0, and nothing is added. (That the jackknife of what is given is too short, and that no unbiased
estimate exists: Bengio and Grandvalet 2004, No unbiased estimator of the variance of K-fold cross-validation, Journal
of Machine Learning Research 5. Terms of pairs: Efron and Stein 1981, The jackknife estimate of variance, Annals of
Statistics 9.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.scoring.scoring_rules import RULES

if TYPE_CHECKING:
    from coherently.arrays import Indices, Vector
    from coherently.scoring.intervals.jackknife import Tally
    from coherently.scoring.scoring_rules import Mean


@dataclass(frozen=True, slots=True, eq=False)
class Retaught:
    """What the learned rows would be if one teaching fold were left out, each in turn.

    `values` has an axis of omissions, one of the learned rows, and one of events as written; `rows` are the places of
    these among all methods, `group` is the cluster of each event, and `factor` that of the jackknife, (m - 1) / m.
    """

    values: Vector
    rows: tuple[int, ...]
    group: Indices
    factor: float

    def covariances(self, tally: Tally, outcome: Vector, event: Indices, clip: float) -> Vector:
        """The matrix T of each rule: rule, method, method. `event` is that of each scored forecast, as written."""
        methods = len(tally.judge_sums[0][0].values)
        found = np.zeros((len(RULES), methods, methods))
        number = np.unique(self.group[event], return_inverse=True)[1].ravel()
        for place, rule in enumerate(RULES):
            lost = [
                [_by_group(rule.means(row[event], outcome, clip), tally.judge, number) for row in one]
                for one in self.values
            ]
            apart = np.asarray(lost) - np.mean(lost, axis=0)
            found[place][np.ix_(self.rows, self.rows)] = self.factor * np.einsum("jag,jbg->ab", apart, apart)
        return found


def _by_group(parts: tuple[Mean, ...], judge: Indices, group: Indices) -> Vector:
    """The part that each group has in the mean over judges of their scores."""
    counts = [np.bincount(judge, part.counts) for part in parts]
    there = np.all([count > 0 for count in counts], axis=0)
    each = np.zeros(len(judge))
    for part, count in zip(parts, counts, strict=True):
        each += (there / (np.maximum(count, 1.0) * max(there.sum(), 1)))[judge] * part.values
    return np.bincount(group, each).astype(np.float64)
