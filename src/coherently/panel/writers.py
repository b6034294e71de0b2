"""Columns into files: whole or not at all."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import math
import os
import re
import secrets
import shlex
import shutil
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from coherently import _core
from coherently.errors import MissingDependencyError, PanelError, Where
from coherently.events import PackedTexts
from coherently.panel.columnar.arrow import arrow_array

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TextIO

    from numpy.typing import NDArray

    from coherently.panel.cell_table import Cells, Columns

    _CsvColumn: TypeAlias = list[str] | NDArray[np.float64] | tuple[NDArray[np.int64], NDArray[np.uint8]]

GZIP_LEVEL = 1
"""The fastest level: the digits of floats gain little from a higher one."""
ROWS = 1 << 13
"""Number of rows of CSV that are made at a time."""
ENDINGS = (".csv", ".csv.gz", ".tsv", ".jsonl", ".ndjson", ".parquet", ".xlsx")
COMMA_LANGUAGES = re.compile(
    "bg|bs|ca|cs|da|de|el|es|et|eu|fi|fr|gl|hr|hu|hy|id|is|it|ka|kk|lt|lv|mk|nb|nl|nn|no|pl|pt|ro|ru|sk|sl|sq|sr|sv|tr|uk|vi"
)
"""Languages that write decimals after a comma, so that their spreadsheets expect semicolons between cells."""
POINT_COUNTRIES = frozenset({"CH", "LI", "MX", "GT", "HN", "NI", "PA", "PE", "PR", "SV", "DO", "US"})
"""Countries that write a point in one of these languages."""


def check_output(path: str | os.PathLike[str], *, excel_csv: bool = False, prints_record: bool = False) -> None:
    """Refuse a path that a table cannot be written to, before any work is done for it.

    Of a command that `prints_record`, the refusal of a .json says how to get the record into that file.
    """
    path = Path(path)
    if excel_csv and not path.name.lower().endswith(".csv"):
        remedy = "write to a file that ends in .csv, or leave out --excel-csv"
        raise PanelError(
            f"--excel-csv and {path}: {remedy}", code="unknown-ending", where=Where(str(path)), remedy=remedy
        )
    if not path.name.lower().endswith(ENDINGS):
        remedy = f"use one of {', '.join(ENDINGS)}"
        if prints_record and path.suffix.lower() == ".json":
            remedy += f" for a table; for the record as JSON write --json > {shlex.quote(str(path))} instead of -o"
        message = f"{path} has an unknown ending: {remedy}"
        raise PanelError(message, code="unknown-ending", where=Where(str(path)), remedy=remedy)
    with _write_errors(path):
        if path.is_dir():
            raise PanelError(f"{path} is a folder: name a file in it")
        if not path.parent.is_dir():
            raise PanelError(f"{path.parent} is not a folder: create it first")
    if path.suffix.lower() == ".parquet" and find_spec("pyarrow") is None:
        raise MissingDependencyError(f"writing {path} needs pyarrow: pip install pyarrow")


def write_table(
    columns: Columns,
    path: str | os.PathLike[str],
    *,
    excel_csv: bool = False,
    labels: Mapping[str, str] | None = None,
) -> None:
    """Write columns in the format of the path's ending; an existing file is replaced whole or left alone.

    With `excel_csv`, text is written as a spreadsheet program of this machine's locale reads it. Tables for
    spreadsheets have the titles of events, too, where `labels` has any.
    """
    check_output(path, excel_csv=excel_csv)
    name = Path(path).name.lower()
    with replacing(path) as file:
        if name.endswith(".xlsx"):
            from coherently.panel.workbook_writer import write_workbook

            write_workbook({key: _cells(column) for key, column in _titled(columns, labels).items()}, file)
        elif excel_csv:
            file.write(excel_bytes(_titled(columns, labels), has_decimal_comma(os.environ)))
        else:
            _write(columns, file, name)


def _titled(columns: Columns, labels: Mapping[str, str] | None) -> Columns:
    """The columns with a title beside each event, where any event has one that is not its text."""
    if "event" not in columns or "title" in columns or not labels:
        return columns
    titles: Cells = [labels.get(text, text) for text in columns["event"]]
    beside = {"event": columns["event"], "title": titles}
    return {
        key: cells
        for name, column in columns.items()
        for key, cells in (beside if name == "event" else {name: column}).items()
    }


def has_decimal_comma(environment: Mapping[str, str]) -> bool:
    """Whether the locale that an environment names writes decimals after a comma.

    >>> [has_decimal_comma({"LANG": name}) for name in ("de_DE.UTF-8", "de_CH", "C", "en_GB")]
    [True, False, False, False]
    """
    named = next((environment[name] for name in ("LC_ALL", "LC_NUMERIC", "LANG") if environment.get(name)), "")
    language, _, country = named.partition(".")[0].partition("_")
    return COMMA_LANGUAGES.fullmatch(language) is not None and country not in POINT_COUNTRIES


def excel_bytes(columns: Columns, decimal_comma: bool) -> bytes:
    """CSV that Excel opens with a double click: a byte order mark, the separator and decimals of the locale.

    A text that Excel would take for a formula begins with an apostrophe.
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=";" if decimal_comma else ",", lineterminator="\r\n")
    writer.writerow(columns)

    def shown(cell: object) -> str:
        if isinstance(cell, float):
            return repr(cell).replace(".", ",") if decimal_comma else repr(cell)
        text = "" if cell is None else str(cell)
        return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) and isinstance(cell, str) else text

    writer.writerows([shown(cell) for cell in row] for row in zip(*map(_csv_cells, columns.values()), strict=True))
    return codecs.BOM_UTF8 + stream.getvalue().encode()


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[io.BufferedWriter]:
    """Give a file to write to, which takes the place of the path when all is written; else nothing changes."""
    path = Path(path)
    target = path.resolve()
    draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
    with _write_errors(path):
        try:
            with draft.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, draft)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}"
        raise PanelError(message, code="not-writable", where=Where(str(path))) from error


def csv_bytes(columns: Columns, delimiter: str, *, header: bool) -> bytes:
    """Some rows of CSV, below a header if it is asked for."""
    chunks = _csv_chunks(columns, delimiter)
    text = b"".join(chunks)
    return text if header else text.partition(b"\n")[2]


def json_bytes(columns: Columns) -> bytes:
    """Some rows of JSON lines."""
    stream = io.StringIO(newline="")
    _write_json_lines(columns, stream)
    return stream.getvalue().encode()


def write_columns(columns: Columns, stream: TextIO, delimiter: str = ",") -> None:
    """Write columns as CSV; NaN and None are empty cells."""
    stream.writelines(chunk.decode() for chunk in _csv_chunks(columns, delimiter))


def _csv_chunks(columns: Columns, delimiter: str) -> Iterator[bytes]:
    """The header, then some rows at a time."""
    cells = [_csv_column(column) for column in columns.values()]
    # A carriage return, which a reader would take for the end of a row, is rare: then all texts go in quotes.
    if any(map(_contains_return, [list(columns), *cells])):
        yield _quoted_rows(columns, delimiter).encode()
        return
    yield _core.csv_rows([[name] for name in columns], 0, 1, delimiter)
    count = len(next(iter(columns.values()))) if columns else 0
    for start in range(0, count, ROWS):
        yield _core.csv_rows(cells, start, min(start + ROWS, count), delimiter)


def _quoted_rows(columns: Columns, delimiter: str) -> str:
    stream = io.StringIO(newline="")
    cells = [_csv_cells(column) for column in columns.values()]
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    writer.writerows(zip(*cells, strict=True))
    return stream.getvalue()


def records(columns: Columns) -> list[dict[str, Any]]:
    """Turn columns into one dictionary of plain values per row; NaN is None."""
    rows = zip(*map(_cells, columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _write(columns: Columns, file: io.BufferedWriter | gzip.GzipFile, name: str) -> None:
    if name.endswith(".parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({name: arrow_array(column) for name, column in columns.items()})
        texts = [field.name for field in table.schema if field.type in (pa.string(), pa.large_string())]
        pq.write_table(table, file, use_dictionary=texts)  # numbers seldom repeat
    elif name.endswith(".gz"):
        with gzip.GzipFile("", "wb", GZIP_LEVEL, file, mtime=0) as packed:
            _write(columns, packed, name.removesuffix(".gz"))
    elif name.endswith(("jsonl", "ndjson")):
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        _write_json_lines(columns, text)
        text.detach()
    else:
        file.writelines(_csv_chunks(columns, "\t" if name.endswith(".tsv") else ","))


def _write_json_lines(columns: Columns, stream: TextIO) -> None:
    encode = json.JSONEncoder(ensure_ascii=False).encode
    stream.writelines(encode(record) + "\n" for record in records(columns))


def _contains_return(cells: _CsvColumn) -> bool:
    if isinstance(cells, tuple):
        return bool(np.any(cells[1] == ord("\r")))
    return isinstance(cells, list) and _core.contains_return(cells)


def _csv_column(column: Cells) -> _CsvColumn:
    """Numbers as they are, everything else as texts."""
    if isinstance(column, PackedTexts):
        return column.offsets, column.data
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        return np.ascontiguousarray(column, np.float64)
    if isinstance(column, list) and set(map(type, column)) == {str}:
        return column
    return ["" if cell is None else str(cell) for cell in _csv_cells(column)]


def _csv_cells(column: Cells) -> list[Any]:
    cells = _cells(column)
    if bool in set(map(type, cells)):
        return [str(cell).lower() if isinstance(cell, bool) else cell for cell in cells]
    return cells


def _cells(column: Cells) -> list[Any]:
    """Return plain Python values, None for NaN."""
    if not isinstance(column, np.ndarray):
        return [None if isinstance(cell, float) and math.isnan(cell) else cell for cell in column]
    cells: list[Any] = column.tolist()
    if column.dtype.kind == "f":
        for index in np.flatnonzero(np.isnan(column)).tolist():
            cells[index] = None
    return cells
