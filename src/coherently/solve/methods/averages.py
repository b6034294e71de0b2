"""Averages of probabilities, each a function on arrays: `unit` has the unit of each forecast, below `count`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Vector

ROUNDING = 1e-9
"""Shares of the weight below this are rounding errors."""
EPSILON = 2.0**-53
"""The distance from 1 to the next number below it."""
ROOT, MOST_STEPS = 1e-15, 100
"""The logarithm of a sum of probabilities at which Newton's method stops, and its limit of steps, rarely above 10."""
BISECTIONS = 60
"""Bisections of [0, 1] until nothing changes."""


def weighted_median(unit: NDArray[np.int32], p: Vector, weight: Vector, count: int) -> Vector:
    """The middle of all numbers with at most half of the weight below and at most half above; NaN without weight.

    >>> weighted_median(np.zeros(3, np.int32), np.array([0.9, 0.1, 0.2]), np.array([1.0, 1.0, 2.0]), 1).round(6).item()
    0.2
    """
    order, _, high = _places(unit, p, weight, count)
    halves = []
    for reached in (high >= 0.5 - ROUNDING, high > 0.5 + ROUNDING):
        value = np.full(count, np.nan)
        rows = order[reached][::-1]
        # The first forecast of each unit that reaches the middle is written last.
        value[unit[rows]] = p[rows]
        halves.append(value)
    lower, upper = halves
    return 0.5 * (lower + np.where(np.isnan(upper), lower, upper))


def middle_mean(unit: NDArray[np.int32], p: Vector, weight: Vector, count: int, trim: float) -> Vector:
    """The mean without the share `trim` of the weight at either end; a forecast at the cut counts in part.

    >>> middle_mean(np.zeros(5, np.int32), np.array([0.9, 0.1, 0.2, 0.3, 0.4]), np.ones(5), 1, 0.2).round(6).item()
    0.3
    """
    order, low, high = _places(unit, p, weight, count)
    inside = np.maximum(0.0, np.minimum(high, 1.0 - trim) - np.maximum(low, trim))
    total = np.bincount(unit[order], inside, count)
    sums = np.bincount(unit[order], inside * p[order], count)
    mean: Vector = np.divide(sums, total, out=np.full(count, np.nan), where=total > 0)
    return mean


def neyman_roughgarden(mean: Vector, number: Vector, prior: float) -> Vector:
    r"""The mean moved away from the prior by the factor that is best for `number` forecasts in the worst case.

    $$\pi + d (m - \pi), \quad d = \frac{n (\sqrt{3n^2 - 3n + 1} - 2)}{n^2 - n - 1} = \frac{3n}{s + 2}$$

    cut to [0, 1], where s is the root in the numerator. The second form has no gap at $n = (1 + \sqrt 5) / 2$.

    Neyman and Roughgarden (2022), Are you smarter than a random expert? The robust aggregation of substitutable
    signals, ACM Conference on Economics and Computation.

    >>> neyman_roughgarden(np.full(3, 0.6), np.array([2.0, 5.0, 10.0]), 0.5).round(7).tolist()
    [0.6291503, 0.6529013, 0.6624953]
    """
    factor = 3.0 * number / (np.sqrt(3.0 * number**2 - 3.0 * number + 1.0) + 2.0)
    return np.clip(prior + factor * (mean - prior), 0.0, 1.0)


def normalised(mean: Vector, partitions: Iterable[Indices]) -> Vector:
    """Divide the means of each partition by their sum; where all are 0, each gets the same share.

    A partition with a unit that has no mean stays as it is, here and in the other rules for partitions.

    >>> normalised(np.array([0.5, 0.5, 0.25, 0.9]), [np.array([0, 1, 2])]).tolist()
    [0.4, 0.4, 0.2, 0.9]
    """
    return _in_partitions(mean, partitions, _shares)


def power(mean: Vector, partitions: Iterable[Indices]) -> Vector:
    r"""Raise the means of each partition to the power k with which they sum to 1.

    $$\sum_i p_i^k = 1, \quad k > 0$$

    The sum falls as k grows, from the number of means above 0 to the number of means that are 1, so there is one such k
    if two or more means are above 0 and none is 1. Otherwise the answer is a limit: one mean above 0 becomes 1; if some
    are 1, these share 1 equally and the others become 0; if all are 0, each gets the same share. The power is above 1
    where the means sum to more than 1, and below 1 where they sum to less.

    Vovk and Zhdanov (2009), Prediction with expert advice for the Brier game, Journal of Machine Learning Research 10;
    Clarke, Kovalchik and Ingram (2017), Adjusting bookmaker's odds to allow for overround, American Journal of Sports
    Science 5.

    >>> power(1 / np.array([4.20, 3.70, 1.95]), [np.arange(3)]).round(7).tolist()
    [0.231141, 0.2630641, 0.5057949]
    """
    return _in_partitions(mean, partitions, _powers)


def shin(mean: Vector, partitions: Iterable[Indices]) -> Vector:
    r"""Find the probabilities behind prices of a bookmaker who fears a share z of insiders.

    $$p_i = \frac{\sqrt{z^2 + 4 (1 - z) \pi_i^2 / B} - z}{2 (1 - z)}, \quad B = \sum_i \pi_i, \quad \sum_i p_i = 1$$

    for prices $\pi_i$ in [0, 1] that sum to more than 1. Multiplied by the conjugate of its numerator, the fraction is

    $$p_i = \frac{2 q_i}{\sqrt{z^2 + 4 (1 - z) q_i} + z}, \quad q_i = \pi_i^2 / B \le 1$$

    which falls as z grows. Its sum is $\sqrt B > 1$ at z = 0 and $\sum \pi_i^2 / B \le 1$ at z = 1, so there is one z
    in (0, 1], found by bisection. Of two prices, both lose half of the margin. Where the prices sum to 1 or less there
    is no margin, and the model has no z: then they are divided by their sum, as `normalised` does.

    Shin (1993), Measuring the incidence of insider trading in a market for state-contingent claims, Economic Journal
    103; the solved form is that of Jullien and Salanié (1994), Measuring the incidence of insider trading: a comment on
    Shin, Economic Journal 104; Štrumbelj (2014), On determining probability forecasts from betting odds, International
    Journal of Forecasting 30.

    >>> shin(1 / np.array([2.6, 2.4, 4.3]), [np.arange(3)]).round(7).tolist()
    [0.3729941, 0.4047794, 0.2222265]
    """
    return _in_partitions(mean, partitions, _without_insiders)


def _in_partitions(mean: Vector, partitions: Iterable[Indices], rule: Callable[[Vector, Indices], Vector]) -> Vector:
    """Apply a rule to the means of all partitions at once; it is told the partition of each mean."""
    value = mean.copy()
    complete = [units for units in partitions if not np.isnan(mean[units]).any()]
    if complete:
        units = np.concatenate(complete)
        value[units] = rule(mean[units], np.repeat(np.arange(len(complete)), [len(own) for own in complete]))
    return value


def _shares(p: Vector, partition: Indices) -> Vector:
    total, size = np.bincount(partition, p)[partition], np.bincount(partition)[partition]
    return np.divide(p, total, out=1.0 / size, where=total > 0)


def _powers(p: Vector, partition: Indices) -> Vector:
    """Solve ln sum p^k = 0 by Newton's method from the left, where it never overshoots: the function is convex in k."""
    positive = p > 0
    own = partition[positive]
    # A mean of 1 counts as the next number below it, which makes the limits ordinary cases.
    fall = np.maximum(-np.log(p[positive]), EPSILON)
    count = int(partition[-1]) + 1
    k = np.where(np.bincount(partition, p, count) > 1.0, 1.0, 0.0)
    for _ in range(MOST_STEPS):
        raised = np.exp(-k[own] * fall)
        total = np.bincount(own, raised, count)
        excess = np.log(total, out=np.zeros(count), where=total > 1.0)
        if excess.max() <= ROOT:
            break
        slope = np.bincount(own, raised * fall, count)
        k += np.divide(excess * total, slope, out=np.zeros(count), where=excess > 0)
    value = np.zeros(len(p))
    value[positive] = np.exp(-k[own] * fall)
    return _shares(value, partition)


def _without_insiders(prices: Vector, partition: Indices) -> Vector:
    total = np.bincount(partition, prices)
    margin = total[partition] > 1.0
    square = prices**2 / np.maximum(total, 1.0)[partition]
    low, high = np.zeros(len(total)), np.ones(len(total))
    for _ in range(BISECTIONS):
        z = 0.5 * (low + high)
        above = np.bincount(partition, _of_insiders(square, z[partition])) > 1.0
        low, high = np.where(above, z, low), np.where(above, high, z)
    return _shares(np.where(margin, _of_insiders(square, high[partition]), prices), partition)


def _of_insiders(square: Vector, z: Vector) -> Vector:
    return 2.0 * square / (np.sqrt(z**2 + 4.0 * (1.0 - z) * square) + z)


def _places(unit: NDArray[np.int32], p: Vector, weight: Vector, count: int) -> tuple[Indices, Vector, Vector]:
    """Sort the forecasts of positive weight by unit and size; where each begins and ends in its unit's weight."""
    order = np.lexsort((p, unit))
    order = order[weight[order] > 0]
    own = unit[order]
    # Shares, and not weights, are summed over all units: those of a light unit would be lost behind heavy ones.
    share = weight[order] / np.bincount(own, weight[order], count)[own]
    ends, first = np.cumsum(share), np.searchsorted(own, own)
    high = ends - np.where(first > 0, ends[first - 1], 0.0)
    return order, high - share, high
