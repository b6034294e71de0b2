"""A database with one writer and many readers; reads and writes inside of each other share a transaction."""

from __future__ import annotations

import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from coherently.web.store.database import database_connections
from coherently.web.store.database.addresses import prepare_file, read_url
from coherently.web.store.database.failures import plain_failure
from coherently.web.store.database.group_commit import GroupCommit
from coherently.web.store.database.schema_version import migrate
from coherently.web.store.store_errors import StoreUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

T = TypeVar("T")


class Database:
    """Runs actions on connections. An action that runs in the writer must be short: others wait for it.

    Each thread knows in `_own` whether it is inside of a read or a write, so that calls join the transaction around
    them. A write inside of a read takes a transaction of its own, which the read does not see: it goes on to see its
    moment. A write inside of a write must not go through the queue, whose only thread would wait for itself.
    """

    def __init__(self, address: str) -> None:
        url = read_url(address)
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        if url.drivername == "sqlite" and url.database in (None, "", ":memory:"):
            self._scratch = tempfile.TemporaryDirectory(prefix="coherently-")
            url = url.set(database=str(Path(self._scratch.name) / "scratch.db"))
        self.url = url
        self.kind = url.get_backend_name()
        self._own = threading.local()
        self._listeners: list[Callable[[], None]] = []
        try:
            writer, self._reader = self._open_engines()
            self._writer = GroupCommit(writer, self._tell)
            self._file = self._number_of_file()
        except BaseException:
            self._drop_scratch()
            raise

    @property
    def address(self) -> str:
        """The URL without a password, as people and other programs write it."""
        return self.url.set(drivername=self.kind).render_as_string(hide_password=True)

    @property
    def where(self) -> str:
        """The database in words."""
        return str(self.url.database) if self.kind == "sqlite" else self.address

    @property
    def path(self) -> Path | None:
        """The file, if it is one."""
        return Path(str(self.url.database)) if self.kind == "sqlite" else None

    def write(self, action: Callable[[Connection], T]) -> T:
        """Run an action in a transaction, which is on the disk when this returns; inside of another, join it."""
        connection = getattr(self._own, "writing", None)
        if connection is not None:
            return action(connection)
        value: T = self._writer.write(lambda connection: self._run(connection, action, "writing"))
        return value

    @property
    def is_writing(self) -> bool:
        """Whether this thread is inside of a write."""
        return getattr(self._own, "writing", None) is not None

    def check_file(self) -> None:
        """Refuse a store whose file was deleted, or another put in its place: what is written would be lost."""
        if self._number_of_file() != self._file:
            raise StoreUnavailableError(
                f"the file {self.where} is gone, or another was put in its place; what is written now would be lost. "
                "Stop the workbench, put the file back or restore a backup, and start it again"
            )

    def _number_of_file(self) -> tuple[int, int] | None:
        try:
            found = None if self.path is None else self.path.stat()
        except OSError:
            return None
        return None if found is None else (found.st_dev, found.st_ino)

    def was_written_within(self, seconds: float) -> bool:
        """Whether something was kept in the last seconds, and no write failed since."""
        return time.monotonic() - self._writer.kept_at < seconds

    def read(self, action: Callable[[Connection], T]) -> T:
        """Run an action that sees one moment; inside of a write it sees what was written there."""
        connection = getattr(self._own, "writing", None) or getattr(self._own, "reading", None)
        if connection is not None:
            return action(connection)
        try:
            with self._reader.connect() as connection, connection.begin():
                return self._run(connection, action, "reading")
        except Exception as error:
            plain = plain_failure(error)
            if plain is error:
                raise
            raise plain from error

    def listen(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back after each commit of this process that noted a change; returns how to end that."""
        self._listeners.append(callback)

        def stop() -> None:
            with suppress(ValueError):
                self._listeners.remove(callback)

        return stop

    def close(self) -> None:
        """Write what waits, and end."""
        self._writer.close()
        self._reader.dispose()
        self._drop_scratch()

    def _run(self, connection: Connection, action: Callable[[Connection], T], role: str) -> T:
        setattr(self._own, role, connection)
        try:
            return action(connection)
        finally:
            setattr(self._own, role, None)

    def _tell(self) -> None:
        for callback in tuple(self._listeners):
            with suppress(Exception):
                callback()

    def _open_engines(self) -> tuple[Engine, Engine]:
        if self.kind == "sqlite":
            prepare_file(Path(str(self.url.database)))
            writer = database_connections.sqlite_writer(self.url, durable=self._scratch is None)
            reader = database_connections.sqlite_reader(self.url)
        else:
            writer, reader = (
                database_connections.postgres_writer(self.url),
                database_connections.postgres_reader(self.url),
            )
        try:
            with writer.begin() as connection:
                migrate(connection, self.where)
        except Exception as error:
            writer.dispose()
            reader.dispose()
            plain = plain_failure(error)
            if plain is error:
                raise
            raise plain from error
        return writer, reader

    def _drop_scratch(self) -> None:
        if self._scratch is not None:
            self._scratch.cleanup()
