"""Forecasts as a person would have answered them: contradictions in people's words, bands, and the least change.

A finding's forecasts are put on a sheet, like those of a judge in the workbench, so that both say the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.explain.bets.distance import ABSENT, NOISE
from coherently.explain.fit.answer_sheet import AnswerSheet
from coherently.explain.fit.least_change import LATE, whole_change
from coherently.explain.fit.piece_check import in_sheet_order, looked_at
from coherently.explain.fit.read_sheets import ReadSheet
from coherently.explain.fit.sheet_values import AnswerChange, AnswerState, Item
from coherently.explain.people_sentences import opened, percent, phrase
from coherently.explain.phrases import listing
from coherently.values import Told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.explain.bets.bets import Bets
    from coherently.explain.bets.conditions import Alone
    from coherently.explain.bets.distance import NearestPrices
    from coherently.explain.fit.piece_check import PieceCheck
    from coherently.explain.fit.sheet_values import Band
    from coherently.solve.budget import Budget

MOST_EXPLAINED = 1_000
"""Maximum number of forecasts that are looked at as answers on a sheet."""
QUOTED = "Quotes are ranges: they have no whole per cents."
TOO_MANY = f"More than {MOST_EXPLAINED:,} forecasts are not rounded together."


@dataclass(frozen=True, slots=True)
class Repair(Told):
    """The least change of forecasts that makes them coherent: `changes` exactly, and `whole` in whole per cents.

    The exact change has the least sum of squares. `whole` is None if there is none, and `stuck` says why; what it
    changes fits to half a per cent in all, as on a sheet.
    """

    changes: tuple[AnswerChange, ...] = ()
    whole: tuple[AnswerChange, ...] | None = ()
    stuck: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The repair in plain values."""
        return {
            "changes": [change.as_dict() for change in self.changes],
            "whole": None if self.whole is None else [change.as_dict() for change in self.whole],
            "stuck": self.stuck,
        }


class Explanation:
    """A look at bets as answers; what was not looked at, or not in time, is in `unchecked`."""

    def __init__(self, bets: Bets, sheet: AnswerSheet | None, budget: Budget) -> None:
        self._bets = bets
        self._keys = [str(key) for key in bets.keys(with_judges=False)]
        self._checks: list[PieceCheck] = [] if sheet is None else looked_at(sheet, frozenset(), budget)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The contradictions that people can notice, in the order of the forecasts."""
        return tuple(check.sentence(relation) for check, relation in in_sheet_order(self._checks))

    @property
    def bands(self) -> tuple[Band, ...]:
        """What the other forecasts allow for each."""
        found = {band.event: band for check in self._checks for band in check.bands()}
        return tuple(found[key] for key in self._keys if key in found)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The forecasts of which it is not known whether they fit."""
        states = {event: state for check in self._checks for event, state in check.states()}
        known = (AnswerState.FITS, AnswerState.CONTRADICTS)
        return tuple(key for key in self._keys if states.get(key) not in known)

    def whole(self) -> tuple[tuple[AnswerChange, ...] | None, str | None]:
        """The least change in whole per cents, or why there is none."""
        if self._bets.quoted.any():
            return None, QUOTED
        if len(self._bets) > MOST_EXPLAINED:
            return None, TOO_MANY
        changes: list[AnswerChange] = []
        for check in self._checks:
            if not check.is_checked:
                return None, LATE
            if check.misfits:
                found = whole_change(check)
                if found.stuck is not None:
                    return None, found.stuck
                changes += found.changes
        place = {key: i for i, key in enumerate(self._keys)}
        return tuple(sorted(changes, key=lambda change: place[change.event])), None


def sheet_of(bets: Bets) -> AnswerSheet | None:
    """The bets as answers, each to a question of its own, with readable names; None if they are too many, or quotes."""
    if len(bets) > MOST_EXPLAINED or bets.quoted.any():
        return None
    keys = [str(key) for key in bets.keys(with_judges=False)]
    panel = bets.panel if bets.offered is None else replace(bets.panel, written=bets.offered)
    texts = [bets.text(i) for i in range(len(bets))]
    items = tuple(
        Item(key, text, panel.labels.get(text, text), i + 1)
        for i, (key, text) in enumerate(zip(keys, texts, strict=True))
    )
    every = np.arange(len(bets), dtype=np.int64)
    sheet = ReadSheet(items, every, panel, {item.id: i for i, item in enumerate(items)})
    known = np.ones(len(bets), np.bool_)
    return AnswerSheet(sheet, bets.price.copy(), known, ~known)


def exact_changes(bets: Bets, answers: Sequence[NearestPrices], alone: Sequence[Alone]) -> Iterator[AnswerChange]:
    """The forecasts that move to the nearest coherent prices, in their order."""
    keys, moves = bets.keys(with_judges=False), dict[int, tuple[float, float]]()
    groups = [(answers, np.arange(len(bets))), *((one.answers, one.source) for one in alone)]
    for found, number in groups:
        for answer in found:
            if answer.coherent or not answer.is_mixture:
                continue
            moved = (np.abs(answer.target - answer.value) > NOISE) & (answer.chance > ABSENT)
            for i in np.flatnonzero(moved).tolist():
                moves[int(number[answer.cluster.bets[i]])] = float(answer.target[i]), float(answer.value[i])
    for bet, (old, new) in sorted(moves.items()):
        yield AnswerChange(str(keys[bet]), old, new)


def quote_sentence(bets: Bets, forecasts: Sequence[int]) -> str:
    """A contradiction among bids and asks in people's words."""
    labels = bets.panel.labels
    told = []
    for bet in forecasts:
        name = phrase(Item("", "", labels.get(bets.text(bet), bets.text(bet)), 0))
        ends = dict.fromkeys(percent(float(side[bet])) for side in (bets.bid, bets.ask))
        told.append(f"{name} ({' to '.join(ends)})")
    if len(told) == 1:
        return opened(f"{told[0]} does not fit with logic and the laws.")
    return opened(f"{listing(told)} do not fit together.")
