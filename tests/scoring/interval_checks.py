"""How often intervals of consistency scores cover: a slice in the tests, the full number in the campaign.

Clusters are drawn from a large population of clusters, each with the joint distances of two judges in it. Distances
are half zeros and otherwise of a skewed distribution, and share a part, as those of models do; clusters have one to
`largest` answers.

`connected` panels hold one cluster: every variable is tied to others at random by conjunctions and disjunctions, and
what a judge errs has a size that varies by variable and judge. The truth is the mean over all panels.
"""

import numpy as np
from scipy.special import expit, logit

import coherently as co
from coherently.scoring.intervals import ClusterRatios

POPULATION = 100_000


def population(rng, largest):
    counts = rng.integers(1, largest + 1, POPULATION).astype(float)
    shared = rng.gamma(1.0, 0.02, POPULATION)
    own = rng.gamma(1.0, 0.02, (2, POPULATION)) * np.array([[1.0], [1.5]])
    values = counts * (shared + own) * (rng.random((2, POPULATION)) < 0.5)
    return ClusterRatios(values, np.broadcast_to(counts, (2, POPULATION)))


def covered_shares(seed, panels, sizes=(10, 30, 100), largest=5):
    """The shares of 95% intervals that contain the population's score, by number of clusters and by what is told."""
    rng = np.random.default_rng(seed)
    every = population(rng, largest)
    truth = np.array([[1.0, 0.0], [1.0, -1.0]]) @ every.ratios()
    shares = {}
    for size in sizes:
        held = np.zeros(2)
        for _ in range(panels):
            kept = rng.integers(0, POPULATION, size)
            sums = ClusterRatios(every.values[:, kept], every.counts[:, kept])
            held += _inside(truth, *_ends(sums))
        shares |= {(size, "score"): held[0] / panels, (size, "difference"): held[1] / panels}
    return shares


def _ends(sums):
    """The ends of 95% intervals of the first judge's score and of the difference of both."""
    (low, _), (high, _) = sums.ends(0.95)
    contrast = np.array([[1.0, -1.0]])
    difference, half = contrast @ sums.ratios(), sums.half_widths(contrast, 0.95)
    return np.array([low, *(difference - half)]), np.array([high, *(difference + half)])


def _inside(truth, low, high):
    return (low <= truth) & (truth <= high)


def connected(rng, variables, pairs, spread=0.3):
    p, size = expit(rng.normal(size=variables)), 0.3 * np.exp(spread * rng.normal(size=variables))
    tied = set()
    while len(tied) < pairs:
        tied.add(tuple(sorted(rng.choice(variables, 2, replace=False).tolist())))
    rows = []
    for judge, factor in (("Ann", 1.0), ("Bob", 1.3)):
        own = factor * size * np.exp(0.7 * spread * rng.normal(size=variables))

        def answer(truth, *about, own=own):
            return float(np.clip(expit(logit(truth) + own[list(about)].mean() * rng.normal()), 0.01, 0.99))

        rows += [(judge, f"v{i}", answer(p[i], i)) for i in range(variables)]
        for i, j in sorted(tied):
            both = p[i] * p[j]
            rows += [
                (judge, f"v{i} & v{j}", answer(both, i, j)),
                (judge, f"v{i} | v{j}", answer(p[i] + p[j] - both, i, j)),
            ]
    return co.Panel.from_records(rows)


def covered_connected_shares(seed, panels, sizes=((20, 30), (40, 50), (80, 90))):
    """The shares of 95% intervals that contain the mean, by numbers of variables and pairs and by what is told."""
    shares = {}
    for size in sizes:
        rng = np.random.default_rng(seed)
        found = []
        for _ in range(panels):
            scores = co.consistency(connected(rng, *size))
            joint, mean = scores._score_sums("joint_per_answer"), scores._score_sums("arbitrage")
            found += [(joint.ratios()[0], *np.concatenate(_ends(joint)), mean.ratios()[0], *np.ravel(mean.ends(0.95)))]
        value, low, less, high, more, arbitrage, below, _, above, _ = np.array(found).T
        difference = (less + more) / 2
        shares |= {
            (size, "joint score"): _inside(value.mean(), low, high).mean(),
            (size, "difference"): _inside(difference.mean(), less, more).mean(),
            (size, "mean over checks"): _inside(arbitrage.mean(), below, above).mean(),
        }
    return shares


def check_coverage(seed, panels):
    """By how many per cent the worst interval over clusters covers less than 95%."""
    shares = covered_shares(seed, panels)
    noise = 3 * np.sqrt(0.05 * 0.95 / panels)
    assert min(shares.values()) > 0.94 - noise, shares
    assert max(shares.values()) < 0.97 + noise, shares
    return 100 * max(0.95 - share for share in shares.values())


def check_connected_coverage(seed, panels):
    """By how many per cent the worst interval over variables covers less than 95%."""
    shares = covered_connected_shares(seed, panels)
    noise = 3 * np.sqrt(0.05 * 0.95 / panels)
    assert min(shares.values()) > 0.90 - noise, shares
    return 100 * max(0.95 - share for share in shares.values())


def main():
    for (size, what), share in covered_shares(seed=2, panels=10_000).items():
        print(f"{size} clusters, {what}: covered in {share:.1%}", flush=True)
    for ((variables, pairs), what), share in covered_connected_shares(seed=3, panels=1_000).items():
        print(f"{variables} variables tied by {pairs} pairs, {what}: covered in {share:.1%}", flush=True)


if __name__ == "__main__":
    main()
