"""Where a store is: the URL, and the file or server that it names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from coherently.web.store.store_errors import StoreError

FILES = (".db", ".sqlite", ".sqlite3")
ALLOWED = "name a file that ends in .db, .sqlite or .sqlite3, or a server: postgresql://user@host/database"


def default_url() -> str:
    """The file in the user's data folder, as a URL."""
    return f"sqlite:///{_data_folder() / 'coherently' / 'workbench.db'}"


def _data_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def read_url(text: str) -> URL:
    """A URL with the driver that is used; others are refused. A path that ends like a database names a file.

    >>> read_url("postgresql://ann@127.0.0.1/workbench").drivername
    'postgresql+psycopg'
    >>> read_url("panels/2027.db").database
    'panels/2027.db'
    """
    if text.endswith(FILES) and "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise StoreError(f"the store's URL cannot be read: {ALLOWED}") from None
    if url.drivername == "sqlite":
        if url.query or url.host:
            raise StoreError(f"{text!r} has a host or options, which a file has not: {ALLOWED}")
        return url
    if url.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    raise StoreError(f"unknown kind of store {url.drivername!r}: {ALLOWED}")


def prepare_file(path: Path) -> None:
    """Make the file, and its folder, so that only this user can read them."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StoreError(f"the store {path} cannot be opened: {error.strerror}") from None
