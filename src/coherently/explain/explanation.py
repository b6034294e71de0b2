"""Forecasts as a person would have answered them: contradictions in people's words, bands, and the least change.

A finding's forecasts are put on a sheet, like those of a judge in the workbench, so that both say the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coherently.contract import FLAG, NUMBER, TEXT, ListOf, ObjectOf, OrNull, RecordField
from coherently.explain.bets.distance import ABSENT, NOISE
from coherently.explain.event_names import EventNames, named_items, topics_of
from coherently.explain.fit.answer_sheet import AnswerSheet
from coherently.explain.fit.least_change import LATE, whole_change
from coherently.explain.fit.piece_check import in_sheet_order, looked_at
from coherently.explain.fit.read_sheets import ReadSheet
from coherently.explain.fit.sheet_values import AnswerChange, AnswerState, Band, Item
from coherently.explain.people_sentences import opened, percent
from coherently.explain.phrases import listing
from coherently.values import Told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.explain.allowance import Allowance
    from coherently.explain.bets.bets import Bets
    from coherently.explain.bets.conditions import Alone
    from coherently.explain.bets.distance import NearestPrices
    from coherently.explain.fit.piece_check import PieceCheck

MOST_EXPLAINED = 1_000
"""Maximum number of forecasts that are looked at as answers on a sheet."""
QUOTED = "Quotes are ranges: they have no whole per cents."
TOO_MANY = f"More than {MOST_EXPLAINED:,} forecasts are not rounded together."
SHARE = 0.5
"""The part of the time left that each kind of explanation of one judge may take."""
CHANGE = ObjectOf(
    "a change",
    (
        RecordField("event", TEXT, "the event, or the conditional, as it is written"),
        RecordField("from", NUMBER, "the forecast"),
        RecordField("to", NUMBER, "what it would be"),
    ),
)
REPAIR = ObjectOf(
    "a repair",
    (
        RecordField("changes", ListOf(CHANGE), "the exact change, which has the least sum of squares"),
        RecordField("whole", OrNull(ListOf(CHANGE)), "the least change in whole per cents; null if there is none"),
        RecordField("stuck", OrNull(TEXT), "why there is none"),
    ),
)
BAND = ObjectOf(
    "a band",
    (
        RecordField("event", TEXT, "the event, or the conditional, as it is written"),
        RecordField("low", NUMBER, "the least probability that the other forecasts allow"),
        RecordField("high", NUMBER, "the greatest"),
        RecordField("fits", FLAG, "whether the forecast lies between them, to half a per cent"),
        RecordField("mended", FLAG, "whether the others contradict each other, so that the band is that of a repair"),
    ),
)


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

    @staticmethod
    def of(values: dict[str, Any]) -> Repair:
        """The repair of plain values."""
        whole = values["whole"]
        return Repair(_changes(values["changes"]), None if whole is None else _changes(whole), values["stuck"])


def _changes(rows: Sequence[dict[str, Any]]) -> tuple[AnswerChange, ...]:
    return tuple(AnswerChange(row["event"], float(row["from"]), float(row["to"])) for row in rows)


def bands_of(rows: Sequence[dict[str, Any]]) -> tuple[Band, ...]:
    """The bands of plain values."""
    return tuple(Band(**row | {end: float(row[end]) for end in ("low", "high")}) for row in rows)


class ToldContradiction(NamedTuple):
    """A contradiction in people's words, and the events, or conditionals, as written, that it is about."""

    events: tuple[str, ...]
    sentence: str


class Explanation:
    """Bets looked at as answers, once; what was not looked at, or not in time, is in `unchecked`."""

    def __init__(self, bets: Bets, allowance: Allowance) -> None:
        self._bets, self._allowance = bets, allowance
        self._keys = [str(key) for key in bets.keys(with_judges=False)]

    @cached_property
    def _checks(self) -> list[PieceCheck]:
        sheet = sheet_of(self._bets)
        if sheet is None:
            return []
        with self._allowance.spend(SHARE) as budget:
            return looked_at(sheet, frozenset(), budget)

    @property
    def told(self) -> tuple[ToldContradiction, ...]:
        """The contradictions that people can notice, in the order of the forecasts."""
        return tuple(
            ToldContradiction(tuple(check.items[i].id for i in sorted(relation.forecasts)), check.sentence(relation))
            for check, relation in in_sheet_order(self._checks)
        )

    @property
    def bands(self) -> tuple[Band, ...]:
        """What the other forecasts allow for each."""
        checks = self._checks
        with self._allowance.spend(SHARE) as budget:
            known = {band.event: band for check in checks for band in check.later(budget).bands()}
        return tuple(known[key] for key in self._keys if key in known)

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
        if not all(check.is_checked for check in self._checks):
            return None, LATE
        with self._allowance.spend(SHARE) as budget:
            for check in self._checks:
                if check.misfits:
                    mend = whole_change(check.later(budget))
                    if mend.stuck is not None:
                        return None, mend.stuck
                    changes += mend.changes
        place = {key: i for i, key in enumerate(self._keys)}
        return tuple(sorted(changes, key=lambda change: place[change.event])), None


def is_on_sheet(bets: Bets) -> bool:
    """Whether bets can be looked at as answers: they are not too many, and no quotes."""
    return len(bets) <= MOST_EXPLAINED and not bets.quoted.any()


def sheet_of(bets: Bets) -> AnswerSheet | None:
    """The bets as answers with readable names; None if they cannot be.

    Each is a question of its own, except that events of one topic are one question.
    """
    if not is_on_sheet(bets):
        return None
    keys = [str(key) for key in bets.keys(with_judges=False)]
    panel = bets.panel if bets.offered is None else replace(bets.panel, written=bets.offered)
    texts = [bets.text(i) for i in range(len(bets))]
    topics, first = topics_of(panel), dict[str, int]()
    titled = (
        Item(
            id=key,
            event=text,
            title=panel.labels.get(text, text),
            question=first.setdefault(topics.get(text, key), i + 1),
            topic=topics.get(text, ""),
        )
        for i, (key, text) in enumerate(zip(keys, texts, strict=True))
    )
    items = named_items(titled, EventNames.of(panel))
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
    names = EventNames.of(bets.panel)
    told = []
    for bet in forecasts:
        text = bets.text(bet)
        name = names.spoken(text, bets.panel.labels.get(text))
        ends = dict.fromkeys(percent(float(side[bet])) for side in (bets.bid, bets.ask))
        told.append(f"{name} ({' to '.join(ends)})")
    if len(told) == 1:
        return opened(f"{told[0]} does not fit with logic and the laws.")
    return opened(f"{listing(told)} do not fit together.")
