"""What `tune` tries: recipes that are there already, and plans with which outcomes teach one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from coherently.arrays import Vector

FIXED_PRIOR = (0.75, 0.25)
"""The prior weights of the recipes that need no outcomes: the default recipe and the linear average."""
FEW = 3.0
"""A standard error from n groups is taken 1 + 3 / (n - 1) times as large: few of them hardly tell it."""
SHOWN, STEEP = 1.0, 3.0
"""Of how many standard errors by which what is learned is better it has half of the shares, and how fast that changes.
Half at one is the rule of one standard error (Breiman, Friedman, Olshen and Stone 1984) without its jump."""
LEAST_SHARE = 0.02
"""Smaller shares are dropped, so that a recipe can be read."""


@dataclass(frozen=True, slots=True)
class LessonPlan:
    """How outcomes teach: the power of judges' weights by their scores, and the ridge of the line.

    Where `by_errors`, judges count by how their errors hang together instead (see `judge_skill`).
    """

    power: float
    ridge: float
    by_errors: bool = False


LESSON_PLANS = (
    LessonPlan(4.0, 2.0),
    LessonPlan(12.0, 2.0),
    LessonPlan(12.0, 32.0),
    LessonPlan(12.0, 32.0, by_errors=True),
)
"""The plans that are tried. docs/explanation/tuning.md says what else was, and did not survive."""


def shares_of(fixed: Vector, learned: Vector, groups: int) -> Vector:
    """How much each trial counts: recipes that need no outcomes, then plans.

    Both have one row of out-of-fold losses per trial and one column per group that is scored; `groups` of them teach.
    Within each of the two kinds, a trial whose loss is d above the least, with a standard error s of d over groups,
    counts exp(-d / s) (the fixed ones times their priors). Then the kinds are compared: if what is learned is better
    by t standard errors, it has the odds

        h / (1 - h) * exp(3 (t - 1)),    h = (n - 1) / (2 (n + 3)),

    so that with many groups half of the shares are learned at t = 1, and one group teaches nothing. Without two groups
    to score on, t is 0.

    >>> rows = np.array([[0.3, 0.4, 0.3, 0.35]]), np.array([[0.1, 0.2, 0.1, 0.1]])
    >>> shares_of(np.repeat(rows[0], 2, axis=0), rows[1], 4).round(2).tolist()
    [0.0, 0.0, 1.0]
    """
    inner = [_within(fixed, np.asarray(FIXED_PRIOR)), _within(learned, np.ones(len(learned)))]
    gain = inner[0] @ fixed - inner[1] @ learned
    half = (groups - 1.0) / (2.0 * (groups + FEW))
    odds = half / (1.0 - half) * np.exp(np.clip(STEEP * (_standard_errors(gain) - SHOWN), -50.0, 50.0))
    share = np.concatenate([inner[0], odds * inner[1]])
    share /= share.sum()
    share = np.where(share < LEAST_SHARE, 0.0, share)
    found: Vector = share / share.sum()
    return found


def _within(losses: Vector, prior: Vector) -> Vector:
    """The shares within a kind, which sum to 1."""
    apart = losses - losses[np.argmin(losses.sum(axis=1))]
    above = np.array([_standard_errors(row) for row in apart])
    share = prior * np.exp(-np.minimum(above, 50.0))
    found: Vector = share / share.sum()
    return found


def _standard_errors(apart: Vector) -> float:
    """The sum over groups, in standard errors of it; 0 where groups cannot tell how much chance is in it."""
    count = len(apart)
    if count < 2:
        return 0.0
    error = float(np.sqrt(count) * apart.std(ddof=1)) * (1.0 + FEW / (count - 1))
    above = float(apart.sum())
    return above / error if error > 0 else float(np.sign(above)) * 50.0
