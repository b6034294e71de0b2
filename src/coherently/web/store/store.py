"""The store: everything that the workbench keeps, behind one door."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import delete, select

from coherently.web.store.archives.panel_archives import ArchiveResource
from coherently.web.store.database.addresses import default_url
from coherently.web.store.database.backup import back_up
from coherently.web.store.database.database import Database
from coherently.web.store.database.schema import change, idempotency, session
from coherently.web.store.database.upserts import insert_or_replace
from coherently.web.store.identifiers import now, time_text
from coherently.web.store.people.account_resource import AccountResource
from coherently.web.store.people.secret_keys import SessionResource, TokenResource
from coherently.web.store.resources.aggregation_resource import AggregationResource
from coherently.web.store.resources.change_resource import ChangeResource
from coherently.web.store.resources.decision_resource import DecisionResource
from coherently.web.store.resources.drawn_resource import DrawnResource
from coherently.web.store.resources.forecast_resource import ForecastResource
from coherently.web.store.resources.judge_resource import JudgeResource
from coherently.web.store.resources.law_resource import LawResource
from coherently.web.store.resources.message_resource import MessageResource
from coherently.web.store.resources.once import do_once
from coherently.web.store.resources.outcome_resource import OutcomeResource
from coherently.web.store.resources.panel_resource import PanelResource
from coherently.web.store.resources.question_resource import QuestionResource
from coherently.web.store.resources.remark_resource import CommentResource, MeantResource, ReactionResource
from coherently.web.store.resources.report_link_resource import ReportLinkResource
from coherently.web.store.resources.round_resource import RoundResource
from coherently.web.wall_clock import present

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from datetime import datetime
    from types import TracebackType

    from sqlalchemy import Connection

    from coherently.web.store.store_records import OnceAnswer

T = TypeVar("T")
FRESH = 5.0
"""Seconds for which a write that was kept says that the store can be written."""
KEPT_SECONDS = 7 * 24 * 3600
"""How long keys of requests and changes are kept: a week."""


def open_store(url: str | None = None) -> Store:
    """Open a store, and make it if it is not there; its schema is brought to that of this version.

    `folder/file.db` or `sqlite:///folder/file` is a file, by default one in the user's data folder;
    `postgresql://user@host/database` a server. `sqlite://` is a scratch store that is gone when it is closed.

    >>> with open_store("sqlite://") as store:
    ...     panel = store.panels.create(store.accounts.local().id, "Next year")
    ...     store.rounds.current(panel.id).phase
    'private'
    """
    return Store(Database(default_url() if url is None else url))


class Store:
    """Everything that the workbench keeps. It can be used from many threads; every call waits for its answer."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tidied: datetime | None = None
        self.accounts = AccountResource(database)
        self.sessions = SessionResource(database)
        self.tokens = TokenResource(database)
        self.panels = PanelResource(database)
        self.questions = QuestionResource(database)
        self.laws = LawResource(database)
        self.decisions = DecisionResource(database)
        self.judges = JudgeResource(database)
        self.messages = MessageResource(database)
        self.report_links = ReportLinkResource(database)
        self.rounds = RoundResource(database)
        self.forecasts = ForecastResource(database)
        self.drawn = DrawnResource(database)
        self.outcomes = OutcomeResource(database)
        self.comments = CommentResource(database)
        self.meant = MeantResource(database)
        self.reactions = ReactionResource(database)
        self.aggregations = AggregationResource(database)
        self.changes = ChangeResource(database)
        self.archive = ArchiveResource(self)

    @property
    def kind(self) -> str:
        """The kind of database: `sqlite` or `postgresql`."""
        return self._database.kind

    @property
    def url(self) -> str:
        """Where the store is, without a password."""
        return self._database.address

    def write(self, action: Callable[[], T]) -> T:
        """Run an action whose calls of the store are one transaction, which is on the disk when this returns.

        The action runs in the writer's thread, and others wait for it: nothing is solved in it.
        """
        return self._database.write(lambda _: action())

    def read(self, action: Callable[[], T]) -> T:
        """Run an action whose reads all see one moment."""
        return self._database.read(lambda _: action())

    def in_transaction(self, action: Callable[[Connection], T]) -> T:
        """Run an action on the writer's connection: for the other parts of the store."""
        return self._database.write(action)

    def once(self, scope: str, key: str, digest: str, action: Callable[[], tuple[int, Any]]) -> OnceAnswer:
        """Do an action for a key at most once, and give its answer (a status and plain values) every time.

        The same key with another digest is refused. The action is one transaction with the note of the key; if it
        raises, nothing is noted.
        """
        return self._database.write(lambda connection: do_once(connection, scope, key, digest, action=action))

    def ready(self) -> None:
        """Raise `StoreUnavailableError` if the database cannot be read, or cannot be written.

        Whether it can is known from a write that was kept a moment ago; if there was none, or the last one failed, a
        small row is written for the purpose.
        """
        self._database.check_file()
        self._database.read(lambda connection: connection.execute(select(1)).one())
        if not self._database.was_written_within(FRESH):
            beat = {"scope": "health", "key": "beat", "digest": "", "status": 200, "body": {}, "time": now()}
            self._database.write(lambda connection: insert_or_replace(connection, idempotency, [beat]))

    def tidy(self) -> None:
        """Remove sessions that had ended at the last tidying, and keys and changes that were older than a week then.

        So a clock that is set forwards removes nothing of the last hour, on which lists in memory rely, and nothing at
        all if it is set back within that time.
        """
        last, self._tidied = self._tidied, present()
        if last is None:
            return
        moment = min(last, self._tidied)
        old = time_text(moment - timedelta(seconds=KEPT_SECONDS))
        ended = session.c.expires_at < time_text(moment)

        def action(connection: Connection) -> None:
            connection.execute(delete(session).where(ended))
            connection.execute(delete(idempotency).where(idempotency.c.time < old))
            connection.execute(delete(change).where(change.c.time < old))

        self._database.write(action)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of a SQLite store while it is used; the file at `path` is whole or not there."""
        back_up(self._database, path)

    def close(self) -> None:
        """Write what waits, and end."""
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
