"""Conditional forecasts in the worlds of their condition only.

The nearest coherent prices may make a condition impossible that nobody forecast, or that was forecast as impossible:
then all bets given it are called off, and any prices of them would be coherent. If the condition is granted, they can
still contradict each other. A bet on what its condition settles contradicts that alone. Neither wins anything for sure,
as long as the condition may fail.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.events import CERTAIN
from coherently.explain.bets.bets import bets_at_forecasts
from coherently.explain.bets.distance import ABSENT, TOLERANCE, nearest_of
from coherently.explain.phrases import SHOWN, number
from coherently.problem import possible
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.arrays import Indices, Mask
    from coherently.explain.bets.bets import Bets
    from coherently.explain.bets.distance import NearestPrices
    from coherently.solve.budget import Budget


@dataclass(frozen=True, slots=True, eq=False)
class Alone(Value):
    """Bets given one condition, as bets in its worlds only, with their nearest coherent prices.

    `source` are their numbers among the bets that they were taken from.
    """

    bets: Bets
    answers: Sequence[NearestPrices]
    source: Indices

    @property
    def is_contradictory(self) -> bool:
        """Whether the prices are proved not to be coherent."""
        return any(answer.coherent is False for answer in self.answers)


def taken_alone(bets: Bets, answers: Sequence[NearestPrices], budget: Budget) -> list[Alone]:
    """The conditions that answers make impossible, each granted for the bets given it.

    Conditions whose own forecast an answer moves for that are left out: the distance counts that already.
    """
    found = []
    for source in _degenerate(bets, answers):
        own = _granting(bets, source)
        found.append(Alone(own, nearest_of(own, budget), source))
    return found


def may_be_called_off(bets: Bets) -> Mask:
    """Which bets on constant events are offered as conditionals that are called off in some possible world."""
    found = bets.settled
    if bets.offered is not None:
        condition = bets.offered.condition[bets.panel.event_index[found]]
        found[found] = possible(bets.panel, condition ^ np.int32(1))
    return found


def called_off(bets: Bets, found: Sequence[Alone]) -> tuple[str, ...]:
    """Notes on contradictions that win nothing for sure, since the bets are called off unless the condition holds."""
    gains = np.where(bets.side == CERTAIN, 1.0 - bets.ask, bets.bid)
    settled = np.flatnonzero(may_be_called_off(bets) & (gains > TOLERANCE)).tolist()
    notes = [_settled_note(bets, bet, float(gains[bet])) for bet in settled[:SHOWN]]
    if more := len(settled) - len(notes):
        notes.append(f"other bets on what their condition settles, called off where it fails: {more:,}")
    return (
        *notes,
        *(
            f"{alone.bets.text(0)!r} and others given the same condition contradict each other, which wins nothing for "
            "sure: bets on them are called off unless it holds"
            for alone in found
            if alone.is_contradictory
        ),
    )


def _settled_note(bets: Bets, bet: int, gain: float) -> str:
    """What is won with a bet on what its condition settles."""
    if bets.side[bet] == CERTAIN:
        is_, trade = "is certain", f"bought at {number(float(bets.ask[bet]))}"
    else:
        is_, trade = "cannot happen", f"sold at {number(float(bets.bid[bet]))}"
    return (
        f"{bets.text(bet)!r} {is_} where its condition holds: {trade}, a unit wins {number(gain)} there, and it is "
        "called off elsewhere"
    )


def _degenerate(bets: Bets, answers: Sequence[NearestPrices]) -> Iterator[Indices]:
    """The bets given a condition that is impossible in the answer, owner by owner and condition by condition.

    A single bet that its condition does not settle contradicts nothing there.
    """
    for answer in answers:
        cluster = answer.cluster
        absent = cluster.conditional & (answer.chance <= ABSENT)
        if not absent.any():
            continue
        moved = cluster.bets[~cluster.conditional & (np.abs(answer.target - answer.value) > ABSENT)]
        paid = set((bets.side[moved] // 2).tolist())
        condition = bets.condition[cluster.bets]
        for side in np.unique(condition[absent]).tolist():
            mine = cluster.bets[absent & (condition == side)]
            if side // 2 not in paid and len(mine) > 1:
                yield mine


def _granting(bets: Bets, source: Indices) -> Bets:
    """The bets with their condition as a law: the price of E & H is then that of E given H."""
    panel = bets.panel.select(source)
    written, laws = panel.written, panel.laws
    granted = replace(written, condition=np.full_like(written.condition, CERTAIN), rest=written.event ^ np.int32(1))
    law = replace(
        laws,
        text=(*laws.text, "the condition"),
        place=(*laws.place, "the forecasts"),
        side=np.append(laws.side, written.condition[:1]),
    )
    return bets_at_forecasts(replace(panel, written=granted, laws=law, notes=()))
