"""Forecasts of a file, some rows at a time: what every way of reading in pieces gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from coherently.errors import PanelError
from coherently.events import PackedTexts
from coherently.panel import cells
from coherently.panel.build import ONLY_JUDGE
from coherently.panel.cell_table import Table
from coherently.panel.columnar.coded import CodedCells
from coherently.panel.layout import Long, recognise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from coherently import _core
    from coherently.panel.cell_table import TableCells

ONLY_LONG = (
    "Forecasts are added up while they are read, so {what} cannot be used for {source}. "
    "Leave it out, or read a smaller file."
)


@dataclass(frozen=True, slots=True)
class CellRules:
    """How cells are read: whether plain numbers are percentages, and what a missing probability means."""

    percent: bool
    missing: cells.Missing


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ForecastPiece:
    """Some rows of a file.

    `event` has the number of each one's text, `row` its row as a person counts, and `probability` is NaN if it has
    none; `judge` is None unless it was asked for. `share` is the part of the file that is read now.
    """

    event: NDArray[np.int32]
    judge: PackedTexts | None
    row: NDArray[np.int64]
    probability: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    share: float


class TablePart(Protocol):
    """One file: where it is, which column plays which role, of which types they are, and how many rows it has."""

    @property
    def path(self) -> Path:
        """Where the file is."""

    @property
    def layout(self) -> Long:
        """The columns by their roles, as they are named in the file."""

    @property
    def kinds(self) -> Mapping[str, str]:
        """The type of each column, in words."""

    @property
    def rows(self) -> int | None:
        """The number of rows, if it is known before they are read."""

    def pieces(self, rules: CellRules, pool: _core.TextPool, *, with_judges: bool) -> Iterator[ForecastPiece]:
        """Read the file; the texts of events get their numbers in the pool."""


def long_layout(source: str, names: Sequence[str]) -> Long:
    """The roles of the columns of a long table; any other is refused."""
    header = [name.strip() for name in names]
    layout = recognise(Table(source, {name: [] for name in header}, range(1)))
    if not isinstance(layout, Long):
        raise PanelError(ONLY_LONG.format(what="a wide table", source=source))
    written: dict[str | None, str | None] = dict(zip(header, names, strict=True))
    return Long(
        event=names[header.index(layout.event)],
        probability=written.get(layout.probability),
        judge=written.get(layout.judge),
        weight=written.get(layout.weight),
        lower=written.get(layout.lower),
        upper=written.get(layout.upper),
        outcome=written.get(layout.outcome),
        time=written.get(layout.time),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PieceReader:
    """Reads the cells of some rows, at least one, of a file; `row` has their numbers."""

    part: TablePart
    row: NDArray[np.int64]
    rules: CellRules

    def piece(
        self,
        numbers: Mapping[str, TableCells],
        event: NDArray[np.int32],
        judge: PackedTexts | None,
        *,
        pool: _core.TextPool,
        share: float,
    ) -> ForecastPiece:
        """The forecasts of columns of numbers, texts and judges."""
        layout, table = self.part.layout, Table(self.part.path.name, numbers, self.row)
        self.check_names(layout.event, event, pool)
        return ForecastPiece(
            event=event,
            judge=judge,
            row=self.row,
            probability=cells.probabilities(
                table, str(layout.probability), percent=self.rules.percent, missing=self.rules.missing
            ),
            weight=None if layout.weight is None else cells.weights(table, layout.weight),
            share=share,
        )

    def judges(self, codes: NDArray[np.int32] | None, pool: _core.TextPool) -> PackedTexts:
        """The judges by their numbers; without numbers, the only one."""
        judge = self.part.layout.judge
        if judge is None or codes is None:
            return PackedTexts.of([ONLY_JUDGE]).pick(np.zeros(len(self.row), np.int64))
        self.check_names(judge, codes, pool)
        return PackedTexts(*pool.pack(0)).pick(codes)

    def check_names(self, column: str, codes: NDArray[np.int32], pool: _core.TextPool) -> None:
        """Refuse rows without a name."""
        blank = pool.find("")
        if codes.min() < 0 or (blank >= 0 and bool(np.any(codes == blank))):
            coded = CodedCells(codes, PackedTexts(*pool.pack(0)))
            cells.names(Table(self.part.path.name, {column: coded}, self.row), column)
