"""What would change the answer: conditions, judges, and what nobody was asked."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import CoherentlyError
from coherently.events import CERTAIN
from coherently.explain.people_sentences import opened
from coherently.panel.canonical import is_plain
from coherently.report.headline import TIED
from coherently.report.names import percent
from coherently.result import aggregate
from coherently.solve import Coherence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.report.before_after import EventRow
    from coherently.report.event_titles import EventTitles
    from coherently.report.headline import Hinge
    from coherently.report.move_reasons import LeftOut
    from coherently.result import Bounds, Result

TRIED = 12
"""Maximum number of events that are tried together with the headline's, for what nobody was asked."""
SECONDS = 2.0
"""Time limit of that search."""
OPEN = 0.02
"""The least width of what is open for a question to be worth asking."""


@dataclass(frozen=True, slots=True)
class Lever:
    """A number, what it would take, and what would follow."""

    number: str
    cause: str
    effect: str


def levers(
    result: Result,
    row: EventRow,
    hinge: Hinge | None,
    left: Sequence[LeftOut],
    *,
    rows: Sequence[EventRow],
    titles: EventTitles,
    seconds: float = SECONDS,
) -> tuple[Lever, ...]:
    """All that is known to change the headline's number, as far as `seconds` allow to look."""
    event = titles.inside(row.event)
    found: list[Lever] = []
    if hinge is not None:
        found += _of_hinge(hinge, row, event, titles)
    if left:
        found.append(_of_judges(left, row, event))
    if (equal := with_equal_weights(result, row)) is not None:
        effect = f"If every answer counted the same, {event} would be {percent(equal)}."
        found.append(Lever(percent(equal), "Weights.", effect))
    if (asked := next_question(result, row, rows, seconds)) is not None:
        found.append(_of_question(*asked, event, titles))
    return tuple(found)


def _of_hinge(hinge: Hinge, row: EventRow, event: str, titles: EventTitles) -> Iterator[Lever]:
    condition = opened(titles.inside(hinge.condition.event))
    better, worse = (hinge.if_false, hinge.if_true)
    first, second = (f"{condition} turns out false.", "if it comes true")
    if hinge.if_true > hinge.if_false:
        better, worse = worse, better
        first, second = (f"{condition} comes true.", "if it turns out false")
    yield Lever(
        percent(better),
        first,
        f"{opened(event)} goes from {percent(row.after)} to {percent(better)}; {second}, to {percent(worse)}.",
    )
    if hinge.break_even is not None:
        upwards = (hinge.if_true > hinge.if_false) == (row.after < 0.5)
        turned = "likelier than not" if row.after < 0.5 else "less likely than not"
        yield Lever(
            percent(hinge.break_even),
            "How likely must that be?",
            f"Only if it were at {percent(hinge.break_even)} or {'more' if upwards else 'less'} "
            f"(now {percent(hinge.condition.after)}) would {event} be {turned}.",
        )


def _of_judges(left: Sequence[LeftOut], row: EventRow, event: str) -> Lever:
    low, high = left[0].after, left[-1].after
    decided = (low < 0.5 <= row.after) or (row.after <= 0.5 < high)
    cause = "One judge can turn it." if decided else "No single judge decides it."
    if low == high:
        return Lever(percent(low), cause, f"Whoever is left out, {event} stays at {percent(low)}.")
    span = f"{percent(low)[:-2]} to {percent(high)}"
    return Lever(
        span, cause, f"Depending on who is left out, {event} is between {percent(low)[:-2]} and {percent(high)}."
    )


def with_equal_weights(result: Result, row: EventRow) -> float | None:
    """The headline's number if every answer counted the same; None if that is so, or if there is no such answer."""
    weight = result.panel.weight
    if result.claimed is not None or weight.min(initial=1.0) == weight.max(initial=1.0):
        return None
    try:
        equal = aggregate(replace(result.panel, weight=np.ones_like(weight)), result.method, result.loss)  # type: ignore[arg-type]
    except CoherentlyError:
        return None
    return float(equal.solution.value[row.number])


def _of_question(other: EventRow, bounds: Bounds, event: str, titles: EventTitles) -> Lever:
    span = f"{percent(bounds[0])[:-2]} to {percent(bounds[1])}"
    both = f"{event} and {titles.inside(other.event)} together"
    return Lever(
        span, "Not asked yet.", f"{opened(both)} may be anything from {span}. This is the question to ask next."
    )


def next_question(
    result: Result, row: EventRow, rows: Sequence[EventRow], seconds: float = SECONDS
) -> tuple[EventRow, Bounds] | None:
    """The other event of which least is known together with the headline's, and what is open."""
    written = result.panel.written
    if result.coherence is not Coherence.GLOBAL or is_plain(result.panel) or written.condition[row.number] != CERTAIN:
        return None
    end = time.monotonic() + min(seconds, SECONDS)
    best: tuple[EventRow, Bounds] | None = None
    others = [each for each in rows if each is not row and written.condition[each.number] == CERTAIN]
    for other in sorted(others, key=lambda each: -_freedom(row, each))[:TRIED]:
        widest = -1.0 if best is None else best[1][1] - best[1][0]
        if time.monotonic() > end or _freedom(row, other) <= widest:
            break
        try:
            bounds = result.bounds(f"({row.event}) & ({other.event})", min(0.5, seconds))
        except CoherentlyError:
            continue
        if bounds[1] - bounds[0] > max(widest, OPEN):
            best = other, bounds
    return best


def _freedom(one: EventRow, other: EventRow) -> float:
    """How much two probabilities alone leave open for both together."""
    if math.isnan(one.after) or math.isnan(other.after) or min(other.after, 1 - other.after) < TIED:
        return 0.0
    return min(one.after, other.after) - max(0.0, one.after + other.after - 1.0)
