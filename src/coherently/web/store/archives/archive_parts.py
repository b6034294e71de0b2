"""A panel into the parts of an archive.

Nothing in an archive has an id: questions, judges and events are numbered in their order, so that a panel that was
imported makes the same archive again. Links, accounts and what is under way are left out.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from sqlalchemy import Integer

from coherently.web.store.archives.archive_files import json_bytes
from coherently.web.store.archives.archive_rows import archive_row
from coherently.web.store.archives.archived_fields import ArchivedFields
from coherently.web.store.store_records import ENDED, ForecastRecord
from coherently.web.store.stored_fields import FLAG, stored_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coherently.web.store.store import Store
    from coherently.web.store.store_records import QuestionRecord, StoredRecord
    from coherently.web.store.stored_fields import StoredField

SAID = tuple(field for field in stored_fields(ForecastRecord) if field.kind.read and field.name != "probability")
"""What a row of forecasts has beside who said what of which event."""
HEADER = ("judge", "event", "probability", "event_number", *(field.name for field in SAID))
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
        "panel.json": json_bytes(_describe(store, panel, questions, judge_numbers, versions=versions)),
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
    numbers = {"judge": judges, "question": {each.id: number for number, each in enumerate(questions, 1)}}

    def rows(records: Iterable[StoredRecord]) -> list[dict[str, Any]]:
        return [archive_row(each, numbers) for each in records]

    return {
        "panel": archive_row(store.panels.get(panel), numbers),
        "questions": [archive_row(each, numbers) | {"events": rows(each.events)} for each in questions],
        "laws": rows(store.laws.list(panel, dropped=True)),
        "judges": rows(store.judges.list(panel)),
        "rounds": rows(store.rounds.list(panel)),
        "hand_ins": rows(store.judges.hand_ins(panel)),
        "meant": rows(store.meant.list(panel, taken_back=True)),
        "comments": rows(store.comments.list(panel, limit=2**31 - 1, withdrawn=True)),
        "reactions": rows(store.reactions.list(panel, taken_back=True)),
        "decisions": rows(store.decisions.list(panel)),
        "drawn": rows(store.drawn.history(panel)),
        "outcomes": rows(store.outcomes.history(panel)),
        "aggregations": rows(versions),
    }


def _laws(store: Store, panel: str, questions: Sequence[QuestionRecord]) -> bytes:
    """What holds, for people and for the command line; importing reads the laws of panel.json."""
    declared = [each.declaration for each in questions if each.declaration and each.withdrawn_at is None]
    laws = [f"{law.statement}  # {law.origin}" if law.origin else law.statement for law in store.laws.list(panel)]
    return "".join(f"{law}\n" for law in [*declared, *laws]).encode()


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
    said = (_cell(getattr(record, field.name)) for field in SAID)
    return (guard(names[record.judge]), guard(text), probability, number, *said)


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return guard(value) if isinstance(value, str) else value


def read_cell(field: StoredField, cell: str) -> Any:
    """What a cell of a row of forecasts says; an error if it is not of the field's kind."""
    if field.kind is FLAG:
        return {"yes": True, "no": False}[cell]
    value = int(cell) if isinstance(field.kind.column, type) and issubclass(field.kind.column, Integer) else cell
    reader = ArchivedFields({field.name: unguard(value) if isinstance(value, str) else value}, "a row")
    return None if field.kind.read is None else field.kind.read(reader, field.name)
