"""The tables. A change here needs a migration of its own in `migrations/`; a test holds the two against each other."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Double, ForeignKey, Index, Integer, MetaData, String, Table

from coherently.web.store.database.column_types import COUNTER, Identifier, Json, PackedJson, Words

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
TIME = String(24)


def _belongs(name: str, target: str, *, nullable: bool = False, key: bool = False) -> Column[str]:
    """A column that names what a row belongs to, and with which it goes."""
    return Column(name, Identifier, ForeignKey(target, ondelete="CASCADE"), nullable=nullable, primary_key=key)


def _words(name: str) -> Column[str]:
    return Column(name, Words, nullable=False)


def _time(name: str, *, nullable: bool = False) -> Column[str]:
    return Column(name, TIME, nullable=nullable)


account = Table(
    "account",
    METADATA,
    Column("id", Identifier, primary_key=True),
    Column("name", Words, nullable=False, unique=True),
    Column("password_hash", String),
    _time("created_at"),
    _time("closed_at", nullable=True),
)
token = Table(
    "token",
    METADATA,
    Column("id", Identifier, primary_key=True),
    _belongs("account", "account.id"),
    _words("name"),
    Column("secret_hash", String(64), nullable=False, unique=True),
    _time("created_at"),
    _time("expires_at", nullable=True),
    _time("revoked_at", nullable=True),
    Index(None, "account"),
)
panel = Table(
    "panel",
    METADATA,
    Column("id", Identifier, primary_key=True),
    _belongs("owner", "account.id"),
    _words("title"),
    _words("description"),
    Column("settings", Json, nullable=False),
    _time("created_at"),
    _time("deleted_at", nullable=True),
    Index(None, "owner", "id"),
)
question = Table(
    "question",
    METADATA,
    Column("id", Identifier, primary_key=True),
    _belongs("panel", "panel.id"),
    Column("number", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    _words("title"),
    _words("definition"),
    _words("group_name"),
    Column("declaration", Words),
    _time("added_at"),
    _time("withdrawn_at", nullable=True),
    Index(None, "panel", "number", unique=True),
)
question_event = Table(
    "question_event",
    METADATA,
    Column("id", Identifier, primary_key=True),
    _belongs("panel", "panel.id"),
    _belongs("question", "question.id"),
    Column("position", Integer, nullable=False),
    _words("event"),
    _words("title"),
    Index(None, "panel", "question", "position"),
    Index(None, "question"),
)
law = Table(
    "law",
    METADATA,
    Column("id", Identifier, primary_key=True),
    Column("position", COUNTER, nullable=False),
    _belongs("panel", "panel.id"),
    _words("statement"),
    _words("title"),
    _time("added_at"),
    _time("dropped_at", nullable=True),
    Index(None, "panel", "position"),
)
judge = Table(
    "judge",
    METADATA,
    Column("id", Identifier, primary_key=True),
    Column("position", Integer, nullable=False),
    _belongs("panel", "panel.id"),
    _words("name"),
    Column("link_hash", String(64), unique=True),
    _time("invited_at"),
    _time("opened_at", nullable=True),
    _time("revoked_at", nullable=True),
    Index(None, "panel", "name", unique=True),
)
session = Table(
    "session",
    METADATA,
    Column("id", Identifier, primary_key=True),
    _belongs("account", "account.id", nullable=True),
    _belongs("judge", "judge.id", nullable=True),
    Column("secret_hash", String(64), nullable=False, unique=True),
    Column("csrf", String(64), nullable=False),
    _time("created_at"),
    _time("expires_at"),
    Index(None, "account"),
    Index(None, "judge"),
    Index(None, "expires_at"),
)
round_phase = Table(
    "round_phase",
    METADATA,
    Column("id", COUNTER, primary_key=True),
    _belongs("panel", "panel.id"),
    Column("number", Integer, nullable=False),
    Column("phase", String(16), nullable=False),
    _time("closes_at", nullable=True),
    Column("hide_numbers", Boolean, nullable=False),
    _time("since"),
    Index(None, "panel", "id"),
    sqlite_autoincrement=True,
)
forecast = Table(
    "forecast",
    METADATA,
    Column("id", COUNTER, primary_key=True),
    _belongs("panel", "panel.id"),
    _belongs("judge", "judge.id"),
    _belongs("event", "question_event.id"),
    Column("probability", Double),
    Column("state", String(16), nullable=False),
    Column("locked", Boolean, nullable=False),
    _words("reason"),
    Column("round", Integer, nullable=False),
    _time("time"),
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
hand_in = Table(
    "hand_in",
    METADATA,
    _belongs("judge", "judge.id", key=True),
    Column("round", Integer, primary_key=True),
    _belongs("panel", "panel.id"),
    _time("time"),
    Index(None, "panel"),
)
meant = Table(
    "meant",
    METADATA,
    Column("id", COUNTER, primary_key=True),
    _belongs("panel", "panel.id"),
    _belongs("judge", "judge.id"),
    _words("key"),
    _words("sentence"),
    _words("reason"),
    _time("time"),
    _time("taken_back_at", nullable=True),
    Index(None, "panel", "id"),
    Index(None, "judge", "key"),
    sqlite_autoincrement=True,
)
comment = Table(
    "comment",
    METADATA,
    Column("id", Identifier, primary_key=True),
    Column("position", COUNTER, nullable=False),
    _belongs("panel", "panel.id"),
    _belongs("judge", "judge.id", nullable=True),
    _belongs("question", "question.id", nullable=True),
    _words("text"),
    Column("round", Integer, nullable=False),
    _time("time"),
    _time("withdrawn_at", nullable=True),
    Index(None, "panel", "position"),
    Index(None, "judge"),
    Index(None, "question"),
)
outcome = Table(
    "outcome",
    METADATA,
    Column("id", COUNTER, primary_key=True),
    _belongs("panel", "panel.id"),
    _words("event"),
    Column("outcome", Json, nullable=False),
    _words("note"),
    _time("time"),
    Index(None, "panel", "id"),
    sqlite_autoincrement=True,
)
aggregation = Table(
    "aggregation",
    METADATA,
    Column("id", Identifier, primary_key=True),
    _belongs("panel", "panel.id"),
    Column("version", Integer, nullable=False),
    Column("status", String(16), nullable=False),
    Column("options", Json, nullable=False),
    Column("limits", Json, nullable=False),
    _words("note"),
    _time("as_of"),
    _time("requested_at"),
    _time("started_at", nullable=True),
    _time("ended_at", nullable=True),
    Column("progress", Double, nullable=False),
    _words("progress_text"),
    Column("cancel_requested", Boolean, nullable=False),
    Column("worker", Words),
    _time("lease_until", nullable=True),
    Column("attempts", Integer, nullable=False),
    Column("summary", Json, nullable=False),
    _words("error"),
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
    _time("time"),
    Index(None, "time"),
)
change = Table(
    "change",
    METADATA,
    Column("id", COUNTER, primary_key=True),
    _belongs("panel", "panel.id"),
    Column("kind", String(32), nullable=False),
    Column("judge", Identifier),
    Column("data", Json, nullable=False),
    _time("time"),
    Index(None, "panel", "id"),
    Index(None, "time"),
    sqlite_autoincrement=True,
)
