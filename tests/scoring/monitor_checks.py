"""Streams of distances without and with a rise: a slice in the tests, the full number in the campaign."""

import numpy as np

from coherently.scoring.bet_capital import alarm_capital, mean_capital, sequence_bets, upper_limit

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


def check_promise(seed, streams):
    """No more false alarms and missed means than 5% and four standard errors of chance, and rises are found."""
    shares = [alarms(seed, streams, 1_000, kind=kind)[0] for kind in KINDS]
    shares += [missed(seed + 1, streams, 1_000, kind=kind) for kind in KINDS]
    shares.append(estimated_alarms(seed + 2, streams, 350, first=50, most=0.2))
    assert max(shares) <= 0.05 + 4 * (0.05 * 0.95 / streams) ** 0.5, shares
    assert alarms(seed + 3, streams, 500, factor=2.0, change=250)[0] > 0.95
    return max(shares)


def main():
    streams = 10_000
    for kind in KINDS:
        false, _ = alarms(10, streams, 1_000, kind=kind)
        rises = [alarms(11, streams, 500, kind=kind, factor=factor, change=change) for factor, change in RISES]
        told = "; ".join(f"{share:.1%} after {delay:.0f}" for share, delay in rises)
        print(
            f"{kind}: false alarms {false:.2%}; rises {told}; means missed {missed(12, streams, 1_000, kind=kind):.2%}"
        )
    for first in (50, 200):
        false = estimated_alarms(13, streams, first + 300, first=first, most=0.2)
        print(f"tolerance estimated from {first} sets: false alarms {false:.2%}")


RISES = ((1.5, 0), (2.0, 0), (2.0, 250))
"""Factors of the mean, and when the rise comes."""

if __name__ == "__main__":
    main()
