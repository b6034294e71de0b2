"""Forecasts of a Parquet file, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently import _core
from coherently.panel import cells
from coherently.panel.cell_table import Table, check_header
from coherently.panel.columnar.arrow import add_names, arrow_array, numbers_of
from coherently.panel.columnar.forecast_piece import PieceReader, long_layout
from coherently.panel.columnar.parquet_files import ROWS, open_parquet, parquet_names, reading_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from coherently.panel.columnar.forecast_piece import CellRules, ForecastPiece
    from coherently.panel.layout import Long


@dataclass(frozen=True, slots=True, eq=False)
class ParquetPart:
    """A Parquet file; see `TablePart`."""

    path: Path
    layout: Long
    kinds: Mapping[str, str]
    rows: int

    @staticmethod
    def of(path: Path) -> ParquetPart:
        """Look at the header of a file."""
        with reading_parquet(path.name), open_parquet(path) as stored:
            names = parquet_names(stored)
            kinds = {name: str(stored.schema_arrow.field(name).type) for name in names}
            rows = int(stored.metadata.num_rows)
        check_header(path.name, names)
        return ParquetPart(path, long_layout(path.name, names), kinds, rows)

    def pieces(self, rules: CellRules, pool: _core.TextPool, *, with_judges: bool) -> Iterator[ForecastPiece]:
        """Read the file; the texts of events get their numbers in the pool."""
        layout, start = self.layout, 0
        wanted = [layout.event, layout.probability, layout.weight, layout.judge if with_judges else None]
        columns = [name for name in wanted if name is not None]
        with reading_parquet(self.path.name), open_parquet(self.path, [layout.event]) as stored:
            for batch in stored.iter_batches(ROWS, columns=columns, use_threads=False):
                found: dict[str | None, Any] = {
                    name: batch.column(batch.schema.get_field_index(name)) for name in columns
                }
                reader = PieceReader(self, np.arange(start + 1, start + len(batch) + 1), rules)
                start += len(batch)
                own = _core.TextPool()
                judges = _encoded(reader, layout.judge, found, own) if layout.judge in found else None
                yield reader.piece(
                    {name: _cells(found[name]) for name in (layout.probability, layout.weight) if name},
                    _encoded(reader, layout.event, found, pool),
                    reader.judges(judges, own) if with_judges else None,
                    pool=pool,
                    share=start / self.rows,
                )


def _encoded(
    reader: PieceReader, name: str | None, found: Mapping[str | None, Any], pool: _core.TextPool
) -> NDArray[np.int32]:
    """The numbers of the names of a column."""
    import pyarrow as pa

    source, column = reader.part.path.name, found[name]
    stream = pa.chunked_array([column]).__arrow_c_stream__()
    codes = add_names(pool, stream, f"{source} row {{row}}, column {name}", reader.row)
    if codes is None:  # a column of another type, such as whole numbers
        texts = cells.texts(Table(source, {str(name): _cells(column)}, reader.row), str(name))
        codes = pool.encode(pa.chunked_array([arrow_array(texts)]).__arrow_c_stream__())
        assert codes is not None
    return codes


def _cells(column: Any) -> Any:
    values = numbers_of(column)
    return column.to_pylist() if values is None else values
