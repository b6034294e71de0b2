"""Stakes rounded to decimal numbers, and their profit in the worst world in exact arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.bets.bets import truth_of
from coherently.problem import LARGEST_TABLE
from coherently.solve.worlds.oracle import Oracle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coherently.arrays import Truth, Vector
    from coherently.explain.bets.bets import Bets, Cluster
    from coherently.explain.bets.distance import NearestPrices
    from coherently.solve.budget import Budget

LARGEST = 2.0**52
"""Integers up to this, and their sums, are exact in float64."""
DIGITS = 12
"""Number of digits of the largest stake: few enough to round off errors of the solver."""
ATTEMPTS = 10
"""Maximum number of corrections of stakes by a world in which they win too little."""
SLACK = 1e-3
"""Part of the expected profit that a float bound may leave unproved."""
FLOAT_MARGIN = 1e-9
"""Error of a float bound, as a part of the sum of the stakes."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Stakes on the bets of a cluster that should win the `expected` profit in every world.

    `prices` maps sold (positive) and bought (negative) bets to the exact price of each after fees; in all of `worlds`
    the profit should be equal.
    """

    cluster: Cluster
    stakes: Vector
    expected: float
    worlds: Truth
    prices: Callable[[Cluster, Vector], Sequence[Fraction]]

    def traded(self) -> Plan:
        """The same without the bets that have no stake."""
        kept = self.stakes != 0
        return Plan(
            cluster=self.cluster.only(kept),
            stakes=self.stakes[kept],
            expected=self.expected,
            worlds=self.worlds,
            prices=self.prices,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ProvedStakes:
    """Stakes on the bets of a cluster whose profit is at least `profit` in every world; `world` is the worst found."""

    cluster: Cluster
    stakes: list[Fraction]
    profit: Fraction
    world: Truth
    exact: bool
    word: str


def prove(bets: Bets, plan: Plan, budget: Budget) -> ProvedStakes | None:
    """A sure profit by the plan's stakes, or by stakes close to them; None if none can be proved.

    Stakes p - x lose their last digits to cancellation if p is close to the coherent x. They should pay the same in
    every world of the mixture x: differences there are projected out, as they are for any other world in which the
    stakes win too little.
    """
    oracle = Oracle(plan.cluster.part)
    rows, stakes = _payouts(bets, plan.cluster, plan.worlds), plan.stakes
    best: ProvedStakes | None = None
    for _ in range(ATTEMPTS if oracle.is_exact else 1):
        found = _worst(plan, oracle, stakes, budget)
        if found is None:
            break
        if found.profit > 0 and (best is None or found.profit > best.profit):
            best = found
        if float(found.profit) >= (1 - SLACK) * plan.expected or budget.is_over():
            break
        rows = np.concatenate([rows, _payouts(bets, plan.cluster, found.world[None, :])])
        stakes = _levelled(stakes, rows)
    return best


def accept(bets: Bets, plan: Plan, answer: NearestPrices) -> ProvedStakes | None:
    """The profit of stakes p - x that the bounds of the nearest coherent x prove, in floats; None if there is none.

    Rounding a stake changes its profit by at most the change of the stake.
    """
    units, power = _rounded(plan.cluster, plan.stakes)
    rounding = float(np.abs(plan.stakes - units * 10.0**-power).sum())
    sure = plan.expected - answer.shortfall - FLOAT_MARGIN * float(np.abs(plan.stakes).sum()) - rounding
    if not sure > 0:
        return None
    worlds = np.concatenate([answer.lowest[None, :], answer.worlds])
    payout = _payouts(bets, plan.cluster, worlds) @ plan.stakes
    stakes = [int(unit) * Fraction(10) ** -power for unit in units.tolist()]
    word = f"float bound: {answer.proof}"
    return ProvedStakes(
        cluster=plan.cluster,
        stakes=stakes,
        profit=Fraction(sure),
        world=worlds[int(np.argmax(payout))],
        exact=False,
        word=word,
    )


def _payouts(bets: Bets, cluster: Cluster, worlds: Truth) -> Vector:
    """The payout of one unit of each bet in worlds, minus its price if it is conditional and stands."""
    won, stands = truth_of(bets, cluster, worlds)
    price = np.where(cluster.conditional, bets.price[cluster.bets], 0.0)
    payouts: Vector = won - stands * price
    return payouts


def _levelled(stakes: Vector, rows: Vector) -> Vector:
    """Project the stakes on those that pay the same in all rows."""
    differences = rows[1:] - rows[:1]
    _, sizes, basis = np.linalg.svd(differences, full_matrices=False)
    basis = basis[sizes > 1e-9 * max(1.0, float(sizes.max(initial=0.0)))]
    scale = float(np.abs(stakes).max())
    unit = stakes / scale
    for _ in range(2):
        unit = unit - basis.T @ (basis @ unit)
    return np.where(np.abs(unit) < 1e-12, 0.0, unit) * scale


def _worst(plan: Plan, oracle: Oracle, stakes: Vector, budget: Budget) -> ProvedStakes | None:
    """The stakes, rounded, in the world that is worst for them."""
    cluster = plan.cluster
    units, power = _rounded(cluster, stakes)
    if not units.any():
        return None
    whole = [int(unit) for unit in units.tolist()]
    received = [unit * price for unit, price in zip(whole, plan.prices(cluster, units), strict=True)]
    income = sum((money for money, given in zip(received, cluster.conditional, strict=True) if not given), Fraction(0))
    # The income from a bet that may be called off is rounded down to whole units, so that sums stay exact.
    returned = np.array([float(money.__floor__()) for money in received])
    payouts, constant = cluster.payouts(units, returned)
    least = oracle.least(-payouts, budget, SLACK * plan.expected * 10.0**power)
    if not math.isfinite(least.bound):
        return None
    margin = 0.0 if least.exact else FLOAT_MARGIN * float(np.abs(units).sum())
    profit = income - Fraction(constant) + Fraction(least.bound - margin)
    word = f"{'exact rational arithmetic' if least.exact else 'float bound'}: {least.proof}"
    unit = Fraction(10) ** -power
    return ProvedStakes(
        cluster=cluster,
        stakes=[w * unit for w in whole],
        profit=profit * unit,
        world=least.world,
        exact=least.exact,
        word=word,
    )


def _rounded(cluster: Cluster, stakes: Vector) -> tuple[Vector, int]:
    """Whole numbers of a decimal unit, and its number of decimals, such that sums over worlds are exact in float64.

    An event of k variables is a sum of products of them with integer coefficients, whose absolute values add up to at
    most 3^k; an event with more variables than a table can have is a count, which is added as it is.
    """
    sizes = cluster.part.sizes()
    growth = 3.0 ** np.where(sizes > LARGEST_TABLE, 0, sizes)
    given = cluster.part.terms.conditionals
    own = cluster.coordinate[cluster.conditional]
    each = np.empty(len(stakes))
    each[~cluster.conditional] = growth[cluster.coordinate[~cluster.conditional]]
    each[cluster.conditional] = growth[given.joint.coordinate[own]] + 2 * growth[given.condition.coordinate[own]]
    total = float(np.sum(np.abs(stakes) * each))
    if total == 0.0:
        return np.zeros(len(stakes)), 0
    room = math.floor(math.log10(LARGEST / total))
    power = min(room, DIGITS - 1 - math.floor(math.log10(float(np.abs(stakes).max()))))
    return np.rint(stakes * 10.0**power), power
