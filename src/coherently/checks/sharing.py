"""The nearest coherent prices of many clusters: the small ones first, over threads, each with its share of the time."""

from __future__ import annotations

import os
import threading
import time
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

SMALLEST = 0.05
"""Seconds that a cluster may take while there is time at all."""
SMALL = 64
"""Distinct events up to which a cluster is done before a thread has begun."""


def count_threads(threads: int | None) -> int:
    """The number of threads: as many as there are processors where nothing, or 0, is asked for."""
    if threads is not None and threads < 0:
        raise MethodError(f"threads is {threads}; it must be 0 or more, 0 being one for each processor")
    return threads or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))


def nearest_in_time(
    bets: Bets, end: float, refined: float, threads: int, progress: Progress | None
) -> list[NearestPrices]:
    """The nearest coherent prices of each cluster, the small ones first.

    Each cluster may take an equal part of the time that is left, so that what the small ones do not need is left for
    the large ones. At first, distances are proved as far as a reader can tell; until `refined`, some of them better.
    """
    stop = threading.Event()

    def tell() -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    ways = sorted((Approach(bets, c, tell) for c in clusters_of(bets)), key=lambda way: len(way.cluster.part))
    answers = []
    for answer in _improved(ways, COARSE, end, threads, stop):
        answers.append(answer)
        if progress is not None:
            progress(len(answers) / len(ways))
    rest = [i for i, way in enumerate(ways) if way.is_open]
    if rest and time.monotonic() < refined:
        better = _improved([ways[i] for i in rest], ACCURACY, refined, threads, stop)
        for i, answer in zip(rest, better, strict=True):
            answers[i] = answer
    return answers


def _improved(
    ways: Sequence[Approach], accuracy: float, end: float, threads: int, stop: threading.Event
) -> Iterator[NearestPrices]:
    """The answers in the order of the clusters."""
    few = sum(len(way.cluster.part) <= SMALL for way in ways) if threads > 1 else len(ways)

    def improve(i: int, threads: int) -> NearestPrices:
        now = time.monotonic()
        share = max(SMALLEST, threads * (end - now) / (len(ways) - i))
        return ways[i].improve(min(end, now + share), accuracy)

    for i in range(few):
        yield improve(i, 1)
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(improve, i, threads) for i in range(few, len(ways))]
        try:
            for future in futures:
                yield future.result()
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
