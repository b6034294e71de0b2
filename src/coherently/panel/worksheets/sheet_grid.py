"""The cells of one sheet, or of a text file, as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from coherently.errors import PanelError, Where

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_CELLS = 1_000_000
"""Maximum number of cells that are read from one sheet: some seconds, and some hundred megabytes."""
TOO_LARGE = "Save the sheet as CSV in UTF-8, with the header in its first row: files of any size are read in that form."


class Percent(float):
    """A number whose cell shows it in per cent: 0.35, shown as 35 %."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Uncomputed:
    """A formula whose value is not in the file, because no spreadsheet program has computed it yet."""

    formula: str


Cell: TypeAlias = "str | float | Percent | bool | Uncomputed"


@dataclass(frozen=True, slots=True, eq=False)
class SheetGrid:
    """The cells that are not empty, by row (from 1) and column (from 0), in the order of the rows.

    `name` is the name of the sheet, None for a text file. In a merged cell that is higher than one row, every row has
    the value: that is what a person sees. `hidden` sheets are not looked at unless somebody names them.
    """

    name: str | None
    rows: Mapping[int, Mapping[int, Cell]]
    hidden: bool = False

    def row(self, number: int, width: int) -> list[Cell | None]:
        """The first `width` cells of a row; None where one is empty."""
        cells = self.rows.get(number, {})
        return [cells.get(column) for column in range(width)]


class CellCollector:
    """Puts cells into a grid, and refuses more than a person can have meant."""

    def __init__(self, source: str, name: str | None) -> None:
        self._source, self._name = source, name
        self._rows: dict[int, dict[int, Cell]] = {}
        self._count = 0

    def add(self, row: int, column: int, value: Cell | None) -> None:
        """Put a value into a cell; spaces alone are an empty cell."""
        if value is None or (isinstance(value, str) and not value.strip()):
            return
        self._count += 1
        if self._count > MOST_CELLS:
            raise too_large(self._source, f"has over {MOST_CELLS:,} cells in one sheet")
        self._rows.setdefault(row, {})[column] = value

    def merge(self, first_row: int, last_row: int, column: int) -> None:
        """Repeat the value of a merged cell in all of its rows that have cells of their own."""
        value = self._rows.get(first_row, {}).get(column)
        if value is not None:
            for row in [row for row in self._rows if first_row < row <= last_row]:
                self._rows[row].setdefault(column, value)

    def grid(self, *, hidden: bool = False) -> SheetGrid:
        """What was collected."""
        ordered = {row: dict(sorted(self._rows[row].items())) for row in sorted(self._rows)}
        return SheetGrid(self._name, ordered, hidden)


def too_large(source: str, found: str) -> PanelError:
    """A file is larger than what is read with care."""
    return PanelError(f"{source} {found}. {TOO_LARGE}", code="too-large", where=Where(source), remedy=TOO_LARGE)


def column_letters(column: int) -> str:
    """The name of a column as spreadsheets show it.

    >>> column_letters(0), column_letters(25), column_letters(26), column_letters(701), column_letters(702)
    ('A', 'Z', 'AA', 'ZZ', 'AAA')
    """
    letters, rest = "", column + 1
    while rest:
        rest, last = divmod(rest - 1, 26)
        letters = chr(ord("A") + last) + letters
    return letters


def column_number(letters: Sequence[str]) -> int:
    """The number of a column, from 0, by its letters.

    >>> column_number("A"), column_number("zz")
    (0, 701)
    """
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter.upper()) - ord("A") + 1
    return number - 1
