"""What judges are worth, by their past Brier scores against those of the others on the same events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from coherently.arrays import Mask, Vector
    from coherently.problem import Problem

SHRINK = 10.0
"""Number of forecasts with the mean loss of all that is added to those of each judge."""


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
