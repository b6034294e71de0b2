"""Where the table of a sheet begins: the row with the names of its columns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.errors import PanelError, Where
from coherently.panel.worksheets.cell_numbers import is_answer, is_no_answer, to_number
from coherently.panel.worksheets.role_words import role_of
from coherently.panel.worksheets.sheet_grid import Percent, Uncomputed, column_letters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.panel.worksheets.sheet_grid import Cell, SheetGrid

ROWS_TRIED = 60
"""Number of rows from the top among which the header is looked for."""
ROWS_BELOW = 12
"""Number of rows below a row by which it is judged to be a header."""
STRONG = frozenset({"event", "judge", "probability", "lower", "upper", "odds"})
"""Roles whose names tell a header."""


@dataclass(frozen=True, slots=True, eq=False)
class FoundTable:
    """The header of a table and its rows: `names` by column, `rows` with any cell below the header."""

    grid: SheetGrid
    header_row: int
    names: Mapping[int, str]
    rows: tuple[int, ...]

    @property
    def above(self) -> list[tuple[int, str]]:
        """The rows above the header that have any cell, with the texts in them."""
        return [(row, row_text(cells)) for row, cells in self.grid.rows.items() if row < self.header_row]

    def column(self, column: int) -> list[Cell | None]:
        """The cells of a column, below the header."""
        return [self.grid.rows[row].get(column) for row in self.rows]

    def name(self, column: int) -> str:
        """What a column is called in messages."""
        return self.names[column] or f"column {column_letters(column)}"


def row_text(cells: Mapping[int, Cell]) -> str:
    """The cells of a row as one text."""
    return " | ".join(header_text(cell) for cell in cells.values())


def header_text(cell: Cell) -> str:
    """The name in a cell of a header; whole numbers are written without decimals."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return " ".join(str(cell).split())


def shown_cell(cell: Cell | None) -> str:
    """A cell as a person sees it, or nearly so."""
    if cell is None:
        return ""
    if isinstance(cell, Percent):
        return f"{cell * 100:.6g} %"
    return f"={cell.formula}" if isinstance(cell, Uncomputed) else header_text(cell)


def find_table(grid: SheetGrid, source: str, header_row: int | None) -> FoundTable | None:
    """Find the table of a sheet; None if no row looks like a header."""
    number = header_row if header_row is not None else _header_row(grid)
    if number is None:
        return None
    if number not in grid.rows:
        raise PanelError(
            f"{source} has nothing in row {number}, so it is not the header: pass the number of the row with the "
            f"names of the columns (--header, header=...)",
            code="bad-header",
            where=Where(source, number),
        )
    below = tuple(row for row in grid.rows if row > number)
    columns = sorted({column for row in (number, *below) for column in grid.rows[row]})
    cells = grid.rows[number]
    names = {column: header_text(cells[column]) if column in cells else "" for column in columns}
    names = _with_names_above(grid, number, names)
    return FoundTable(grid, number, names, below)


def _with_names_above(grid: SheetGrid, number: int, names: dict[int, str]) -> dict[int, str]:
    """Names that several columns have, such as low and high below each judge, with the name that stands above them."""
    many = Counter(name.casefold() for name in names.values() if name)
    if max(many.values(), default=0) < 2 or number - 1 not in grid.rows:
        return names
    above, last = grid.rows[number - 1], ""
    found = {}
    for column, name in names.items():
        last = header_text(above[column]) if column in above else last
        found[column] = f"{last} {name}" if last and many[name.casefold()] > 1 else name
    return found


def _header_row(grid: SheetGrid) -> int | None:
    rows = list(grid.rows)
    tried = rows[:ROWS_TRIED]
    scored = [
        (_known(grid, row) + _names_over_answers(grid, rows[i : i + 1 + ROWS_BELOW]), -i) for i, row in enumerate(tried)
    ]
    score, place = max(scored, default=(0.0, 0))
    return tried[-place] if score else None


def _known(grid: SheetGrid, row: int) -> int:
    """How many cells of a row are names that tell a header, if the row has several cells and no answers."""
    cells = grid.rows[row]
    numbers = [number for number in map(to_number, cells.values()) if number is not None]
    if len(cells) < 2 or any(not number.is_integer() for number in numbers):
        return 0
    texts = [cell for cell in cells.values() if isinstance(cell, str)]
    return sum(role_of(text) in STRONG for text in texts)


def _names_over_answers(grid: SheetGrid, rows: list[int]) -> float:
    """How many texts of the first row have numbers below them; each counts by the share of numbers, if it is most."""
    count = 0.0
    for column, cell in grid.rows[rows[0]].items():
        if not isinstance(cell, str) or is_answer(cell) or is_no_answer(cell):
            continue
        below = [grid.rows[row].get(column) for row in rows[1:]]
        given = [each for each in below if not is_no_answer(each)]
        answers = sum(map(is_answer, given))
        count += answers / len(given) if 2 * answers > len(given) else 0.0
    return count
