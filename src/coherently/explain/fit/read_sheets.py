"""A sheet as it is understood: its panel, and the pieces of it that hang together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import CoherentlyError
from coherently.events import CERTAIN
from coherently.explain.event_names import named_items
from coherently.explain.fit.pieces import SheetPiece, make_piece
from coherently.explain.recent_values import Lately, kept_with_owner
from coherently.panel import Panel
from coherently.problem import pose, split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from coherently.explain.fit.sheet_values import Item, SheetSetting

CERTAINLY = "true"
"""What a panel is about that asks nothing yet: its laws are read all the same."""
SETTINGS, PIECES, MADE = 64, 512, 4_096
"""Number of settings, and for each of them of sets of answered events and of pieces, that are kept."""
MOST_BYTES = 16_000_000
"""Maximum number of bytes that the pieces of a setting may have which are kept."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ReadSheet:
    """The items that can be read, and the panel with one forecast per distinct text; `row` leads from items to it."""

    items: tuple[Item, ...]
    row: NDArray[np.int64]
    panel: Panel
    number: dict[str, int]

    @property
    def event(self) -> NDArray[np.int32]:
        """The side of each item's event; of a conditional, that of the event and its condition together."""
        return self.panel.written.event[self.panel.event_index[self.row]]

    @property
    def condition(self) -> NDArray[np.int32]:
        """The side of each item's condition."""
        return self.panel.written.condition[self.panel.event_index[self.row]]

    @property
    def conditional(self) -> NDArray[np.bool_]:
        """Which items are conditional."""
        given: NDArray[np.bool_] = self.condition != CERTAIN
        return given


@lru_cache(maxsize=SETTINGS)
def read_sheet(setting: SheetSetting) -> ReadSheet | None:
    """Read all events and laws of a sheet, once; None if the laws cannot be read.

    Events that cannot be read are left out: one of them must not take the feedback on all others away.
    """
    items = named_items(setting.items)
    return _read(items, setting.laws) or _read(_readable(items, setting.laws), setting.laws)


def _read(items: tuple[Item, ...], laws: tuple[str, ...]) -> ReadSheet | None:
    """Read some events together with the laws; None if that cannot be."""
    texts = list(dict.fromkeys(item.event for item in items)) or [CERTAINLY]
    try:
        panel = Panel.from_records([("judge", text, 0.5) for text in texts], laws=list(laws))
    except CoherentlyError:
        return None
    place = {text: i for i, text in enumerate(texts)}
    row = np.array([place[item.event] for item in items], np.int64)
    return ReadSheet(items, row, panel, {item.id: i for i, item in enumerate(items)})


def _readable(items: tuple[Item, ...], laws: tuple[str, ...]) -> tuple[Item, ...]:
    """The items that can be read one by one."""
    found = []
    for item in items:
        try:
            Panel.from_records([("judge", item.event, 0.5)], laws=list(laws))
        except CoherentlyError:
            continue
        found.append(item)
    return tuple(found)


def pieces_of(sheet: ReadSheet, known: frozenset[int]) -> tuple[SheetPiece, ...]:
    """The pieces of a sheet that some of its items, by number, make up."""
    kept = _kept_pieces(sheet)
    found = kept.of_items.get(known)
    if found is None:
        found = tuple(_pieces(sheet, kept, known)) if known else ()
        kept.of_items.put(known, found)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _KeptPieces:
    """The pieces of a sheet that were asked for lately: by all known items, and by the items of each."""

    of_items: Lately[tuple[SheetPiece, ...]]
    made: Lately[SheetPiece]


@kept_with_owner
def _kept_pieces(_sheet: ReadSheet) -> _KeptPieces:
    """Nobody asks for the pieces of a sheet that is gone, such as that of a report: so they go with it."""
    return _KeptPieces(
        Lately(PIECES, weigh=lambda pieces: sum(piece.nbytes for piece in pieces), most=MOST_BYTES),
        Lately(MADE, weigh=lambda piece: piece.nbytes, most=MOST_BYTES),
    )


def _pieces(sheet: ReadSheet, kept: _KeptPieces, known: frozenset[int]) -> Iterator[SheetPiece]:
    items = np.array(sorted(known), np.int64)
    rows = np.unique(sheet.row[items])
    panel = sheet.panel.select(rows)
    problem = pose(replace(panel, weight=np.ones(len(rows))))
    given = problem.merged.terms.conditionals.joint.coordinate
    anchor = problem.coordinate.astype(np.int64)
    anchor[problem.conditional] = given[problem.coordinate[problem.conditional]]
    home = anchor[panel.event_index]
    for part in split(problem.merged):
        own = items[np.isin(sheet.row[items], rows[np.isin(home, part.coordinates)])]
        if not len(own):
            continue
        key = own.tobytes()  # the same piece whenever no other known items hang together with these
        piece = kept.made.get(key)
        if piece is None:
            piece = make_piece(sheet, part.merged, problem.merged.origin[part.merged.origin], own)
            kept.made.put(key, piece)
        yield piece
