"""Versions of a panel's aggregate, in sentences and beside each other."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING

from coherently.web.catalogue import plain
from coherently.web.operations.aggregation_operations import compare_versions
from coherently.web.pages.facilitator.titles import capital
from coherently.web.pages.formats import GAP, change, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.web.pages.facilitator.titles import NamedEvent
    from coherently.web.pages.visiting import Visit
    from coherently.web.shapes.aggregation_shapes import AggregationView, ComparedEvent

EXPLAINED = 8
"""How many of the newest versions say what moved."""
MOVES = 2
"""How many moves a version tells."""


def describe(
    visit: Visit, panel: str, versions: Sequence[AggregationView], events: Mapping[str, NamedEvent]
) -> list[SimpleNamespace]:
    """The versions, the newest first, each with a sentence."""
    done = [each for each in versions if each.status == "done"]
    before = {new.id: old for new, old in pairwise(done[: EXPLAINED + 1])}
    titles = {each.event: each.title for each in events.values()}
    return [
        SimpleNamespace(
            version=each.version,
            done=each.status == "done",
            time=each.finished or each.requested,
            words=_words(visit, panel, each, before.get(each.id), titles),
        )
        for each in versions
    ]


def _words(
    visit: Visit, panel: str, version: AggregationView, old: AggregationView | None, titles: Mapping[str, str]
) -> str:
    if version.status == "failed":
        return plain("version.failed", why=version.error or "")
    if version.status != "done":
        return plain("version.cancelled" if version.status == "cancelled" else "version.running")
    judges = plain("judges.count", count=(version.summary or {}).get("judges", 0))
    said = f"{capital(version.note.rstrip('.'))}. " if version.note else ""
    first = said + plain("version.judges", judges=judges)
    if old is None:
        return first
    rows = compare_versions(visit.bench, visit.caller, panel, version.id, old.id).events
    moves = sorted(filter(_moved, rows), key=lambda row: -abs((row.after or 0) - (row.before or 0)))[:MOVES]
    told = [
        plain(
            "version.move",
            title=capital(titles.get(row.event, row.title or row.event)),
            before=whole(row.before or 0.0),
            after=f"{whole(row.after or 0.0)}{GAP}%",
        )
        for row in moves
    ]
    return first + (f" {'; '.join(told)}." if told else "")


def _moved(row: ComparedEvent) -> bool:
    return row.before is not None and row.after is not None and whole(row.before) != whole(row.after)


def compared(
    visit: Visit, panel: str, versions: Sequence[AggregationView], events: Mapping[str, NamedEvent]
) -> SimpleNamespace | None:
    """Two versions beside each other, if the address asks for them: the events that differ as they are shown."""
    done = {str(each.version): each for each in versions if each.status == "done"}
    before, after = done.get(visit.asked("from")), done.get(visit.asked("to"))
    if before is None or after is None:
        return None
    titles = {each.event: each.title for each in events.values()}
    found = compare_versions(visit.bench, visit.caller, panel, after.id, before.id)
    rows = [
        SimpleNamespace(
            title=titles.get(row.event, row.title or row.event),
            before=row.before,
            after=row.after,
            change="–" if row.before is None or row.after is None else change(row.before, row.after),
        )
        for row in found.events
        if _moved(row) or (row.before is None) != (row.after is None)
    ]
    return SimpleNamespace(before=before.version, after=after.version, rows=rows)
