"""Versions of a panel's aggregate, in sentences and beside each other."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING

from coherently.web.catalogue import plain
from coherently.web.operations.aggregation_operations import compare_versions, get_result
from coherently.web.pages.facilitator.shown_result import shown_result
from coherently.web.pages.facilitator.titles import capital
from coherently.web.pages.formats import GAP, change, listed, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.web.pages.facilitator.titles import NamedEvent
    from coherently.web.pages.visits import Visit
    from coherently.web.shapes.aggregation_shapes import AggregationView

METHODS = ("auto", "linear", "median", "log", "recipe")
"""The methods that the page offers; the API has all of them."""
SAID = (*METHODS, "learned")
"""Methods that have words of their own."""
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
            words=_words(visit, panel, each, before.get(each.id), titles=titles),
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
    first = " ".join([said + plain("version.judges", judges=judges), *choices_words(version)])
    if old is None:
        return first
    rows = [row for row in _changes(visit, panel, old.id, version.id) if row.moved]
    told = [
        plain(
            "version.move",
            title=capital(titles.get(row.event, row.title or row.event)),
            before=row.before_words.split(GAP)[0],
            after=row.after_words,
        )
        for row in sorted(rows, key=lambda row: -abs(row.after - row.before))[:MOVES]
    ]
    return first + (f" {'; '.join(told)}." if told else "")


def choices_words(version: AggregationView) -> list[str]:
    """Who and what was left out of a version, and how judges were weighted, in sentences."""
    words = []
    if version.left_out:
        words.append(plain("version.left_out", names=listed(version.left_out)))
    if version.learn == "weights":
        words.append(plain("version.weights.past"))
    elif version.weights:
        told = [f"{name} {weight:g}" for name, weight in version.weights.items() if weight != 1.0]
        words.append(plain("version.weights", weights=listed(told)))
    if version.method not in ("auto", "exact"):
        key = "learned" if version.learn == "recipe" else version.method
        words.append(plain("version.method", method=plain(f"method.{key}") if key in SAID else key))
    return words


def _changes(visit: Visit, panel: str, before: str, after: str) -> list[SimpleNamespace]:
    """The events of two versions, each with the numbers that the pages of the versions show."""
    results = (get_result(visit.bench, visit.caller, panel, each) for each in (before, after))
    old, new = (shown_result(each.events, each.laws) for each in results)
    digits = max(old.digits, new.digits)
    rows = []
    for each in compare_versions(visit.bench, visit.caller, panel, after, other=before).events:
        first, last = old.after.get(each.event), new.after.get(each.event)
        told = "–" if first is None or last is None else change(first, last, digits)
        rows.append(
            SimpleNamespace(
                event=each.event,
                title=each.title,
                before=each.before,
                after=each.after,
                before_words=percent(first, old.digits),
                after_words=percent(last, new.digits),
                change=told,
                moved=told not in ("–", "0"),
            )
        )
    return rows


def compared(
    visit: Visit, panel: str, versions: Sequence[AggregationView], events: Mapping[str, NamedEvent]
) -> SimpleNamespace | None:
    """Two versions beside each other, if the address asks for them: the events that differ as they are shown."""
    done = {str(each.version): each for each in versions if each.status == "done"}
    before, after = done.get(visit.asked("from")), done.get(visit.asked("to"))
    if before is None or after is None:
        return None
    titles = {each.event: each.title for each in events.values()}
    rows = [
        SimpleNamespace(**vars(row) | {"title": titles.get(row.event, row.title or row.event)})
        for row in _changes(visit, panel, before.id, after.id)
        if row.moved or (row.before is None) != (row.after is None)
    ]
    return SimpleNamespace(before=before.version, after=after.version, rows=rows)
