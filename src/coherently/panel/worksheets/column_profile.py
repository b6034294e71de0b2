"""What is in a column, and which part it plays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.panel.worksheets.cell_numbers import is_no_answer, is_per_cent, to_number
from coherently.panel.worksheets.judge_bounds import to_range
from coherently.panel.worksheets.role_words import role_of, summary_of
from coherently.panel.worksheets.sheet_grid import Uncomputed

if TYPE_CHECKING:
    from coherently.panel.worksheets.header_search import FoundTable
    from coherently.panel.worksheets.sheet_grid import Cell


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """A column of a sheet: its number, its name and role by name, and how many cells are numbers, texts or formulas."""

    column: int
    name: str
    role: str | None
    summary: str | None
    numbers: int
    per_cent: int
    texts: int
    uncomputed: int
    greatest: float

    @property
    def is_numeric(self) -> bool:
        """Whether most of what is in the column are numbers."""
        return self.numbers + self.uncomputed > self.texts

    @property
    def is_textual(self) -> bool:
        """Whether most of what is in the column are texts."""
        return self.texts > self.numbers + self.uncomputed

    @property
    def is_empty(self) -> bool:
        """Whether nothing is below the header."""
        return not self.texts + self.numbers + self.uncomputed


def profile(table: FoundTable, column: int) -> ColumnProfile:
    """Count what is in a column."""
    name = table.names[column]
    cells = [cell for cell in table.column(column) if not is_no_answer(cell)]
    numbers = [number for number in map(to_number, cells) if number is not None]
    ranges = sum(to_range(cell) is not None for cell in cells)
    uncomputed = sum(isinstance(cell, Uncomputed) for cell in cells)
    return ColumnProfile(
        column=column,
        name=name,
        role=role_of(name),
        summary=summary_of(name),
        numbers=len(numbers) + ranges,
        per_cent=sum(map(is_per_cent, cells)),
        texts=len(cells) - len(numbers) - ranges - uncomputed,
        uncomputed=uncomputed,
        greatest=max(numbers, default=0.0),
    )


def repeats(cells: list[Cell | None]) -> bool:
    """Whether some text stands in a column more than once, as names of judges do in a long table."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    return len(set(texts)) < len(texts)
