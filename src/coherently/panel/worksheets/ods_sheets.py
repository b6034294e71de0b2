"""Sheets of .ods workbooks (OpenDocument): values as they were last computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.panel.worksheets.sheet_grid import CellCollector, Percent, Uncomputed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.panel.worksheets.sheet_grid import Cell, SheetGrid
    from coherently.panel.worksheets.workbook_parts import WorkbookParts

CONTENT, MANIFEST = "content.xml", "META-INF/manifest.xml"
CELLS = ("table-cell", "covered-table-cell")
NUMBERS = ("float", "currency")


def is_encrypted(parts: WorkbookParts) -> bool:
    """Whether the manifest says that parts are encrypted."""
    found: list[str] = []

    def start(tag: str, _: Mapping[str, str]) -> None:
        if tag == "encryption-data":
            found.append(tag)

    if MANIFEST in parts.names:
        parts.parse(MANIFEST, start)
    return bool(found)


def ods_sheets(parts: WorkbookParts) -> list[SheetGrid]:
    """Read all sheets of a workbook, which are in one part."""
    reader = _TablesReader(parts.source)
    parts.parse(CONTENT, reader.start, end=reader.end, text=reader.text)
    return reader.sheets


class _TablesReader:
    """Hears of the elements of a document and collects the cells of each of its tables."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.sheets: list[SheetGrid] = []
        self._hidden_styles: set[str] = set()
        self._style = ""
        self._collector = CellCollector(source, None)
        self._hidden = False
        self._merged: list[tuple[int, int, int]] = []
        self._row = self._column = 0
        self._row_repeats = 1
        self._in_row: list[tuple[int, int, Cell]] = []
        self._cell: dict[str, str] = {}
        self._lines: list[str] = []
        self._inside: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        given = {name.rpartition(":")[2]: value for name, value in attributes.items()}
        self._inside.append(tag)
        if tag == "style":
            self._style = given.get("name", "")
        elif tag == "table-properties" and given.get("display") == "false":
            self._hidden_styles.add(self._style)
        elif tag == "table":
            self._collector, self._merged = CellCollector(self._source, given.get("name", "")), []
            self._hidden, self._row = given.get("style-name") in self._hidden_styles, 0
        elif tag == "table-row":
            self._row_repeats, self._column, self._in_row = _count(given, "number-rows-repeated"), 0, []
        elif tag in CELLS:
            self._cell, self._lines = given, []
        elif tag == "p" and "annotation" not in self._inside:
            self._lines.append("")
        elif tag in ("s", "tab", "line-break") and self._lines and "annotation" not in self._inside:
            self._lines[-1] += " " * (min(_count(given, "c"), 100) if tag == "s" else 1)

    def text(self, text: str) -> None:
        if self._lines and "p" in self._inside and "annotation" not in self._inside:
            self._lines[-1] += text

    def end(self, tag: str) -> None:
        self._inside.pop()
        if tag in CELLS:
            self._end_cell(covered=tag == CELLS[1])
        elif tag == "table-row":
            self._end_row()
        elif tag == "table":
            for first, last, column in self._merged:
                self._collector.merge(first, last, column)
            self.sheets.append(self._collector.grid(hidden=self._hidden))

    def _end_cell(self, *, covered: bool) -> None:
        repeats = _count(self._cell, "number-columns-repeated")
        value = None if covered else _value(self._cell, "\n".join(self._lines))
        if value is not None:
            self._in_row.append((self._column, repeats, value))
            height = _count(self._cell, "number-rows-spanned")
            if height > 1 and len(self._merged) < 1_000:
                self._merged.append((self._row + 1, self._row + height, self._column))
        self._column += repeats
        self._cell, self._lines = {}, []

    def _end_row(self) -> None:
        if self._in_row:
            for row in range(self._row + 1, self._row + self._row_repeats + 1):
                for first, repeats, value in self._in_row:
                    for column in range(first, first + repeats):
                        self._collector.add(row, column, value)
        self._row += self._row_repeats


def _count(attributes: Mapping[str, str], name: str) -> int:
    given = attributes.get(name, "1")
    return max(1, int(given)) if given.isdigit() and len(given) < 10 else 1


def _value(cell: Mapping[str, str], text: str) -> Cell | None:
    kind = cell.get("value-type", "")
    if not kind and "formula" in cell and not text:
        return Uncomputed(cell["formula"].partition(":")[2])
    if kind == "boolean":
        return cell.get("boolean-value") == "true"
    if kind == "date":
        return cell.get("date-value", text).removesuffix("T00:00:00")
    if kind in (*NUMBERS, "percentage"):
        try:
            number = float(cell.get("value", ""))
        except ValueError:
            return text or None
        return Percent(number) if kind == "percentage" else number
    return text or None
