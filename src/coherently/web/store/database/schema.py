"""The tables: of each record one, with what no record shows beside it; and older stores brought up to them."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Column, ForeignKey, Index, Integer, MetaData, String, Table, false, text, true

from coherently.web.store import store_records as records
from coherently.web.store.database.column_types import COUNTER, Identifier, Json, PackedJson, Words
from coherently.web.store.stored_fields import FIRST, stored_fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import ColumnElement, CursorResult
    from sqlalchemy.schema import SchemaItem

    from coherently.web.store.stored_fields import StoredField

Record = TypeVar("Record", bound=records.StoredRecord)
METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
TIME = String(24)
TABLES: dict[type[records.StoredRecord], Table] = {}
"""The table of each record."""
LATER: dict[int, list[Table]] = {}
"""Tables that came after the first version, by the version that added them."""


def _column(field: StoredField) -> Column[Any]:
    kind = field.kind
    goes_with = [ForeignKey(f"{kind.refers}.id", ondelete="CASCADE")] if kind.refers else []
    return Column(
        kind.name or field.name,
        kind.column,
        *goes_with,
        key=field.name,
        nullable=field.is_nullable,
        primary_key=kind.is_key,
        unique=kind.is_unique or None,
        server_default=None if kind.since == FIRST else _literal(field.default),
    )


def _literal(value: object) -> Any:
    """The value that rows from before a field get: a text, a number or nothing."""
    if value is None or value is MISSING:
        return None
    if isinstance(value, bool):
        return true() if value else false()
    return value if isinstance(value, str) else text(str(value))


def _table(
    name: str, record: type[records.StoredRecord], *beside: SchemaItem, since: int = FIRST, **options: Any
) -> Table:
    """The table of a record; `beside` are columns that it does not show, and indexes."""
    made = Table(name, METADATA, *(_column(field) for field in stored_fields(record)), *beside, **options)
    TABLES[record] = made
    if since > FIRST:
        LATER.setdefault(since, []).append(made)
    return made


def columns(record: type[records.StoredRecord]) -> list[ColumnElement[Any]]:
    """What to select for a record, each under the name of its field."""
    table = TABLES[record]
    found = [table.c[field.name] for field in stored_fields(record)]
    return [one if one.name == one.key else one.label(one.key) for one in found]


def read_records(record: type[Record], result: CursorResult[Any], **beside: Any) -> Iterator[Record]:
    """A record of each row, by the names of its columns; `beside` are fields that all of them have."""
    names = tuple(result.keys())
    return (record(**dict(zip(names, row, strict=True)), **beside) for row in result)


def read_record(record: type[Record], result: CursorResult[Any], **beside: Any) -> Record | None:
    """The record of the first row, if there is one."""
    with result:
        return next(read_records(record, result, **beside), None)


def _belongs(name: str, target: str, *, key: bool = False) -> Column[str]:
    """A column that names what a row belongs to, and with which it goes."""
    return Column(name, Identifier, ForeignKey(target, ondelete="CASCADE"), nullable=False, primary_key=key)


def _counter() -> Column[int]:
    return Column("id", COUNTER, primary_key=True)


account = _table("account", records.AccountRecord, Column("password_hash", String))
token = _table(
    "token",
    records.TokenRecord,
    Column("secret_hash", String(64), nullable=False, unique=True),
    Index(None, "account"),
)
panel = _table("panel", records.PanelRecord, Index(None, "owner", "id"))
question = _table("question", records.QuestionRecord, Index(None, "panel", "number", unique=True))
question_event = _table(
    "question_event",
    records.EventRecord,
    _belongs("panel", "panel.id"),
    _belongs("question", "question.id"),
    Column("position", Integer, nullable=False),
    Index(None, "panel", "question", "position"),
    Index(None, "question"),
)
law = _table("law", records.LawRecord, Column("position", COUNTER, nullable=False), Index(None, "panel", "position"))
judge = _table(
    "judge",
    records.JudgeRecord,
    Column("position", Integer, nullable=False),
    Column("link_hash", String(64), unique=True),
    Index(None, "panel", "name", unique=True),
)
judge_link = Table(
    "judge_link",
    METADATA,
    Column("secret_hash", String(64), primary_key=True),
    _belongs("judge", "judge.id"),
    Column("made_at", TIME, nullable=False),
    Index(None, "judge"),
)
"""Further links of judges: every mail has one of its own, so that no secret is kept and none ends another."""
LATER.setdefault(5, []).append(judge_link)
message = _table(
    "message", records.MessageRecord, Index(None, "panel", "id"), Index(None, "judge"), Index(None, "state"), since=5
)
report_link = _table(
    "report_link",
    records.ReportLinkRecord,
    Column("secret_hash", String(64), nullable=False, unique=True),
    Index(None, "panel", "id"),
    since=5,
)
session = _table(
    "session",
    records.SessionRecord,
    Column("secret_hash", String(64), nullable=False, unique=True),
    Index(None, "account"),
    Index(None, "judge"),
    Index(None, "expires_at"),
)
round_phase = _table(
    "round_phase", records.RoundRecord, _counter(), Index(None, "panel", "id"), sqlite_autoincrement=True
)
forecast = _table(
    "forecast",
    records.ForecastRecord,
    _belongs("panel", "panel.id"),
    Index(None, "panel", "id"),
    Index(None, "judge", "id"),
    Index(None, "event"),
    sqlite_autoincrement=True,
)
answer = Table(
    "answer",
    METADATA,
    _belongs("judge", "judge.id", key=True),
    _belongs("event", "question_event.id", key=True),
    _belongs("panel", "panel.id"),
    Column("forecast", COUNTER, ForeignKey("forecast.id", ondelete="CASCADE"), nullable=False),
    Index(None, "panel", "forecast"),
    Index(None, "event"),
    Index(None, "forecast"),
)
"""Which forecast is the last of each judge on each event: an index, which could be made anew from the forecasts."""
hand_in = _table("hand_in", records.HandInRecord, _belongs("panel", "panel.id"), Index(None, "panel"))
meant = _table(
    "meant",
    records.MeantRecord,
    _counter(),
    Index(None, "panel", "id"),
    Index(None, "judge", "key"),
    sqlite_autoincrement=True,
)
comment = _table(
    "comment",
    records.CommentRecord,
    Column("position", COUNTER, nullable=False),
    Index(None, "panel", "position"),
    Index(None, "judge"),
    Index(None, "question"),
)
reaction = _table(
    "reaction",
    records.ReactionRecord,
    _counter(),
    Index(None, "panel", "id"),
    since=3,
    sqlite_autoincrement=True,
)
drawn = _table(
    "drawn",
    records.DrawnRecord,
    _counter(),
    Index(None, "panel", "id"),
    Index(None, "judge", "question"),
    since=4,
    sqlite_autoincrement=True,
)
decision = _table(
    "decision",
    records.DecisionRecord,
    Index(None, "panel", "id"),
    since=6,
    sqlite_autoincrement=True,
)
outcome = _table("outcome", records.OutcomeRecord, Index(None, "panel", "id"), sqlite_autoincrement=True)
aggregation = _table(
    "aggregation",
    records.AggregationRecord,
    Column("inputs", PackedJson),
    Column("result", PackedJson),
    Index(None, "panel", "version", unique=True),
    Index(None, "status", "requested_at"),
)
idempotency = Table(
    "idempotency",
    METADATA,
    Column("scope", Words, primary_key=True),
    Column("key", Words, primary_key=True),
    Column("digest", Words, nullable=False),
    Column("status", Integer, nullable=False),
    Column("body", Json, nullable=False),
    Column("time", TIME, nullable=False),
    Index(None, "time"),
)
change = _table(
    "change", records.ChangeRecord, Index(None, "panel", "id"), Index(None, "time"), sqlite_autoincrement=True
)
