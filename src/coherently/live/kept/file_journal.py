"""The log of revisions: a file to which records are only added, each durable before it counts."""

from __future__ import annotations

import json
import os
import secrets
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherently.errors import PanelError
from coherently.live.journal import Beginning
from coherently.live.kept.stored import load_ledger, load_rules
from coherently.live.kept.whole_file import write_whole
from coherently.live.revision import Revision

FORMAT, VERSION = "coherently-log", 1


class FileJournal:
    """A log that is open for writing, by one live panel at a time.

    A line is a record: its checksum, which goes on from that of the line before, a space and JSON. The first is the
    head: what stood at the beginning, and the rules. `append` returns when the record is on the disk; if it cannot be
    written, the log stays as it was.
    """

    def __init__(self, path: Path, found: _ReadLog) -> None:
        self.path, self.size, self.checksum = path, found.size, found.checksum
        self.identity: str = found.head["identity"]
        self._head, self._unread, self.note = found.head, found.records, found.note
        self._broken: str | None = None
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
        try:
            self._lock()
        except BaseException:
            os.close(self._file)
            raise

    @staticmethod
    def create(path: str | os.PathLike[str], head: dict[str, Any]) -> FileJournal:
        """Start a log; it appears with its head in one step."""
        path = Path(path)
        if path.exists():
            raise PanelError(f"{path} exists: co.LivePanel.open({str(path)!r}) goes on with it, or choose another name")
        identity = secrets.token_hex(16)
        whole = {"format": FORMAT, "version": VERSION, "identity": identity, **head}
        line, checksum = _line(whole, 0)
        write_whole(path, line, "the log")
        return FileJournal(path, _ReadLog({"identity": identity}, [], len(line), checksum, note=None))

    @staticmethod
    def open(path: str | os.PathLike[str]) -> FileJournal:
        """Read a log and go on with it; a record that was not written to its end is cut off."""
        path = Path(path)
        found = _read(path)
        journal = FileJournal(path, found)
        if found.note is not None:
            try:
                os.ftruncate(journal._file, found.size)
                os.fsync(journal._file)
            except OSError as error:
                journal.close()
                raise PanelError(f"{path}: {found.note}, but it cannot be cut off: {error.strerror}") from None
        return journal

    @property
    def waiting(self) -> int:
        """How many revisions were not read yet."""
        return len(self._unread)

    def begin(self) -> Beginning:
        """What the head of the log says, once: a large panel is not held twice."""
        head, self._head = self._head, {}
        return Beginning(*load_ledger(head["panel"]), *load_rules(head), self.note)

    def skip(self, count: int) -> None:
        """Leave out the next revisions: a snapshot has taken them in."""
        del self._unread[:count]

    def read(self) -> list[Revision]:
        """The revisions that were in the log when it was opened, once: nobody else may append."""
        records, self._unread = self._unread, []
        return [Revision.from_dict(record) for record in records]

    def append(self, revision: Revision) -> tuple[Revision]:
        """Add a record; when this returns, it is on the disk."""
        self._append(revision.as_dict())
        return (revision,)

    def _append(self, record: dict[str, Any]) -> None:
        if self._broken is not None:
            raise PanelError(f"the log {self.path} cannot be written any more: {self._broken}")
        line, checksum = _line(record, self.checksum)
        # Three states on the way: nothing written, written but perhaps only in memory, on the disk. A failure in the
        # first is undone by cutting off; in the second the disk may have dropped pages silently, so that the log
        # ends here (`_take_back`). Only in the third do size and checksum, and with them the next record, move on.
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

        # The kernel lets go of this lock when the process ends, however it ends: nothing is left to be cleaned up.
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
    return _ReadLog(records[0], records[1:], size, checksum, note=note)


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
