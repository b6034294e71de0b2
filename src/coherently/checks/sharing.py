"""The nearest coherent prices of many clusters: the small ones first, over threads, each with its share of the time."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from coherently.books.bets import clusters_of
from coherently.books.distance import ACCURACY, COARSE, Approach
from coherently.errors import MethodError

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


def count_threads(threads: int | None) -> int:
    """The number of threads: one per processor for None or 0."""
    if threads is not None and threads < 0:
        raise MethodError(f"threads is {threads}; it must be 0 (one per processor) or more")
    return threads or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))


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
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(improve, i, threads) for i in range(few, len(ways))]
        try:
            for future in futures:
                yield future.result()
        except BaseException:
            budget.interrupted.set()
            pool.shutdown(cancel_futures=True)
            raise
