"""The parts of an archive into a new panel."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert

from coherently.web.store.archives.archive_files import read_json
from coherently.web.store.archives.archive_parts import ENDED, HEADER, unguard
from coherently.web.store.archives.archived_fields import ArchivedFields
from coherently.web.store.database.schema import aggregation, hand_in, meant, outcome, panel, round_phase
from coherently.web.store.identifiers import new_id, read_time
from coherently.web.store.resources.forecast_resource import insert_forecasts
from coherently.web.store.resources.judge_resource import insert_judge
from coherently.web.store.resources.law_resource import insert_law
from coherently.web.store.resources.question_resource import insert_questions
from coherently.web.store.resources.remark_resource import insert_comment
from coherently.web.store.store_errors import ArchiveError, StoreError
from coherently.web.store.store_records import (
    KINDS,
    PHASES,
    CommentRecord,
    EventRecord,
    JudgeRecord,
    LawRecord,
    QuestionRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection, Table

WITHOUT_NUMBER = ("abstained", "withdrawn")
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
        self.judges = [self._judge(each) for each in self._all.items("judges")]
        self._judge_ids = {judge.name: judge.id for judge in self.judges}
        self.laws = [self._law(each) for each in self._all.items("laws")]
        self.comments = [self._comment(each) for each in self._all.items("comments")]
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
        told = {"title": fields.text("title"), "description": fields.text("description")}
        rest = {"settings": fields.object("settings"), "created_at": fields.time("created_at")}
        return {"id": self.panel, "owner": self._owner, **told, **rest}

    def _question(self, fields: ArchivedFields) -> QuestionRecord:
        parts = tuple(
            EventRecord(new_id("e"), part.text("event"), part.text("title")) for part in fields.items("events")
        )
        return QuestionRecord(
            id=new_id("q"),
            panel=self.panel,
            number=fields.number("number", 1),
            kind=fields.text("kind", KINDS),
            title=fields.text("title"),
            definition=fields.text("definition"),
            group=fields.text("group"),
            declaration=fields.text_or_none("declaration"),
            events=parts,
            added_at=fields.time("added_at"),
            withdrawn_at=fields.time_or_none("withdrawn_at"),
        )

    def _law(self, fields: ArchivedFields) -> LawRecord:
        said, times = (
            (fields.text("statement"), fields.text("title")),
            (fields.time("added_at"), fields.time_or_none("dropped_at")),
        )
        return LawRecord(new_id("l"), self.panel, *said, *times)

    def _judge(self, fields: ArchivedFields) -> JudgeRecord:
        times = (fields.time("invited_at"), fields.time_or_none("opened_at"), fields.time_or_none("revoked_at"))
        return JudgeRecord(new_id("j"), self.panel, fields.text("name"), False, *times)

    def _comment(self, fields: ArchivedFields) -> CommentRecord:
        return CommentRecord(
            id=new_id("c"),
            panel=self.panel,
            judge=fields.pick_or_none("judge", [judge.id for judge in self.judges]),
            question=fields.pick_or_none("question", [question.id for question in self.questions]),
            text=fields.text("text"),
            round=fields.number("round", 1),
            time=fields.time("time"),
            withdrawn_at=fields.time_or_none("withdrawn_at"),
        )

    def _rows(self, parts: Mapping[str, bytes]) -> list[tuple[Table, list[dict[str, Any]]]]:
        judges = [judge.id for judge in self.judges]
        rounds = [self._round(each) for each in self._all.items("rounds")]
        if not rounds:
            raise ArchiveError("the archive has no rounds")
        handed = [
            {"judge": each.pick("judge", judges), "round": each.number("round", 1), "time": each.time("time")}
            for each in self._all.items("hand_ins")
        ]
        return [
            (round_phase, rounds),
            (hand_in, [{**row, "panel": self.panel} for row in handed]),
            (meant, [self._meant(each, judges) for each in self._all.items("meant")]),
            (outcome, [self._outcome(each) for each in self._all.items("outcomes")]),
            (aggregation, [self._aggregation(each, parts) for each in self._all.items("aggregations")]),
        ]

    def _round(self, fields: ArchivedFields) -> dict[str, Any]:
        told = {"number": fields.number("number", 1), "phase": fields.text("phase", PHASES)}
        told |= {"closes_at": fields.time_or_none("closes_at"), "since": fields.time("since")}
        return {"panel": self.panel, **told, "hide_numbers": fields.flag("hide_numbers")}

    def _meant(self, fields: ArchivedFields, judges: list[str]) -> dict[str, Any]:
        said = {name: fields.text(name) for name in ("key", "sentence", "reason")}
        times = {"time": fields.time("time"), "taken_back_at": fields.time_or_none("taken_back_at")}
        return {"panel": self.panel, "judge": fields.pick("judge", judges), **said, **times}

    def _outcome(self, fields: ArchivedFields) -> dict[str, Any]:
        said = {"event": fields.text("event"), "outcome": fields.outcome("outcome"), "note": fields.text("note")}
        return {"panel": self.panel, **said, "time": fields.time("time")}

    def _aggregation(self, fields: ArchivedFields, parts: Mapping[str, bytes]) -> dict[str, Any]:
        version, status = fields.number("version", 1), fields.text("status", ENDED)
        if status == "done" and f"results/{version}.json" not in parts:
            raise ArchiveError(f"the archive has no results/{version}.json")
        large = {
            column: read_json(parts[name], name) if (name := f"{folder}/{version}.json") in parts else None
            for column, folder in (("inputs", "inputs"), ("result", "results"))
        }
        row = {name: fields.object(name) for name in ("options", "limits", "summary")}
        row |= {name: fields.text(name) for name in ("note", "progress_text", "error")}  # type: ignore[misc]
        row |= {name: fields.time(name) for name in ("as_of", "requested_at")}  # type: ignore[misc]
        row |= {name: fields.time_or_none(name) for name in ("started_at", "ended_at")}  # type: ignore[misc]
        counted = {"progress": fields.share("progress"), "attempts": fields.number("attempts", 0)}
        own = {"id": new_id("a"), "panel": self.panel, "version": version, "status": status}
        return {**own, **row, **counted, **large, "cancel_requested": status == "cancelled"}

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
            judge, _, probability, event, state, locked, reason, round_number, time = row
            return {
                "judge": self._judge_ids[unguard(judge)],
                "event": self._events[_index(event)],
                "probability": _probability(probability, state),
                "state": state,
                "locked": {"yes": True, "no": False}[locked],
                "reason": unguard(reason),
                "round": int(round_number),
                "time": read_time(time),
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
