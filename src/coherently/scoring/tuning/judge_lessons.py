"""What a kitchen's outcomes teach about each judge, with what leaving out a fold would change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.scoring.independence import diversity
from coherently.scoring.tuning.learned_judges import Estimate, LearnedJudges, jackknifed, times_jackknifed
from coherently.scoring.tuning.lines import fitted_lines
from coherently.solve.methods.judge_factors import LINE_CLIP, log_odds

if TYPE_CHECKING:
    from coherently.arrays import Indices, Vector
    from coherently.scoring.tuning.learned_recipe import Kitchen
    from coherently.solve import Recipe

RIDGE = 8.0
"""The ridge of a judge's line: it counts as much as a few dozen forecasts that say what those of all judges do."""


def judge_lessons(kitchen: Kitchen, recipe: Recipe, *, is_learned: bool) -> LearnedJudges:
    """The judges of the panel that taught the recipe; weights that no outcome taught have no interval."""
    problem, blocks = kitchen.problem, kitchen.blocks
    folds = blocks.folds
    rest = [tuple(j for j in folds if j != k) for k in folds if len(folds) > 1]
    count, nothing = len(problem.forecasts.judges), np.full(len(problem.forecasts.judges), np.nan)
    weight = Estimate(recipe.factors(problem), nothing, nothing)
    if is_learned:
        share = kitchen.shares(folds)
        weight = times_jackknifed(kitchen.weights(share, folds), [kitchen.weights(share, others) for others in rest])
    judge, odds, outcome, fold, loss = _resolved(kitchen)
    lines = fitted_lines(judge, odds, outcome, count=count, ridge=RIDGE)
    parts = [np.isin(fold, others) for others in rest]
    without = [fitted_lines(judge[i], odds[i], outcome[i], count=count, ridge=RIDGE) for i in parts]
    taught = np.bincount(judge, minlength=count)
    found = diversity(kitchen.panel)
    return LearnedJudges(
        problem.forecasts.judges,
        taught,
        np.divide(np.bincount(judge, loss, count), taught, out=nothing.copy(), where=taught > 0),
        weight=weight,
        exponent=jackknifed(lines[:, 0], [other[:, 0] for other in without]),
        shift=jackknifed(lines[:, 1], [other[:, 1] for other in without]),
        correlation=None if found is None else found.correlation,
        library=kitchen.panel.library,
    )


def _resolved(kitchen: Kitchen) -> tuple[Indices, Vector, Vector, Indices, Vector]:
    """The judge, log-odds, outcome, fold and Brier score of each forecast that has an outcome and a fold."""
    given, blocks = kitchen.problem.forecasts, kitchen.blocks
    truth = np.full(len(kitchen.problem.weight), np.nan)
    fold = np.full(len(truth), -1, np.int64)
    truth[blocks.event], fold[blocks.event] = blocks.outcome, blocks.fold[blocks.block]
    rows = ~np.isnan(truth[given.unit]) & (given.weight > 0)
    unit, p = given.unit[rows], given.probability[rows]
    return (
        given.judge[rows].astype(np.int64),
        log_odds(p, LINE_CLIP),
        truth[unit],
        fold[unit],
        np.square(p - truth[unit]),
    )
