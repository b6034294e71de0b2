"""Files as people have them into tables; None for a plain table, which has a faster way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coherently.errors import PanelError, Where
from coherently.panel.readers import file_errors, unpacked
from coherently.panel.worksheets.delimited_text import decode_text, ragged_rows, read_delimited
from coherently.panel.worksheets.header_search import find_table
from coherently.panel.worksheets.ods_sheets import CONTENT, is_encrypted, ods_sheets
from coherently.panel.worksheets.plain_look import HEAD, first_row, is_plain_text, is_strict_header
from coherently.panel.worksheets.reading_question import ReadingAnswer, UnclearTableError
from coherently.panel.worksheets.sheet_table import SheetReader
from coherently.panel.worksheets.workbook_parts import (
    COMPOUND,
    ZIP,
    locked,
    not_a_workbook,
    opened_parts,
    refuse_archive,
    refuse_compound,
)
from coherently.panel.worksheets.xlsx_sheets import WORKBOOK, XlsxCells, xlsx_sheets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import IO

    from coherently.panel.worksheets.header_search import FoundTable
    from coherently.panel.worksheets.sheet_grid import SheetGrid
    from coherently.panel.worksheets.sheet_table import SheetTable
    from coherently.panel.worksheets.workbook_parts import WorkbookParts

LARGEST_TEXT = 50_000_000
"""Maximum number of bytes of a text that is read with care; a larger one must be a plain table."""
LARGEST_WORKBOOK = 200_000_000
"""Maximum number of bytes of a workbook, packed."""
PLAINER = ("missing-column", "no-rows", "bad-header")
"""What the plain way says better of a text: it knows names that are nearly right, and shows both shapes."""
OTHER_WAYS = (".parquet", ".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".jsonl.zst", ".ndjson.zst")
"""Endings of files whose columns have names of their own."""


@dataclass(frozen=True, slots=True)
class ReadingChoices:
    """What somebody said about how a file is to be read; None and empty where nothing was said."""

    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sheet: str | None = None
    header: int | None = None
    separator: str | None = None
    encoding: str | None = None
    percent: bool = False

    @property
    def are_made(self) -> bool:
        """Whether anything was said that a plain table does not need."""
        said = (self.sheet, self.header, self.separator, self.encoding)
        return bool(self.columns) or any(each is not None for each in said)


WORKBOOKS = (".xlsx", ".xlsm", ".ods")
"""How names of workbooks end. A text that has such a name is read as the text that it is."""


def read_real_table(path: Path, choices: ReadingChoices) -> SheetTable | None:
    """Read a workbook, or a text that is not a plain table; None if the file is one, or is no table at all."""
    name = path.name.lower()
    if not path.is_file() or name.endswith(OTHER_WAYS):
        return None
    with file_errors(path), path.open("rb") as packed, unpacked(packed, name) as file:
        head = file.read(HEAD)
        if head.startswith(COMPOUND):
            raise refuse_compound(path.name, head + file.read(1 << 20))
        if head.startswith(ZIP):
            return _read_workbook(path, file, packed is file, choices)
        if head.startswith(b"PAR1"):
            return None
        if name.endswith(WORKBOOKS) and b"\0" in head:
            raise not_a_workbook(path.name, "is not a complete workbook (it does not begin as one)")
        separator = choices.separator or ("\t" if ".tsv" in name else None)
        whole = len(head) < HEAD
        if not choices.are_made and is_plain_text(head, whole=whole, separator=separator, percent=choices.percent):
            return None
        rest = b"" if whole else file.read(LARGEST_TEXT)
        if len(rest) == LARGEST_TEXT:
            return None
        return _read_text(path.name, head + rest, separator, choices)


def _read_text(source: str, data: bytes, separator: str | None, choices: ReadingChoices) -> SheetTable | None:
    """Read a text; None if the plain way says better what is wrong with it."""
    try:
        text, encoding = decode_text(data, source, choices.encoding)
    except PanelError as error:
        if choices.encoding is None and error.code == "not-text":
            return None
        raise
    read = read_delimited(text, source, separator)
    header = choices.header
    if read is not None and header is None and is_strict_header(first_row(read.grid)):
        header = next(iter(read.grid.rows))
    found = None if read is None else find_table(read.grid, source, header)
    if read is None or found is None or not found.rows or ragged_rows(read, found.header_row) or _is_repeated(found):
        return None
    try:
        reader = SheetReader(found, source, choices.columns, percent=choices.percent)
        return reader.read(kind="text", encoding=encoding, separator=read.separator)
    except PanelError as error:
        if not choices.are_made and encoding.startswith("UTF-8") and error.code in PLAINER:
            return None
        raise


def _is_repeated(found: FoundTable) -> bool:
    names = [name.casefold() for name in found.names.values() if name]
    return len(set(names)) < len(names)


def _read_workbook(path: Path, file: IO[bytes], seekable: bool, choices: ReadingChoices) -> SheetTable:
    if not seekable:
        remedy = "Unpack it first."
        message = f"{path.name} is a workbook inside a compressed file. {remedy}"
        raise PanelError(message, code="not-readable", where=Where(path.name), remedy=remedy)
    if path.stat().st_size > LARGEST_WORKBOOK:
        raise not_a_workbook(path.name, f"has over {LARGEST_WORKBOOK:,} bytes")
    file.seek(0)
    with opened_parts(file, path.name) as parts:
        if WORKBOOK in parts.names:
            return _read_xlsx(parts, choices)
        if CONTENT in parts.names:
            if is_encrypted(parts):
                raise locked(path.name)
            return _read_sheets(parts.source, ods_sheets(parts), choices, "OpenDocument workbook")
        raise refuse_archive(parts)


def _read_xlsx(parts: WorkbookParts, choices: ReadingChoices) -> SheetTable:
    cells = XlsxCells(parts)
    wanted = list(xlsx_sheets(parts))
    if choices.sheet is not None:
        _check_sheet(parts.source, choices.sheet, [name for name, _, _ in wanted])
    sheets = [
        cells.read(name, part, hidden=hidden)
        for name, hidden, part in wanted
        if (choices.sheet in (None, name)) and not (hidden and choices.sheet is None)
    ]
    unread = [name for name, _, _ in wanted if name not in {sheet.name for sheet in sheets}]
    return _read_sheets(parts.source, sheets, choices, "Excel workbook", unread=unread)


def _check_sheet(source: str, wanted: str, names: Sequence[str]) -> None:
    if wanted not in names:
        message = f"{source} has no sheet {wanted!r}; its sheets are {', '.join(map(repr, names))}"
        raise PanelError(message, code="unknown-sheet", where=Where(source))


def _read_sheets(
    source: str, sheets: Sequence[SheetGrid], choices: ReadingChoices, kind: str, *, unread: Sequence[str] = ()
) -> SheetTable:
    """Read the one sheet that has a table, or that somebody named."""
    names = [str(sheet.name) for sheet in sheets]
    if choices.sheet is not None:
        _check_sheet(source, choices.sheet, names)
        sheets = [sheet for sheet in sheets if sheet.name == choices.sheet]
    tables = {
        str(sheet.name): found
        for sheet in sheets
        if (choices.sheet is not None or not sheet.hidden)
        and (found := find_table(sheet, source, choices.header)) is not None
        and found.rows
    }
    name, reader = _one_reader(source, tables, choices, [*names, *unread])
    others = tuple(other for other in (*names, *unread) if other != name)
    return reader.read(kind=kind, sheet=name, other_sheets=others)


def _one_reader(
    source: str, tables: Mapping[str, FoundTable], choices: ReadingChoices, names: Sequence[str]
) -> tuple[str, SheetReader]:
    readers: dict[str, SheetReader] = {}
    refused: dict[str, PanelError] = {}
    for name, found in tables.items():
        try:
            readers[name] = SheetReader(found, source, choices.columns, percent=choices.percent)
        except PanelError as error:
            refused[name] = error
    if len(readers) == 1:
        return next(iter(readers.items()))
    if readers:
        question = f"{len(readers)} sheets have forecasts: {', '.join(map(repr, readers))}. Which one should be read?"
        answers = tuple(ReadingAnswer(repr(name), sheet=name) for name in readers)
        remedy = " or ".join(each.option for each in answers[:3])
        raise UnclearTableError(
            f"{source}: {question} Say {remedy} (sheet=... in Python).",
            question=question,
            answers=answers,
            code="unclear-sheet",
            where=Where(source),
            remedy=remedy,
        )
    if refused:
        raise next(iter(refused.values()))
    listed = ", ".join(map(repr, names)) or "none"
    raise PanelError(
        f"{source} has no sheet with a table of forecasts (its sheets: {listed}): no row has names above columns of "
        f"numbers. If one has, say which: --sheet NAME --header ROW",
        code="no-rows",
        where=Where(source),
    )
