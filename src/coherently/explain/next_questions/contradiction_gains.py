r"""How much of a contradiction hangs on one event.

The means of a panel have a squared distance D from the nearest coherent numbers, each event as written counted once.
Without event e it is \(D_{-e}\). For every new answer c about e the distance is at least \(D_{-e}\), and it is that for
the c which the nearest numbers for the other events imply; so \(D - D_{-e}\) is what asking again can remove at most.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.bets.bets import bets_at_means, bets_of_judges, stated, usable
from coherently.explain.bets.distance import nearest_of

if TYPE_CHECKING:
    from coherently.explain.bets.bets import Bets
    from coherently.explain.bets.distance import NearestPrices
    from coherently.panel import Panel
    from coherently.solve.budget import Budget

MOST = 400
"""Only the events of a cluster that the nearest numbers move most are left out, at most this many."""


def contradiction_gains(panel: Panel, budget: Budget) -> tuple[float, list[tuple[str, float]], list[str]]:
    """The squared distance of a panel's means, what leaving out each event removes of it, and notes."""
    panel, notes = usable(panel)
    bets = stated(panel, bets_at_means)
    broken = [answer for answer in nearest_of(bets, budget.share(0.3)) if answer.coherent is not True]
    rows = [(answer, bet) for answer in broken for bet in _moved(bets, answer)]
    left = _squares_without(bets, rows, budget)
    open_ = sum(not known for _, known in left) + sum(not answer.is_known for answer in broken)
    if open_:
        notes = (*notes, f"distances that were not proved in time, so that their gains are estimates: {open_:,}")
    told = [
        (bets.text(bet), max(0.0, answer.square - square))
        for (answer, bet), (square, _) in zip(rows, left, strict=True)
    ]
    return float(sum(answer.square for answer in broken)), told, list(notes)


def _moved(bets: Bets, answer: NearestPrices) -> list[int]:
    """The bets of a cluster, those first that the nearest prices are farthest from."""
    own = np.asarray(answer.cluster.bets)
    order = np.argsort(-np.abs(answer.value - bets.price[own]), kind="stable")
    found: list[int] = own[order[:MOST]].tolist()
    return found


def _squares_without(bets: Bets, rows: list[tuple[NearestPrices, int]], budget: Budget) -> list[tuple[float, bool]]:
    """The squared distance of each cluster without one of its bets, and whether it is known."""
    kept = [np.setdiff1d(answer.cluster.bets, [bet]) for answer, bet in rows]
    squares, known = np.zeros(len(rows)), np.ones(len(rows), np.bool_)
    if any(len(some) for some in kept):
        # Each of the smaller clusters is the forecasts of one judge, so that all of them are solved at once.
        judge = np.repeat(np.arange(len(rows), dtype=np.int32), [len(some) for some in kept])
        chosen = bets.panel.select(np.concatenate(kept).astype(np.int64))
        smaller = replace(chosen, judges=tuple(map(str, range(len(rows)))), judge_index=judge)
        for answer in nearest_of(bets_of_judges(smaller), budget):
            owner = smaller.judge_index[answer.cluster.bets[0]]
            squares[owner] += answer.square
            known[owner] &= answer.is_known
    return list(zip(squares.tolist(), known.tolist(), strict=True))
