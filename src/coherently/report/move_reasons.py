"""Why numbers moved, and what they would be without each judge: measured, by answers without that judge."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import CoherentlyError
from coherently.plot.data import ROUNDING
from coherently.report.names import percent
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coherently.arrays import Vector
    from coherently.explain.influence import Pull, Why
    from coherently.report.before_after import BeforeAfter, EventRow
    from coherently.report.event_titles import EventTitles
    from coherently.result import Result

MOVES = 3
"""Maximum number of events that are explained."""
JUDGES = 40
"""Maximum number of judges who are left out one by one."""
SECONDS = 3.0
"""Time limit of all reasons together."""
ALONG = "It moved along with the numbers that it is tied to."
SHOWN = 12
"""Maximum number of judges who are shown, those who move the headline most."""


@dataclass(frozen=True, slots=True, eq=False)
class WithoutJudges(Value):
    """The answers without each judge: one row per judge, one column per event as written, NaN where nobody is left."""

    judges: tuple[str, ...]
    value: Vector


def without_judges(result: Result, seconds: float) -> WithoutJudges | None:
    """The answers without each judge, as `result.influence` has them; None if these are too many, or have no such."""
    judges = result.panel.judges
    if not 2 <= len(judges) <= JUDGES or result.claimed is not None:
        return None
    try:
        found = result.influence(largest=JUDGES, time_limit=seconds)
    except CoherentlyError:
        return None
    change = {one.name: one.change for one in found.of_kind("judge") if one.exact}
    if change.keys() != set(judges):
        return None
    return WithoutJudges(judges, found.probability + np.array([change[name] for name in judges]))


@dataclass(frozen=True, slots=True)
class MoveReason:
    """An event that moved, and why, in sentences."""

    row: EventRow
    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The headline's number without a judge, as shown."""

    name: str
    before: float
    after: float

    @property
    def change(self) -> float:
        """The difference of the shown numbers."""
        return self.after - self.before


def move_reasons(
    result: Result, table: BeforeAfter, titles: EventTitles, said: Iterable[str] = (), *, seconds: float = SECONDS
) -> tuple[MoveReason, ...]:
    """The events that moved most, each with what its average does not fit with, and with what and who moves it most.

    What the page has `said` already is not repeated. After `seconds` there are no more.
    """
    known, reasons = set(said), []
    end = time.monotonic() + min(seconds, SECONDS)
    for row in table.most_moved(MOVES):
        why = _why(result, row, end - time.monotonic())
        if why is None:
            break
        clash = [sentence for sentence in why.relations[:1] if sentence not in known]
        known.update(clash)
        sentences = (*clash, *_question(why, titles, table.digits), *_judge(why, table.digits))
        reasons.append(MoveReason(row, titles.alone(row.event), sentences or (ALONG,)))
    return tuple(reasons)


def _why(result: Result, row: EventRow, seconds: float) -> Why | None:
    if seconds <= 0.0:
        return None
    try:
        return result.why(row.event, time_limit=seconds)
    except CoherentlyError:
        return None


def _question(why: Why, titles: EventTitles, digits: int) -> Iterator[str]:
    """The question that moves an event most, if one does so visibly."""
    for one in _most(why, "event", digits):
        without = percent(why.probability + one.change, digits)
        yield f"It is tied to {titles.inside(one.name)}: without the answers to that it would be {without}."


def _judge(why: Why, digits: int) -> Iterator[str]:
    """The judge who moves an event most, if one does so visibly."""
    for one in _most(why, "judge", digits):
        without = f"Without {one.name} it would be {percent(why.probability + one.change, digits)}"
        if math.isnan(one.said) or math.isnan(one.others):
            yield f"{without}."
        else:
            yield f"{without}: {one.name} said {percent(one.said)}, the others {percent(one.others)} on average."


def _most(why: Why, kind: str, digits: int) -> list[Pull]:
    """The one that moves an event most, if the change is exact and can be seen."""
    known = [one for one in why.of_kind(kind) if one.exact and abs(one.change) >= 10.0**-digits]
    return sorted(known, key=lambda one: -round(abs(one.change), ROUNDING))[:1]


def left_out(without: WithoutJudges | None, row: EventRow | None, digits: int) -> tuple[LeftOut, ...]:
    """The headline without each of the judges who move it most, from the lowest number to the highest."""
    if without is None or row is None:
        return ()
    steps = 10.0**digits
    found = [
        LeftOut(name, row.after, float(np.floor(value * steps + 0.5 + 1e-9) / steps))
        for name, value in zip(without.judges, without.value[:, row.number].tolist(), strict=True)
        if value == value  # noqa: PLR0124
    ]
    most: Sequence[LeftOut] = sorted(found, key=lambda each: -abs(each.change))[:SHOWN]
    return tuple(sorted(most, key=lambda each: each.after))
