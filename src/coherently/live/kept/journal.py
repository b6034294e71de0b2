"""The log of revisions: a file to which records are only added, each durable before it counts."""

from __future__ import annotations

import json
import os
import secrets
import sys
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherently.errors import PanelError

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT, VERSION = "coherently-log", 1


@dataclass(frozen=True, slots=True)
class Opened:
    """What a log holds: its head, its records, and what was cut off at its end, if anything."""

    journal: Journal
    head: dict[str, Any]
    records: list[dict[str, Any]]
    note: str | None


class Journal:
    """A log that is open for writing.

    A line is a record: its checksum, which goes on from that of the line before, a space and JSON. `append` returns
    when the record is on the disk; if it cannot be written, the log stays as it was.
    """

    def __init__(self, path: Path, size: int, checksum: int, identity: str) -> None:
        self.path, self.size, self.checksum, self.identity = path, size, checksum, identity
        self._broken: str | None = None
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
        try:
            self._lock()
        except BaseException:
            os.close(self._file)
            raise

    @staticmethod
    def create(path: str | os.PathLike[str], head: dict[str, Any]) -> Journal:
        """Start a log; it appears with its head in one step."""
        path = Path(path)
        if path.exists():
            raise PanelError(f"{path} exists: co.LivePanel.open({str(path)!r}) goes on with it, or choose another name")
        identity = secrets.token_hex(16)
        line, checksum = _line({"format": FORMAT, "version": VERSION, "identity": identity, **head}, 0)
        write_whole(path, line, "the log")
        return Journal(path, len(line), checksum, identity)

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Opened:
        """Read a log and go on with it; a record that was not written to its end is cut off."""
        path = Path(path)
        found = _read(path)
        journal = Journal(path, found.size, found.checksum, found.head["identity"])
        if found.note is not None:
            try:
                os.ftruncate(journal._file, found.size)
                os.fsync(journal._file)
            except OSError as error:
                journal.close()
                raise PanelError(f"{path}: {found.note}, but it cannot be cut off: {error.strerror}") from None
        return Opened(journal, found.head, found.records, found.note)

    def append(self, record: dict[str, Any]) -> None:
        """Add a record; when this returns, it is on the disk."""
        if self._broken is not None:
            raise PanelError(f"the log {self.path} cannot be written any more: {self._broken}")
        line, checksum = _line(record, self.checksum)
        written = False
        try:
            _write(self._file, line)
            written = True
            os.fsync(self._file)
        except OSError as error:
            self._take_back(error, written=written)
            raise PanelError(
                f"the log {self.path} cannot be written: {error.strerror}. This revision is not recorded, and the "
                f"panel is as before; {self._broken or 'make room, then try again'}"
            ) from None
        self.size += len(line)
        self.checksum = checksum

    @contextmanager
    def closed_if_it_fails(self) -> Iterator[None]:
        """Close the file if what is done with it fails, so that another may open it."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
            self._broken = "it is closed"

    def _lock(self) -> None:
        if sys.platform == "win32":
            return
        import fcntl

        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PanelError(f"{self.path} is in use by another live panel: only one may write to a log") from None

    def _take_back(self, error: OSError, *, written: bool) -> None:
        """Cut off what was written of a record; where that is not sure to be gone, nothing more is written."""
        try:
            os.ftruncate(self._file, self.size)
            os.fsync(self._file)
        except OSError as other:
            error, written = other, True
        if written:
            self._broken = (
                f"the disk reported {error.strerror!r}; close this panel, make room on the disk or repair it, and open "
                "the log again"
            )


@dataclass(frozen=True, slots=True)
class _ReadLog:
    head: dict[str, Any]
    records: list[dict[str, Any]]
    size: int
    checksum: int
    note: str | None


def _read(path: Path) -> _ReadLog:
    """Read all records; only the last one may be incomplete."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PanelError(f"the log {path} cannot be read: {error.strerror}") from None
    lines = data.split(b"\n")
    size = checksum = 0
    records: list[dict[str, Any]] = []
    for number, line in enumerate(lines[:-1], 1):
        record = _record(line, checksum)
        if record is None:
            if number == len(lines) - 1 and not lines[-1] and b"\0" in line and records:
                break  # the disk has the end of the record, but not all of it
            raise PanelError(_damaged(path, number, records))
        records.append(record)
        size += len(line) + 1
        checksum = zlib.crc32(line[9:], checksum)
    if not records:
        raise PanelError(_damaged(path, 1, records))
    _check_head(path, records[0])
    note = None
    if size < len(data):
        note = f"the last record, {len(data) - size:,} bytes, was not written to its end and is cut off"
    return _ReadLog(records[0], records[1:], size, checksum, note)


def _check_head(path: Path, head: dict[str, Any]) -> None:
    if head.get("format") != FORMAT:
        raise PanelError(f"{path} is not a log of a live panel")
    if head.get("version") != VERSION:
        raise PanelError(
            f"{path} is a log of version {head.get('version')}; this version of Coherently reads version {VERSION}: "
            f"use the version that wrote it, or a newer one"
        )


def _damaged(path: Path, number: int, records: list[dict[str, Any]]) -> str:
    if number == 1:
        return f"{path} is not a log of a live panel, or its first line is damaged"
    return (
        f"{path}: line {number:,} is damaged; the {len(records) - 1:,} revisions before it are whole. Restore the file "
        f"from a copy, or delete line {number:,} and all after it to go on from there"
    )


def _line(record: dict[str, Any], before: int) -> tuple[bytes, int]:
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    checksum = zlib.crc32(text, before)
    return b"%08x %b\n" % (checksum, text), checksum


def _record(line: bytes, before: int) -> dict[str, Any] | None:
    """The record of a line; None if its checksum does not fit."""
    try:
        if line[:9] != b"%08x " % zlib.crc32(line[9:], before):
            return None
        record = json.loads(line[9:])
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def write_whole(path: Path, data: bytes, what: str) -> None:
    """Write a file whole, durably, or not at all."""
    draft = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        try:
            with draft.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
            if os.name == "posix":
                folder = os.open(path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise PanelError(f"{what} {path} cannot be written: {error.strerror}; nothing is left behind") from None
