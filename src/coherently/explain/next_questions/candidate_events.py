"""Events that could be asked about next: those that were named, or those that the panel itself suggests."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from coherently.errors import EventError, Where, counted
from coherently.events import CERTAIN, NEVER
from coherently.result.bounds import AskedEvent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.events import Events
    from coherently.panel import Panel

MOST = 24
"""Maximum number of candidates that a panel itself suggests."""
LEAST_CONDITION = 1e-6
"""A condition of at most this probability is impossible in the answer."""
TIED = 8
"""Events and laws about more variables than this suggest none of their pairs."""


def suggested(panel: Panel) -> tuple[list[str], list[str]]:
    """The variables that nobody forecast, then pairs of variables that occur together; and a note if some are left out.

    A pair is in one event or law of at most 8 variables, those of few variables first.

    >>> from coherently.panel import Panel
    >>> suggested(Panel.from_records([("Ann", "p | q", 0.7), ("Ann", "r", 0.2)], laws=["r -> s"]))
    (['s', 'p', 'q', 'r & s', 'p & q'], [])
    """
    events, known = panel.events, set((panel.written.event[panel.written.condition == CERTAIN] & ~1).tolist())
    sides = np.concatenate([panel.written.event, panel.written.condition, panel.laws.side, panel.laws.pins.event])
    starts, members = events.supports(np.unique(sides // 2).astype(np.int32))
    sets = [members[a:b].tolist() for a, b in pairwise(starts.tolist())]
    names = events.written_variables
    single = sorted({variable for some in sets for variable in some})
    tied = [pair for some in sorted(sets, key=len) if len(some) <= TIED for pair in combinations(some, 2)]
    texts = [names[v] for v in single] + [f"{names[a]} & {names[b]}" for a, b in dict.fromkeys(tied)]
    found = [text for text, side in zip(texts, _found_sides(events, texts), strict=True) if side not in known]
    left = len(found) - MOST
    note = f"only the first {MOST} of {counted(len(found), 'candidate')} were looked at; name others as candidates"
    return found[:MOST], [note] if left > 0 else []


def _found_sides(events: Events, texts: Sequence[str]) -> list[int]:
    """The even sides of events, negative where an event is not in the table."""
    found: list[int] = (events.find(texts).event & ~1).tolist()
    return found


def read_candidates(events: Events, texts: Sequence[str]) -> list[AskedEvent]:
    """Events that are asked about, added to the table; an event and its complement are one question."""
    reading = events.add(texts)
    if reading.faults:
        fault = reading.faults[0]
        raise fault.error(f"{texts[fault.index]!r}: {fault}")
    every = [AskedEvent(text, *map(int, sides)) for text, sides in zip(texts, reading.sides.tolist(), strict=True)]
    found = {(min(one.joint, one.rest), one.condition): one for one in reversed(every)}
    return [one for _, one in sorted(found.items()) if one.joint // 2 != NEVER // 2]


def refuse_open_condition(text: str, low: float, high: float) -> NoReturn:
    """Say why a conditional cannot be asked about where its condition is open, or impossible."""
    known = (
        f"the answer of the panel makes the condition impossible ({high:.2g})"
        if high <= LEAST_CONDITION
        else f"the panel leaves the probability of the condition open ({low:.2f} to {high:.2f}), and with it what an "
        "answer says of other events"
    )
    remedy = "ask about the event together with its condition, or about the condition first"
    raise EventError(
        f"{text!r}: {known}: {remedy}", code="conditional-question", where=Where(event=text), remedy=remedy
    )
