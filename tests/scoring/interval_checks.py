"""How often intervals over clusters cover: a slice in the tests, the full number in the campaign.

Clusters are drawn from a large population of clusters, each with the joint distances of two judges in it. Distances
are half zeros and otherwise of a skewed distribution, and share a part, as those of models do; clusters have one to
`largest` answers.
"""

import numpy as np

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
    contrasts = np.array([[1.0, 0.0], [1.0, -1.0]])
    truth = contrasts @ every.ratios()
    shares = {}
    for size in sizes:
        held = np.zeros(2)
        for _ in range(panels):
            kept = rng.integers(0, POPULATION, size)
            sums = ClusterRatios(every.values[:, kept], every.counts[:, kept])
            held += np.abs(contrasts @ sums.ratios() - truth) <= sums.half_widths(contrasts, 0.95)
        shares |= {(size, "score"): held[0] / panels, (size, "difference"): held[1] / panels}
    return shares


def check_coverage(seed, panels):
    """By how many per cent the worst interval covers less than 95%: few clusters of skewed scores may miss by ten."""
    shares = covered_shares(seed, panels)
    assert min(shares.values()) > 0.84, shares
    assert min(share for (_, what), share in shares.items() if what == "difference") > 0.91, shares
    return 100 * max(0.95 - share for share in shares.values())


def main():
    for (size, what), share in covered_shares(seed=2, panels=10_000).items():
        print(f"{size} clusters, {what}: covered in {share:.1%}")


if __name__ == "__main__":
    main()
