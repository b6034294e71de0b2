r"""Pools that others have published and that learn from outcomes, as functions of what may teach.

Below, p_ij is the forecast of judge j for event i, m_i the (weighted) mean forecast of event i, l(p) = ln(p / (1 - p)),
and y_i the outcome of an event that may teach; sums over i are over these. All events that teach count alike. Each
function gives a number for every event as written, whether it teaches or not, and without any outcome what the rule
says before it learned anything.

coherence weights (Karvetski, Olson, Mandel and Twardy 2013, Probabilistic coherence weighting for optimizing expert
forecasts, Decision Analysis 10): with c_ij the judge's own forecasts made coherent alone and d_j the root mean square
of c_ij - p_ij,

    q_i = sum_j w_j c_ij / sum_j w_j,   w_j = (1 - d_j / max d)^beta,

with the beta of 1, 2, 4 and 8 that has the least Brier score where outcomes teach; without any, 1. (The paper takes
the distance itself; its judges all answer equally many questions.)

contribution weights (Budescu and Chen 2015, Identifying expertise to extract the wisdom of crowds, Management Science
61): the contribution of a judge is how much worse the plain mean of the others is,

    C_j = mean over the judge's events i of (m_i without j - y_i)^2 - (m_i - y_i)^2,

and judges count C_j if that is above 0, else nothing.

fitted extremes (Satopaa, Baron, Foster, Mellers, Tetlock and Ungar 2014, Combining multiple probability predictions
using a simple logit model, International Journal of Forecasting 30): the mean log-odds times the factor a that
maximises the likelihood of the outcomes,

    l(q_i) = a mean_j l(p_ij),   a = argmax sum_i y_i ln q_i + (1 - y_i) ln(1 - q_i).

Brier weights and Platt's line: judges count in inverse proportion to their mean Brier score (Bates and Granger 1969,
The combination of forecasts, Operational Research Quarterly 20), to which ten forecasts of average accuracy are added,
and the weighted mean is put on a line in log-odds, l(q_i) = a l(m_i) + b, by maximum likelihood with Platt's targets
(n + 1) / (n + 2) and 1 / (n' + 2) in the place of 1 and 0, for n events that came true and n' that did not (Platt 1999,
Probabilistic outputs for support vector machines, in Advances in Large Margin Classifiers).

Neyman and Roughgarden (2022, Are you smarter than a random expert? The robust aggregation of substitutable signals,
Proceedings of EC): away from the prior pi, by a factor of the number n of forecasts of the event,

    q_i = pi + d (m_i - pi), cut to [0, 1],   d = n (sqrt(3 n^2 - 3 n + 1) - 2) / (n^2 - n - 1),

with pi = (sum y_i + 1) / (number + 2), the share of events that came true.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve import Pool
from coherently.solve.methods.judge_factors import LINE_CLIP, log_odds, reweighted, sigmoid

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.arrays import Mask, Vector
    from coherently.problem import Problem

BETAS = (1.0, 2.0, 4.0, 8.0)
"""The powers of coherence weights that are tried."""
MOST_EXTREME = 10.0
"""Maximum factor of log-odds: where all events come true as forecast, likelihood knows no limit."""
SHRINK = 10.0
"""Number of forecasts of average accuracy that is added to those of each judge."""
STEPS, CLOSE = 60, 1e-10
"""Maximum number of Newton's steps, and the length at which they end."""


@dataclass(frozen=True, slots=True, eq=False)
class TaughtProblem:
    """A problem, and the outcome of each event as written that may teach; NaN for all others.

    `alone` gives the forecasts of each judge made coherent alone, one per forecast.
    """

    problem: Problem
    outcome: Vector
    alone: Callable[[], Vector]

    @property
    def teaches(self) -> Mask:
        """Which events have an outcome that may teach."""
        return ~np.isnan(self.outcome)

    def mean(self, factor: Vector, probability: Vector | None = None) -> Vector:
        """The mean forecast of each event with judges counted by a factor; the plain one where nobody counts."""
        problem = self.problem
        if probability is not None:
            problem = replace(problem, forecasts=replace(problem.forecasts, probability=probability))
        found = reweighted(problem, factor).mean
        return np.where(np.isnan(found), problem.mean, found)

    def brier(self, value: Vector) -> float:
        """The mean Brier score of probabilities where outcomes teach."""
        return float(np.mean(np.square(value - self.outcome)[self.teaches]))


def coherence_weighted(taught: TaughtProblem) -> Vector:
    """Karvetski and others (2013)."""
    given, alone = taught.problem.forecasts, taught.alone()
    count = len(given.judges)
    often = np.maximum(np.bincount(given.judge, minlength=count), 1)
    distance = np.sqrt(np.bincount(given.judge, np.square(alone - given.probability), count) / often)
    farthest = distance.max(initial=0.0)
    apart = (distance < farthest).any()
    factor = 1.0 - distance / farthest if apart else np.ones(count)
    tried = [taught.mean(factor**beta, alone) for beta in BETAS]
    if not taught.teaches.any():
        return tried[0]
    return min(tried, key=taught.brier)


def contribution_weighted(taught: TaughtProblem) -> Vector:
    """Budescu and Chen (2015)."""
    problem = taught.problem
    given, outcome = problem.forecasts, taught.outcome
    # A judge's repeats of an event are one answer: their mean, with the sum of their weights.
    pair, place = np.unique(given.judge.astype(np.int64) * len(outcome) + given.unit, return_inverse=True)
    judge, unit = pair // len(outcome), pair % len(outcome)
    weight = np.bincount(place.ravel(), given.weight)
    said = np.bincount(place.ravel(), given.weight * given.probability)
    rest = problem.weight[unit] - weight
    rows = taught.teaches[unit] & (weight > 0) & (rest > 1e-12 * problem.weight[unit])
    judge, unit, said, rest = judge[rows], unit[rows], said[rows], rest[rows]
    without = (problem.weight[unit] * problem.mean[unit] - said) / rest
    worse = np.square(without - outcome[unit]) - np.square(problem.mean[unit] - outcome[unit])
    count = len(given.judges)
    often = np.maximum(np.bincount(judge, minlength=count), 1)
    factor = np.maximum(np.bincount(judge, worse, count) / often, 0.0)
    return taught.mean(factor if factor.any() else np.ones(count))


def fitted_extremes(taught: TaughtProblem) -> Vector:
    """Satopaa and others (2014)."""
    given = taught.problem.forecasts
    odds = taught.mean(np.ones(len(given.judges)), log_odds(given.probability, LINE_CLIP))
    among = taught.teaches
    factor = line_of(odds[among][:, None], taught.outcome[among], np.ones(1))[0]
    return sigmoid(min(max(float(factor), 0.0), MOST_EXTREME) * odds)


def brier_weighted(taught: TaughtProblem) -> Vector:
    """Brier weights, and Platt's line."""
    given, count = taught.problem.forecasts, len(taught.problem.forecasts.judges)
    rows = taught.teaches[given.unit] & (given.weight > 0)
    lost = np.square(given.probability[rows] - taught.outcome[given.unit[rows]])
    if not len(lost):
        return taught.problem.mean
    judge, average = given.judge[rows], max(float(lost.mean()), 1e-12)
    sums, often = np.bincount(judge, lost, count), np.bincount(judge, minlength=count)
    mean = taught.mean(average * (often + SHRINK) / (sums + SHRINK * average))
    odds, truth = log_odds(mean, LINE_CLIP), taught.outcome[taught.teaches]
    true, false = truth.sum(), (1.0 - truth).sum()
    target = np.where(truth == 1, (true + 1) / (true + 2), 1 / (false + 2))
    table = np.stack([odds, np.ones_like(odds)], axis=1)
    line = line_of(table[taught.teaches], target, np.array([1.0, 0.0]))
    return sigmoid(table @ line)


def away_from_prior(taught: TaughtProblem) -> Vector:
    """Neyman and Roughgarden (2022)."""
    truth = taught.outcome[taught.teaches]
    return Pool("neyman-roughgarden", prior=float((truth.sum() + 1) / (len(truth) + 2))).average(taught.problem)


def line_of(table: Vector, target: Vector, start: Vector) -> Vector:
    """The most likely coefficients of log-odds, by damped Newton steps; one column of the table for each of them.

    Where likelihood has no maximum, a ridge of 1e-6 towards the start keeps them finite.
    """
    line, ridge = start, 1e-6

    def loss(at: Vector) -> float:
        odds = table @ at
        return float(np.sum(np.logaddexp(0.0, odds) - target * odds) + 0.5 * ridge * np.sum((at - start) ** 2))

    for _ in range(STEPS):
        p = sigmoid(table @ line)
        slope = table.T @ (p - target) + ridge * (line - start)
        curve = (table * (p * (1.0 - p))[:, None]).T @ table + ridge * np.eye(len(start))
        step, size = np.linalg.solve(curve, slope), 1.0
        while size > 1e-6 and loss(line - size * step) > loss(line):
            size *= 0.5
        line = line - size * step
        if np.abs(size * step).max() < CLOSE:
            break
    return line


@dataclass(frozen=True, slots=True)
class PublishedFit:
    """A rule of the literature: its name in tables, what it is, and how it answers for all events as written."""

    name: str
    meaning: str
    answer: Callable[[TaughtProblem], Vector]


PUBLISHED_FITS = {
    "karvetski": PublishedFit(
        "Coherence weights (Karvetski)",
        "each judge made coherent alone, and averaged with weights that fall with the judge's incoherence",
        coherence_weighted,
    ),
    "budescu-chen": PublishedFit(
        "Contribution weights (Budescu)",
        "the mean with judges counted by how much they improved the mean of other events",
        contribution_weighted,
    ),
    "satopaa": PublishedFit(
        "Fitted extremes (Satopaa)",
        "the mean log-odds times the factor that is most likely on other events",
        fitted_extremes,
    ),
    "brier-platt": PublishedFit(
        "Brier weights, Platt",
        "the mean with judges counted by their Brier scores on other events, on the line that is most likely there",
        brier_weighted,
    ),
    "neyman-roughgarden": PublishedFit(
        "Fitted prior (Neyman-Roughgarden)",
        "the mean moved away from the share of other events that came true, by a factor of the number of forecasts",
        away_from_prior,
    ),
}
"""The rules by their words. A new rule is one function and one entry here; tables, command line and REST follow."""
