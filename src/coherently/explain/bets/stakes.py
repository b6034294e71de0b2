"""Which stakes to prove: the best for their size, or the best ones after costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import counted
from coherently.explain.bets import distance
from coherently.explain.bets.bets import decimal
from coherently.explain.bets.distance import ABSENT, NOISE
from coherently.explain.bets.exact_stakes import Plan, accept, prove
from coherently.explain.bets.market import LATE, MARGIN, Market, Stakes
from coherently.explain.bets.trading_terms import TradingTerms
from coherently.explain.relations.broken import MOMENT, moved_most, violated
from coherently.solve.worlds.oracle import Oracle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from coherently.arrays import Vector
    from coherently.explain.bets.bets import Bets, Cluster
    from coherently.explain.bets.distance import NearestPrices
    from coherently.explain.bets.exact_stakes import ProvedStakes
    from coherently.solve.budget import Budget


PROVING = 0.2
"""The part of the time that is kept for the proof of a book."""


def free_proofs(bets: Bets, suspects: Sequence[NearestPrices], budget: Budget) -> list[ProvedStakes]:
    """The proved stakes of each incoherent cluster: prices minus the nearest coherent prices."""
    found: list[ProvedStakes | None] = []
    for answer in sorted(suspects, key=lambda answer: -answer.square):
        if found and budget.is_over():
            break
        found.append(_free_proof(bets, answer, budget))
    return [proof for proof in found if proof is not None]


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The outcome of the search for a book: its proofs, and an upper bound `most` on what stakes of 1 in total win.

    `most` is infinite if no bound is known; `proof` says on what it rests, or why it is not known. If the search was
    `late`, the time was over.
    """

    proofs: list[ProvedStakes]
    most: float = math.inf
    proof: str = ""
    late: bool = False


def best_proof(bets: Bets, suspects: Sequence[NearestPrices], terms: TradingTerms, budget: Budget) -> Search:
    """The best stakes under the terms: for a given total they all go to one cluster.

    Clusters with coherent prices win nothing, whatever the costs.
    """
    found = [_best_plan(bets, answer, terms, budget.share(1.0 - PROVING)) for answer in suspects]
    most = max((bound.most for _, bound in found), default=0.0)
    reasons = dict.fromkeys(bound.reason for _, bound in found if bound.reason)
    worlds = sum(np.count_nonzero(bound.share) for _, bound in found)
    proof = "; ".join(reasons) or f"a mixture of {counted(int(worlds), 'world')}"
    for plan in sorted((plan for plan, _ in found), key=lambda plan: -plan.expected):
        if plan.expected > MARGIN and (proved := prove(bets, plan.traded(), budget)):
            return Search([proved], most, proof)
    return Search([], most, proof, LATE in reasons)


def _free_proof(bets: Bets, answer: NearestPrices, budget: Budget) -> ProvedStakes | None:
    """The proof of a cluster: of the whole if possible, else of a book on a few of its bets.

    If a condition is impossible in the nearest prices, prices given it are arbitrary, and so would be stakes.
    """
    if (answer.chance <= ABSENT).any():
        best, _ = _best_plan(bets, answer, TradingTerms(), budget.share(1.0 - PROVING))
        return prove(bets, best.traded(), budget) if best.expected > MARGIN else None
    stakes = bets.price[answer.cluster.bets] - answer.value
    stakes = np.where(np.abs(stakes) < NOISE, 0.0, stakes)
    plan = Plan(
        cluster=answer.cluster,
        stakes=stakes,
        expected=answer.sure,
        worlds=answer.worlds,
        prices=_prices(bets, TradingTerms()),
    ).traded()
    if Oracle(plan.cluster.part).is_exact:
        return prove(bets, plan, budget)
    found = accept(bets, plan, answer) if answer.is_mixture else None
    if found is None:
        few = (
            _simple_plan(bets, answer, TradingTerms(), budget)
            or _best_plan(bets, answer, TradingTerms(), budget.share(1.0 - PROVING))[0]
        )
        found = prove(bets, few.traded(), budget)
    return found


def _simple_plan(bets: Bets, answer: NearestPrices, terms: TradingTerms, budget: Budget) -> Plan | None:
    """Equal stakes on the few bets of a broken relation, the one that wins most after costs; None if none does."""
    own = answer.cluster.bets
    (sell, buy), bid, ask = terms.net(bets), bets.bid, bets.ask
    best, profit = None, 0.0
    for relation in violated(bets, moved_most([answer]), budget=budget.at_least(MOMENT)):
        trades = zip(relation.forecasts, relation.signs, strict=True)
        cost = sum(bid[bet] - sell[bet] if sign > 0 else buy[bet] - ask[bet] for bet, sign in trades)
        won = max(0.0, relation.violation - cost) ** 2 / len(relation.assertions)
        if won > profit:
            best, profit = relation, won
    if best is None:
        return None
    stakes = np.zeros(len(own))
    stake = math.sqrt(profit / len(best.assertions))
    for bet, sign in zip(best.forecasts, best.signs, strict=True):
        stakes[own == bet] = sign * stake
    return Plan(
        cluster=answer.cluster, stakes=stakes, expected=profit, worlds=answer.worlds[:0], prices=_prices(bets, terms)
    )


def _best_plan(bets: Bets, answer: NearestPrices, terms: TradingTerms, budget: Budget) -> tuple[Plan, Stakes]:
    """The best stakes that add up to 1, and what is known of others; if none are found, those of a broken relation.

    Among too many bets only the latter are looked for.
    """
    own = answer.cluster.bets
    sell, buy = terms.net(bets)
    found = Stakes(
        stakes=np.zeros(len(own)),
        profit=0.0,
        most=math.inf,
        share=np.zeros(0),
        worlds=answer.worlds,
        reason=answer.proof,
    )
    if len(answer.cluster.part) <= distance.LARGE:
        found = Market(bets, answer.cluster, answer.worlds).best(sell[own], buy[own], budget)
    plan = Plan(
        cluster=answer.cluster,
        stakes=found.stakes,
        expected=found.profit,
        worlds=answer.worlds[:0],
        prices=_prices(bets, terms),
    )
    simple = _simple_plan(bets, answer, terms, budget) if found.reason and found.profit <= MARGIN else None
    if simple is None:
        return plan, found
    total = float(np.abs(simple.stakes).sum())
    return replace(simple, stakes=simple.stakes / total, expected=simple.expected / total), found


def _prices(bets: Bets, terms: TradingTerms) -> Callable[[Cluster, Vector], Sequence[Fraction]]:
    fee = decimal(terms.fee)

    def after_fees(cluster: Cluster, units: Vector) -> Sequence[Fraction]:
        gross = terms.exact(bets, cluster.bets, units)
        return [price - fee if unit > 0 else price + fee for price, unit in zip(gross, units.tolist(), strict=True)]

    return after_fees
