"""A copy of a store while it is used."""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from coherently.web.store.store_errors import StoreError, StoreUnavailableError

if TYPE_CHECKING:
    from coherently.web.store.database.database import Database


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
