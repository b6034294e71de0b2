"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TIME = sa.String(length=24)
COUNTER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make all tables."""
    _account()
    _idempotency()
    _panel()
    _token()
    _aggregation()
    _change()
    _judge()
    _law()
    _outcome()
    _question()
    _round_phase()
    _comment()
    _hand_in()
    _meant()
    _question_event()
    _session()
    _forecast()
    _answer()


def _account() -> None:
    op.create_table(
        "account",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("closed_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_account"),
        sa.UniqueConstraint("name", name="uq_account_name"),
    )


def _idempotency() -> None:
    op.create_table(
        "idempotency",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("time", TIME, nullable=False),
        sa.PrimaryKeyConstraint("scope", "key", name="pk_idempotency"),
    )
    op.create_index("ix_idempotency_time", "idempotency", ["time"], unique=False)


def _panel() -> None:
    op.create_table(
        "panel",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("deleted_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(["owner"], ["account.id"], name="fk_panel_owner", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_panel"),
    )
    op.create_index("ix_panel_owner_id", "panel", ["owner", "id"], unique=False)


def _token() -> None:
    op.create_table(
        "token",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=True),
        sa.Column("revoked_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(["account"], ["account.id"], name="fk_token_account", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_token"),
        sa.UniqueConstraint("secret_hash", name="uq_token_secret_hash"),
    )
    op.create_index("ix_token_account", "token", ["account"], unique=False)


def _aggregation() -> None:
    op.create_table(
        "aggregation",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("panel", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("limits", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("as_of", TIME, nullable=False),
        sa.Column("requested_at", TIME, nullable=False),
        sa.Column("started_at", TIME, nullable=True),
        sa.Column("ended_at", TIME, nullable=True),
        sa.Column("progress", sa.Double(), nullable=False),
        sa.Column("progress_text", sa.Text(), nullable=False),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", TIME, nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("inputs", sa.LargeBinary(), nullable=True),
        sa.Column("result", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["panel"], ["panel.id"], name="fk_aggregation_panel", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_aggregation"),
    )
    op.create_index("ix_aggregation_panel_version", "aggregation", ["panel", "version"], unique=True)
    op.create_index("ix_aggregation_status_requested_at", "aggregation", ["status", "requested_at"], unique=False)


def _change() -> None:
    op.create_table(
        "change",
        sa.Column("id", COUNTER, nullable=False),
        sa.Column("panel", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("judge", sa.Text(), nullable=True),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("time", TIME, nullable=False),
        sa.ForeignKeyConstraint(["panel"], ["panel.id"], name="fk_change_panel", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_change"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_change_panel_id", "change", ["panel", "id"], unique=False)
    op.create_index("ix_change_time", "change", ["time"], unique=False)


def _judge() -> None:
    op.create_table(
        "judge",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("panel", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("link_hash", sa.String(length=64), nullable=True),
        sa.Column("invited_at", TIME, nullable=False),
        sa.Column("opened_at", TIME, nullable=True),
        sa.Column("revoked_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(["panel"], ["panel.id"], name="fk_judge_panel", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_judge"),
        sa.UniqueConstraint("link_hash", name="uq_judge_link_hash"),
    )
    op.create_index("ix_judge_panel_name", "judge", ["panel", "name"], unique=True)


def _law() -> None:
    op.create_table(
        "law",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("position", COUNTER, nullable=False),
        sa.Column("panel", sa.Text(), nullable=False),
        sa.Column("statement", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("added_at", TIME, nullable=False),
        sa.Column("dropped_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(["panel"], ["panel.id"], name="fk_law_panel", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_law"),
    )
    op.create_index("ix_law_panel_position", "law", ["panel", "position"], unique=False)


def _outcome() -> None:
    op.create_table(
        "outcome",
        sa.Column("id", COUNTER, nullable=False),
        sa.Column("panel", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("time", TIME, nullable=False),
        sa.ForeignKeyConstraint(["panel"], ["panel.id"], name="fk_outcome_panel", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_outcome"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_outcome_panel_id", "outcome", ["panel", "id"], unique=False)


def _question() -> None:
    op.create_table(
        "question",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("panel", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("group_name", sa.Text(), nullable=False),
        sa.Column("declaration", sa.Text(), nullable=True),
        sa.Column("added_at", TIME, nullable=False),
        sa.Column("withdrawn_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(["panel"], ["panel.id"], name="fk_question_panel", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_question"),
    )
    op.create_index("ix_question_panel_number", "question", ["panel", "number"], unique=True)


def _round_phase() -> None:
    op.create_table(
        "round_phase",
        sa.Column("id", COUNTER, nullable=False),
        sa.Column("panel", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("phase", sa.String(length=16), nullable=False),
        sa.Column("closes_at", TIME, nullable=True),
        sa.Column("hide_numbers", sa.Boolean(), nullable=False),
        sa.Column("since", TIME, nullable=False),
        sa.ForeignKeyConstraint(["panel"], ["panel.id"], name="fk_round_phase_panel", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_round_phase"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_round_phase_panel_id", "round_phase", ["panel", "id"], unique=False)


def _comment() -> None:
    op.create_table(
        "comment",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("position", COUNTER, nullable=False),
        sa.Column("panel", sa.Text(), nullable=False),
        sa.Column("judge", sa.Text(), nullable=True),
        sa.Column("question", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("time", TIME, nullable=False),
        sa.Column("withdrawn_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(["judge"], ["judge.id"], name="fk_comment_judge", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["panel"], ["panel.id"], name="fk_comment_panel", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["question"], ["question.id"], name="fk_comment_question", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_comment"),
    )
    op.create_index("ix_comment_judge", "comment", ["judge"], unique=False)
    op.create_index("ix_comment_panel_position", "comment", ["panel", "position"], unique=False)
    op.create_index("ix_comment_question", "comment", ["question"], unique=False)


def _hand_in() -> None:
    op.create_table(
        "hand_in",
        sa.Column("judge", sa.Text(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("panel", sa.Text(), nullable=False),
        sa.Column("time", TIME, nullable=False),
        sa.ForeignKeyConstraint(["judge"], ["judge.id"], name="fk_hand_in_judge", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["panel"], ["panel.id"], name="fk_hand_in_panel", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("judge", "round", name="pk_hand_in"),
    )
    op.create_index("ix_hand_in_panel", "hand_in", ["panel"], unique=False)


def _meant() -> None:
    op.create_table(
        "meant",
        sa.Column("id", COUNTER, nullable=False),
        sa.Column("panel", sa.Text(), nullable=False),
        sa.Column("judge", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("time", TIME, nullable=False),
        sa.Column("taken_back_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(["judge"], ["judge.id"], name="fk_meant_judge", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["panel"], ["panel.id"], name="fk_meant_panel", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_meant"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_meant_judge_key", "meant", ["judge", "key"], unique=False)
    op.create_index("ix_meant_panel_id", "meant", ["panel", "id"], unique=False)


def _question_event() -> None:
    op.create_table(
        "question_event",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("panel", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["panel"], ["panel.id"], name="fk_question_event_panel", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["question"], ["question.id"], name="fk_question_event_question", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_question_event"),
    )
    op.create_index(
        "ix_question_event_panel_question_position", "question_event", ["panel", "question", "position"], unique=False
    )
    op.create_index("ix_question_event_question", "question_event", ["question"], unique=False)


def _session() -> None:
    op.create_table(
        "session",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=True),
        sa.Column("judge", sa.Text(), nullable=True),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("csrf", sa.String(length=64), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["account"], ["account.id"], name="fk_session_account", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["judge"], ["judge.id"], name="fk_session_judge", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_session"),
        sa.UniqueConstraint("secret_hash", name="uq_session_secret_hash"),
    )
    op.create_index("ix_session_account", "session", ["account"], unique=False)
    op.create_index("ix_session_expires_at", "session", ["expires_at"], unique=False)
    op.create_index("ix_session_judge", "session", ["judge"], unique=False)


def _forecast() -> None:
    op.create_table(
        "forecast",
        sa.Column("id", COUNTER, nullable=False),
        sa.Column("panel", sa.Text(), nullable=False),
        sa.Column("judge", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("probability", sa.Double(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("locked", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("time", TIME, nullable=False),
        sa.ForeignKeyConstraint(["event"], ["question_event.id"], name="fk_forecast_event", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["judge"], ["judge.id"], name="fk_forecast_judge", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["panel"], ["panel.id"], name="fk_forecast_panel", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_forecast"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_forecast_event", "forecast", ["event"], unique=False)
    op.create_index("ix_forecast_judge_id", "forecast", ["judge", "id"], unique=False)
    op.create_index("ix_forecast_panel_id", "forecast", ["panel", "id"], unique=False)


def _answer() -> None:
    op.create_table(
        "answer",
        sa.Column("judge", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("panel", sa.Text(), nullable=False),
        sa.Column("forecast", COUNTER, nullable=False),
        sa.ForeignKeyConstraint(["event"], ["question_event.id"], name="fk_answer_event", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["forecast"], ["forecast.id"], name="fk_answer_forecast", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["judge"], ["judge.id"], name="fk_answer_judge", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["panel"], ["panel.id"], name="fk_answer_panel", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("judge", "event", name="pk_answer"),
    )
    op.create_index("ix_answer_event", "answer", ["event"], unique=False)
    op.create_index("ix_answer_forecast", "answer", ["forecast"], unique=False)
    op.create_index("ix_answer_panel_forecast", "answer", ["panel", "forecast"], unique=False)
