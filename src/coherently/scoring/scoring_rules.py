"""Scoring rules: how far forecasts are from what came true.

Forecasts are probabilities, outcomes are 1 (came true) or 0; an outcome of NaN (unresolved) scores NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Vector: TypeAlias = "NDArray[np.float64]"


def brier(forecast: ArrayLike, outcome: ArrayLike) -> NDArray[np.float64]:
    r"""Brier score of each forecast p with outcome o, from 0 (perfect) to 1.

    $$\text{BS}(p, o) = (p - o)^2$$

    Brier (1950), Verification of forecasts expressed in terms of probability, Monthly Weather Review 78.

    >>> brier([0.75, 0.75], [1, 0])
    array([0.0625, 0.5625])
    """
    return np.square(_floats(forecast) - _floats(outcome))


def log_score(forecast: ArrayLike, outcome: ArrayLike, clip: float = 1e-4) -> NDArray[np.float64]:
    r"""Logarithmic score of each forecast p with outcome o, in nats; 0 is perfect.

    $$\text{LS}(p, o) = -o \ln p - (1 - o) \ln(1 - p)$$

    Forecasts are clipped to [`clip`, `1 - clip`]; with a `clip` of 0, a certain forecast that fails scores infinity.

    Good (1952), Rational decisions, Journal of the Royal Statistical Society B 14.

    >>> log_score([0.5, 1.0], [1, 0]).round(4)
    array([0.6931, 9.2103])
    """
    probability = np.clip(_floats(forecast), clip, 1 - clip)
    with np.errstate(divide="ignore"):
        return -np.log(np.abs(1 - _floats(outcome) - probability))


def slope(forecast: ArrayLike, outcome: ArrayLike) -> float:
    r"""Mean forecast of the events that came true minus the mean of those that did not; 1 is perfect.

    $$\text{slope} = \frac{1}{n_1} \sum_{o_i = 1} p_i - \frac{1}{n_0} \sum_{o_i = 0} p_i$$

    It is the slope of the least-squares line of forecasts on outcomes, and NaN unless there are both kinds of
    events. Unresolved events are left out.

    Predd, Kulkarni, Poor and Osherson (2006), Scalable algorithms for aggregating disparate forecasts of
    probability, section 5.2.

    >>> slope([0.75, 0.25, 0.25], [1, 1, 0])
    0.25
    """
    forecast, outcome = _floats(forecast), _floats(outcome)
    resolved = ~np.isnan(outcome)
    means = _true_less_false(forecast[resolved], outcome[resolved])
    return float(sum_of_means([Mean(mean.values.sum(), mean.counts.sum()) for mean in means]))


class Mean(NamedTuple):
    """A part of a score: a sum of `values` over forecasts, divided by the sum of `counts`."""

    values: Vector
    counts: Vector


@dataclass(frozen=True, slots=True)
class ScoringRule:
    """A way to score a judge: the sum of one or more means over the judge's resolved forecasts.

    `means` takes forecasts, outcomes and the clip. `name` is the column, `head` its title, `word` its name in
    sentences. Scores lie from `least` to `most`.
    """

    name: str
    head: str
    word: str
    means: Callable[[Vector, Vector, float], tuple[Mean, ...]]
    least: float
    most: float
    higher_is_better: bool = False

    def by_judge(
        self, forecast: Vector, outcome: Vector, judge: NDArray[np.integer], count: int, clip: float
    ) -> Vector:
        """The score of each judge, NaN for a judge without a score."""

        def total(values: Vector) -> Vector:
            return np.bincount(judge, values, count).astype(np.float64)

        means = [Mean(total(mean.values), total(mean.counts)) for mean in self.means(forecast, outcome, clip)]
        return sum_of_means(means)


def sum_of_means(means: list[Mean]) -> Vector:
    """The sum of values divided by counts, NaN where a count is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        first, *others = (mean.values / mean.counts for mean in means)
        return sum(others, first)


def _mean(penalty: Vector) -> tuple[Mean, ...]:
    return (Mean(penalty, np.ones_like(penalty)),)


def _true_less_false(forecast: Vector, outcome: Vector) -> tuple[Mean, ...]:
    true = (outcome == 1).astype(np.float64)
    return Mean(forecast * true, true), Mean(-forecast * (1 - true), 1 - true)


RULES = [
    ScoringRule("brier", "Brier", "Brier score", lambda p, o, _: _mean(brier(p, o)), least=0.0, most=1.0),
    ScoringRule(
        "log", "log score", "log score", lambda p, o, clip: _mean(log_score(p, o, clip)), least=0.0, most=math.inf
    ),
    ScoringRule(
        "slope", "slope", "slope", lambda p, o, _: _true_less_false(p, o), least=-1.0, most=1.0, higher_is_better=True
    ),
]
"""The scores of a judge, in the order of their columns. A new rule is one line here; tables and pages follow."""


def rule_names() -> list[str]:
    """The names of all scoring rules.

    >>> rule_names()
    ['brier', 'log', 'slope']
    """
    return [rule.name for rule in RULES]


def by_group(values: ArrayLike, group: NDArray[np.integer], n_groups: int) -> NDArray[np.float64]:
    """Mean of the values in each group of rows, NaN for an empty group.

    `group` holds the group of each row, from 0 to `n_groups - 1`.

    >>> by_group([1, 2, 3], np.array([0, 0, 2]), 3)
    array([1.5, nan, 3. ])
    """
    total = np.bincount(group, weights=_floats(values), minlength=n_groups)
    count = np.bincount(group, minlength=n_groups)
    means = np.full(n_groups, np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means


def _floats(values: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)


CONSISTENCY_SCORES = {
    "joint_per_answer": "joint arbitrage per answer",
    "arbitrage": "mean arbitrage",
    "frequentist": "mean frequentist metric",
}
"""The scores of `co.consistency` that have intervals, differences and ranks, in words; lower is better."""
