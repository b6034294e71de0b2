"""How a source was read: what a person looks at before the numbers are believed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from coherently.contract import FLAG, TEXT, WHOLE, Described, ListOf, ObjectOf, OneWord, OrNull, Record, RecordField
from coherently.panel.layout import ROLES

SHOWN_ROWS = 6
"""Number of rows that a note names for one reason."""
WIDTH = 40
"""Maximum number of characters of a cell that a note shows."""


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """One column: where it is (a letter, or a number), its name, the role that it plays, and why if it plays none."""

    place: str
    name: str
    role: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row that is not read as answers: its number, what it says, and why."""

    row: int
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class KeptCell:
    """What a column beside the probabilities says in one row: a reason, a size, a fee."""

    row: int
    column: str
    text: str
    event: str
    judge: str | None = None


@dataclass(frozen=True, slots=True)
class SampleRow:
    """One of the first rows of a sheet, as texts: its number, and its cells in the order of the columns."""

    row: int
    cells: tuple[str, ...]


def _each(*fields: RecordField) -> ListOf:
    return ListOf(ObjectOf("a reading", fields))


ROW = RecordField("row", WHOLE, "the number of the row, as a person counts it")
KEPT_CELL = _each(
    ROW,
    RecordField("column", TEXT, "the name of the column"),
    RecordField("text", TEXT, "what the cell says"),
    RecordField("event", TEXT, "the event of the row, as it is written there"),
    RecordField("judge", OrNull(TEXT), "the judge of the row; null if the row is not one judge's"),
)
READING = Record(
    "reading",
    1,
    "How a file was read (`panel.reading`, `coherently read`).",
    (
        RecordField("source", TEXT, "the name of the file"),
        RecordField("kind", TEXT, "the kind of file"),
        RecordField("header_row", WHOLE, "the number of the row with the names of the columns; 0 if there is none"),
        RecordField("shape", OneWord(lambda: ("long", "wide", "turned")), "one row for each forecast, event or judge"),
        RecordField(
            "columns",
            _each(
                RecordField("place", TEXT, "a letter, or a number"),
                RecordField("name", TEXT, "the name of the column"),
                RecordField("role", TEXT, "the role that it plays, or left out"),
                RecordField("why", TEXT, "why it is left out"),
            ),
            "the columns, in their order",
        ),
        RecordField("sheet", OrNull(TEXT), "the sheet of a workbook"),
        RecordField("other_sheets", ListOf(TEXT), "the sheets that are not read"),
        RecordField("encoding", OrNull(TEXT), "the encoding of a text"),
        RecordField("separator", OrNull(TEXT), "what separates the cells of a text"),
        RecordField("decimals", OrNull(TEXT), "what stands before decimals in texts: point, comma, or either"),
        RecordField("per_cent", WHOLE, "the number of answers that say by themselves that they are per cent"),
        RecordField("blank", WHOLE, "the number of blank rows"),
        RecordField(
            "skipped",
            _each(ROW, RecordField("text", TEXT, "what the row says"), RecordField("why", TEXT, "why it is not read")),
            "the rows that are not read",
        ),
        RecordField("reasons", KEPT_CELL, "comments, which are kept as reasons"),
        RecordField("kept", KEPT_CELL, "other cells that are kept, such as sizes"),
        RecordField("guesses", ListOf(TEXT), "sentences about what was not certain"),
        RecordField("remarks", ListOf(TEXT), "all notes of the panel"),
        RecordField("sample", _each(ROW, RecordField("cells", ListOf(TEXT), "its cells")), "the first rows, as texts"),
        RecordField("careful", FLAG, "whether the file is more than a plain table"),
    ),
)


@dataclass(frozen=True, slots=True)
class TableReading(Described):
    """How a table was read.

    `kind` is the kind of file; `sheet`, `other_sheets`, `encoding`, `separator` and `decimals` are None where they do
    not apply. `shape` is "long", "wide" or "turned" (judges in rows). `guesses` are sentences about what was not
    certain, each with the option that changes it; `remarks` are all
    notes of the panel, `sample` the first rows; `careful` is
    False for a plain table, which needs none.

    >>> reading = TableReading("risks.csv", "text", header_row=1, shape="wide", separator=",", columns=(
    ...     ColumnReading("A", "event", "event"), ColumnReading("B", "Ann", "judge")))
    >>> print(reading)
    risks.csv: text, separated by commas, header in row 1
    column  name   role
    A       event  event
    B       Ann    judge
    """

    record: ClassVar[Record] = READING

    source: str
    kind: str
    header_row: int
    shape: str
    columns: tuple[ColumnReading, ...] = ()
    sheet: str | None = None
    other_sheets: tuple[str, ...] = ()
    encoding: str | None = None
    separator: str | None = None
    decimals: str | None = None
    per_cent: int = 0
    blank: int = 0
    skipped: tuple[SkippedRow, ...] = ()
    reasons: tuple[KeptCell, ...] = ()
    kept: tuple[KeptCell, ...] = ()
    guesses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    sample: tuple[SampleRow, ...] = ()
    careful: bool = False

    def notes(self) -> list[str]:
        """What somebody should know who only sees the answers: every guess, and everything that was left out."""
        said = []
        if self.careful:
            said += [f"{self.source}: read as {self._head()}"] if self._is_unusual() else []
            said += [f"{self.source}: {line}" for line in (*self._role_notes(), *self.guesses, *self._row_notes())]
        return said

    def _is_unusual(self) -> bool:
        """Whether the file is something else than comma-separated text in UTF-8 with its header in the first row."""
        text = (self.encoding or "").startswith("UTF-8") and self.separator in (",", "\t")
        return not text or self.header_row > 1 or self.decimals not in (None, "point")

    def _head(self) -> str:
        from coherently.panel.worksheets.delimited_text import SEPARATORS

        parts = [self.kind if self.sheet is None else f"{self.kind}, sheet {self.sheet!r}"]
        if self.encoding not in (None, "UTF-8"):
            parts.append(str(self.encoding))
        if self.separator is not None:
            parts.append(f"separated by {SEPARATORS.get(self.separator, repr(self.separator))}s")
        if self.decimals not in (None, "point"):
            parts.append(f"decimals after a {self.decimals}")
        parts.append(f"header in row {self.header_row}")
        return ", ".join(parts)

    def _role_notes(self) -> list[str]:
        said = []
        if self.other_sheets:
            said.append(f"not read: {self._others()} (--sheet NAME reads another one)")
        played: dict[str, list[str]] = {}
        for each in self.columns:
            if each.role not in ("judge", "left out", "comment") or (each.role == "judge" and self.shape == "long"):
                played.setdefault(each.role, []).append(each.name or f"column {each.place}")
        roles = [
            f"{' and '.join(names)} as {_role_words(role)}"
            for role, names in played.items()
            if any(name.lower() not in ROLES.get(role, ()) for name in names)
        ]
        if roles:
            said.append(f"{', '.join(roles)} (--columns ROLE=NAME,... changes that)")
        out = [
            f"{each.name or f'column {each.place}'} ({each.why})" for each in self.columns if each.role == "left out"
        ]
        if out:
            said.append(f"columns left out: {', '.join(out)}")
        return said

    def _others(self) -> str:
        named = ", ".join(repr(name) for name in self.other_sheets[:SHOWN_ROWS])
        return f"sheet {named}" if len(self.other_sheets) == 1 else f"sheets {named}"

    def _row_notes(self) -> list[str]:
        by_reason: dict[str, list[SkippedRow]] = {}
        for each in self.skipped:
            by_reason.setdefault(each.why, []).append(each)
        said = []
        for why, rows in by_reason.items():
            shown = ", ".join(f"{each.row} ({shortened(each.text)})" for each in rows[:SHOWN_ROWS])
            more = f" and {len(rows) - SHOWN_ROWS:,} more" if len(rows) > SHOWN_ROWS else ""
            said.append(f"{'row' if len(rows) == 1 else 'rows'} {shown}{more} not read: {why}")
        if self.reasons:
            columns = " and ".join(dict.fromkeys(each.column for each in self.reasons))
            said.append(f"{columns} kept as reasons: {len(self.reasons):,} (panel.reading.reasons)")
        if self.kept:
            kinds = " and ".join(dict.fromkeys(each.column for each in self.kept))
            said.append(f"kept in panel.reading.kept, and not counted by any command yet: {kinds}")
        return said

    def __str__(self) -> str:
        """A table of the columns, below how the file was read."""
        lines = [f"{self.source}: {self._head()}"]
        rows = [("column", "name", "role"), *((each.place, each.name, _told_role(each)) for each in self.columns)]
        widths = [max(len(row[i]) for row in rows) for i in range(2)]
        lines += [f"{place:{widths[0]}}  {name:{widths[1]}}  {role}".rstrip() for place, name, role in rows]
        return "\n".join([*lines, *(self._row_notes() if self.careful else []), *self.guesses])

    def _plain(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()} | {
            "sample": [{"row": each.row, "cells": list(each.cells)} for each in self.sample]
        }

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> TableReading:
        made = {
            "columns": tuple(ColumnReading(**each) for each in values["columns"]),
            "skipped": tuple(SkippedRow(**each) for each in values["skipped"]),
            "reasons": tuple(KeptCell(**each) for each in values["reasons"]),
            "kept": tuple(KeptCell(**each) for each in values["kept"]),
            "sample": tuple(SampleRow(each["row"], tuple(each["cells"])) for each in values["sample"]),
        }
        lists = {name: tuple(values[name]) for name in ("other_sheets", "guesses", "remarks")}
        return cls(**{**values, **made, **lists})


def shortened(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def _told_role(column: ColumnReading) -> str:
    return f"{column.role}: {column.why}" if column.why else column.role


ROLE_WORDS = {
    "event": "the events",
    "judge": "the judges",
    "probability": "the probability",
    "comment": "reasons",
    "lower": "the lower bound",
    "upper": "the upper bound",
}


def _role_words(role: str) -> str:
    return ROLE_WORDS.get(role, f"the {role}")
