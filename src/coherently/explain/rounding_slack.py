"""What the decimals of a file explain: forecasts printed with d decimals may each be off by half a unit of the last.

A judge's decimals are the most that any of its numbers needs. If they are 3 to 11, numbers count as rounded: by at most
0.0005 for 3 decimals, and 5e-7 for 6. One or two decimals are how people say what they think, and 0.60 for p with 0.61
for p & q is a contradiction; 12 or more are not rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.bets.distance import ABSENT, TOLERANCE
from coherently.explain.bets.market import MARGIN, Market
from coherently.solve.worlds.oracle import Oracle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.arrays import Vector
    from coherently.explain.bets.bets import Bets
    from coherently.explain.bets.distance import NearestPrices
    from coherently.panel import Panel
    from coherently.solve.budget import Budget

FEWEST, MOST = 3, 11
"""Minimum and maximum number of decimals of numbers that count as rounded."""
DIGITS = 1e-15
"""How far a float may be from the decimal number that it stands for: a percentage divided by 100 loses its last bit."""


def half_units(panel: Panel) -> Vector:
    """The largest rounding error of each forecast; 0 if its judge's numbers were not rounded."""
    count = len(panel.judges)
    decimals = np.zeros(count, np.int64)
    for column in (panel.probability, panel.lower, panel.upper):
        if column is not None:
            given = ~np.isnan(column)
            np.maximum.at(decimals, panel.judge_index[given], _decimals(column[given]))
    rounded = (decimals >= FEWEST) & (decimals <= MOST)
    half: Vector = np.where(rounded, 0.5 * 10.0**-decimals, 0.0)[panel.judge_index]
    return half


def _decimals(values: Vector) -> NDArray[np.int64]:
    """The decimals that each number needs; `MOST` + 1 if it needs more than `MOST`."""
    needed = np.full(len(values), MOST + 1, np.int64)
    for digits in range(MOST, -1, -1):
        unit = 10.0**digits
        needed[np.abs(np.rint(values * unit) / unit - values) <= DIGITS] = digits
    return needed


def explains(answer: NearestPrices, slack: Vector) -> bool:
    """Whether the coherent prices found are within the slack of the cluster's bets."""
    stands = answer.chance > ABSENT
    allowed = np.where(slack > 0, slack + TOLERANCE, 0.0)
    return answer.is_mixture and bool(np.all(np.abs(answer.target - answer.value)[stands] <= allowed[stands]))


def cannot_explain(answer: NearestPrices, slack: Vector) -> bool:
    """Whether coherent prices are proved to be farther than any that are within the slack: squares add up."""
    return answer.least > float(np.sum(slack**2))


def is_within_slack(bets: Bets, answer: NearestPrices, slack: Vector, budget: Budget) -> bool | None:
    """Whether some coherent prices are within the slack of the cluster's bets; None if that was not decided.

    Stakes that win even at prices worse by the slack prove that there are none.
    """
    if budget.is_over():
        return None
    cluster, own = answer.cluster, answer.cluster.bets
    exact = Oracle(cluster.part).is_exact
    if not exact and not slack.any():
        return None
    sell, buy = np.maximum(bets.bid[own] - slack, 0.0), np.minimum(bets.ask[own] + slack, 1.0)
    found = Market(bets, cluster, answer.worlds).best(sell, buy, budget)
    if found.most <= MARGIN:
        return True
    return False if found.profit > MARGIN and exact else None
