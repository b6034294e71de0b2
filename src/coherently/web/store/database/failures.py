"""Errors of databases in plain words."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from coherently.errors import CoherentlyError
from coherently.web.store.store_errors import StoreUnavailableError, TextError

REASONS = (
    ("disk is full", "the disk of the store is full: make room, then try again"),
    ("no space left", "the disk of the database server is full: make room, then try again"),
    ("could not extend file", "the disk of the database server is full: make room, then try again"),
    ("disk i/o error", "the disk of the store reported an error: look at the disk, then start the workbench again"),
    ("locked", "the store is busy: try again"),
    ("lock timeout", "the store is busy: try again"),
    ("readonly", "the store's file cannot be written: change its permissions"),
    ("malformed", "the store's file is damaged: restore a backup"),
    ("not a database", "the store's file is not a database of SQLite: name another file, or restore a backup"),
    ("unable to open", "the store's file cannot be opened: look at the folder and its permissions"),
)
"""What databases say in their errors, and what that means."""
UNREACHABLE = "the database does not answer: look whether its server runs"
NOT_KEPT = "This was not kept, and what stood before stands."
UNSURE = "It is not sure that this was kept: send it again with the same key."


def plain_failure(error: BaseException, *, writing: bool = False, committing: bool = False) -> BaseException:
    """The error that a caller gets for one of the database, or of SQLAlchemy; others stay as they are."""
    if isinstance(error, StatementError) and isinstance(error.orig, CoherentlyError):
        return error.orig
    if isinstance(error, UnicodeEncodeError):
        return TextError("the text has half of a surrogate pair, which cannot be kept: remove it")
    if isinstance(error, PoolTimeoutError):
        return StoreUnavailableError("too many requests read from the store at once: try again")
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(error, DBAPIError) and not _is_trouble(error):
        return error
    if not isinstance(error, DBAPIError | sqlite3.Error):
        return error
    told = str(original).lower()
    reason = next((meaning for sign, meaning in REASONS if sign in told), None)
    if reason is None:  # a file has no server that could be away: SQLite's own words say more
        reason = f"SQLite reports: {original}" if isinstance(original, sqlite3.Error) else UNREACHABLE
    stands = UNSURE if committing else NOT_KEPT if writing else ""
    return StoreUnavailableError(f"{reason}. {stands}".strip())


def _is_trouble(error: DBAPIError) -> bool:
    """Whether the disk or the server is the cause, and not what was asked."""
    return type(error).__name__ in ("OperationalError", "InternalError", "InterfaceError", "DatabaseError")
