"""The nearest coherent prices of many clusters: the small ones first, over threads, each with its share of the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.books.bets import clusters_of
from coherently.books.distance import ACCURACY, COARSE, Approach
from coherently.solve.threads import in_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.books.bets import Bets
    from coherently.books.distance import NearestPrices
    from coherently.panel import Progress
    from coherently.solve import Budget

SMALLEST = 0.05
"""Minimum number of seconds that a cluster gets while any time is left."""
SMALL = 64
"""Maximum number of distinct events of a cluster that is solved before a thread would have started."""


def nearest_in_time(
    bets: Bets, budget: Budget, refined: Budget, threads: int, progress: Progress | None
) -> list[NearestPrices]:
    """The nearest coherent prices of each cluster, the small ones first.

    Each cluster may take an equal part of the time that is left, so that what the small ones do not need is left for
    the large ones. First, distances are proved to the accuracy that is shown; within `refined`, some of them better.
    """
    ways = sorted((Approach(bets, c) for c in clusters_of(bets)), key=lambda way: len(way.cluster.part))
    answers = []
    for answer in _improved(ways, COARSE, budget, threads):
        answers.append(answer)
        if progress is not None:
            progress(len(answers) / len(ways))
    rest = [i for i, way in enumerate(ways) if way.is_open]
    if rest and not refined.is_over():
        better = _improved([ways[i] for i in rest], ACCURACY, refined, threads)
        for i, answer in zip(rest, better, strict=True):
            answers[i] = answer
    return answers


def _improved(ways: Sequence[Approach], accuracy: float, budget: Budget, threads: int) -> Iterator[NearestPrices]:
    """The answers in the order of the clusters."""
    few = sum(len(way.cluster.part) <= SMALL for way in ways) if threads > 1 else len(ways)

    def improve(i: int, threads: int) -> NearestPrices:
        share = max(SMALLEST, threads * budget.left() / (len(ways) - i))
        return ways[i].improve(budget.within(share), accuracy)

    for i in range(few):
        yield improve(i, 1)
    yield from in_order(lambda i: improve(i, threads), range(few, len(ways)), threads, budget.interrupted.set)
