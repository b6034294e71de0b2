"""How far the bets of small clusters are from coherent prices: all clusters of few worlds in one compiled call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.bets.distance import ACCURACY, TOLERANCE, NearestPrices, lower_bound
from coherently.problem import BRIER
from coherently.solve import Proof
from coherently.solve.component.component_table import ComponentTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Indices, Vector
    from coherently.explain.bets.bets import Bets, Cluster
    from coherently.solve.budget import Budget
    from coherently.solve.component.answer_table import AnswerTable


@dataclass(frozen=True, slots=True, eq=False)
class _PointBets:
    """The bets of clusters, one cluster after the other, with their prices in the nearest coherent forecasts."""

    starts: Indices
    price: Vector
    value: Vector
    square: Vector

    @staticmethod
    def of(bets: Bets, clusters: Sequence[Cluster], x: Vector) -> _PointBets:
        own = np.concatenate([cluster.bets for cluster in clusters])
        starts = np.concatenate([[0], np.cumsum([len(cluster.bets) for cluster in clusters])])
        price, near = bets.price[own], np.clip(x[bets.coordinate[own]], 0.0, 1.0)
        value = np.where(bets.complemented[own], 1.0 - near, near)
        return _PointBets(starts, price, value, np.add.reduceat((price - value) ** 2, starts[:-1]))

    def of_cluster(self, i: int) -> tuple[Vector, Vector, float]:
        """The prices of a cluster's bets, the nearest coherent ones, and their squared distance."""
        some = slice(self.starts[i], self.starts[i + 1])
        return self.price[some], self.value[some], float(self.square[i])


def tabled_prices(bets: Bets, clusters: Sequence[Cluster], budget: Budget, threads: int) -> dict[int, NearestPrices]:
    """The nearest coherent prices of clusters whose bets have one price each, by their numbers.

    Only those are there that are proved as well as the general method proves them.
    """
    if not clusters:
        return {}
    table = ComponentTable(bets.merged, BRIER, linearised=False)
    answers, left = table.solve(replace(budget, tolerance=ACCURACY, floor=TOLERANCE**2), threads)
    home = np.repeat(np.arange(len(answers)), answers.events.sizes())
    component = np.full(len(bets.merged), -1)
    component[answers.events.items] = home
    points = _PointBets.of(bets, clusters, answers.x)
    found = {}
    for i, cluster in enumerate(clusters):
        c = int(component[bets.coordinate[cluster.bets[0]]])
        if c >= 0 and not left[c]:
            answer = _nearest(cluster, answers, c, points.of_cluster(i))
            if answer is not None:
                found[i] = answer
    return found


def _nearest(cluster: Cluster, answers: AnswerTable, c: int, own: tuple[Vector, Vector, float]) -> NearestPrices | None:
    """The prices of a cluster from the answer for its component; None if their distance is not known from it."""
    share, worlds = answers.mixtures.of(c)
    if worlds.shape[1] != cluster.part.n_variables:
        return None
    price, value, square = own
    found = NearestPrices(
        cluster=cluster,
        target=price,
        value=value,
        chance=np.ones(len(price)),
        sure=square,
        weight=share / share.sum(),
        worlds=worlds,
        square=square,
        least=min(square, lower_bound(float(answers.bound[c]), square - float(answers.objective[c]))),
        shortfall=float(answers.shortfall[c]),
        lowest=worlds[0],
        proof=Proof.ALL_WORLDS,
    )
    return found if found.coherent or (found.coherent is False and found.is_known) else None
