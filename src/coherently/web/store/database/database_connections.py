"""Engines of SQLAlchemy: one connection that writes, and a pool that reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event, text

from coherently.web.store.store_errors import StoreError

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection

BUSY_SECONDS = 30
"""How long a writer waits for the writer of another process."""
READERS = 8
"""Number of reading connections that stay open; four times as many may be open at once."""
WRITER_LOCK = 0x636F686572
"""The number of the advisory lock that writers of a PostgreSQL database take, one after the other."""


def sqlite_writer(url: URL, *, durable: bool) -> Engine:
    """Transactions begin with the lock for writing, and are on the disk when COMMIT returns."""
    engine = create_engine(url, poolclass=QueuePool, pool_size=1, max_overflow=0, connect_args=_file_options())

    def connect(connection: Any, _: object) -> None:
        connection.isolation_level = None
        _pragma(connection, "foreign_keys = ON")
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise StoreError(
                f"the file system of {url.database} allows no write-ahead log (mode {mode!r}): choose a local disk"
            )
        _pragma(connection, f"synchronous = {'FULL' if durable else 'OFF'}")

    event.listen(engine, "connect", connect)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine


def sqlite_reader(url: URL) -> Engine:
    """Transactions see one moment and cannot write."""
    engine = create_engine(
        url, poolclass=QueuePool, pool_size=READERS, max_overflow=3 * READERS, connect_args=_file_options()
    )

    def connect(connection: Any, _: object) -> None:
        connection.isolation_level = None
        _pragma(connection, "query_only = ON")

    event.listen(engine, "connect", connect)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


def _file_options() -> dict[str, Any]:
    return {"timeout": BUSY_SECONDS, "check_same_thread": False}


def _pragma(connection: DBAPIConnection, setting: str) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def postgres_writer(url: URL) -> Engine:
    """Transactions begin with the writers' lock, so that they run one after the other, as those of SQLite do."""
    engine = create_engine(url, poolclass=QueuePool, pool_size=1, max_overflow=0, pool_pre_ping=True)

    def begin(connection: Connection) -> None:
        connection.execute(text(f"SET LOCAL lock_timeout = '{BUSY_SECONDS}s'"))
        connection.execute(text(f"SELECT pg_advisory_xact_lock({WRITER_LOCK})"))

    event.listen(engine, "begin", begin)
    return engine


def postgres_reader(url: URL) -> Engine:
    """Transactions see one moment and cannot write."""
    engine = create_engine(
        url, pool_size=READERS, max_overflow=3 * READERS, pool_pre_ping=True, isolation_level="REPEATABLE READ"
    )
    event.listen(engine, "connect", _make_read_only)
    return engine


def _make_read_only(connection: Any, _: object) -> None:
    connection.read_only = True
