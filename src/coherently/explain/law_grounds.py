"""Which laws a contradiction rests on: those without which its forecasts would fit together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.bets.bets import bets_at_forecasts
from coherently.explain.minimal_sets import contradictory
from coherently.panel.laws import touching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.explain.bets.bets import Bets
    from coherently.panel import Panel
    from coherently.solve.budget import Budget


def laws_behind(bets: Bets, forecasts: Sequence[int], budget: Budget) -> tuple[str, ...]:
    """A minimal set of laws, as written, with which the forecasts contradict each other; () if logic is enough.

    >>> import coherently as co
    >>> rows = [("Ann", "a", 0.6), ("Ann", "b", 0.2), ("Ann", "c", 0.7)]
    >>> panel = co.Panel.from_records(rows, laws=["a -> b", "b -> c"])
    >>> co.check(panel).judges["Ann"].grounds
    (('a -> b',),)
    """
    panel = replace(bets.panel.select(np.array(forecasts)), notes=())
    needed = _tied(panel)
    # Long stretches are left out first, then shorter and shorter ones.
    stretch = max(2 * len(needed), 1)
    while stretch > 1 and not budget.is_over():
        stretch = (stretch + 1) // 2
        at = 0
        while at < len(needed):
            fewer = needed[:at] + needed[at + stretch :]
            if _contradicts(panel, fewer, budget):
                needed = fewer
            else:
                at += stretch
    return tuple(panel.laws.text[index] for index in needed)


def _tied(panel: Panel) -> list[int]:
    """The laws that share variables with the events, directly or through other laws."""
    laws, events = panel.laws, panel.events
    tied = np.zeros(len(laws), np.bool_)
    known = np.concatenate([panel.written.event, panel.written.rest])
    while len(laws):
        more = touching(events, laws.side, np.concatenate([known, laws.side[tied]]).astype(np.int32))
        if not (more & ~tied).any():
            break
        tied |= more
    return np.flatnonzero(tied).tolist()


def _contradicts(panel: Panel, kept: Sequence[int], budget: Budget) -> bool:
    """Whether the forecasts contradict each other with some of the laws."""
    laws = panel.laws
    chosen = replace(
        laws,
        text=tuple(laws.text[index] for index in kept),
        place=tuple(laws.place[index] for index in kept),
        side=laws.side[list(kept)],
    )
    own = bets_at_forecasts(replace(panel, laws=chosen))
    return contradictory(own, np.arange(len(own)), budget)
