"""Scoring rules: how far forecasts are from what came true.

Forecasts are probabilities, outcomes are 1 (came true) or 0; an outcome of NaN (unresolved) scores NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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

    `clip` is the least and `1 - clip` the greatest probability that a forecast counts as; with 0, a certain
    forecast that fails scores infinity.

    Good (1952), Rational decisions, Journal of the Royal Statistical Society B 14.

    >>> log_score([0.5, 1.0], [1, 0]).round(4)
    array([0.6931, 9.2103])
    """
    probability = np.clip(_floats(forecast), clip, 1 - clip)
    with np.errstate(divide="ignore"):
        return -np.log(np.abs(1 - _floats(outcome) - probability))


def slope(forecast: ArrayLike, outcome: ArrayLike) -> float:
    r"""Mean forecast of the events that came true less the mean of those that did not; 1 is perfect.

    $$\text{slope} = \frac{1}{n_1} \sum_{o_i = 1} p_i - \frac{1}{n_0} \sum_{o_i = 0} p_i$$

    It is the slope of the least-squares line of forecasts on outcomes: NaN unless there are both kinds of
    events. Unresolved ones are left out.

    Predd, Kulkarni, Poor and Osherson (2006), Scalable algorithms for aggregating disparate forecasts of
    probability, section 5.2.

    >>> slope([0.75, 0.25, 0.25], [1, 1, 0])
    0.25
    """
    forecast = _floats(forecast)
    return float(slopes(forecast, outcome, np.zeros(len(forecast), dtype=np.int64), 1)[0])


def slopes(forecast: ArrayLike, outcome: ArrayLike, group: NDArray[np.integer], n_groups: int) -> NDArray[np.float64]:
    """`slope` of each group of rows; see `by_group`.

    >>> slopes([0.75, 0.25, 0.5], [1, 0, 1], np.array([0, 0, 1]), 2)
    array([0.5, nan])
    """
    forecast, outcome = _floats(forecast), _floats(outcome)
    true, false = outcome == 1, outcome == 0
    return by_group(forecast[true], group[true], n_groups) - by_group(forecast[false], group[false], n_groups)


def by_group(values: ArrayLike, group: NDArray[np.integer], n_groups: int) -> NDArray[np.float64]:
    """Mean of the values in each group of rows, NaN for a group without any.

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
