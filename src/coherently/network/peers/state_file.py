"""The durable state of a node: when `save` returns, it is on the disk.

The file has one line per state, each with a checksum; the last one counts. A line that was not written to its end was
never acknowledged, because nothing is sent before `save` returns, and is cut off. Any other damage is refused: a node
that goes on from an older state than it has told of would apply a correction twice. When the file has grown, it is
replaced by one with the last line only.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from typing import TYPE_CHECKING, Any

from coherently.errors import NetworkError

if TYPE_CHECKING:
    from pathlib import Path

FORMAT, VERSION = "coherently-node-state", 1
LARGEST = 1 << 22
"""Bytes after which a file is replaced by its last line."""


class StateFile:
    """The file with the state of one node in one run; only one process may have it open."""

    def __init__(self, path: Path, run: str) -> None:
        self.path = path
        self._head = _line({"format": FORMAT, "version": VERSION, "run": run})
        self._last: bytes | None = None
        self.state: dict[str, Any] | None = None
        """The last state that was saved; None if there is none yet."""
        self._lock = _locked(path.with_name(path.name + ".lock"))
        try:
            self._file = self._open(run)
        except BaseException:
            os.close(self._lock)
            raise

    def save(self, state: dict[str, Any]) -> None:
        """Make a state durable; one that is equal to the last is already."""
        line = _line(state)
        if line == self._last:
            return
        try:
            if self._size + len(line) > LARGEST and self._size > 2 * (len(self._head) + len(line)):
                os.close(self._file)
                self._file = self._replace(self._head + line)
            else:
                _write(self._file, line)
                os.fsync(self._file)
                self._size += len(line)
        except OSError as error:
            raise NetworkError(
                f"the state {self.path} cannot be written: {error.strerror}. The node stops, and goes on from its last "
                f"state when it is started again; make room first"
            ) from None
        self._last, self.state = line, state

    def close(self) -> None:
        """Let another process open the file."""
        os.close(self._file)
        os.close(self._lock)

    def _open(self, run: str) -> int:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return self._replace(self._head)
        except OSError as error:
            raise NetworkError(f"the state {self.path} cannot be read: {error.strerror}") from None
        lines = data[: data.rfind(b"\n") + 1].split(b"\n")[:-1]
        if len(lines) > 1 and b"\0" in lines[-1]:
            del lines[-1]  # the disk has the end of the line, but not all of it
        records = [_record(line, self.path, number) for number, line in enumerate(lines, 1)]
        _check_head(self.path, records, run)
        if len(records) > 1:
            self.state, self._last = records[-1], lines[-1] + b"\n"
        return self._replace(self._head + (self._last or b""))

    def _replace(self, data: bytes) -> int:
        """Put a new file in the place of the old one, durably, and return its handle."""
        draft = self.path.with_name(self.path.name + ".new")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        _write(handle, data)
        os.fsync(handle)
        draft.replace(self.path)
        if os.name == "posix":
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        self._size = len(data)
        return handle


def _locked(path: Path) -> int:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise NetworkError(f"the state of the node cannot be kept beside {path}: {error.strerror}") from None
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise NetworkError(f"{path} is locked: another process is this node already") from None
    return handle


def _line(record: dict[str, Any]) -> bytes:
    text = json.dumps(record, allow_nan=False, separators=(",", ":")).encode()
    return b"%08x %b\n" % (zlib.crc32(text), text)


def _record(line: bytes, path: Path, number: int) -> dict[str, Any]:
    damaged = NetworkError(
        f"{path}: line {number:,} is damaged, so the node's last state is not known for sure. Restore the file from a "
        f"copy made while the node was stopped, or begin a new run"
    )
    try:
        if line[:9] != b"%08x " % zlib.crc32(line[9:]):
            raise damaged
        record = json.loads(line[9:])
    except ValueError:
        raise damaged from None
    if not isinstance(record, dict):
        raise damaged
    return record


def _check_head(path: Path, records: list[dict[str, Any]], run: str) -> None:
    head = records[0] if records else {}
    if head.get("format") != FORMAT:
        raise NetworkError(f"{path} is not the state of a node, or its first line was never written")
    if head.get("version") != VERSION:
        raise NetworkError(
            f"{path} is a state of version {head.get('version')}; this version of Coherently reads version {VERSION}"
        )
    if head.get("run") != run:
        raise NetworkError(f"{path} is the state of another run; name another file, or start that run's nodes")


def _write(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]
