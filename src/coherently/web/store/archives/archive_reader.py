"""The parts of an archive into a new panel."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert

from coherently.web.store.archives.archive_files import read_json
from coherently.web.store.archives.archive_parts import HEADER, SAID, read_cell, unguard
from coherently.web.store.archives.archive_rows import read_row
from coherently.web.store.archives.archived_fields import ArchivedFields
from coherently.web.store.database.schema import (
    aggregation,
    decision,
    drawn,
    hand_in,
    meant,
    outcome,
    panel,
    reaction,
    round_phase,
)
from coherently.web.store.identifiers import new_id
from coherently.web.store.resources.forecast_resource import insert_forecasts
from coherently.web.store.resources.judge_resource import insert_judge
from coherently.web.store.resources.law_resource import insert_law
from coherently.web.store.resources.question_resource import insert_questions
from coherently.web.store.resources.remark_resource import insert_comment
from coherently.web.store.store_errors import ArchiveError, StoreError
from coherently.web.store.store_records import (
    AggregationRecord,
    CommentRecord,
    DecisionRecord,
    DrawnRecord,
    EventRecord,
    HandInRecord,
    JudgeRecord,
    LawRecord,
    MeantRecord,
    OutcomeRecord,
    PanelRecord,
    QuestionRecord,
    ReactionRecord,
    RoundRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection, Table

    from coherently.web.store.store_records import StoredRecord

WITHOUT_NUMBER = ("abstained", "withdrawn")
LATER = ("reactions", "drawn", "decisions")
"""Lists that archives of the first version do not have."""
BATCH = 10_000
"""Number of forecasts that are added at a time."""


class ArchiveReader:
    """Reads all parts before anything is written, so that what cannot be read leaves no trace."""

    def __init__(self, parts: Mapping[str, bytes], owner: str) -> None:
        for name in ("panel.json", "forecasts.csv"):
            if name not in parts:
                raise ArchiveError(f"the archive has no {name}")
        self._all = ArchivedFields(read_json(parts["panel.json"], "panel.json"), "panel.json")
        self.panel = new_id("p")
        self._owner = owner
        self.questions = [self._question(each) for each in self._all.items("questions")]
        self._events = [part.id for question in self.questions for part in question.events]
        self._ids: dict[str, list[str]] = {"question": [question.id for question in self.questions]}
        self.judges = [JudgeRecord(id=new_id("j"), has_link=False, **row) for row in self._read(JudgeRecord, "judges")]
        self._ids["judge"] = [judge.id for judge in self.judges]
        self._judge_ids = {judge.name: judge.id for judge in self.judges}
        self.laws = [LawRecord(id=new_id("l"), **row) for row in self._read(LawRecord, "laws")]
        self.comments = [CommentRecord(id=new_id("c"), **row) for row in self._read(CommentRecord, "comments")]
        self.rows = self._rows(parts)
        self.forecasts = list(self._forecasts(parts["forecasts.csv"]))

    def write(self, connection: Connection) -> None:
        """Add the panel and all that belongs to it."""
        connection.execute(insert(panel), self._panel())
        insert_questions(connection, self.questions)
        for law in self.laws:
            insert_law(connection, law)
        for judge in self.judges:
            insert_judge(connection, judge)
        for comment in self.comments:
            insert_comment(connection, comment)
        for table, rows in self.rows:
            if rows:
                connection.execute(insert(table), rows)
        for first in range(0, len(self.forecasts), BATCH):
            insert_forecasts(connection, self.panel, self.forecasts[first : first + BATCH])

    def _panel(self) -> dict[str, Any]:
        fields = ArchivedFields(self._all.object("panel"), "panel")
        return {"id": self.panel, "owner": self._owner, **read_row(PanelRecord, fields, {})}

    def _question(self, fields: ArchivedFields) -> QuestionRecord:
        parts = [EventRecord(id=new_id("e"), **read_row(EventRecord, part, {})) for part in fields.items("events")]
        own = read_row(QuestionRecord, fields, {})
        return QuestionRecord(id=new_id("q"), panel=self.panel, events=tuple(parts), **own)

    def _rows(self, parts: Mapping[str, bytes]) -> list[tuple[Table, list[dict[str, Any]]]]:
        rounds = self._read(RoundRecord, "rounds")
        if not rounds:
            raise ArchiveError("the archive has no rounds")
        return [
            (round_phase, rounds),
            (hand_in, self._read(HandInRecord, "hand_ins")),
            (meant, self._read(MeantRecord, "meant")),
            (reaction, self._read(ReactionRecord, "reactions")),
            (decision, self._read(DecisionRecord, "decisions")),
            (drawn, self._read(DrawnRecord, "drawn")),
            (outcome, self._read(OutcomeRecord, "outcomes")),
            (aggregation, [self._aggregation(row, parts) for row in self._read(AggregationRecord, "aggregations")]),
        ]

    def _read(self, record: type[StoredRecord], name: str) -> list[dict[str, Any]]:
        """The rows of a list of the archive, for the new panel; an archive from before that list has none."""
        if name in LATER and not self._all.has(name):
            return []
        return [{"panel": self.panel, **read_row(record, each, self._ids)} for each in self._all.items(name)]

    def _aggregation(self, row: dict[str, Any], parts: Mapping[str, bytes]) -> dict[str, Any]:
        version, is_done = row["version"], row["status"] == "done"
        if is_done and f"results/{version}.json" not in parts:
            raise ArchiveError(f"the archive has no results/{version}.json")
        large = {
            column: read_json(parts[name], name) if (name := f"{folder}/{version}.json") in parts else None
            for column, folder in (("inputs", "inputs"), ("result", "results"))
        }
        return {"id": new_id("a"), **row, **large, "cancel_requested": row["status"] == "cancelled"}

    def _forecasts(self, data: bytes) -> Iterator[dict[str, Any]]:
        try:
            rows = csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True)
            if tuple(next(rows, ())) != HEADER:
                raise ArchiveError(f"forecasts.csv of the archive should have the header {','.join(HEADER)}")
            for number, row in enumerate(rows, 2):
                yield self._forecast(row, number)
        except (csv.Error, UnicodeDecodeError) as error:
            raise ArchiveError(f"forecasts.csv of the archive cannot be read: {error}") from None

    def _forecast(self, row: list[str], number: int) -> dict[str, Any]:
        try:
            judge, _, probability, event, *said = row
            told = {field.name: read_cell(field, cell) for field, cell in zip(SAID, said, strict=True)}
            return {
                "judge": self._judge_ids[unguard(judge)],
                "event": self._events[_index(event)],
                "probability": _probability(probability, told["state"]),
                **told,
            }
        except (ValueError, KeyError, IndexError, StoreError):
            raise ArchiveError(f"row {number} of forecasts.csv of the archive cannot be read") from None


def _probability(cell: str, state: str) -> float | None:
    if state in WITHOUT_NUMBER and not cell:
        return None
    value = float(cell)
    if state != "given" or not 0 <= value <= 1:
        raise ValueError(state)
    return value


def _index(cell: str) -> int:
    number = int(cell)
    if number < 1:
        raise ValueError(cell)
    return number - 1
