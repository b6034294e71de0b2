"""Books that must survive fees and spreads: the best one for stakes of 1 in total."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from coherently.certify.bets import truth_of
from coherently.certify.distance import TOLERANCE
from coherently.solve.oracle import Oracle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.certify.bets import Bets, Cluster

_PRECISE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def best_stakes(
    bets: Bets,
    cluster: Cluster,
    sell: NDArray[np.float64],
    buy: NDArray[np.float64],
    worlds: NDArray[np.uint8],
    deadline: float,
) -> tuple[NDArray[np.float64], float]:
    """Stakes of the greatest profit in the worst world, and that profit (0 if there is none above the tolerance).

    A unit of a bet brings its price `sell` where it is sold and costs `buy` where it is bought. A linear program over
    the worlds found so far says which stakes are best in them; the oracle says which world is worst for those stakes;
    until no world is news. `worlds` are those to begin with.
    """
    oracle = Oracle(cluster.part)
    won, stands = truth_of(bets, cluster, worlds)
    stakes, hoped = np.zeros(len(sell)), 0.0
    while time.monotonic() < deadline:
        stakes, hoped = _best_in(won.astype(np.float64), stands.astype(np.float64), sell, buy)
        if hoped <= TOLERANCE:
            return stakes, 0.0
        seconds = max(0.0, deadline - time.monotonic())
        income = np.where(stakes > 0, sell, buy) * stakes
        least = oracle.least(-cluster.payouts(stakes, income)[0], seconds, 0.1 * hoped)
        row, standing = truth_of(bets, cluster, least.world[None, :])
        if hoped - (float(income @ standing[0]) - float(stakes @ row[0])) <= max(TOLERANCE, 1e-9 * hoped):
            return stakes, hoped
        won, stands = np.concatenate([won, row]), np.concatenate([stands, standing])
    return stakes, hoped


def _best_in(
    won: NDArray[np.float64], stands: NDArray[np.float64], sell: NDArray[np.float64], buy: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Maximise t under t <= sum s (h sell - v) + sum b (v - h buy) in each world, sum s + b <= 1, s and b >= 0.

    v is 1 where a bet is won and h where it stands.
    """
    from scipy.optimize import linprog

    count = len(sell)
    profit = np.concatenate([stands * sell - won, won - stands * buy], axis=1)
    matrix = np.block([[-profit, np.ones((len(won), 1))], [np.ones((1, 2 * count)), np.zeros((1, 1))]])
    right = np.zeros(len(won) + 1)
    right[-1] = 1.0
    cost = np.zeros(2 * count + 1)
    cost[-1] = -1.0
    found = linprog(cost, matrix, right, bounds=(0, None), method="highs", options=_PRECISE)
    if found.x is None:
        return np.zeros(count), 0.0
    stakes = found.x[:count] - found.x[count:-1]
    return np.where(np.abs(stakes) < 1e-12, 0.0, stakes), float(found.x[-1])
