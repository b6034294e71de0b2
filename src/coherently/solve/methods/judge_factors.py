"""How much each judge of a problem counts in a pool: by a list of names, and by agreement with the other judges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.methods.averages import weighted_median

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.problem import Problem

SHRINK = 10.0
"""Number of forecasts at the panel's mean distance that is added to those of each judge."""


def log_odds(p: Vector, clip: float) -> Vector:
    """The log-odds of probabilities that are clipped to [clip, 1 - clip]."""
    clipped = np.clip(p, clip, 1.0 - clip)
    found: Vector = np.log(clipped / (1.0 - clipped))
    return found


def sigmoid(odds: Vector) -> Vector:
    """The probabilities of log-odds."""
    found: Vector = 0.5 * (1.0 + np.tanh(0.5 * odds))
    return found


def listed_factors(problem: Problem, judges: dict[str, float]) -> Vector:
    """The factor of each judge by name; who is not named counts as a mean judge does."""
    mean = float(np.mean(list(judges.values())))
    return np.array([judges.get(name, mean) for name in problem.forecasts.judges])


def consensus_factors(problem: Problem, power: float, clip: float) -> Vector:
    r"""The farther a judge is from the medians of events, in log-odds, the less the judge counts.

    $$w_j = (\mathrm{median}_i(d_i) / d_j)^{power}, \qquad d_j = \frac{s_j + k \bar d}{n_j + k}$$

    with $s_j$ the sum of the squared distances of the $n_j$ forecasts of judge j, each as often as its weight, $\bar d$
    their mean over all forecasts, and k of 10.
    """
    given = problem.forecasts
    count, units = len(given.judges), len(problem.weight)
    middle = weighted_median(given.unit, given.probability, given.weight, units)
    told = given.weight > 0
    apart = np.where(told, log_odds(given.probability, clip) - log_odds(middle, clip)[given.unit], 0.0)
    weight = problem.weight_unit * given.weight
    sums, number = np.bincount(given.judge, weight * apart**2, count), np.bincount(given.judge, weight, count)
    if not sums.sum() > 0:
        return np.ones(count)
    mean = sums.sum() / number.sum()
    distance = (sums + SHRINK * mean) / (number + SHRINK)
    factor: Vector = (np.median(distance) / distance) ** power
    return factor


def reweighted(problem: Problem, factor: Vector) -> Problem:
    """The problem for pools of units, in which each judge counts by a factor; nothing else of it changes."""
    given = problem.forecasts
    weight, count = given.weight * factor[given.judge], len(problem.weight)
    total = np.bincount(given.unit, weight, count).astype(np.float64)
    sums = np.bincount(given.unit, weight * given.probability, count)
    mean: Vector = np.divide(sums, total, out=np.full(count, np.nan), where=total > 0)
    return replace(problem, forecasts=replace(given, weight=weight), weight=total, mean=mean)
