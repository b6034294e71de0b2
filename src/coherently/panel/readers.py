"""Files into tables: CSV, TSV, JSON lines (each also gzipped) and Parquet."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import json
import os
import re
import reprlib
import zlib
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.errors import MissingDependencyError, PanelError
from coherently.panel.cell_table import ProblemList, Table, append_records, check_header, count
from coherently.panel.frames import table_from_frame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

Progress: TypeAlias = Callable[[float], None]
"""A function that is called with the share of the file's bytes that has been read, from 0 to 1."""

CHUNK = 500
"""Number of records read at a time: few enough (under 700) that they do not start the garbage collector."""
CELL_LIMIT = 2_000_000
"""Maximum number of characters in one CSV cell."""
QUOTED = re.compile(r'"[^"]*"')
PANDAS_INDEX = re.compile(r"__index_level_\d+__")
JSON_LINES = 'JSON lines have one object per line, such as {"judge": "Alice", "event": "p", "probability": 0.3}.'
QUOTE_OR_EMPTY = "Put a cell that contains {!r} in quotes; leave a missing cell empty."
SAVE_AS_TEXT = "Save it as CSV in UTF-8, or pass a real .parquet, .jsonl or .gz file."
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""The first bytes of Excel files: present ones are zip archives, older ones compound documents."""


def read_table(path: str | os.PathLike[str], progress: Progress | None = None) -> Table:
    """Read a file by its ending; any unknown ending is read as CSV."""
    path = Path(path)
    name = path.name.lower()
    with _file_errors(path), path.open("rb", buffering=0) as file:
        advance = _byte_counter(file, progress)
        if name.endswith(".parquet"):
            table = _read_parquet(file, path.name)
        else:
            plain = name.removesuffix(".gz")
            raw = gzip.GzipFile(fileobj=file) if plain != name else file
            with _decoded(raw, path.name) as text:
                if plain.endswith((".jsonl", ".ndjson")):
                    table = _read_json_lines(text, path.name, advance)
                else:
                    table = _read_csv(text, path.name, "\t" if plain.endswith(".tsv") else None, advance)
    if progress is not None:
        progress(1.0)
    return table


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """Read the lines of a text file, with the line ends of any system."""
    path = Path(path)
    with _file_errors(path), path.open("rb", buffering=0) as file, _decoded(file, path.name) as text:
        return re.split("\r\n|\r|\n", text.read())


@contextmanager
def _file_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise PanelError(f"{path} does not exist: check the name and the folder") from error
    except IsADirectoryError as error:
        raise PanelError(f"{path} is a folder: name a file in it") from error
    except PermissionError as error:
        raise PanelError(f"no permission to read {path}: change its permissions or copy it") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise PanelError(
            f"{path.name} is not a complete gzip file ({error}): compress it again, or remove .gz from its name"
        ) from error
    except OSError as error:
        raise PanelError(f"{path} cannot be read: {error.strerror or error}") from error


def _byte_counter(file: io.FileIO, progress: Progress | None) -> Callable[[], None]:
    size = os.fstat(file.fileno()).st_size
    if progress is None or not size:
        return lambda: None
    return lambda: progress(min(file.tell() / size, 1.0))


class _Watched(io.BufferedReader):
    """Bytes to be decoded: refuses NUL and counts lines, so that an error can name the line."""

    def __init__(self, raw: io.FileIO | gzip.GzipFile, source: str) -> None:
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
            raise PanelError(f"{self.source} line {line} contains a NUL byte, so it is not text. {SAVE_AS_TEXT}")
        return block

    def line_at(self, block: bytes, position: int) -> int:
        """Return the line of a position in the block that was read last."""
        return self._lines + block.count(b"\n", 0, position) + 1


@contextmanager
def _decoded(raw: io.FileIO | gzip.GzipFile, source: str) -> Iterator[io.TextIOWrapper]:
    watched = _Watched(raw, source)
    head = watched.peek(4)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise PanelError(f"{source} is UTF-16 text; only UTF-8 is read. Save it as UTF-8 ('CSV UTF-8').")
    if head.startswith(WORKBOOKS):
        raise PanelError(
            f"{source} is an Excel workbook or another archive, not text. Open it and save the sheet as 'CSV UTF-8'."
        )
    if head.startswith(codecs.BOM_UTF8):
        watched.read(len(codecs.BOM_UTF8))
    try:
        yield io.TextIOWrapper(watched, encoding="utf-8", newline="")
    except UnicodeDecodeError as error:
        line = watched.line_at(error.object, error.start)
        found = f"byte 0x{error.object[error.start]:02x}"
        raise PanelError(f"{source} line {line} is not UTF-8 text ({found}). {SAVE_AS_TEXT}") from error


def _read_csv(text: io.TextIOWrapper, source: str, delimiter: str | None, advance: Callable[[], None]) -> Table:
    csv.field_size_limit(CELL_LIMIT)
    first, line = next(((number, line) for number, line in enumerate(text, 1) if line.strip()), (0, ""))
    if not line:
        raise PanelError(f"{source} is empty: a table has a header and one row per forecast")
    delimiter = delimiter or max(",\t;", key=QUOTED.sub("", line).count)
    records = csv.reader(itertools.chain([line], text), delimiter=delimiter, strict=True)
    names = _take(records, 1, source, first)[0]
    # Spreadsheets write empty columns to the right of the table.
    width = max([1, *(number for number, name in enumerate(names, 1) if name.strip())])
    header = check_header(source, names[:width])
    columns: list[list[object]] = [[] for _ in names]
    numbers = [np.arange(0)]
    problems = ProblemList()
    row, blank = first + 1, 0
    while chunk := _take(records, CHUNK, source, row):
        rows = np.arange(row, row + len(chunk))
        row += len(chunk)
        if set(map(len, chunk)) != {len(names)}:
            ragged = _ragged(chunk, source, rows[0], len(names))
            problems.add(list(ragged), ragged.__getitem__, [QUOTE_OR_EMPTY.format(delimiter)])
            rows, chunk = _pick(rows, chunk, [len(record) == len(names) for record in chunk])
        if not all(map(any, chunk)):
            blank += sum(not any(record) for record in chunk)
            rows, chunk = _pick(rows, chunk, list(map(any, chunk)))
        numbers.append(rows)
        for column, cells in zip(columns, zip(*chunk, strict=True), strict=False):
            column.extend(cells)
        advance()
    problems.check()
    if any(map(any, columns[width:])):
        check_header(source, names)  # refuses the columns without a name
    return Table(source, dict(zip(header, columns, strict=False)), np.concatenate(numbers), blank=blank)


def _pick(
    rows: NDArray[np.int64], chunk: list[list[str]], kept: list[bool]
) -> tuple[NDArray[np.int64], list[list[str]]]:
    return rows[kept], list(itertools.compress(chunk, kept))


def _take(records: Iterator[list[str]], count: int, source: str, row: int) -> list[list[str]]:
    """Take the next records; `row` is the row of the first."""
    taken: list[list[str]] = []
    try:
        taken.extend(itertools.islice(records, count))
    except csv.Error as error:
        place = f"{source} row {row + len(taken)}"
        if "expected after" in str(error):
            raise PanelError(
                f"{place}: a quoted cell continues after its closing quote; "
                f'put the whole cell in quotes and write each quote inside it twice ("")'
            ) from error
        found = f"a cell has over {CELL_LIMIT:,} characters" if "limit" in str(error) else "a cell never ends"
        raise PanelError(f'{place}: {found}; look for a double quote (") that is not closed') from error
    return taken


def _ragged(chunk: list[list[str]], source: str, row: int, width: int) -> dict[int, str]:
    """Describe, by row, the records (except blank lines) whose number of cells differs from the header's."""
    return {
        number: f"{source} row {number}: {count(len(record), 'cell')}, but the header has {width}"
        for number, record in enumerate(chunk, row)
        if len(record) != width and "".join(record).strip()
    }


def _read_json_lines(text: io.TextIOWrapper, source: str, advance: Callable[[], None]) -> Table:
    decode = json.JSONDecoder(object_pairs_hook=_object).decode
    columns: dict[str, list[object]] = {}
    numbers: list[int] = []
    problems = ProblemList()
    lines = ((number, line) for number, line in enumerate(text, 1) if line.strip())
    while chunk := list(itertools.islice(lines, CHUNK)):
        answers = [(number, _json_record(decode, line)) for number, line in chunk]
        records = {number: answer for number, answer in answers if isinstance(answer, dict)}
        wrong = {n: f"{source} row {n}: {answer}" for n, answer in answers if isinstance(answer, str)}
        problems.add(list(wrong), wrong.__getitem__, [JSON_LINES])
        append_records(columns, list(records.values()), len(numbers))
        numbers += records
        advance()
    problems.check()
    if not numbers:
        raise PanelError(f"{source} is empty. {JSON_LINES}")
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


def _read_parquet(file: io.FileIO, source: str) -> Table:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingDependencyError(f"reading {source} needs pyarrow: pip install pyarrow") from error
    try:
        frame = pq.ParquetFile(file).read()
    except (pa.ArrowException, OSError) as error:
        found = str(error).splitlines()[0]
        raise PanelError(f"{source} is not a complete Parquet file ({found}): write it again") from error
    index = [name for name in frame.column_names if PANDAS_INDEX.fullmatch(name)]
    return replace(table_from_frame(frame.drop_columns(index), source), library=None)
