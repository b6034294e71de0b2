"""The answers of one judge, in the order of the sheet's items, and what ties items by their meaning only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.fit.read_sheets import pieces_of, read_sheet
from coherently.explain.recent_values import kept_with_owner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.explain.fit.pieces import SheetPiece
    from coherently.explain.fit.read_sheets import ReadSheet
    from coherently.explain.fit.sheet_values import Answered, Item, SheetSetting

MOST_PAIRS = 5_000
"""Maximum number of pairs of items of which it is looked up whether a third is their conjunction."""


@dataclass(frozen=True, slots=True, eq=False)
class AnswerSheet:
    """A sheet with answers: `value` is NaN where there is none; `known` marks those answered or abstained from."""

    sheet: ReadSheet
    value: NDArray[np.float64]
    known: NDArray[np.bool_]
    locked: NDArray[np.bool_]

    def pieces(self) -> tuple[SheetPiece, ...]:
        """The pieces that the known items make up."""
        return pieces_of(self.sheet, frozenset(np.flatnonzero(self.known).tolist()))

    def families(self, piece: SheetPiece) -> list[frozenset[int]]:
        """The items of each question with several, if all of them are in a piece, by their numbers there."""
        place = {item: i for i, item in enumerate(piece.items.tolist())}
        whole: dict[int, list[int]] = {}
        for i, item in enumerate(self.sheet.items):
            whole.setdefault(item.question, []).append(i)
        questions = dict.fromkeys(self.sheet.items[item].question for item in place)
        return [frozenset(place[i] for i in whole[q] if i in place) for q in questions if len(whole[q]) > 1]

    def other_half(self, joint: int, one: int) -> Item | None:
        """The item that, together with item `one`, has the meaning of the event `joint`, a side."""
        other = conjunctions(self.sheet).get((joint, one))
        return None if other is None else self.sheet.items[other]


def on_sheet(setting: SheetSetting, answers: Sequence[Answered]) -> AnswerSheet | None:
    """Put answers in the order of the items; the last answer on an item counts. None if the laws cannot be read."""
    sheet = read_sheet(setting)
    if sheet is None:
        return None
    count = len(sheet.items)
    value, known, locked = np.full(count, np.nan), np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    for answer in answers:
        place = sheet.number.get(answer.event)
        if place is None:
            continue
        given = None if answer.abstained else answer.probability
        value[place] = np.nan if given is None else given
        known[place] = answer.abstained or given is not None
        locked[place] = answer.locked and given is not None
    return AnswerSheet(sheet, value, known, locked)


@kept_with_owner
def conjunctions(sheet: ReadSheet) -> dict[tuple[int, int], int]:
    """For the side of a conjunction of two items, and one of these, the other."""
    plain = np.flatnonzero(~sheet.conditional).tolist()
    pairs = [(i, j) for i in plain for j in plain if i < j]
    if len(pairs) > MOST_PAIRS:
        return {}
    items = sheet.items
    found = sheet.panel.events.find([f"({items[i].event}) & ({items[j].event})" for i, j in pairs]).event.tolist()
    wanted = set(sheet.event.tolist())
    known: dict[tuple[int, int], int] = {}
    for (i, j), side in zip(pairs, found, strict=True):
        if side in wanted and side not in (sheet.event[i], sheet.event[j]):
            known.setdefault((side, i), j)
            known.setdefault((side, j), i)
    return known
