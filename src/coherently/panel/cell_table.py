"""A table as it is in a source, and one error for everything that is wrong with it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coherently.errors import KEPT, ListedProblem, PanelError, Where
from coherently.events import PackedTexts
from coherently.panel.columnar.coded import CodedCells, NumberCells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Cells: TypeAlias = list[Any] | NDArray[Any] | PackedTexts
Columns: TypeAlias = Mapping[str, Cells]
TableCells: TypeAlias = Cells | CodedCells | NumberCells
"""The cells of a source; a file whose columns have known roles has numbers and codes instead of cells."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Cells as they are in a source, not yet interpreted.

    `source` is its name in errors, `columns` maps a stripped header to its cells, `rows` numbers each row
    as a person counts it, and `library` is the frame library for answers (None: whichever is installed). `blank`
    counts the rows without any value, which were left out.
    """

    source: str
    columns: Mapping[str, TableCells]
    rows: NDArray[np.int64] | range | Sequence[object]
    library: str | None = None
    blank: int = 0

    def __post_init__(self) -> None:
        if not len(self.rows):
            raise no_rows(self.source)

    def place(self, row_index: int, column: str | None = None) -> str:
        """Say where a cell is: `panel.csv row 7, column probability`."""
        return self.where(row_index, column).words

    def where(self, row_index: int, column: str | None = None, event: str | None = None) -> Where:
        """The place of a cell, as a value."""
        row: Any = self.rows[row_index]
        return Where(self.source, row if isinstance(row, str) else int(row), column, event)

    def problem(self, row_index: int, column: str | None, code: str, found: str, remedy: str = "") -> ListedProblem:
        """What is wrong with a cell, or with a row, with its place."""
        place, where = self.place(row_index, column), self.where(row_index, column)
        return ListedProblem(f"{place}: {found}", code, where, remedy or None)

    def take(self, index: Sequence[int]) -> Table:
        """Keep some rows, by index."""
        columns = {
            name: cells[list(index)] if isinstance(cells, np.ndarray) else [cells[i] for i in index]
            for name, cells in self.columns.items()
        }
        return replace(self, columns=columns, rows=np.array([self.rows[i] for i in index], np.int64))


def no_rows(source: str) -> PanelError:
    """A table has only a header."""
    remedy = "add one row per forecast"
    return PanelError(
        f"{source} has a header but no rows: {remedy}", code="no-rows", where=Where(source), remedy=remedy
    )


def read_only(owner: object, *names: str) -> None:
    """Replace arrays of a frozen object by read-only views; arrays that are read-only already stay."""
    for name in names:
        array = getattr(owner, name)
        if array is not None and array.flags.writeable:
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(owner, name, view)


class ProblemList:
    """Collects the problems of a source and raises them as one error, in the order of the rows."""

    def __init__(self) -> None:
        self._first: list[tuple[int, ListedProblem]] = []
        self._count = 0
        self._remedies: dict[str, None] = {}

    def add(self, rows: Sequence[int], describe: Callable[[int], ListedProblem], remedies: Iterable[str] = ()) -> None:
        """Note a problem in each of the rows (ascending); only those that the error keeps are described.

        A remedy is shown once, at the end, however many rows need it.
        """
        if not rows:
            return
        self._count += len(rows)
        self._first += [(row, describe(row)) for row in rows[:KEPT]]
        self._first = sorted(self._first, key=lambda problem: problem[0])[:KEPT]
        self._remedies |= dict.fromkeys(remedies)

    def check(self) -> None:
        """Raise the collected problems, if there are any."""
        if self._count:
            raise PanelError.listing([problem for _, problem in self._first], self._count, self._remedies)


def check_header(source: str, names: Sequence[object]) -> list[str]:
    """Strip the names of the columns, and refuse names that are empty or not distinct."""
    if not names:
        raise _bad_header(source, f"{source} has no columns: give it a header, such as judge, event, probability")
    header: list[str] = []
    known: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        if not isinstance(name, str):
            raise _bad_header(source, f"{source}: column {number} is named {name!r}, which is not a text: rename it")
        stripped = name.strip()
        if not stripped and number > 1:
            remedy = "name it or delete the column, or delete a title above the header"
            raise _bad_header(source, f"{source}: column {number} has no name: {remedy}", remedy=remedy)
        if stripped.lower() in known:
            raise _bad_header(
                source,
                f"{source} has two columns named {known[stripped.lower()]!r} and {stripped!r}, which differ at most "
                f"in capitals or spaces: rename or delete one",
                column=stripped,
                remedy="rename or delete one",
            )
        known[stripped.lower()] = stripped
        header.append(stripped)
    return header


def _bad_header(source: str, message: str, column: str | None = None, remedy: str | None = None) -> PanelError:
    return PanelError(message, code="bad-header", where=Where(source, column=column), remedy=remedy)


def append_records(columns: dict[str, list[object]], records: Sequence[Mapping[str, object]], length: int) -> None:
    """Add records to columns that have `length` entries; what a record lacks is None."""
    for key in dict.fromkeys(itertools.chain.from_iterable(records)):
        if key not in columns:
            columns[key] = [None] * length
    for key, column in columns.items():
        column.extend([record.get(key) for record in records])
