"""What judges are worth: by past Brier scores against those of the others, or by errors that they do not share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from coherently.arrays import Mask, Vector
    from coherently.problem import Problem

SHRINK = 10.0
"""Number of forecasts with the mean loss of all that is added to those of each judge."""
COMMON = 50.0
"""Number of events with the mean covariance of all pairs that is added to those of each pair of judges."""
MOST_JUDGES = 200
"""Maximum number of judges whose errors are compared in pairs."""
LEAST_WEIGHT = 1e-4
"""Minimum weight of a judge, relative to the mean: a recipe needs one above 0."""
MOST_STEPS, GAP = 5_000, 1e-3
"""Maximum number of steps towards the least expected loss, and how near to it they end, relative to it."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgeLosses:
    """The summed Brier score of each judge, that of all judges together on the same events, and the mean of all."""

    own: Vector
    others: Vector
    mean: float

    def weights(self, power: float) -> Vector:
        r"""$w = ((R + k g) / (L + k g))^{power}$: L the judge's loss, R the panel's, g that of a forecast, k 10."""
        if power == 0 or not self.mean > 0:
            return np.ones(len(self.own))
        added = SHRINK * self.mean
        found: Vector = ((self.others + added) / (self.own + added)) ** power
        return found


def error_weights(problem: Problem, outcome: Vector) -> Vector | None:
    r"""The weights, 1 in the mean, of the average that errs least if errors go on to hang together as they did.

    With C the mean products of two judges' errors p - y on the events that both answered, shrunk to the panel's means
    (of squares on the diagonal, of products elsewhere) by 50 events, they minimise $w^T C w$ over w of 0 or more with a
    given sum (Bates and Granger 1969, The combination of forecasts, Operational Research Quarterly 20): of judges who
    err alike, none counts for all. None for more than 200 judges.
    """
    count = len(problem.forecasts.judges)
    if count > MOST_JUDGES:
        return None
    return _least_variance(_error_products(problem, outcome))


def _error_products(problem: Problem, outcome: Vector) -> Vector:
    given, judges = problem.forecasts, len(problem.forecasts.judges)
    rows = ~np.isnan(outcome[given.unit]) & (given.weight > 0)
    events, place = np.unique(given.unit[rows], return_inverse=True)
    cell = given.judge[rows].astype(np.int64) * len(events) + place.ravel()
    often = np.bincount(cell, minlength=judges * len(events))
    sums = np.bincount(cell, given.probability[rows] - outcome[given.unit[rows]], judges * len(events))
    there = (often > 0).astype(np.float64).reshape(judges, len(events))
    error = np.divide(sums, often, out=np.zeros(len(sums)), where=often > 0).reshape(judges, len(events))
    number, product = there @ there.T, error @ error.T
    own, pairs = float(np.trace(number)), float(number.sum() - np.trace(number))
    square = float(np.trace(product)) / max(own, 1.0)
    common = np.full((judges, judges), float(product.sum() - np.trace(product)) / max(pairs, 1.0))
    np.fill_diagonal(common, square)
    found: Vector = (product + COMMON * common) / (number + COMMON)
    return found


def _least_variance(products: Vector) -> Vector:
    """The minimum of w' C w over shares w, by exponentiated gradients; the weights are 1 in the mean."""
    count = len(products)
    share = np.full(count, 1.0 / count)
    for _ in range(MOST_STEPS):
        slope = products @ share
        loss = float(slope @ share)
        if loss - float(slope.min()) <= GAP * abs(loss):
            break
        share = share * np.exp(-2.0 * (slope - loss) / float(np.abs(slope).max()))
        share /= share.sum()
    found: Vector = np.maximum(count * share, LEAST_WEIGHT)
    return found


def judge_losses(problem: Problem, outcome: Vector) -> JudgeLosses:
    """Score the forecasts of the units that have an outcome; `outcome` is NaN elsewhere.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> problem = pose(Panel.from_records([("Ann", "p", 0.9), ("Bob", "p", 0.5), ("Bob", "q", 0.5)]))
    >>> losses = judge_losses(problem, np.array([1.0, np.nan]))
    >>> losses.own.round(3).tolist(), losses.others.round(3).tolist()
    ([0.01, 0.25], [0.13, 0.13])
    """
    given, count = problem.forecasts, len(problem.forecasts.judges)
    rows: Mask = ~np.isnan(outcome[given.unit]) & (given.weight > 0)
    unit, judge = given.unit[rows], given.judge[rows]
    loss = np.square(given.probability[rows] - outcome[unit])
    often = np.maximum(np.bincount(unit, minlength=len(outcome)), 1)
    mean_of_unit = np.bincount(unit, loss, len(outcome)) / often
    own = np.bincount(judge, loss, count).astype(np.float64)
    others = np.bincount(judge, mean_of_unit[unit], count).astype(np.float64)
    return JudgeLosses(own, others, float(loss.mean()) if len(loss) else 0.0)
