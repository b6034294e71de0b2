"""Where conditional forecasts stand if nothing constrains them, because their condition has no probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem.losses import Loss
    from coherently.problem.terms import Conditionals, Intervals


def stated(loss: Loss, given: Conditionals, intervals: Intervals, number: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability at which each conditional's forecasts would lose least, were its condition certain.

    If many would, it is the one nearest to `number`, the mean of the judges' own numbers: one interval stands at its
    judge's number, and points stand at their mean. It is NaN where no forecast has any weight.
    """
    value = given.mean.copy()
    lower, upper = np.minimum(intervals.low, loss.clipped(1.0)), np.maximum(intervals.high, loss.clipped(0.0))
    told = intervals.conditional & (intervals.weight > 0)
    for i in np.unique(intervals.about[told]).tolist():
        mine = told & (intervals.about == i)
        low, high, weight = lower[mine], upper[mine], intervals.weight[mine]
        if given.weight[i] > 0:  # a point is an interval without length
            low, high, weight = (
                np.append(ends, one) for ends, one in ((low, value[i]), (high, value[i]), (weight, given.weight[i]))
            )
        value[i] = _least(loss, low, high, weight, number=float(number[i]))
    return value


def _least(
    loss: Loss, low: NDArray[np.float64], high: NDArray[np.float64], weight: NDArray[np.float64], number: float
) -> float:
    """The t nearest to `number` at which the sum of w d(t, [low, high]) is least.

    Its slope is the sum of w (phi'(t) - phi'(the point of [low, high] nearest to t)), which does not fall as t grows.
    Where the slope is not 0 at `number`, the pieces between the ends of the intervals follow one after the other; in
    one that a set A of intervals does not reach, the slope is 0 at the t with phi'(t) = the mean of phi'(end) over A.
    """
    off = (low > number) | (high < number)
    slope = float(weight[off] @ (loss.gradient(number) - loss.gradient(np.clip(number, low[off], high[off]))))
    if slope == 0.0:
        return number
    falls = slope > 0  # then the least lies below
    ends = np.unique(np.concatenate([low, high, [0.0, 1.0]]))
    steps = ends[ends < number][::-1] if falls else ends[ends > number]
    here = number
    for step in steps.tolist():
        middle = 0.5 * (here + step)
        off = (low > middle) | (high < middle)
        if not off.any():
            return here
        dual = np.average(loss.gradient(np.clip(middle, low[off], high[off])), weights=weight[off])
        root = float(loss.inverse(dual))
        if (root >= step) if falls else (root <= step):
            return min(root, here) if falls else max(root, here)
        here = step
    return here
