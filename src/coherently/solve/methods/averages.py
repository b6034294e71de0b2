"""Averages of probabilities, each a function on arrays: `unit` has the unit of each forecast, below `count`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Vector

ROUNDING = 1e-9
"""Shares of the weight below this are rounding errors."""


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

    A partition with a unit that has no mean stays as it is.

    >>> normalised(np.array([0.5, 0.5, 0.25, 0.9]), [np.array([0, 1, 2])]).tolist()
    [0.4, 0.4, 0.2, 0.9]
    """
    value = mean.copy()
    for units in partitions:
        total = mean[units].sum()
        if total > 0:
            value[units] = mean[units] / total
        elif total == 0:
            value[units] = 1.0 / len(units)
    return value


def _places(unit: NDArray[np.int32], p: Vector, weight: Vector, count: int) -> tuple[Indices, Vector, Vector]:
    """Sort the forecasts of positive weight by unit and size; where each begins and ends in its unit's weight."""
    order = np.lexsort((p, unit))
    order = order[weight[order] > 0]
    own, ends = unit[order], np.cumsum(weight[order])
    total = np.bincount(own, weight[order], count)
    first = np.searchsorted(own, own)
    before = np.where(first > 0, ends[first - 1], 0.0)
    high = (ends - before) / total[own]
    return order, high - weight[order] / total[own], high
