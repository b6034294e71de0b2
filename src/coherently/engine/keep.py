"""Finished pieces of work, kept in memory or in a file, so that work which was lost goes on where it ended."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

from coherently.errors import EngineError
from coherently.viewed import Viewed

if TYPE_CHECKING:
    import os
    import sqlite3

FORMAT = 1
"""The format of the file; another one is refused."""
SAVING = 0.5
"""Seconds of finished work that a sudden end of the program may lose."""


class Keep(Viewed):
    """Finished work as bytes, by the hash of what was to be done; it stays true whatever else changes.

    With a `file`, it outlives the program: an SQLite database, which is made if it does not exist. Only one program may
    write to it at a time.
    """

    def __init__(self, file: str | os.PathLike[str] | None = None) -> None:
        self.file, self._saved = file, time.monotonic()
        self._known: dict[bytes, bytes] = {}
        self._base = None if file is None else _connect(file)

    def __len__(self) -> int:
        if self._base is None:
            return len(self._known)
        return int(self._do("select count(*) from finished").fetchone()[0])

    def find(self, key: bytes) -> bytes | None:
        """What was kept under a key; a damaged entry counts as none."""
        if self._base is None:
            return self._known.get(key)
        row = self._do("select check_sum, answer from finished where key = ?", key).fetchone()
        return row[1] if row is not None and row[0] == _check_sum(row[1]) else None

    def add(self, key: bytes, answer: bytes) -> None:
        """Keep finished work."""
        if self._base is None:
            self._known[key] = answer
            return
        # A commit waits for the disk, which may take longer than a small component: many share one.
        self._do("insert or replace into finished values (?, ?, ?)", key, _check_sum(answer), answer)
        if time.monotonic() - self._saved > SAVING:
            self.save()

    def save(self) -> None:
        """Write everything to the file, so that a crash after this loses nothing."""
        self._saved = time.monotonic()
        if self._base is not None and self._base.in_transaction:
            self._do("commit")

    def close(self) -> None:
        """Save, and let go of the file."""
        self.save()
        if self._base is not None:
            self._base.close()

    def _do(self, statement: str, *values: bytes) -> sqlite3.Cursor:
        import sqlite3

        assert self._base is not None
        try:
            return self._base.execute(statement, values)
        except sqlite3.Error as error:
            raise EngineError(f"{self.file} cannot be used to keep finished components: {error}") from None


def _check_sum(answer: bytes) -> bytes:
    return hashlib.sha256(answer).digest()


def _connect(file: str | os.PathLike[str]) -> sqlite3.Connection:
    import sqlite3

    try:
        base = sqlite3.connect(file, timeout=1.0, check_same_thread=False)
    except sqlite3.Error as error:
        raise EngineError(f"{file} cannot be opened: {error}; name a file in an existing folder") from None
    try:
        found = base.execute("pragma user_version").fetchone()[0]
        tables = base.execute("select count(*) from sqlite_master").fetchone()[0]
        if found == 0 and not tables:
            base.execute("create table finished (key blob primary key, check_sum blob, answer blob)")
            base.execute(f"pragma user_version = {FORMAT}")
            base.commit()
            found = FORMAT
    except sqlite3.Error as error:
        base.close()
        raise EngineError(f"{file} cannot be used to keep finished components: {error}; name another file") from None
    if found != FORMAT:
        base.close()
        raise EngineError(
            f"{file} is a database of another kind or of another version; name another file to keep finished components"
        )
    return base
