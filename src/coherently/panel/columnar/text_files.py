"""CSV and JSON lines into columns, by the scanners of the core."""

from __future__ import annotations

import codecs
import json
import re
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from coherently import _core
from coherently.errors import ListedProblem, PanelError, Where, counted
from coherently.events import PackedTexts
from coherently.panel.cell_table import ProblemList, Table, check_header
from coherently.panel.columnar.coded import CodedCells, NumberCells
from coherently.panel.columnar.plans import NAME, SKIP, TEXT, is_number

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.panel.cell_table import TableCells
    from coherently.panel.columnar.plans import Plan, Planner

    Scanner: TypeAlias = _core.CsvScanner | _core.JsonScanner

BLOCK = 1 << 20
"""Number of bytes that are read at a time."""
CELL_LIMIT = 2_000_000
"""Maximum number of characters in one CSV cell."""
QUOTED = re.compile(r'"[^"]*"')
QUOTE_OR_EMPTY = "Put a cell that contains {!r} in quotes; leave a missing cell empty."
SAVE_AS_TEXT = "Save it as CSV in UTF-8, or pass a real .parquet, .jsonl or .gz file."
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""The first bytes of Excel files: present ones are zip archives, older ones compound documents."""
QUOTES = {
    "after quote": "a quoted cell continues after its closing quote; "
    'put the whole cell in quotes and write each quote inside it twice ("")',
    "too long": f'a cell has over {CELL_LIMIT:,} characters; look for a double quote (") that is not closed',
    "unending": 'a cell never ends; look for a double quote (") that is not closed',
}


class BlockFeed:
    """The bytes of a text file, pushed into a scanner block by block; `advance` is called after each."""

    def __init__(self, file: io.BufferedReader[io.RawIOBase], source: str, advance: Callable[[], None]) -> None:
        self._file = file
        self._source = source
        self._advance = advance
        skip_mark(file, source)

    def push(self, scanner: Scanner) -> bool:
        """Push the next block; False if there is none."""
        block = self._file.read1(BLOCK)
        self.check(scanner.push(block, not block))
        self._advance()
        return bool(block)

    def check(self, fault: tuple[str, int, int] | None) -> None:
        """Say what is wrong with the file."""
        if fault is None:
            return
        kind, place, byte = fault
        if kind == "nul":
            raise not_text(self._source, place, "contains a NUL byte, so it is not text")
        if kind == "encoding":
            found = f"byte 0x{byte:02x}"
            raise not_text(self._source, place, f"is not UTF-8 text ({found})")
        if kind in QUOTES:
            raise PanelError(
                f"{self._source} row {place}: {QUOTES[kind]}", code="bad-quotes", where=Where(self._source, place)
            )
        raise UnusualError


def not_text(source: str, line: int, found: str) -> PanelError:
    """A line of a file that is not text in UTF-8."""
    message = f"{source} line {line} {found}. {SAVE_AS_TEXT}"
    return PanelError(message, code="not-text", where=Where(source, line), remedy=SAVE_AS_TEXT)


class UnusualError(Exception):
    """A file of JSON lines that are not flat objects with the same keys."""


def skip_mark(file: io.BufferedReader[Any], source: str) -> None:
    """Pass over a byte order mark; refuse UTF-16 and workbooks."""
    head = file.peek(4)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        remedy = "Save it as UTF-8 ('CSV UTF-8')."
        found = f"{source} is UTF-16 text; only UTF-8 is read. {remedy}"
        raise PanelError(found, code="not-text", where=Where(source), remedy=remedy)
    if head.startswith(WORKBOOKS):
        remedy = "Open it and save the sheet as 'CSV UTF-8'."
        found = f"{source} is an Excel workbook or another archive, not text. {remedy}"
        raise PanelError(found, code="not-text", where=Where(source), remedy=remedy)
    if head.startswith(codecs.BOM_UTF8):
        file.read(len(codecs.BOM_UTF8))


class CsvFile:
    """A CSV file whose header is read; `blocks` reads the rest, and `column` and `row_numbers` give what is read."""

    def __init__(self, feed: BlockFeed, source: str, delimiter: str | None, planner: Planner | None) -> None:
        self.scanner, self._feed, self._source = _core.CsvScanner(CELL_LIMIT), feed, source
        self._delimiter, self._names = _read_header(self.scanner, feed, source, delimiter)
        # Spreadsheets write empty columns to the right of the table.
        width = max([1, *(number for number, name in enumerate(self._names, 1) if name.strip())])
        self.header = check_header(source, self._names[:width])
        self.plans = [TEXT] * width if planner is None else planner(self.header)
        self.scanner.plan([*self.plans, *[SKIP] * (len(self._names) - width)], width)
        self._next_row = self.scanner.first_row + 1

    def blocks(self) -> Iterator[None]:
        """Read block by block, and look at the shape of the table in the end."""
        yield from _scanned(self.scanner, self._feed)
        _check_ragged(self.scanner, self._source, self._delimiter, len(self._names))
        if self.scanner.has_nameless:
            check_header(self._source, self._names)  # refuses the columns without a name

    def column(self, index: int) -> TableCells:
        """What a column has read since it was taken last."""
        return _column(self.scanner, index, self.plans[index])

    def row_numbers(self) -> NDArray[np.int64] | range:
        """The number of each row that was kept since they were taken last, as a person counts them."""
        every = range(self._next_row, self.scanner.first_row + self.scanner.rows)
        self._next_row = every.stop
        left_out = self.scanner.take_left_out()
        return np.delete(np.array(every), left_out - every.start) if len(left_out) else every


def _scanned(scanner: Scanner, feed: BlockFeed) -> Iterator[None]:
    """Scan block by block."""
    feed.check(scanner.scan())
    while feed.push(scanner):
        feed.check(scanner.scan())
        yield
    feed.check(scanner.scan())
    yield


def scan_csv(
    file: io.BufferedReader[io.RawIOBase],
    source: str,
    delimiter: str | None,
    advance: Callable[[], None],
    planner: Planner | None,
) -> Table:
    """Read CSV; without a planner all cells are texts, in lists."""
    found = CsvFile(BlockFeed(file, source, advance), source, delimiter, planner)
    for _ in found.blocks():
        pass
    columns = {name: found.column(i) for i, name in enumerate(found.header)}
    if planner is None:
        columns = {name: list(cells) if isinstance(cells, CodedCells) else cells for name, cells in columns.items()}
    return Table(source, columns, found.row_numbers(), blank=found.scanner.blank)


def _read_header(
    scanner: _core.CsvScanner, blocks: BlockFeed, source: str, delimiter: str | None
) -> tuple[str, list[str]]:
    while (line := scanner.find_header()) is None:
        if not blocks.push(scanner) and (line := scanner.find_header()) is None:
            raise PanelError(
                f"{source} is empty: a table has a header and one row per forecast", code="no-rows", where=Where(source)
            )
    mark = delimiter or max(",\t;", key=QUOTED.sub("", line).count)
    while (found := scanner.read_header(mark)) is None:
        blocks.push(scanner)
    names, fault = found
    blocks.check(fault)
    return mark, names


def _check_ragged(scanner: _core.CsvScanner, source: str, delimiter: str, width: int) -> None:
    rows, cells = scanner.ragged()
    found = dict(zip(rows.tolist(), cells.tolist(), strict=True))
    problems, remedy = ProblemList(), QUOTE_OR_EMPTY.format(delimiter)
    problems.add(
        list(found),
        lambda row: ListedProblem(
            f"{source} row {row}: {counted(found[row], 'cell')}, but the header has {width}",
            "ragged-row",
            Where(source, row),
            remedy,
        ),
        [remedy],
    )
    problems.check()


def _column(scanner: Scanner, index: int, plan: Plan, decode: Callable[[str], Any] | None = None) -> TableCells:
    """A column that was read; `decode` gives what a kept text stands for."""
    codes, packed, values, odd, first = scanner.take_column(index)
    if plan == SKIP:
        return []
    texts = PackedTexts(*packed)
    distinct: Sequence[Any] = texts if decode is None else [decode(text) for text in texts]
    cells = CodedCells(codes, distinct)
    if not is_number(plan):
        return cells
    return NumberCells(values, odd, cells, None if first is None else (decode or str)(first))


class JsonFile:
    """JSON lines whose keys are read, used as a `CsvFile`; lines that are not flat objects raise `UnusualError`."""

    def __init__(self, feed: BlockFeed, source: str, planner: Planner) -> None:
        self.scanner, self._feed = _core.JsonScanner(), feed
        while (found := self.scanner.read_keys()) is None:
            if not feed.push(self.scanner) and (found := self.scanner.read_keys()) is None:
                raise UnusualError
        keys, fault = found
        feed.check(fault)
        self.header = check_header(source, keys)
        self.plans = planner(self.header)
        self.scanner.plan(self.plans)

    def blocks(self) -> Iterator[None]:
        """Read block by block."""
        yield from _scanned(self.scanner, self._feed)

    def column(self, index: int) -> TableCells:
        """What a column has read since it was taken last."""
        plan = self.plans[index]
        return _column(self.scanner, index, plan, None if plan == NAME else json.loads)

    def row_numbers(self) -> NDArray[np.int64]:
        """The number of each line that was read since they were taken last."""
        return self.scanner.take_rows()


def scan_json_lines(
    file: io.BufferedReader[io.RawIOBase], source: str, advance: Callable[[], None], planner: Planner
) -> Table:
    """Read JSON lines that are flat objects with the same keys; any others raise `UnusualError`."""
    found = JsonFile(BlockFeed(file, source, advance), source, planner)
    for _ in found.blocks():
        pass
    columns = {name: found.column(i) for i, name in enumerate(found.header)}
    return Table(source, columns, found.row_numbers())
