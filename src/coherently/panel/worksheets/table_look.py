"""What is seen of a file whose table cannot be read yet: its sheets, its first rows, and where its header may be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coherently.errors import PanelError
from coherently.panel.readers import file_errors, unpacked
from coherently.panel.worksheets.delimited_text import SEPARATORS, decode_text, read_delimited
from coherently.panel.worksheets.header_search import find_table, shown_cell
from coherently.panel.worksheets.ods_sheets import CONTENT, ods_sheets
from coherently.panel.worksheets.plain_look import HEAD
from coherently.panel.worksheets.reading_record import ColumnReading, SampleRow, TableReading
from coherently.panel.worksheets.sheet_grid import column_letters
from coherently.panel.worksheets.workbook_parts import ZIP, opened_parts
from coherently.panel.worksheets.xlsx_sheets import WORKBOOK, XlsxCells, xlsx_sheets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import IO

    from coherently.panel.worksheets.real_table import ReadingChoices
    from coherently.panel.worksheets.sheet_grid import SheetGrid

BEGINNING, LINES = 1 << 22, 60
"""Numbers of bytes and of lines by which columns are counted: a header stands among the first lines."""
SAMPLE = 30
"""Number of rows that are shown."""


def count_columns(path: Path) -> int:
    """How many columns a text has at most, by the signs that may separate cells; 0 of a workbook.

    This takes a moment whatever is in the file, so that one with columns beyond all measure need not be read.
    """
    with file_errors(path), path.open("rb") as packed, unpacked(packed, path.name.lower()) as file:
        head = file.read(BEGINNING)
    if head.startswith(ZIP):
        return 0
    lines = head.replace(b"\r", b"\n").split(b"\n", LINES)[:LINES]
    return max(_widest(line) for line in lines)


def _widest(line: bytes) -> int:
    """The number of cells of a line; signs in quotes do not count."""
    outside = b"".join(line.split(b'"')[::2])
    return 1 + max(outside.count(mark.encode()) for mark in SEPARATORS)


def look_at_table(path: Path, choices: ReadingChoices) -> TableReading | None:
    """The first rows of a file, with the names of columns if a row looks like a header; None if nothing is seen."""
    with file_errors(path), path.open("rb") as packed, unpacked(packed, path.name.lower()) as file:
        try:
            head = file.read(HEAD)
            if head.startswith(ZIP):
                file.seek(0)
                return _look_at_workbook(path.name, file, choices)
            return _look_at_text(path.name, head, choices)
        except (PanelError, OSError):
            return None


def _look_at_text(source: str, head: bytes, choices: ReadingChoices) -> TableReading | None:
    whole = head if len(head) < HEAD else head[: head.rfind(b"\n") + 1]
    text, encoding = decode_text(whole, source, choices.encoding)
    read = read_delimited(text, source, choices.separator)
    if read is None:
        return None
    seen = _seen(read.grid, source, choices.header)
    return replace(seen, kind="text", encoding=encoding, separator=read.separator)


def _look_at_workbook(source: str, file: IO[bytes], choices: ReadingChoices) -> TableReading | None:
    with opened_parts(file, source) as parts:
        if WORKBOOK in parts.names:
            cells = XlsxCells(parts)
            kind, sheets = "Excel workbook", [cells.read(name, part, hidden=h) for name, h, part in xlsx_sheets(parts)]
        elif CONTENT in parts.names:
            kind, sheets = "OpenDocument workbook", ods_sheets(parts)
        else:
            return None
    if not sheets:
        return None
    chosen = _chosen(sheets, source, choices)
    others = tuple(str(sheet.name) for sheet in sheets if sheet is not chosen)
    return replace(_seen(chosen, source, choices.header), kind=kind, sheet=chosen.name, other_sheets=others)


def _chosen(sheets: Sequence[SheetGrid], source: str, choices: ReadingChoices) -> SheetGrid:
    """The sheet that somebody named, else the first that is not hidden and has a table, else the first."""
    named = [sheet for sheet in sheets if sheet.name == choices.sheet]
    shown = [sheet for sheet in sheets if not sheet.hidden and find_table(sheet, source, None) is not None]
    return (named or shown or list(sheets))[0]


def _seen(grid: SheetGrid, source: str, header: int | None) -> TableReading:
    number = header if header in grid.rows else None
    found = find_table(grid, source, number)
    rows = list(grid.rows.items())[:SAMPLE]
    columns = sorted({column for _, cells in rows for column in cells} | (set(found.names) if found else set()))
    names = {} if found is None else found.names
    sample = [SampleRow(row, tuple(shown_cell(cells.get(column)) for column in columns)) for row, cells in rows]
    return TableReading(
        source,
        "",
        header_row=0 if found is None else found.header_row,
        shape="wide",
        columns=tuple(ColumnReading(column_letters(column), names.get(column, ""), "") for column in columns),
        sample=tuple(sample),
        careful=True,
    )
