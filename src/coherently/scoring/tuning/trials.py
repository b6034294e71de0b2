"""What `tune` tries: recipes that are there already, and plans with which outcomes teach one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from coherently.arrays import Vector

WITHIN = 2.0
"""Trials whose loss is above the least by more standard errors than this have no share."""
LEARNED = 0.4
"""The prior weight of all plans together, beside 1/2 for each of the recipes that need no outcomes."""
FEW = 3.0
"""A standard error from n components is taken 1 + 3 / (n - 1) times as large: few of them hardly tell it."""
LEAST_SHARE = 0.02
"""Smaller shares are dropped, so that a recipe can be read."""


@dataclass(frozen=True, slots=True)
class LessonPlan:
    """How outcomes teach: the pool, the power of judges' weights (see `judge_skill`), the ridge of the line."""

    pool: str
    power: float
    ridge: float


LESSON_PLANS = (
    LessonPlan("log", 0.0, 2.0),
    LessonPlan("log", 4.0, 2.0),
    LessonPlan("log", 4.0, 32.0),
    LessonPlan("log", 12.0, 2.0),
    LessonPlan("linear", 12.0, 2.0),
)
"""The plans that are tried. docs/explanation/tuning.md says what else was, and did not survive."""


def priors(fixed: int, components: int) -> Vector:
    """The prior weight of each trial: of `fixed` recipes that need no outcomes, and of plans.

    What is learned has the more weight the more components teach: one alone teaches nothing.
    """
    learned = LEARNED * (components - 1) / (components + FEW) / len(LESSON_PLANS)
    return np.concatenate([np.full(fixed, 0.5), np.full(len(LESSON_PLANS), learned)])


def shares_of(losses: Vector, prior: Vector) -> Vector:
    """How much each trial counts, given one row of losses per trial and one column per component, out of fold.

    A trial whose loss is d above the least, with a standard error s of the difference over components, counts prior *
    exp(-d / s) if d is at most 2 s, and else nothing: where outcomes tell trials apart, the best one stays; where they
    do not, the mean does, in which the priors have their say.

    >>> shares_of(np.array([[0.1, 0.2, 0.1], [0.3, 0.4, 0.3]]), np.ones(2)).tolist()
    [1.0, 0.0]
    """
    count = losses.shape[1]
    if count < 2:  # nothing tells how much chance there is in one component
        alone: Vector = prior / prior.sum()
        return alone
    apart = losses - losses[np.argmin(losses.sum(axis=1))]
    above = apart.sum(axis=1)
    error = np.sqrt(count) * apart.std(axis=1, ddof=1) * (1.0 + FEW / (count - 1))
    ratio = np.divide(above, error, out=np.where(above > 0, np.inf, 0.0), where=error > 0)
    share = np.where(ratio <= WITHIN, prior * np.exp(-np.minimum(ratio, WITHIN)), 0.0)
    share /= share.sum()
    share = np.where(share < LEAST_SHARE, 0.0, share)
    found: Vector = share / share.sum()
    return found
