"""Sheets of .xlsx and .xlsm workbooks: values as they were last computed; nothing is computed or run."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from coherently.panel.worksheets.sheet_grid import CellCollector, Percent, Uncomputed, column_number
from coherently.panel.worksheets.workbook_parts import not_a_workbook

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coherently.panel.worksheets.sheet_grid import Cell, SheetGrid
    from coherently.panel.worksheets.workbook_parts import WorkbookParts

WORKBOOK = "xl/workbook.xml"
DATE_FORMATS = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
PERCENT_FORMATS = frozenset({9, 10})
"""Formats that have numbers and no text of their own (ECMA-376, part 1, 18.8.30)."""
LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')
"""What a format shows as it is: texts, colours and spaces."""
REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})")
EPOCH, EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)


def xlsx_sheets(parts: WorkbookParts) -> Iterator[tuple[str, bool, str]]:
    """The sheets of a workbook in their order: name, whether it is hidden, and the part that has its cells."""
    targets: dict[str, str] = {}
    listed: list[tuple[str, bool, str]] = []

    def relation(tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "Relationship" and attributes.get("TargetMode") != "External":
            target = attributes.get("Target", "")
            targets[attributes.get("Id", "")] = target[1:] if target.startswith("/") else f"xl/{target}"

    def sheet(tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "sheet":
            key = next((value for name, value in attributes.items() if name.rpartition(":")[2] == "id"), "")
            hidden = attributes.get("state", "visible") != "visible"
            listed.append((attributes.get("name", ""), hidden, targets.get(key, "")))

    relations = "xl/_rels/workbook.xml.rels"
    if relations in parts.names:
        parts.parse(relations, relation)
    parts.parse(WORKBOOK, sheet)
    return ((name, hidden, part) for name, hidden, part in listed if "worksheets/" in part)


class XlsxCells:
    """What the cells of all sheets of a workbook refer to: texts that are kept once, and formats."""

    def __init__(self, parts: WorkbookParts) -> None:
        self._parts = parts
        self._texts = _shared_texts(parts) if "xl/sharedStrings.xml" in parts.names else []
        self._formats = _formats(parts) if "xl/styles.xml" in parts.names else []
        self._epoch = EPOCH
        parts.parse(WORKBOOK, self._see_epoch)

    def read(self, name: str, part: str, *, hidden: bool) -> SheetGrid:
        """Read the cells of one sheet."""
        if part not in self._parts.names:
            raise not_a_workbook(self._parts.source, f"has no cells for the sheet {name!r}")
        reader = _SheetParser(self, CellCollector(self._parts.source, name))
        self._parts.parse(part, reader.start, end=reader.end, text=reader.text)
        return reader.finish(hidden=hidden)

    def _see_epoch(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "workbookPr" and attributes.get("date1904") in ("1", "true"):
            self._epoch = EPOCH_1904

    def value(self, kind: str, style: str, text: str) -> Cell | None:
        """What a cell says."""
        if kind == "s":
            return self._texts[int(text)] if text.isdigit() and int(text) < len(self._texts) else None
        if kind == "b":
            return text == "1"
        if kind in ("str", "inlineStr", "e", "d"):
            return text
        try:
            number = float(text)
        except ValueError:
            return text or None
        shown = self._formats[int(style)] if style.isdigit() and int(style) < len(self._formats) else ""
        if shown == "percent":
            return Percent(number)
        return _moment(self._epoch, number) if shown == "date" else number


class _SheetParser:
    """Hears of the elements of one sheet and collects its cells."""

    def __init__(self, cells: XlsxCells, collector: CellCollector) -> None:
        self._cells, self._collector = cells, collector
        self._row = self._column = 0
        self._kind = self._style = ""
        self._within = ""
        self._value: list[str] = []
        self._formula: list[str] | None = None
        self._merged: list[tuple[int, int, int]] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "c":
            found = REFERENCE.fullmatch(attributes.get("r", ""))
            self._column = column_number(found[1]) if found else self._column + 1
            self._row = int(found[2]) if found else self._row
            self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "")
            self._value, self._formula = [], None
        elif tag == "row":
            given = attributes.get("r", "")
            self._row = int(given) if given.isdigit() else self._row + 1
            self._column = -1
        elif tag == "f":
            self._within, self._formula = "f", []
        elif tag in ("v", "t"):
            self._within = tag
        elif tag == "rPh":  # how Japanese texts are spoken
            self._within = "spoken"
        elif tag == "mergeCell":
            self._merge(attributes.get("ref", ""))

    def text(self, text: str) -> None:
        if self._within in ("v", "t"):
            self._value.append(text)
        elif self._within == "f" and self._formula is not None:
            self._formula.append(text)

    def end(self, tag: str) -> None:
        if tag == "c":
            value = self._cells.value(self._kind, self._style, "".join(self._value)) if self._value else None
            if value is None and self._formula is not None and self._kind != "str":
                value = Uncomputed("".join(self._formula))
            self._collector.add(self._row, self._column, value)
        elif tag in ("v", "t", "f", "rPh"):
            self._within = ""

    def _merge(self, reference: str) -> None:
        corners = [REFERENCE.fullmatch(corner) for corner in reference.split(":")]
        if len(corners) == 2 and corners[0] and corners[1]:
            first, last = corners[0], corners[1]
            self._merged.append((int(first[2]), int(last[2]), column_number(first[1])))

    def finish(self, *, hidden: bool) -> SheetGrid:
        """The grid, with merged cells filled downwards."""
        for first, last, column in self._merged[:MOST_MERGED]:
            if last > first:
                self._collector.merge(first, last, column)
        return self._collector.grid(hidden=hidden)


MOST_MERGED = 1_000
"""Maximum number of merged cells that are filled: each looks at all rows."""


def _shared_texts(parts: WorkbookParts) -> list[str]:
    texts: list[str] = []
    pieces: list[str] = []
    within = [""]

    def start(tag: str, _: Mapping[str, str]) -> None:
        if tag == "si":
            pieces.clear()
        within.append(tag if within[-1] != "rPh" else "rPh")

    def text(found: str) -> None:
        if within[-1] == "t":
            pieces.append(found)

    def end(tag: str) -> None:
        within.pop()
        if tag == "si":
            texts.append("".join(pieces))

    parts.parse("xl/sharedStrings.xml", start, end=end, text=text)
    return texts


def _formats(parts: WorkbookParts) -> list[str]:
    """What the numbers of each style are: "percent", "date" or something else."""
    codes: dict[str, str] = {}
    kinds: list[str] = []
    within = [""]

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "numFmt":
            codes[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif tag == "xf" and within[-1] == "cellXfs":
            number = attributes.get("numFmtId", "0")
            kinds.append(_format_kind(number, codes.get(number)))
        within.append(tag)

    def end(_: str) -> None:
        within.pop()

    parts.parse("xl/styles.xml", start, end=end)
    return kinds


def _format_kind(number: str, code: str | None) -> str:
    """What the numbers of a format are, by its number or, for one of a user's own, by its code.

    >>> [_format_kind("9", None), _format_kind("164", "0.0%"), _format_kind("165", 'yyyy"%"'), _format_kind("2", None)]
    ['percent', 'percent', 'date', '']
    """
    if code is None:
        known = int(number) if number.isdigit() else 0
        return "percent" if known in PERCENT_FORMATS else "date" if known in DATE_FORMATS else ""
    plain = LITERAL.sub("", code).partition(";")[0].lower()
    return "percent" if "%" in plain else "date" if re.search("[ymdh]", plain) and "general" not in plain else ""


def _moment(epoch: datetime, days: float) -> Cell:
    """A date as ISO writes it; the time only if there is one."""
    try:
        moment = epoch + timedelta(days=days)
    except OverflowError:
        return days
    moment = (moment + timedelta(milliseconds=500)).replace(microsecond=0)
    return moment.date().isoformat() if moment.time() == moment.min.time() else moment.isoformat()
