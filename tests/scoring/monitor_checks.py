"""Streams of distances without and with a rise: a slice in the tests, the full number in the campaign."""

import numpy as np

from coherently.scoring.betting import alarm_capital, mean_capital, sequence_bets, upper_limit

TOLERANCE = 0.02
KINDS = ("gamma", "two-valued", "uniform", "dependent")


def draw(rng, kind, mean, shape):
    """Distances in [0, 1] with this mean given the past, at all times."""
    if kind == "gamma":  # skewed; what is above 1 is so rare that the mean is the same to 1e-9
        return np.minimum(rng.gamma(1.0, mean, shape), 1.0)
    if kind == "two-valued":
        return np.where(rng.random(shape) < mean / 0.5, 0.5, 0.0)
    if kind == "uniform":
        return rng.uniform(0.0, 2.0 * mean, shape)
    size = np.ones(shape)  # after a large value the next ones are large or zero: dependent, with the same mean
    x = np.empty(shape)
    for t in range(shape[-1]):
        x[..., t] = np.where(rng.random(shape[:-1]) < 1.0 / size[..., t], mean * size[..., t], 0.0)
        if t + 1 < shape[-1]:
            size[..., t + 1] = np.where(x[..., t] > mean, 1.0, np.minimum(size[..., t] + 1.0, 20.0))
    return x


def alarms(seed, streams, length, *, kind="gamma", factor=1.0, alpha=0.05, change=0):
    """The share of streams with an alarm, and the median number of sets after the rise until it.

    The mean is the tolerance, and `factor` times that from `change` on.
    """
    rng = np.random.default_rng(seed)
    x = draw(rng, kind, TOLERANCE, (streams, length))
    x[:, change:] = draw(rng, kind, factor * TOLERANCE, (streams, length - change))
    over = alarm_capital(x, TOLERANCE) >= 1.0 / alpha
    rung = over.any(axis=1)
    delay = np.median(over[rung].argmax(axis=1) - change) if rung.any() else np.nan
    return float(rung.mean()), float(delay)


def estimated_alarms(seed, streams, length, *, first, most, kind="gamma", alpha=0.05):
    """The share of streams without a rise that raise an alarm, if the tolerance is estimated from the first sets."""
    rng = np.random.default_rng(seed)
    x = np.minimum(draw(rng, kind, TOLERANCE, (streams, length)), most) / most
    rung = 0
    for stream in x:
        limit = upper_limit(stream[:first], alpha / 2)
        rung += limit < 1 and bool((alarm_capital(stream[first:], limit) >= 2.0 / alpha).any())
    return rung / streams


def missed(seed, streams, length, *, kind="gamma", mean=TOLERANCE, most=1.0, alpha=0.05):
    """The share of streams whose confidence sequence misses the mean at any time."""
    rng = np.random.default_rng(seed)
    x = draw(rng, kind, mean / most, (streams, length))
    bets, truth = sequence_bets(x, alpha), np.full(streams, mean / most)
    highest = [mean_capital(x, bets, truth, above=above).max(axis=1) for above in (True, False)]
    return float(np.mean(np.maximum(*highest) >= np.log(2.0 / alpha)))
