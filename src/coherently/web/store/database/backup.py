"""A copy of a store while it is used."""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from coherently.web.store.database.addresses import prepare_file, read_url
from coherently.web.store.database.database_connections import sqlite_writer
from coherently.web.store.database.schema_version import migrate
from coherently.web.store.identifiers import now
from coherently.web.store.store_errors import StoreError, StoreUnavailableError
from coherently.web.wall_clock import present

if TYPE_CHECKING:
    from coherently.web.store.database.database import Database

PATIENCE = 30.0
"""Seconds for which a store that is being written is waited for."""
RESTORED = "restored"
"""The kind of change that says that a backup was put in place of the store."""


def back_up(database: Database, path: str | os.PathLike[str]) -> None:
    """Copy one moment of a SQLite database into a file, which appears when it is whole."""
    if database.path is None:
        raise StoreError(f"a PostgreSQL store is backed up by its own tool: pg_dump --format=custom {database.where}")
    target = Path(path)
    if target.exists() and target.samefile(database.path):
        raise StoreError("the backup would replace the store itself: name another file")
    draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        _copy(database.path, draft)
        draft.replace(target)
        _settle(target.parent, folder=True)
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StoreUnavailableError(
            f"the backup {target} cannot be written: {reason}; nothing is left behind"
        ) from None
    finally:
        for suffix in ("", "-journal", "-wal", "-shm"):
            draft.with_name(draft.name + suffix).unlink(missing_ok=True)


def restore(address: str, source: str | os.PathLike[str]) -> Path | None:
    """Put a backup in place of a SQLite store, which may be in use; where what was there is kept, if anything was.

    Whoever uses the store sees either of the two, whole: the pages are copied in one transaction. Numbers of changes
    and forecasts go on from those of before, and a change of the kind `restored` tells every open page and panel in
    memory to begin anew. A backup of an earlier schema is brought up to date before.
    """
    url = read_url(address)
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        raise StoreError("a PostgreSQL store is restored by its own tool: pg_restore")
    target, backup = Path(str(url.database)), Path(source)
    _check_backup(backup)
    draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        prepare_file(target)
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        _copy(backup, draft)
        _brought_up(draft)
        kept = _set_aside(target)
        with closing(sqlite3.connect(draft)) as new, closing(sqlite3.connect(target, timeout=PATIENCE)) as live:
            _number_on(new, live)
            new.backup(live)
        _settle(target)
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StoreUnavailableError(f"{backup} cannot be restored: {reason}; the store is as it was") from None
    finally:
        for suffix in ("", "-journal", "-wal", "-shm"):
            draft.with_name(draft.name + suffix).unlink(missing_ok=True)
    return kept


def _check_backup(path: Path) -> None:
    if not path.is_file():
        raise StoreError(f"there is no backup {path}")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file:
            told = file.execute("PRAGMA integrity_check").fetchone()[0]
            names = {row[0] for row in file.execute("SELECT name FROM sqlite_master")}
    except sqlite3.Error as error:
        raise StoreError(f"{path} is not a backup of a store ({error}); nothing was changed") from None
    if told != "ok" or not {"schema_version", "panel"} <= names:
        raise StoreError(f"{path} is not a whole backup of a store; nothing was changed")


def _brought_up(draft: Path) -> None:
    """Bring a copy to the schema of this version; a newer one is refused."""
    engine = sqlite_writer(read_url(f"sqlite:///{draft.absolute()}"), durable=True)
    try:
        with engine.begin() as connection:
            migrate(connection, str(draft))
    finally:
        engine.dispose()


def _set_aside(target: Path) -> Path | None:
    """A copy of the store as it is; none of an empty one."""
    with closing(sqlite3.connect(target, timeout=PATIENCE)) as live:
        if not live.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return None
    kept = target.with_name(f"{target.stem}.before-{present():%Y%m%dT%H%M%S}-{secrets.token_hex(2)}{target.suffix}")
    os.close(os.open(kept, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    _copy(target, kept)
    return kept


def _number_on(new: sqlite3.Connection, live: sqlite3.Connection) -> None:
    """No number is given out twice, and every panel says that it was restored."""
    known = {"sqlite_sequence"} & {row[0] for row in live.execute("SELECT name FROM sqlite_master")}
    last = dict(live.execute("SELECT name, seq FROM sqlite_sequence")) if known else {}
    for name, number in last.items():
        there = new.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (name,)).fetchone()
        if there is None:
            new.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, number))
        elif there[0] < number:
            new.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (number, name))
    panels = [row[0] for row in new.execute("SELECT id FROM panel")]
    rows = [(panel, RESTORED, "{}", now()) for panel in panels]
    new.executemany("INSERT INTO change (panel, kind, data, time) VALUES (?, ?, ?, ?)", rows)
    new.commit()


def _copy(source: Path, draft: Path) -> None:
    with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(draft)) as copy:
        live.backup(copy)
        # One file, without a log beside it; opening it as a store turns the log on again.
        copy.execute("PRAGMA journal_mode = DELETE")
        told = copy.execute("PRAGMA integrity_check").fetchone()[0]
        if told != "ok":
            raise StoreError(f"the copy is not whole ({told}): look at the disk of the store")
    _settle(draft)


def _settle(path: Path, *, folder: bool = False) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if folder and os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
