"""Forecasts of a file into a panel, through the library's own reader, so that its errors name row and column."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.events import CERTAIN, quote_name
from coherently.panel.build import read_panel
from coherently.web.store.identifiers import new_id, now
from coherently.web.store.resources.change_resource import note_change
from coherently.web.store.resources.forecast_resource import insert_forecasts
from coherently.web.store.resources.question_resource import insert_questions, next_number
from coherently.web.store.store_errors import StoreError
from coherently.web.store.store_records import EventRecord, QuestionRecord

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from coherently.panel import Panel
    from coherently.web.store.store import Store

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson")
"""Files that are read: texts, which are not larger when they are unpacked."""
BATCH = 10_000
"""Number of forecasts that are added at a time."""


@dataclass(frozen=True, slots=True)
class TableImport:
    """What a file brought: numbers of new judges and questions and of all forecasts, and notes for people."""

    judges: int
    questions: int
    forecasts: int
    notes: tuple[str, ...]


def import_table(
    store: Store, panel: str, data: bytes, filename: str, *, percent: bool, plain_events: bool
) -> TableImport:
    """Read a file outside of any transaction, then record all of it in one."""
    store.panels.get(panel)
    laws = store.read(lambda: _statements(store, panel))
    table = _read(data, filename, laws, percent=percent, plain_events=plain_events)
    return store.write(lambda: _record(store, panel, table, plain_events=plain_events))


def _statements(store: Store, panel: str) -> list[str]:
    declared = [each.declaration for each in store.questions.list(panel) if each.declaration]
    return [*declared, *(law.statement for law in store.laws.list(panel))]


def _read(data: bytes, filename: str, laws: list[str], *, percent: bool, plain_events: bool) -> Panel:
    name = re.sub(r"[^\w.()+ -]", "_", filename.replace("\\", "/").rsplit("/", 1)[-1])[-100:] or "panel.csv"
    if not name.lower().endswith(ENDINGS):
        raise StoreError(
            f"{name} is read only as {', '.join(ENDINGS)}: save it as CSV, and unpack it if it is compressed"
        )
    with tempfile.TemporaryDirectory(prefix="coherently-") as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        read = read_panel(path, laws=laws, percent=percent, plain_events=plain_events)
    if read.lower is not None or read.upper is not None:
        raise StoreError(
            f"{name} has intervals or quotes, which the workbench does not keep: give one probability instead of "
            f"lower and upper bounds"
        )
    return read


def _record(store: Store, panel: str, table: Panel, *, plain_events: bool) -> TableImport:
    known = {judge.name: judge.id for judge in store.judges.list(panel)}
    new_judges = [name for name in table.judges if name not in known]
    known |= {name: store.judges.add(panel, name).id for name in new_judges}
    texts = [quote_name(text) if plain_events else text for text in table.written.text]
    events, new_questions = _find_events(store, panel, table, texts)
    rows = _rows(table, known, events, store.rounds.current(panel).number)

    def insert_rows(connection: Connection) -> None:
        insert_questions(connection, new_questions)
        for first in range(0, len(rows), BATCH):
            insert_forecasts(connection, panel, rows[first : first + BATCH])
        note_change(connection, panel, "questions")
        note_change(connection, panel, "answers", imported=len(rows))

    store.in_transaction(insert_rows)
    for text, outcome in zip(texts, table.written.outcome.tolist(), strict=True):
        if outcome in (0, 1):
            store.outcomes.record(panel, text, bool(outcome))
    weights = ("The weights of the file are not kept.",) if np.any(table.weight != 1) else ()
    return TableImport(len(new_judges), len(new_questions), len(rows), (*table.notes, *weights))


def _rows(table: Panel, judges: dict[str, str], events: list[str], present: int) -> list[dict[str, Any]]:
    """Forecasts in the order of their times, if they have any: the last one is the answer."""
    order = range(len(table)) if table.time is None else np.argsort(table.time, kind="stable").tolist()
    same = {"state": "given", "locked": False, "reason": "", "round": present, "time": now()}
    return [
        {
            "judge": judges[table.judges[table.judge_index[i]]],
            "event": events[table.event_index[i]],
            "probability": float(table.probability[i]),
            **same,
        }
        for i in order
    ]


def _find_events(store: Store, panel: str, table: Panel, texts: list[str]) -> tuple[list[str], list[QuestionRecord]]:
    """The id of each event of the table, by its meaning; those that nobody asked about are questions to be added."""
    asked = [part for question in store.questions.list(panel) for part in question.events]
    reading = table.events.find([part.event for part in asked]).sides.tolist()
    meanings = {tuple(sides): part.id for part, sides in zip(asked, reading, strict=True) if min(sides) >= 0}
    number = store.in_transaction(lambda connection: next_number(connection, panel))
    made: list[QuestionRecord] = []
    found = []
    columns = (column.tolist() for column in (table.written.event, table.written.condition, table.written.rest))
    titles = [table.labels.get(text, text) for text in table.written.text]
    for text, title, sides in zip(texts, titles, zip(*columns, strict=True), strict=True):
        if sides not in meanings:
            kind = "yes-no" if sides[1] == CERTAIN else "conditional"
            event = EventRecord(new_id("e"), text, title)
            given = (panel, number + len(made), kind, title, "", "", None, (event,), now())
            made.append(QuestionRecord(new_id("q"), *given))
            meanings[sides] = event.id
        found.append(meanings[sides])
    return found, made
