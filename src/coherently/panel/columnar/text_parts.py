"""Forecasts of a text file (CSV, TSV or JSON lines, each also gzipped), block by block."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently import _core
from coherently.panel.columnar.forecast_piece import PieceReader, long_layout
from coherently.panel.columnar.plans import SKIP, Plan
from coherently.panel.columnar.text_files import BlockFeed, CsvFile, JsonFile
from coherently.panel.layout import plan_columns
from coherently.panel.readers import open_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from coherently.panel.columnar.forecast_piece import CellRules, ForecastPiece
    from coherently.panel.columnar.plans import Planner
    from coherently.panel.layout import Long

    TextRows: TypeAlias = CsvFile | JsonFile


@dataclass(frozen=True, slots=True, eq=False)
class TextPart:
    """A text file; see `TablePart`."""

    path: Path
    layout: Long
    kinds: Mapping[str, str]
    rows: None = None

    @staticmethod
    def of(path: Path) -> TextPart:
        """Look at the header of a file."""
        with _begun(path, lambda header: [SKIP] * len(header)) as (found, _):
            return TextPart(path, long_layout(path.name, found.header), dict.fromkeys(found.header, "text"))

    def pieces(self, rules: CellRules, pool: _core.TextPool, *, with_judges: bool) -> Iterator[ForecastPiece]:
        """Read the file; the texts of events get their numbers in the pool."""
        layout, own = self.layout, _core.TextPool()
        wanted = [layout.event, layout.probability, layout.weight, layout.judge if with_judges else None]
        with _begun(self.path, partial(_plans, wanted=wanted, percent=rules.percent)) as (found, share):
            columns: dict[str | None, int] = {name: found.header.index(name) for name in wanted if name is not None}
            judge = columns.get(layout.judge)
            found.scanner.share_pool(columns[layout.event], pool)
            if judge is not None:
                found.scanner.share_pool(judge, own)
            for _ in found.blocks():
                rows = found.row_numbers()
                row = np.arange(rows.start, rows.stop) if isinstance(rows, range) else rows
                if not len(row):
                    continue
                reader = PieceReader(self, row, rules)
                judges = None if judge is None else found.scanner.take_codes(judge)
                yield reader.piece(
                    {name: found.column(columns[name]) for name in (layout.probability, layout.weight) if name},
                    found.scanner.take_codes(columns[layout.event]),
                    reader.judges(judges, own) if with_judges else None,
                    pool=pool,
                    share=share(),
                )


def _plans(header: Sequence[str], *, wanted: Sequence[str | None], percent: bool) -> list[Plan]:
    """Read what is wanted as a panel reads it, and nothing else."""
    plans = plan_columns(header, percent=percent)
    return [plan if name in wanted else SKIP for name, plan in zip(header, plans, strict=True)]


@contextmanager
def _begun(path: Path, planner: Planner) -> Iterator[tuple[TextRows, Callable[[], float]]]:
    """A file whose header is read, and how much of it is read at any time."""
    with open_text(path) as (file, share):
        feed = BlockFeed(file, path.name, lambda: None)
        plain = path.name.lower().removesuffix(".gz")
        if plain.endswith((".jsonl", ".ndjson")):
            yield JsonFile(feed, path.name, planner), share
        else:
            yield CsvFile(feed, path.name, "\t" if plain.endswith(".tsv") else None, planner), share
