"""Whether questions are about the same occasion: what anchors them to it, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

from coherently.proposals.proposal import Strength

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coherently.proposals.row_readings import RowReading

SPREAD: Final = 45
"""Most days between the closing dates of questions about one occasion, where nothing else anchors them."""
SAME_OCCASION: Final = "all of them ask about the same occasion"
OTHER_GROUP: Final = "all of them ask about the same occasion, though they are not all in one group"


@dataclass(frozen=True, slots=True)
class Occasion:
    """How sure it is that questions ask about one occasion, and what that assumes."""

    strength: Strength
    assumes: tuple[str, ...] = ()


def occasion_of(readings: Sequence[RowReading]) -> Occasion | None:
    """What anchors the questions: one group, one closing date, or a year or edition in all; None if they are apart."""
    filled = sorted({one.year_from for one in readings} - {"", "title"})
    assumes = tuple(f"the year, which the text does not state, is that of the {word}" for word in filled)
    groups = {one.row.group for one in readings}
    if len(groups) == 1 and None not in groups:
        return Occasion(Strength.LIKELY if assumes else Strength.CERTAIN, assumes)
    shared = frozenset.intersection(*(one.anchors for one in readings))
    if len(groups) > 1:
        # Rows of two groups never meet; a row that is alone in its group does, where a year or edition joins them.
        together = {one.row.group for one in readings if not one.is_alone}
        return Occasion(Strength.LIKELY, (OTHER_GROUP,)) if shared and len(together) < 2 and not assumes else None
    closing = {one.row.close_date for one in readings}
    if len(closing) == 1 and None not in closing:
        return Occasion(Strength.LIKELY if assumes else Strength.CERTAIN, assumes)
    if shared and not assumes:
        return Occasion(Strength.CERTAIN)
    if not shared and _is_spread(closing):
        return None
    return Occasion(Strength.LIKELY, assumes or (SAME_OCCASION,))


def by_group(readings: Iterable[RowReading]) -> Iterator[list[RowReading]]:
    """The readings of each group, and those that are alone: rows of two groups never meet."""
    groups: dict[str, list[RowReading]] = {}
    for one in readings:
        groups.setdefault("" if one.is_alone else one.row.group or "", []).append(one)
    alone = groups.pop("", [])
    if len(groups) == 1 and alone:
        (only,) = groups.values()
        if occasion_of([*only, *alone]) is not None:
            yield sorted([*only, *alone], key=lambda one: one.name)
            return
    yield from groups.values()
    if alone:
        yield alone


def _is_spread(closing: Iterable[str | None]) -> bool:
    days = []
    for told in closing:
        try:
            days.append(date.fromisoformat((told or "")[:10]))
        except ValueError:
            return False
    return (max(days) - min(days)).days > SPREAD
