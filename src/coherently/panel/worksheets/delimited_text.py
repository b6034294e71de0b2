"""Text files as spreadsheets save them: their encoding, their separator, their cells."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.errors import PanelError, Where
from coherently.panel.worksheets.cell_numbers import is_answer
from coherently.panel.worksheets.sheet_grid import CellCollector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.panel.worksheets.sheet_grid import SheetGrid

MARKS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8 with a byte order mark"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)
"""Byte order marks, what they stand for, and what people call it."""
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
LOOKED_AT = 200
"""Number of lines by which a separator is chosen."""
SEQUENCE, SINGLE = re.compile(rb"[\xc0-\xff][\x80-\xbf]"), re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
"""Bytes that belong together in UTF-8, and single ones, which letters with accents are in Windows-1252."""
EXCEL_LINE = "sep="
"""How a first line begins in which Excel is told the separator."""
NAMES = {"utf-8": "UTF-8", "cp1252": "Windows-1252", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}


@dataclass(frozen=True, slots=True)
class DelimitedText:
    """The cells of a text file, and how they were told apart."""

    grid: SheetGrid
    separator: str
    widths: Mapping[int, int]
    """The number of cells of each row, empty ones included."""


def decode_text(data: bytes, source: str, encoding: str | None = None) -> tuple[str, str]:
    """The text of a file and the name of its encoding: by its mark, as UTF-8, else as Windows-1252.

    >>> decode_text("Verspätung".encode("cp1252"), "risks.csv")
    ('Verspätung', 'Windows-1252')
    """
    for mark, known, name in MARKS:
        if data.startswith(mark) and encoding is None:
            return _decoded(data[len(mark) :], known, source), name
    if encoding is not None:
        try:
            name = codecs.lookup(encoding).name
        except LookupError as error:
            remedy = "use utf-8, utf-16, windows-1252 or another name that Python knows"
            raise PanelError(
                f"unknown encoding {encoding!r}: {remedy}", code="unknown-option", remedy=remedy
            ) from error
        return _decoded(data, name, source).removeprefix("\ufeff"), NAMES.get(name, name)
    unmarked = _unmarked_utf_16(data)
    if unmarked is not None:
        return _decoded(data, unmarked, source), "UTF-16"
    if b"\0" in data:
        raise _not_text(source, "contains NUL bytes, so it is not text")
    try:
        return data.decode("utf-8"), "UTF-8"
    except UnicodeDecodeError:
        if len(SEQUENCE.findall(data)) > len(SINGLE.findall(data)):
            raise _not_text(source, "is UTF-8 text with broken characters") from None
        return _decoded(data, "cp1252", source), NAMES["cp1252"]


def _unmarked_utf_16(data: bytes) -> str | None:
    """UTF-16 without a mark: nearly every second byte of the head is NUL."""
    head = data[:2000]
    half = len(head) // 2
    for known, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
        if half > 8 and zeros.count(0) > 0.8 * half and head.count(0) < 1.2 * half:
            return known
    return None


def _decoded(data: bytes, encoding: str, source: str) -> str:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, UnicodeError) as error:
        raise _not_text(source, f"is not text in {NAMES.get(encoding, encoding)}") from error


def _not_text(source: str, found: str) -> PanelError:
    remedy = "Save it as 'CSV UTF-8', or name its encoding (--encoding, encoding=...)."
    return PanelError(f"{source} {found}. {remedy}", code="not-text", where=Where(source), remedy=remedy)


def read_delimited(text: str, source: str, separator: str | None) -> DelimitedText | None:
    """Tell the cells of a text apart; rows may have different numbers of cells. None if its quotes are broken."""
    first, _, rest = text.partition("\n")
    told = first.strip().strip('"').lower()
    skipped = 0
    if told.startswith(EXCEL_LINE) and len(told) == len(EXCEL_LINE) + 1:
        separator, text, skipped = separator or told[-1], rest, 1
    mark = separator or best_separator(text)
    collector = CellCollector(source, None)
    widths = {}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    try:
        for number, cells in enumerate(reader, 1 + skipped):
            widths[number] = len(cells)
            for column, cell in enumerate(cells):
                collector.add(number, column, cell)
    except csv.Error:
        return None
    return DelimitedText(collector.grid(), mark, widths)


def ragged_rows(read: DelimitedText, header_row: int) -> list[int]:
    """The rows below the header whose cells may be in wrong columns: there are more or fewer than in the header.

    A row with text in one cell only, below the last row of the usual width, is a note.
    """
    usual = read.widths[header_row]
    regular = [row for row in read.grid.rows if row >= header_row and read.widths[row] == usual]
    return [
        row
        for row, cells in read.grid.rows.items()
        if row > header_row and read.widths[row] != usual and not (len(cells) == 1 and row > max(regular))
    ]


def best_separator(text: str) -> str:
    r"""The separator that makes a table of the first lines: rows of one width, in which most cells are answers.

    >>> best_separator("Risiko;Ann;Bob\nBrand;0,35;0,4\n"), best_separator("Risk|Ann\nFire|0.2\n")
    (';', '|')
    """
    lines = text.splitlines()[:LOOKED_AT]
    sample = "\n".join(lines)
    return max(SEPARATORS, key=lambda mark: _fit(sample, mark))


def _fit(sample: str, mark: str) -> tuple[float, float]:
    """How many answers there are in rows of the usual width, then how many cells."""
    if mark not in sample:
        return (-1.0, 0.0)
    try:
        rows = [row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=mark) if any(row)]
    except csv.Error:
        return (-1.0, 0.0)
    widths = Counter(len(row) for row in rows if len(row) > 1)
    if not widths:
        return (-1.0, 0.0)
    usual = widths.most_common(1)[0][0]
    regular = [row for row in rows if len(row) == usual]
    answers = sum(is_answer(cell) for row in regular for cell in row[1:])
    return (answers, sum(map(len, regular)) - usual)
