"""The tables of a Metaculus download: which rows count, and what their cells hold."""

from __future__ import annotations

import ast
import csv
import io
import math
import re
from collections import Counter
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from coherently.conversion.draft import listed
from coherently.errors import PanelError, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from coherently.conversion.draft import Draft
    from coherently.conversion.sources import Source

FORECAST_NEEDS: Final = (
    *("Question ID", "Start Time", "Probability Yes", "Probability Yes Per Category", "Continuous CDF"),
)
FORECAST_KNOWN: Final = frozenset(
    {
        *FORECAST_NEEDS,
        *("Forecaster ID", "Forecaster Username", "Forecaster (Anonymized)", "Is Bot", "End Time", "Forecaster Count"),
        *("Probability Below Lower Bound", "Probability Above Upper Bound", "5th Percentile", "25th Percentile"),
        *("Median", "75th Percentile", "95th Percentile", "Probability of Resolution", "PDF at Resolution"),
    }
)
CELL_LIMIT: Final = 10_000_000
"""Maximum number of characters in one cell: histories of options and distributions are long."""


@dataclass(frozen=True, slots=True)
class ConversionOptions:
    """What the user decides.

    How many thresholds a quantity has, whether every forecast counts or only each forecaster's last, whether aggregates
    count beside forecasters, and the posts where exactly one question, or at most one, comes true.
    """

    thresholds: int = 9
    every: bool = False
    aggregates: bool = False
    partitions: tuple[str, ...] = ()
    exclusive: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.thresholds < 1:
            raise PanelError(f"thresholds is {self.thresholds}; it must be 1 or more")


@dataclass(frozen=True, slots=True)
class DownloadTable:
    """The rows of a file, by column."""

    name: str
    rows: list[dict[str, str]]

    def place(self, index: int) -> str:
        """The place of a row, for messages."""
        return f"{self.name} row {index + 2}"

    def check_header(self, draft: Draft, needs: Sequence[str], known: frozenset[str]) -> None:
        """Refuse a table that lacks a needed column; note columns that are not documented."""
        columns = [name for name in self.rows[0] if name]
        missing = [name for name in needs if name not in columns]
        if missing:
            raise PanelError(f"{self.name}: expected the columns {', '.join(missing)}; found {', '.join(columns)}")
        draft.note_unknown(self.name, "columns", Counter(name for name in columns if name not in known))


@dataclass(frozen=True, slots=True)
class DownloadRow:
    """A forecast of a forecaster, or of a method of aggregation."""

    place: str
    judge: str
    aggregate: bool
    cells: dict[str, str]

    @property
    def question(self) -> str:
        """The question that the forecast is about."""
        return self.cells["Question ID"]


def read_table(source: Source) -> DownloadTable:
    """Read one of the files."""
    csv.field_size_limit(max(csv.field_size_limit(), CELL_LIMIT))
    reader = csv.DictReader(io.StringIO(source.text, newline=""), restval="", restkey="")
    try:
        if "Question ID" not in (reader.fieldnames or []):
            raise source.refuse("metaculus")
        rows = list(reader)
    except csv.Error as error:
        raise PanelError(f"{source.name} line {reader.line_num}: {error}") from error
    if not rows:
        raise PanelError(f"{source.name} has a header but no rows")
    return DownloadTable(source.name, rows)


def rows_that_count(
    draft: Draft, tables: Sequence[DownloadTable], questions: Container[str], options: ConversionOptions
) -> list[DownloadRow]:
    """Give each forecaster's last forecast of each question, or all; aggregates if asked for or without others."""
    rows = []
    orphans: Counter[str] = Counter()
    for table in tables:
        table.check_header(draft, FORECAST_NEEDS, FORECAST_KNOWN)
        judge_of = _judge_reader(table)
        for index, cells in enumerate(table.rows):
            if cells["Question ID"] in questions:
                rows.append(DownloadRow(table.place(index), *judge_of(cells), cells))
            else:
                orphans[cells["Question ID"]] += 1
    if orphans:
        left_out = f"{counted(orphans.total(), 'forecast')} on questions that are not in question_data, left out"
        draft.notes.append(f"{left_out}: {listed(orphans)}")
    people = [row for row in rows if not row.aggregate]
    if people and len(people) < len(rows) and not options.aggregates:
        methods = listed(sorted({row.judge for row in rows if row.aggregate}))
        left_out = f"{counted(len(rows) - len(people), 'row')} of aggregates ({methods}) left out"
        draft.notes.append(f"{left_out}; --aggregates keeps them")
        rows = people
    in_time = sorted(rows, key=lambda row: row.cells["Start Time"])
    last = {(row.judge, row.question): row for row in in_time}
    if options.every or len(last) == len(rows):
        return rows
    left_out = f"{counted(len(rows) - len(last), 'earlier forecast')} left out"
    draft.notes.append(f"{left_out}: each forecaster's last counts; --every keeps all")
    return [row for row in rows if last[row.judge, row.question] is row]


def _judge_reader(table: DownloadTable) -> Callable[[dict[str, str]], tuple[str, bool]]:
    """Give a function that says who made a row's forecast, and whether it is an aggregate, which has a count."""
    columns = table.rows[0]
    name = next((c for c in ("Forecaster (Anonymized)", "Forecaster Username", "Forecaster ID") if c in columns), None)
    if name is None:
        expected = "expected the column 'Forecaster Username' or 'Forecaster (Anonymized)'"
        raise PanelError(f"{table.name}: {expected}; found {', '.join(columns)}")
    return lambda row: (row[name] or row.get("Forecaster ID", ""), bool(row.get("Forecaster Count", "").strip()))


def list_cell(text: str, place: str, column: str) -> list[Any]:
    """Read a list as Python prints it, which is how the download writes lists."""
    plain = re.sub(r"np\.float64\(([^)]*)\)", r"\1", text.strip())
    plain = re.sub(r"\bnan\b", "None", plain) if "nan" in plain and "'" not in plain else plain
    try:
        value = ast.literal_eval(plain)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise PanelError(f"{place}, {column}: expected a list such as [0.1, 0.9], found {text[:60]!r}") from error
    if not isinstance(value, list):
        raise PanelError(f"{place}, {column}: expected a list such as [0.1, 0.9], found {text[:60]!r}")
    return value


def number_cell(value: object, place: str) -> str:
    """A number in at most 12 digits and without an exponent."""
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise PanelError(f"{place}: expected a number, found {value!r}")
    return f"{Decimal(f'{number:.12g}').normalize():f}"


def day_cell(value: object, place: str) -> str:
    """The day of an ISO date or time."""
    try:
        return date.fromisoformat(str(value)[:10]).isoformat()
    except ValueError as error:
        raise PanelError(f"{place}: expected a date such as 2030-01-31, found {value!r}") from error


def probability_cell(value: object, place: str, column: str) -> float:
    """A probability."""
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    # Some cumulative distributions end a rounding error above 1.
    if not -1e-9 <= number <= 1 + 1e-9:
        raise PanelError(f"{place}, {column}: expected a probability from 0 to 1, found {value!r}")
    return min(max(number, 0.0), 1.0)
