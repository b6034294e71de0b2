"""A minimal set of forecasts that cannot hold together: each is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.bets.bets import clusters_of
from coherently.explain.bets.distance import NOISE, Approach, nearest_of
from coherently.explain.bets.market import Market
from coherently.explain.bets.trading_terms import TradingTerms
from coherently.explain.relations.broken import MOMENT, irreducible, moved_most, violated
from coherently.explain.relations.relation import Assertion, Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from coherently.arrays import Indices
    from coherently.explain.bets.bets import Bets
    from coherently.explain.bets.distance import NearestPrices
    from coherently.solve.budget import Budget

FEW = 12
"""Up to this many bets are dropped one by one; among more, a sparse book is looked for first."""


def contradictory(bets: Bets, subset: Indices, budget: Budget) -> bool:
    """Whether some of the bets contradict each other, by more than the tolerance."""
    own = bets.take(subset)
    return any(Approach(own, c).improve(budget).coherent is False for c in clusters_of(own))


def minimal(bets: Bets, answer: NearestPrices, budget: Budget) -> Indices:
    """Bets of an incoherent cluster that contradict each other, but not if any one of them is left out."""
    simple = next(irreducible(violated(bets, moved_most([answer]), budget=budget.at_least(MOMENT))), None)
    if simple is not None:
        return thinned(bets, np.array(simple.forecasts), budget)
    own = answer.cluster.bets
    stakes = answer.target - answer.value
    if len(stakes) > FEW:
        sell, buy = TradingTerms().net(bets)
        sparse = Market(bets, answer.cluster, answer.worlds).best(sell[own], buy[own], budget)
        if sparse.profit > 0 and contradictory(bets, answer.cluster.bets[sparse.stakes != 0], budget):
            stakes = sparse.stakes
    order = np.argsort(np.abs(stakes), kind="stable")
    chosen = own[order[np.abs(stakes[order]) > NOISE]]
    # A bet without a stake may still affect the nearest prices: it may be called off there, or its
    # stake may be lost in rounding.
    enough = len(chosen) == len(own) or contradictory(bets, chosen, budget)
    return thinned(bets, chosen if enough else own[order], budget)


def lawfully_minimal(bets: Bets, relations: Iterable[Relation], budget: Budget) -> Iterator[Relation]:
    """The relations, or smaller parts that contradict themselves by laws about other events."""
    told = set()
    for relation in relations:
        kept = tuple(thinned(bets, np.array(relation.forecasts), budget).tolist())
        if frozenset(kept) not in told:
            told.add(frozenset(kept))
            yield relation if len(kept) == len(relation.forecasts) else _as_relation(bets, kept, budget)


def _as_relation(bets: Bets, kept: tuple[int, ...], budget: Budget) -> Relation:
    """Bets that contradict each other; the complement is meant where the price must rise."""
    own = bets.take(np.array(kept))
    value = own.price.copy()
    for answer in nearest_of(own, budget):
        value[answer.cluster.bets] = answer.value
    negated = value > own.bid
    prices = np.where(negated, own.ask, own.bid).tolist()
    assertions = tuple(Assertion((bet,), price) for bet, price in zip(kept, prices, strict=True))
    return Relation("all" if len(kept) == 1 else "set", assertions, tuple(negated.tolist()))


def thinned(bets: Bets, subset: Indices, budget: Budget) -> Indices:
    """Drop the contradictory bets one by one, in order, as long as the rest contradict each other."""
    kept = subset
    for bet in subset.tolist():
        rest = kept[kept != bet]
        if budget.is_over():
            break
        if len(rest) and contradictory(bets, rest, budget):
            kept = rest
    return np.sort(kept)
