"""Conditional forecasts in the worlds of their condition only.

The nearest coherent prices may make a condition impossible that nobody forecast, or that was forecast as impossible:
then all bets given it are called off, and any prices of them would be coherent. If the condition is granted, they can
still contradict each other, or what is certain or impossible there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.books.bets import bets_at_forecasts
from coherently.books.distance import ABSENT, nearest_of
from coherently.events import CERTAIN, NEVER
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.arrays import Indices, Mask
    from coherently.books.bets import Bets
    from coherently.books.distance import NearestPrices
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
    def square(self) -> float:
        """The squared distance from coherent prices."""
        return sum(answer.square for answer in self.answers if not answer.coherent)


def taken_alone(bets: Bets, answers: Sequence[NearestPrices], budget: Budget) -> list[Alone]:
    """The conditions that answers make impossible, each granted for the bets given it.

    Conditions whose own forecast an answer moves for that are left out: the distance counts that already.
    """
    found = []
    for source in (*_degenerate(bets, answers), *_unrelated(bets, answers)):
        own = _granting(bets, source)
        found.append(Alone(own, nearest_of(own, budget), source))
    return found


def called_off(found: Sequence[Alone]) -> tuple[str, ...]:
    """Notes on contradictions that win nothing for sure, since the bets are called off unless the condition holds."""
    return tuple(
        f"{alone.bets.text(0)!r} and others given the same contradict each other; nobody forecast "
        "the condition, and bets given it are called off unless it holds"
        for alone in found
        if alone.square > 0
    )


def _degenerate(bets: Bets, answers: Sequence[NearestPrices]) -> Iterator[Indices]:
    """The bets given a condition that is impossible in the answer, owner by owner and condition by condition."""
    settled = _settled(bets)
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
            related = len(mine) > 1 or not cluster.part.space.is_free or settled[mine].any()
            if side // 2 not in paid and related:
                yield mine


def _unrelated(bets: Bets, answers: Sequence[NearestPrices]) -> Iterator[Indices]:
    """The bets in no cluster whose event is certain or impossible given its condition."""
    loose = _settled(bets)
    for answer in answers:
        loose[answer.cluster.bets] = False
    yield from np.flatnonzero(loose)[:, None]


def _settled(bets: Bets) -> Mask:
    """Whether each bet's event is certain or impossible given its condition, whatever the laws."""
    settled: Mask = bets.conditional & ((bets.side == bets.condition) | (bets.side == NEVER))
    return settled


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
