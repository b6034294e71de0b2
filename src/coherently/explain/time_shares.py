"""The nearest coherent prices of many clusters: the small ones first, over threads, each with its share of the time.

What a share was too short for goes on in the time that the others have left.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from coherently.engine.batches import batches_of
from coherently.engine.dispatch import dispatch
from coherently.engine.threads import in_order
from coherently.engine.worker import order_here
from coherently.errors import MethodError
from coherently.explain.bets.bets import clusters_of
from coherently.explain.bets.distance import ACCURACY, COARSE, Approach, PointApproach
from coherently.explain.bets.tabled_distance import tabled_prices
from coherently.solve import Budget
from coherently.solve.component.pace import COLUMNS, CROSSING, estimated_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.arrays import Vector
    from coherently.explain.bets.bets import Bets, Cluster
    from coherently.explain.bets.distance import NearestPrices
    from coherently.panel import Progress

SMALLEST = 0.05
"""Minimum number of seconds that a cluster gets while any time is left; with less, none is taken up again."""
SMALL = 64
"""Maximum number of distinct events of a cluster that is solved before a thread would have started."""


def nearest_in_time(
    bets: Bets, budget: Budget, refined: Budget, threads: int, progress: Progress | None
) -> list[NearestPrices]:
    """The nearest coherent prices of each cluster, the small ones first.

    Each cluster may take an equal part of the time that is left, so that what the small ones do not need is left for
    the large ones; those that this cuts share what is left in the end, round after round. First, distances are proved
    to the accuracy that is shown; within `refined`, some of them better. Clusters of few worlds are solved all at once,
    and of the others those that are worth it go to the budget's engine.
    """
    every = sorted((Approach(bets, c) for c in clusters_of(bets)), key=lambda way: len(way.cluster.part))
    points = [i for i, way in enumerate(every) if way.has_points]
    tabled = tabled_prices(bets, [every[i].cluster for i in points], budget, threads)
    found = {points[k]: answer for k, answer in tabled.items()}
    if budget.engine is not None:
        others = [i for i in range(len(every)) if i not in found]
        elsewhere = _elsewhere([every[i] for i in others], budget, refined, progress)
        found |= {others[k]: answer for k, answer in elsewhere}
    ways = [way for i, way in enumerate(every) if i not in found]
    here = iter(_improved_here(ways, budget, refined, threads, progress=progress, total=len(every)))
    return [found[i] if i in found else next(here) for i in range(len(every))]


def _elsewhere(
    ways: Sequence[Approach], budget: Budget, refined: Budget, progress: Progress | None
) -> Iterator[tuple[int, NearestPrices]]:
    """The answers of clusters by the budget's engine, those that arrive in time."""
    assert budget.engine is not None
    price = {i: estimated_seconds(way.cluster.part, COLUMNS) for i, way in enumerate(ways) if way.has_points}
    which = [i for i, seconds in price.items() if seconds >= CROSSING]
    numbers = [[which[k] for k in batch] for batch in batches_of([price[i] for i in which])]
    batches = [[(ways[i].cluster, ways[i].bets.price[ways[i].cluster.bets]) for i in batch] for batch in numbers]
    work = partial(_improve_batch, budget.deadline - refined.deadline)
    done = 0
    for k, answers in dispatch(budget.engine, work, batches, budget):
        for i, answer in zip(numbers[k], answers, strict=True):
            if answer is not None:
                yield i, replace(answer, cluster=ways[i].cluster)
                done += 1
        if progress is not None:
            progress(done / len(ways))


def _improve_batch(
    sooner: float, clusters: Sequence[tuple[Cluster, Vector]], seconds: float
) -> list[NearestPrices | None]:
    """Find nearest prices elsewhere, within some seconds from now; None where that needs an explanation."""
    budget = Budget(cancel=order_here() or Event()).within(seconds)
    refined = budget.within(seconds - sooner)
    answers: list[NearestPrices | None] = []
    for cluster, price in clusters:
        answers.append(None)
        with suppress(MethodError):
            way = PointApproach(cluster, price)
            answers[-1] = way.improve(budget, COARSE)
            if way.is_open and not refined.is_over():
                answers[-1] = way.improve(refined, ACCURACY)
    return answers


def _improved_here(
    ways: Sequence[Approach], budget: Budget, refined: Budget, threads: int, progress: Progress | None, total: int
) -> list[NearestPrices]:
    """The answers in the order of the clusters; `total` counts those elsewhere, too, which are done."""
    answers: list[NearestPrices] = []
    for answer in _improved(ways, COARSE, budget, threads):
        answers.append(answer)
        if progress is not None:
            progress((total - len(ways) + len(answers)) / total)
    while budget.left() >= SMALLEST and (cut := [i for i, answer in enumerate(answers) if answer.cut]):
        for i, answer in zip(cut, _improved([ways[i] for i in cut], COARSE, budget, threads), strict=True):
            answers[i] = answer
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
