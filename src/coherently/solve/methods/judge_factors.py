"""How much each judge of a problem counts in a pool: by a list of names, by agreement, by a common signal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem import components_of
from coherently.solve.methods.averages import weighted_median

if TYPE_CHECKING:
    from coherently.arrays import Indices, Mask, Vector
    from coherently.problem import Problem

SHRINK = 10.0
"""Number of forecasts like the panel's mean that is added to those of each judge."""
NEAREST, LINE_CLIP = 1e-3, 0.01
"""The probabilities to which the numbers of parts are clipped before their log-odds are averaged, and pools, at most,
before a line in log-odds recalibrates them."""
FEW = 3.0
"""Weights by signal from n components have the power (n - 1) / (n + 3) of what they would have from many."""
LEAST_SIGNAL = 0.02
"""Minimum sensitivity of a judge to what the others say: nobody counts against what they say."""
MOST_ROUNDS, CLOSE = 100, 1e-6
"""Maximum number of rounds in which weights and the common signal find each other, and the change that ends them."""


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


def signal_factors(problem: Problem, clip: float) -> Vector:
    r"""The more of what judges have in common a judge's forecasts carry, and the less else, the more the judge counts.

    One factor, as in the theory of cultural consensus (Batchelder and Romney 1988, Test theory without an answer key,
    Psychometrika 53): the log-odds of judge j about event i are $z = s_j t_i + e$ with a variance $v_j$ of e, and
    $w_j = s_j / v_j$ is the weight of the best linear guess of t. The $t_i$ that a judge is held against is the mean of
    the *other* judges with these weights, so the two are found in turns; a judge who repeats a forecast gains nothing.
    s and v are shrunk to the panel's by ten forecasts. Forecasts that hang together show agreement once: from n
    components, $w_j$ has the power (n - 1) / (n + 3), relative to the median judge. Bold judges are not punished for
    being far from a timid median, as they are by `consensus_factors`.
    """
    told = _JudgeOdds.of(problem, clip)
    factor = np.ones(len(problem.forecasts.judges))
    if not told.odds.any():
        return factor
    power = _powers(told, problem)
    for _ in range(MOST_ROUNDS):
        found = told.signal_weights(factor)
        found = (found / np.median(found[told.judge_is_there])) ** power
        change = float(np.abs(np.log(found / factor)).max())
        factor = np.sqrt(factor * found)
        if change < CLOSE:
            break
    return factor


@dataclass(frozen=True, slots=True, eq=False)
class _JudgeOdds:
    """The mean log-odds of each judge for each unit that the judge answered: `judge`, `unit` and `odds` of each."""

    judge: Indices
    unit: Indices
    odds: Vector
    judges: int
    units: int

    @staticmethod
    def of(problem: Problem, clip: float) -> _JudgeOdds:
        given, judges, units = problem.forecasts, len(problem.forecasts.judges), len(problem.weight)
        told = given.weight > 0
        key, place = np.unique(given.judge[told].astype(np.int64) * units + given.unit[told], return_inverse=True)
        weight, odds = given.weight[told], log_odds(given.probability[told], clip)
        place = place.ravel()
        mean = np.bincount(place, weight * odds, len(key)) / np.bincount(place, weight, len(key))
        return _JudgeOdds(key // max(units, 1), key % max(units, 1), mean, judges=judges, units=units)

    @property
    def judge_is_there(self) -> Mask:
        """Which judges answered anything."""
        return np.bincount(self.judge, minlength=self.judges) > 0

    def signal_weights(self, factor: Vector) -> Vector:
        """The s / v of each judge, held against the others with the factors that they have now."""
        judge, unit, odds, weight = self.judge, self.unit, self.odds, factor[self.judge]
        total = np.bincount(unit, weight, self.units)[unit]
        rest = total - weight
        shared = rest > 1e-9 * total  # whether anyone else answered
        sums = np.bincount(unit, weight * odds, self.units)[unit] - weight * odds
        signal = np.divide(sums, rest, out=np.zeros(len(odds)), where=shared)
        square, cross = signal**2, signal * odds
        many = max(int(shared.sum()), 1)
        spread = float(square.sum()) / many
        if not spread > 0:
            return np.ones(self.judges)
        common = float(cross.sum()) / float(square.sum())
        slope = (np.bincount(judge, cross, self.judges) + SHRINK * common * spread) / (
            np.bincount(judge, square, self.judges) + SHRINK * spread
        )
        apart = np.where(shared, np.square(odds - slope[judge] * signal), 0.0)
        mean = float(apart.sum()) / many
        if not mean > 0:
            return np.ones(self.judges)
        variance = (np.bincount(judge, apart, self.judges) + SHRINK * mean) / (
            np.bincount(judge, shared, self.judges) + SHRINK
        )
        found: Vector = np.maximum(slope, LEAST_SIGNAL) / variance
        return found


def _powers(told: _JudgeOdds, problem: Problem) -> Vector:
    """(n - 1) / (n + 3) for each judge, who answered in n components."""
    component = components_of(problem)[told.unit]
    pairs = np.unique(told.judge * (told.units + 1) + component + 1)
    number = np.bincount(pairs // (told.units + 1), minlength=told.judges)
    found: Vector = np.maximum(number - 1.0, 0.0) / (number + FEW)
    return found


def reliability(problem: Problem, clip: float) -> float:
    r"""How much of what mean log-odds say is no accident of who was asked, from 0 to 1.

    With other judges of the kind, the mean of n judges' log-odds would vary by $v / n$, where v is their variance about
    one event. The best linear guess of what very many such judges would say is the mean times

    $$1 - \frac{\sum v_i / n_i}{\sum \bar z_i^2}$$

    (Kelley 1927, Interpretation of Educational Measurements), with sums over events i. n is the number of judges if all
    counted alike, $(\sum w)^2 / \sum w^2$, and an event counts by the weight of its forecasts. Forecasts of an event by
    one judge are one voice: their weights add up.
    """
    given, units = problem.forecasts, len(problem.weight)
    voices, voice = np.unique(given.judge.astype(np.int64) * max(units, 1) + given.unit, return_inverse=True)
    weight = np.bincount(voice, given.weight)
    sums = np.bincount(voice, given.weight * log_odds(given.probability, clip))
    odds = np.divide(sums, weight, out=np.zeros(len(voices)), where=weight > 0)
    unit = voices % max(units, 1)
    total, squares = np.bincount(unit, weight, units), np.bincount(unit, weight**2, units)
    sums, spread = np.bincount(unit, weight * odds, units), np.bincount(unit, weight * odds**2, units)
    several = total**2 > (1.0 + 1e-9) * squares
    total, squares, sums, spread = total[several], squares[several], sums[several], spread[several]
    mean = sums / total
    noise = np.maximum(spread / total - mean**2, 0.0) / (total**2 / squares - 1.0)  # v / n, for v with n - 1 below it
    signal = float(total @ mean**2)
    return max(0.0, 1.0 - float(total @ noise) / signal) if signal > 0 else 1.0


def reweighted(problem: Problem, factor: Vector) -> Problem:
    """The problem for pools of units, in which each judge counts by a factor; nothing else of it changes."""
    given = problem.forecasts
    weight, count = given.weight * factor[given.judge], len(problem.weight)
    total = np.bincount(given.unit, weight, count).astype(np.float64)
    sums = np.bincount(given.unit, weight * given.probability, count)
    mean: Vector = np.divide(sums, total, out=np.full(count, np.nan), where=total > 0)
    return replace(problem, forecasts=replace(given, weight=weight), weight=total, mean=mean)
