"""Quotes and coherence: prices that lie within all quotes, or as near to them as coherent prices can."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.bets.bets import truth_of
from coherently.explain.bets.market import MARGIN, Market
from coherently.problem import NO_TERMS
from coherently.solve.component.nearest import Nearest
from coherently.solve.worlds.oracle import Oracle

if TYPE_CHECKING:
    from coherently.arrays import Truth, Vector
    from coherently.explain.bets.bets import Bets, Cluster
    from coherently.solve.budget import Budget

ROUNDS = 100
"""Maximum number of times that bets join those that must move, before another method is used."""
NOISE = 1e-13
"""Moves below this are rounding errors."""
ACCURACY = 1e-6
"""Target of the relative gap of the squared distance."""
ROUNDING, FLOAT_MARGIN = 1e-14, 1e-9
"""Error of sums over thousands of stakes, and of float bounds on them, as a part of the stakes."""


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """The prices of the bets in a mixture of worlds, and the points of their quotes that are nearest to them.

    `chance` is the probability that a bet is not called off; if it is 0, the price is the forecast.
    """

    target: Vector
    value: Vector
    chance: Vector

    @property
    def square(self) -> float:
        """The squared distance from the quotes, squares weighted by their chance."""
        return float(np.sum(self.chance * (self.target - self.value) ** 2))


@dataclass(frozen=True, slots=True, eq=False)
class SettledQuotes:
    """A mixture of worlds whose prices are as near to the quotes as possible; no squared distance is below `least`."""

    share: Vector
    worlds: Truth
    least: float


def prices_in(bets: Bets, cluster: Cluster, share: Vector, worlds: Truth) -> Prices:
    """The prices of a cluster's bets in a mixture of worlds."""
    own = cluster.bets
    won, stands = truth_of(bets, cluster, worlds)
    chance = np.clip(share @ stands, 0.0, 1.0)
    value = np.divide(share @ won, chance, out=bets.price[own].copy(), where=chance > 0)
    return Prices(np.clip(value, bets.bid[own], bets.ask[own]), value, chance)


def settle(bets: Bets, cluster: Cluster, budget: Budget) -> SettledQuotes | None:
    """Coherent prices within all quotes, or nearest to them; None if this method or the time does not suffice.

    A linear program finds coherent prices within all quotes, or the stakes of a book. For the bets with a stake so
    far, the coherent prices nearest to the sold bids and bought asks are found; quotes are moved there, and the program
    runs again. In the end all other bets keep their quotes, and those that moved are as far from coherence as all bets
    together. Conditional bets are weighted by the chance of their condition, which others may change: if
    they must move, this method does not apply.
    """
    market = Market(bets, cluster)
    bid, ask = bets.bid[cluster.bets], bets.ask[cluster.bets]
    sign, low, high, least = np.zeros(len(bid)), bid, ask, 0.0
    last: SettledQuotes | None = None
    for _ in range(ROUNDS):
        found = market.best(low, high, budget)
        if found.reason:
            return last if least else None
        square = prices_in(bets, cluster, found.share, found.worlds).square
        if square - least <= ACCURACY * square or (found.most <= MARGIN and least == 0.0):
            return SettledQuotes(found.share, found.worlds, least)
        last = SettledQuotes(found.share, found.worlds, least)
        new = (found.stakes != 0) & (sign == 0)
        if not new.any() or cluster.conditional[new].any():
            return None
        sign[new] = np.sign(found.stakes[new])
        target = np.where(sign > 0, bid, ask)
        moves = _moves(cluster, sign, target, budget)
        least = _least(cluster, moves, target, budget)
        last = replace(last, least=least)
        sign, low, high = np.sign(moves), bid - np.maximum(moves, 0.0), ask - np.minimum(moves, 0.0)
    return None


def worst(cluster: Cluster, stakes: Vector, price: Vector, budget: Budget) -> tuple[float, str]:
    """The worst-case profit, rounded down, of stakes on bets that are never called off, and on what it rests."""
    own = cluster.only(stakes != 0)
    payouts, constant = own.payouts(stakes[stakes != 0], np.zeros(len(own.bets)))
    found = Oracle(own.part).least(-payouts, budget)
    margin = (ROUNDING if found.exact else FLOAT_MARGIN) * float(np.abs(stakes).sum())
    return float(stakes @ price) - constant + found.bound - margin, found.proof


def _least(cluster: Cluster, moves: Vector, target: Vector, budget: Budget) -> float:
    """The bound that moves m prove: stakes m win at least w, and w <= m d <= |m| |d| for any distances d."""
    if not moves.any():
        return 0.0
    return max(0.0, worst(cluster, moves, target, budget)[0]) ** 2 / float(moves @ moves)


def _moves(cluster: Cluster, sign: Vector, target: Vector, budget: Budget) -> Vector:
    """How far the targets of bets with a sign are from the nearest coherent prices: bids above them, asks below."""
    moves, chosen = np.zeros(len(sign)), sign != 0
    while chosen.any():
        own = _at(cluster.only(chosen), target[chosen])
        near = Nearest(own.part, 0, MARGIN**2)
        near.improve(replace(budget, tolerance=ACCURACY))
        moves[chosen] = target[chosen] - own.on_bets(near.x)
        wrong = chosen & (sign * moves < NOISE)
        if not wrong.any():
            break
        moves[wrong], chosen = 0.0, chosen & ~wrong
    return moves


def _at(cluster: Cluster, price: Vector) -> Cluster:
    """The cluster with its bets at one price each."""
    turned = np.where(cluster.complemented, 1.0 - price, price)
    weight = np.bincount(cluster.coordinate, minlength=len(cluster.part)).astype(np.float64)
    mean = np.bincount(cluster.coordinate, turned, len(cluster.part)) / weight
    return replace(cluster, part=replace(cluster.part, weight=weight, mean=mean, terms=NO_TERMS))
