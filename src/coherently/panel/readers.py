"""Files into tables: CSV, TSV, JSON lines (each also in .gz or .zst) and Parquet."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import os
import re
import reprlib
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

import numpy as np

from coherently.errors import ListedProblem, MissingDependencyError, PanelError, Where
from coherently.panel.cell_table import ProblemList, Table, append_records, check_header
from coherently.panel.columnar.parquet_files import read_parquet
from coherently.panel.columnar.text_files import BLOCK, UnusualError, not_text, scan_csv, scan_json_lines, skip_mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from coherently.panel.columnar.plans import Planner


class Progress(Protocol):
    """Who is told how far a call is: any function of the fraction that is done, from 0 to 1."""

    def __call__(self, done: float, /) -> None:
        """Hear of the fraction that is done."""


CHUNK = 500
"""Number of records read at a time: few enough (under 700) that they do not start the garbage collector."""
JSON_LINES = 'JSON lines have one object per line, such as {"judge": "Alice", "event": "p", "probability": 0.3}.'


READERS: dict[str, Callable[[Path, Callable[[float], None], Planner | None], Table]] = {".parquet": read_parquet}
"""Endings of files that are not text tables, and who reads them: of a path, for a listener, by a planner."""


def read_table(path: str | os.PathLike[str], progress: Progress | None = None, planner: Planner | None = None) -> Table:
    """Read a file by its ending; any unknown ending is read as CSV.

    Without a planner every cell is kept as it is. A planner says which columns are wanted, and as what.
    """
    path = Path(path)
    name = path.name.lower()
    reader = next((reader for ending, reader in READERS.items() if name.endswith(ending)), None)
    with file_errors(path), path.open("rb", buffering=0) as file:
        advance = _byte_counter(file, progress)
        if reader is not None:
            table = reader(path, progress or (lambda _: None), planner)
        else:
            plain = name.removesuffix(".gz").removesuffix(".zst")

            def raw() -> io.RawIOBase:
                return _unpacker(file, name)  # type: ignore[return-value]

            if plain.endswith((".jsonl", ".ndjson")):
                table = _read_json_lines(file, raw, path.name, advance, planner=planner)
            else:
                delimiter = "\t" if plain.endswith(".tsv") else None
                with _buffered(raw()) as buffered:
                    table = scan_csv(buffered, path.name, delimiter, advance, planner=planner)
    if progress is not None and reader is None:
        progress(1.0)
    return table


@contextmanager
def open_text(path: Path) -> Iterator[tuple[io.BufferedReader[io.RawIOBase], Callable[[], float]]]:
    """Open a text file, gzipped or not, to be read in blocks; the function tells how much of it is read."""
    with file_errors(path), path.open("rb", buffering=0) as file:
        size = max(1, os.fstat(file.fileno()).st_size)
        with _buffered(_unpacker(file, path.name.lower())) as buffered:  # type: ignore[arg-type]
            yield buffered, lambda: min(file.tell() / size, 1.0)


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """Read the lines of a text file, with the line ends of any system."""
    path = Path(path)
    with file_errors(path), path.open("rb", buffering=0) as file, _decoded(file, path.name) as text:
        return re.split("\r\n|\r|\n", text.read())


@contextmanager
def unpacked(file: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked if the ending of its name says that it is compressed."""
    yield _unpacker(file, name)


def _unpacker(file: IO[bytes], name: str) -> IO[bytes]:
    if name.endswith(".gz"):
        return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]
    return _zstd_file(file, name) if name.endswith(".zst") else file


def _zstd_file(file: IO[bytes], name: str) -> IO[bytes]:
    """What a .zst file has: by the standard library from Python 3.14 on, before that by zstandard or pyarrow."""
    with suppress(ImportError):
        from compression.zstd import ZstdFile  # type: ignore[import-not-found]

        return ZstdFile(file)  # type: ignore[no-any-return]
    with suppress(ImportError):
        from zstandard import ZstdDecompressor

        stream: IO[bytes] = ZstdDecompressor().stream_reader(file, read_across_frames=True)
        return stream
    with suppress(ImportError):
        import pyarrow as pa

        return io.BytesIO(pa.CompressedInputStream(pa.PythonFile(file), "zstd").read())
    raise MissingDependencyError(f"reading {name} needs zstandard: pip install coherently[zstd]")


@contextmanager
def file_errors(path: Path) -> Iterator[None]:
    """Say in our words why a file cannot be read."""
    try:
        yield
    except FileNotFoundError as error:
        raise _file_error(path, "no-such-file", f"{path} does not exist", "check the name and the folder") from error
    except IsADirectoryError as error:
        raise _file_error(path, "not-a-file", f"{path} is a folder", "name a file in it") from error
    except PermissionError as error:
        found = f"no permission to read {path}"
        raise _file_error(path, "not-readable", found, "change its permissions or copy it") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        found, remedy = (
            f"{path.name} is not a complete gzip file ({error})",
            "compress it again, or remove .gz from its name",
        )
        raise _file_error(path, "not-readable", found, remedy) from error
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise PanelError(message, code="not-readable", where=Where(str(path))) from error


def _file_error(path: Path, code: str, found: str, remedy: str) -> PanelError:
    return PanelError(f"{found}: {remedy}", code=code, where=Where(str(path)), remedy=remedy)


def _byte_counter(file: io.FileIO, progress: Progress | None) -> Callable[[], None]:
    size = os.fstat(file.fileno()).st_size
    if progress is None or not size:
        return lambda: None
    return lambda: progress(min(file.tell() / size, 1.0))


class _Watched(io.BufferedReader):
    """Bytes to be decoded: refuses NUL and counts lines, so that an error can name the line."""

    def __init__(self, raw: io.RawIOBase, source: str) -> None:
        super().__init__(raw, 1 << 18)
        self.source = source
        self._lines = self._ahead = 0

    def read1(self, size: int = -1, /) -> bytes:
        block = super().read1(size)
        self._lines += self._ahead
        self._ahead = block.count(b"\n")
        nul = block.find(b"\0")
        if nul >= 0:
            line = self.line_at(block, nul)
            raise not_text(self.source, line, "contains a NUL byte, so it is not text")
        return block

    def line_at(self, block: bytes, position: int) -> int:
        """Return the line of a position in the block that was read last."""
        return self._lines + block.count(b"\n", 0, position) + 1


@contextmanager
def _buffered(raw: io.RawIOBase) -> Iterator[io.BufferedReader[io.RawIOBase]]:
    """Read in blocks; the file stays open afterwards."""
    buffered = io.BufferedReader(raw, BLOCK)
    try:
        yield buffered
    finally:
        buffered.detach()


@contextmanager
def _decoded(raw: io.RawIOBase, source: str) -> Iterator[io.TextIOWrapper]:
    watched = _Watched(raw, source)
    try:
        with io.TextIOWrapper(watched, encoding="utf-8", newline="") as text:
            skip_mark(watched, source)
            yield text
    except UnicodeDecodeError as error:
        line = watched.line_at(error.object, error.start)
        found = f"byte 0x{error.object[error.start]:02x}"
        raise not_text(source, line, f"is not UTF-8 text ({found})") from error


def _read_json_lines(
    file: io.FileIO, raw: Callable[[], io.RawIOBase], source: str, advance: Callable[[], None], planner: Planner | None
) -> Table:
    if planner is not None and file.seekable():
        with suppress(UnusualError), _buffered(raw()) as buffered:
            return scan_json_lines(buffered, source, advance, planner)
        file.seek(0)
    with _decoded(raw(), source) as text:
        return _read_json_records(text, source, advance)


def _read_json_records(text: io.TextIOWrapper, source: str, advance: Callable[[], None]) -> Table:
    decode = json.JSONDecoder(object_pairs_hook=_object).decode
    columns: dict[str, list[object]] = {}
    numbers: list[int] = []
    problems = ProblemList()
    lines = ((number, line) for number, line in enumerate(text, 1) if line.strip())
    while chunk := list(itertools.islice(lines, CHUNK)):
        answers = [(number, _json_record(decode, line)) for number, line in chunk]
        records = {number: answer for number, answer in answers if isinstance(answer, dict)}
        wrong = {
            number: ListedProblem(f"{source} row {number}: {found}", "bad-json", Where(source, number), JSON_LINES)
            for number, found in answers
            if isinstance(found, str)
        }
        problems.add(list(wrong), wrong.__getitem__, [JSON_LINES])
        append_records(columns, list(records.values()), len(numbers))
        numbers += records
        advance()
    problems.check()
    if not numbers:
        raise PanelError(f"{source} is empty. {JSON_LINES}", code="no-rows", where=Where(source), remedy=JSON_LINES)
    header = check_header(source, list(columns))
    return Table(source, dict(zip(header, columns.values(), strict=True)), np.array(numbers))


def _json_record(decode: Callable[[str], object], line: str) -> dict[str, object] | str:
    """Return the object in a line, or what is wrong with the line."""
    try:
        value = decode(line)
    except json.JSONDecodeError as error:
        return f"not JSON ({error.msg} at character {error.colno})"
    except ValueError as error:
        return str(error)
    except RecursionError:
        return "JSON nested too deeply"
    return value if isinstance(value, dict) else f"{reprlib.repr(value)} is not an object"


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} appears twice")
    return record
