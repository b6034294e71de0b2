"""Panels without some of their judges, events or laws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import PanelError, Where, counted
from coherently.panel.laws import Laws, Pins
from coherently.panel.texts import name_some, suggest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from coherently.panel.panel import Panel


class PartKind(StrEnum):
    """What can be left out of a panel."""

    JUDGE = "judge"
    EVENT = "event"
    LAW = "law"
    TOGETHER = "together"


SINGLE = (PartKind.JUDGE, PartKind.EVENT, PartKind.LAW)
"""What is left out one by one."""


@dataclass(frozen=True, slots=True)
class PanelPart:
    """One judge, event or law of a panel: its kind, its name as the panel has it, and its number there.

    The number of an event is that in `panel.written`. Laws are numbered in the order of `panel.laws`: formulas, then
    pins.
    """

    kind: PartKind
    name: str
    number: int


def find_part(panel: Panel, word: str) -> PanelPart:
    """The judge, event or law that a word names; `judge:`, `event:` or `law:` before it says which is meant.

    >>> from coherently.panel import Panel
    >>> panel = Panel.from_records([("Ann", "p", 0.6), ("Bob", "p & q", 0.4)], laws=["q -> r"])
    >>> [find_part(panel, word).kind.value for word in ("Bob", "q and p", "q  ->  r")]
    ['judge', 'event', 'law']
    """
    kinds: tuple[PartKind, ...] = SINGLE
    before, colon, rest = word.partition(":")
    if colon and before.strip().casefold() in SINGLE and word not in panel.judges:
        kinds, word = (PartKind(before.strip().casefold()),), rest.strip()
    found = [part for kind in kinds if (part := _FINDERS[kind](panel, word)) is not None]
    if len(found) == 1:
        return found[0]
    if found:
        choices = " or ".join(f"{part.kind}:{word}" for part in found)
        raise PanelError(
            f"{word!r} is {' and '.join(f'the name of a {part.kind}' for part in found)}; write {choices}",
            code="ambiguous-part",
        )
    raise _unknown(panel, word, kinds)


def leave_out(panel: Panel, words: Iterable[str]) -> Panel:
    """The panel without the judges, events and laws that the words name; a note says what was left out.

    An event is left out with its complement, which is the same question. What only those judges forecast, or what only
    those laws are about, is not in the panel any more.

    >>> from coherently.panel import Panel
    >>> panel = Panel.from_records([("Ann", "p", 0.6), ("Ann", "~p", 0.5), ("Bob", "p & q", 0.4)], laws=["p -> q"])
    >>> leave_out(panel, ["Ann"]), leave_out(panel, ["p", "p -> q"]).laws.text
    (<Panel: 1 forecast by 1 judge on 1 event over 2 variables>, ())
    """
    parts = list(dict.fromkeys(find_part(panel, word) for word in words))
    return panel if not parts else without_parts(panel, parts)


def without_parts(panel: Panel, parts: Iterable[PanelPart]) -> Panel:
    """The same for parts that are known already."""
    kept, laws = np.ones(len(panel), np.bool_), set[int]()
    listed = list(parts)
    for part in listed:
        if part.kind is PartKind.LAW:
            laws.add(part.number)
        else:
            kept &= ~rows_of(panel, part)
    if not kept.any():
        raise PanelError(f"without {name_parts(listed)} no forecast is left", remedy="Leave out less.")
    smaller = panel if kept.all() else panel.select(np.flatnonzero(kept))
    note = f"Left out: {name_parts(listed)}."
    return replace(smaller, laws=without_laws(panel.laws, laws), notes=(*panel.notes, note))


def rows_of(panel: Panel, part: PanelPart) -> NDArray[np.bool_]:
    """Which forecasts are by a judge, or about an event or its complement."""
    if part.kind is PartKind.JUDGE:
        found: NDArray[np.bool_] = panel.judge_index == part.number
        return found
    return same_question(panel, part.number)[panel.event_index]


def same_question(panel: Panel, number: int) -> NDArray[np.bool_]:
    """Which written events are one of them or its complement, under the same condition."""
    written = panel.written
    about = (written.event == written.event[number]) | (written.event == written.rest[number])
    same: NDArray[np.bool_] = about & (written.condition == written.condition[number])
    return same


def without_laws(laws: Laws, numbers: Iterable[int]) -> Laws:
    """Without some formulas and pins, by their numbers."""
    gone = set(numbers)
    if not gone:
        return laws
    formulas = [i for i in range(len(laws)) if i not in gone]
    pins = [i for i in range(len(laws.pins)) if i + len(laws) not in gone]
    own = laws.pins
    return replace(
        laws,
        text=tuple(laws.text[i] for i in formulas),
        place=tuple(laws.place[i] for i in formulas),
        side=laws.side[formulas],
        pins=Pins(
            text=tuple(own.text[i] for i in pins),
            event=own.event[pins],
            condition=own.condition[pins],
            low=own.low[pins],
            high=own.high[pins],
        ),
    )


def name_parts(parts: Iterable[PanelPart]) -> str:
    """Parts in words.

    >>> name_parts([PanelPart(PartKind.JUDGE, "Ann", 0), PanelPart(PartKind.LAW, "p -> q", 0)])
    "the judge 'Ann', the law 'p -> q'"
    """
    return name_some(f"the {part.kind} {part.name!r}" for part in parts)


def _judge(panel: Panel, word: str) -> PanelPart | None:
    return PanelPart(PartKind.JUDGE, word, panel.judges.index(word)) if word in panel.judges else None


def _event(panel: Panel, word: str) -> PanelPart | None:
    reading, written = panel.events.find([word]), panel.written
    if reading.faults:
        return None
    side, condition, rest = reading.sides[0].tolist()
    if side < 0:
        return None
    match = np.flatnonzero(((written.event == side) | (written.event == rest)) & (written.condition == condition))
    exact = match[written.event[match] == side]
    number = int((exact if len(exact) else match)[0]) if len(match) else -1
    return PanelPart(PartKind.EVENT, written.text[number], number) if number >= 0 else None


def _law(panel: Panel, word: str) -> PanelPart | None:
    wanted = "".join(word.split())
    texts = (*panel.laws.text, *panel.laws.pins.text)
    match = [i for i, text in enumerate(texts) if "".join(text.split()) == wanted]
    return PanelPart(PartKind.LAW, texts[match[0]], match[0]) if match else None


_FINDERS: dict[PartKind, Callable[[Panel, str], PanelPart | None]] = {
    PartKind.JUDGE: _judge,
    PartKind.EVENT: _event,
    PartKind.LAW: _law,
}


def _unknown(panel: Panel, word: str, kinds: tuple[PartKind, ...]) -> PanelError:
    laws = [*panel.laws.text, *panel.laws.pins.text]
    names = {PartKind.JUDGE: panel.judges, PartKind.EVENT: panel.written.text, PartKind.LAW: laws}
    near = next(filter(None, (suggest(word, list(names[kind])) for kind in kinds)), "")
    has = ", ".join(counted(len(names[kind]), str(kind)) for kind in kinds)
    declared = " A declaration of a variable cannot be left out." if word.startswith("variable ") else ""
    return PanelError(
        f"{word!r} is the name of no {' or '.join(kinds)} of the panel{near}; it has {has}.{declared}",
        code="unknown-part",
        where=Where(event=word),
    )
