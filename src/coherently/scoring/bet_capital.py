r"""Capital of bets on bounded numbers: an e-process for a mean that must not rise, and confidence sequences.

Let x_1, x_2, ... be in [0, 1] and c a tolerance. Who bets l_t in [0, 1/c) that x_t is above c, before it is seen,
multiplies the capital by 1 + l_t (x_t - c), which is never negative. If the mean of x_t given the past is at most c at
all times, the capital E_t is a nonnegative supermartingale that starts at 1, so that by Ville's inequality

$$P(E_t \ge 1/\alpha \text{ for some } t) \le \alpha,$$

however long one watches. The inequality holds for any predictable bets, so these are chosen for power: the approximate
growth-optimal bet of Waudby-Smith and Ramdas (2024, Estimating means of bounded random variables by betting, Journal of
the Royal Statistical Society B 86, section B.3), (m - c) / (v + (m - c)^2) with the mean m and variance v so far, old
values fading out, at least 0 and at most a part of 1/c.

A change may come late, after bets that lost. So a part of the capital waits: r_t = (t + 1)^(-1/2) of it is in reserve
before set t, and r_(t-1) - r_t joins the capital at work before set t is seen. With A for the capital at work,

    A_t = (A_(t-1) + r_(t-1) - r_t) (1 + l_t (x_t - c)),    E_t = A_t + r_t,

which is the formula above with the smaller bet l_t (A_(t-1) + r_(t-1) - r_t) / E_(t-1).

A confidence sequence has all means g for which neither the capital of bets that x is above g nor that of bets below has
reached 2/alpha (section 4.3 there, "hedged capital"). The size of these bets does not depend on g, except that they are
at most a part of 1/g and of 1/(1 - g), so that the capital falls (rises) with g and the means left are an interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from coherently.arrays import Vector

LARGEST_BET = 0.75
"""The largest bet, as a part of the one that may lose everything."""
HALF_LIFE = 20.0
"""After so many values a value counts half in the mean and variance that bets are made of."""
START_VARIANCE = 0.01
"""The variance that the bets of a confidence sequence begin with, as one value."""
POINTS = 1_000
"""Number of means that a confidence sequence tries, more of them near 0, where distances are."""
CEILING = 1e290
"""Capital beyond it is not counted, so that nothing overflows."""


def alarm_capital(x: Vector, tolerance: float) -> Vector:
    """The capital E_t after each of the values in [0, 1]; the last axis is time, others are streams of their own.

    >>> alarm_capital(np.array([0.1, 0.9, 0.9, 0.9, 0.9]), 0.2).round(2).tolist()
    [1.0, 1.0, 1.39, 2.24, 3.93]
    """
    capital = np.empty(x.shape)
    shape, fading = x.shape[:-1], 0.5 ** (1.0 / HALF_LIFE)
    at_work, reserve = np.zeros(shape), 1.0
    weight, mean, spread = 1.0, np.full(shape, tolerance), np.full(shape, tolerance**2)
    for t in range(x.shape[-1]):
        bet = _bet(mean, spread / weight, tolerance)  # made of the values before this one
        next_reserve = (t + 2.0) ** -0.5
        at_work = np.minimum((at_work + reserve - next_reserve) * (1.0 + bet * (x[..., t] - tolerance)), CEILING)
        reserve = next_reserve
        capital[..., t] = at_work + reserve
        weight = fading * weight + 1.0
        before, mean = mean, mean + (x[..., t] - mean) / weight
        spread = fading * spread + (x[..., t] - before) * (x[..., t] - mean)
    return capital


def _bet(mean: Vector, variance: Vector, tolerance: float) -> Vector:
    above = np.maximum(mean - tolerance, 0.0)
    bet: Vector = np.minimum(above / (variance + above**2 + 1e-12), LARGEST_BET / tolerance)
    return bet


def sequence_bets(x: Vector, alpha: float) -> Vector:
    """The size of the bets of a confidence sequence, one per value, each made of the values before it."""
    time = np.arange(1.0, x.shape[-1] + 1.0)
    mean = (0.5 * START_VARIANCE**0.5 + np.cumsum(x, axis=-1)) / (time + 1.0)
    variance = (START_VARIANCE + np.cumsum((x - mean) ** 2, axis=-1)) / (time + 1.0)
    before = np.concatenate([np.full((*x.shape[:-1], 1), START_VARIANCE), variance[..., :-1]], axis=-1)
    bets: Vector = np.sqrt(2.0 * np.log(2.0 / alpha) / (before * time * np.log1p(time)))
    return bets


def mean_capital(x: Vector, bets: Vector, mean: Vector, *, above: bool) -> Vector:
    """The logarithm of the capital, after each value, of bets that x is above (or below) a mean in [0, 1].

    The last axis of `x` and `bets` is time, and all but the last axis of `mean` are those of `x`.
    """
    limit = LARGEST_BET / np.maximum(mean if above else 1.0 - mean, 1e-12)
    sign = 1.0 if above else -1.0
    gain = np.minimum(bets, limit[..., None]) * sign * (x - mean[..., None])
    return np.cumsum(np.log1p(gain), axis=-1)


class MeanSequence(NamedTuple):
    """The ends of a confidence sequence after each value; they only come nearer to each other."""

    low: Vector
    high: Vector


def mean_sequence(x: Vector, alpha: float) -> MeanSequence:
    """Ends that contain the mean at all times with a probability of at least 1 - alpha, if it does not change.

    The ends are points of a grid, rounded outwards.

    >>> ends = mean_sequence(np.full(400, 0.5), 0.05)
    >>> bool(ends.low[-1] < 0.5 < ends.high[-1]), round(float(ends.high[-1] - ends.low[-1]), 2)
    (True, 0.01)
    """
    grid, bets = (np.arange(POINTS + 1.0) / POINTS) ** 2, sequence_bets(x, alpha)
    enough, zero = np.log(2.0 / alpha), np.zeros(len(grid))
    up, down = zero.copy(), zero.copy()
    low, high = np.empty(len(x)), np.empty(len(x))
    limits = [LARGEST_BET / np.maximum(side, 1e-12) for side in (grid, 1.0 - grid)]
    for t, value in enumerate(x):
        up += np.log1p(np.minimum(bets[t], limits[0]) * (value - grid))
        down += np.log1p(np.minimum(bets[t], limits[1]) * (grid - value))
        low[t] = grid[max(0, int(np.count_nonzero(up >= enough)) - 1)]
        high[t] = grid[min(POINTS, len(grid) - int(np.count_nonzero(down >= enough)))]
    return MeanSequence(np.maximum.accumulate(low), np.minimum.accumulate(high))


def upper_limit(x: Vector, alpha: float) -> float:
    """An upper confidence limit on the mean of some values in [0, 1], at the level alpha.

    It is the upper end of a confidence sequence with twice that level, whose lower end is not used.
    """
    return float(mean_sequence(x, 2.0 * alpha).high[-1]) if len(x) else 1.0
