"""A panel into the parts of an archive.

Nothing in an archive has an id: questions, judges and events are numbered in their order, so that a panel that was
imported makes the same archive again. Links, accounts and what is under way are left out.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from coherently.web.store.archives.archive_files import json_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coherently.web.store.store import Store
    from coherently.web.store.store_records import ForecastRecord, QuestionRecord, StoredRecord

ENDED = ("done", "failed", "cancelled")
HEADER = ("judge", "event", "probability", "event_number", "state", "locked", "reason", "round", "time")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
"""Beginnings of cells that a spreadsheet might take for a formula, and the mark that keeps it from that."""
PAGE = 50_000
"""Number of forecasts that are read at a time."""


def guard(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula.

    >>> guard("=1+1"), unguard(guard("=1+1")), unguard(guard("'quoted'"))
    ("'=1+1", '=1+1', "'quoted'")
    """
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def unguard(cell: str) -> str:
    """The text of a guarded cell."""
    return cell.removeprefix("'")


def write_parts(store: Store, panel: str) -> dict[str, bytes]:
    """All parts of a panel, as of one moment."""
    questions = store.questions.list(panel, withdrawn=True)
    judges = store.judges.list(panel)
    judge_numbers = {judge.id: number for number, judge in enumerate(judges, 1)}
    versions = [version for version in store.aggregations.list(panel) if version.status in ENDED]
    parts = {
        "panel.json": json_bytes(_describe(store, panel, questions, judge_numbers, versions)),
        "forecasts.csv": _forecasts(store, panel, questions, {judge.id: judge.name for judge in judges}),
        "laws.txt": _laws(store, panel, questions),
    }
    for version in versions:
        if (inputs := store.aggregations.inputs(version.id)) is not None:
            parts[f"inputs/{version.version}.json"] = json_bytes(inputs)
        if version.status == "done":
            parts[f"results/{version.version}.json"] = json_bytes(store.aggregations.result(version.id))
    return parts


def _describe(
    store: Store,
    panel: str,
    questions: Sequence[QuestionRecord],
    judges: Mapping[str, int],
    versions: Iterable[StoredRecord],
) -> dict[str, Any]:
    record = store.panels.get(panel)
    question_numbers = {question.id: number for number, question in enumerate(questions, 1)}
    comments = store.comments.list(panel, limit=2**31 - 1, withdrawn=True)
    return {
        "panel": _plain(record, "owner", "deleted_at"),
        "questions": [
            _plain(each) | {"events": [{"event": part.event, "title": part.title} for part in each.events]}
            for each in questions
        ],
        "laws": [_plain(each) for each in store.laws.list(panel, dropped=True)],
        "judges": [_plain(each, "has_link") for each in store.judges.list(panel)],
        "rounds": [_plain(each) for each in store.rounds.list(panel)],
        "hand_ins": [_plain(each) | {"judge": judges[each.judge]} for each in store.judges.hand_ins(panel)],
        "meant": [_plain(each) | {"judge": judges[each.judge]} for each in store.meant.list(panel, taken_back=True)],
        "comments": [
            _plain(each)
            | {"judge": judges.get(each.judge or ""), "question": question_numbers.get(each.question or "")}
            for each in comments
        ],
        "outcomes": [_plain(each) for each in store.outcomes.history(panel)],
        "aggregations": [_plain(each, "worker", "lease_until", "cancel_requested") for each in versions],
    }


def _plain(record: StoredRecord, *without: str) -> dict[str, Any]:
    return {name: value for name, value in record.as_dict().items() if name not in ("id", "panel", *without)}


def _laws(store: Store, panel: str, questions: Sequence[QuestionRecord]) -> bytes:
    """What holds, for people and for the command line; importing reads the laws of panel.json."""
    declared = [each.declaration for each in questions if each.declaration and each.withdrawn_at is None]
    return "".join(f"{law}\n" for law in [*declared, *(law.statement for law in store.laws.list(panel))]).encode()


def _forecasts(store: Store, panel: str, questions: Sequence[QuestionRecord], names: Mapping[str, str]) -> bytes:
    parts = (part for question in questions for part in question.events)
    events = {part.id: (part.event, number) for number, part in enumerate(parts, 1)}
    target = io.StringIO(newline="")
    writer = csv.writer(target)
    writer.writerow(HEADER)
    seen = 0
    while page := store.forecasts.history(panel, after=seen, limit=PAGE):
        writer.writerows(_row(each, names, events) for each in page)
        seen = page[-1].id
    return target.getvalue().encode()


def _row(record: ForecastRecord, names: Mapping[str, str], events: Mapping[str, tuple[str, int]]) -> tuple[Any, ...]:
    text, number = events[record.event]
    probability = "" if record.probability is None else repr(record.probability)
    told = (record.state, "yes" if record.locked else "no", guard(record.reason), record.round, record.time)
    return (guard(names[record.judge]), guard(text), probability, number, *told)
