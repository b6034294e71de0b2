"""Parquet into columns, batch by batch."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently import _core
from coherently.errors import MissingDependencyError, PanelError
from coherently.events import PackedTexts
from coherently.panel.cell_table import Table, check_header
from coherently.panel.columnar.arrow import add_names, numbers_of
from coherently.panel.columnar.coded import CodedCells
from coherently.panel.columnar.plans import NAME, SKIP, TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from coherently.panel.cell_table import TableCells
    from coherently.panel.columnar.plans import Planner

ROWS = 1 << 16
"""Number of rows that are read at a time, within a row group of any size."""
MOST_BYTES = 4
"""Numbers of distinct texts take at most this many bytes per value, their dictionary included."""
BUFFER = 1 << 20
"""Number of bytes of each column of a row group that are read from the file at a time."""
PANDAS_INDEX = re.compile(r"__index_level_\d+__")


@contextmanager
def reading_parquet(source: str) -> Iterator[None]:
    """Say which file is not Parquet, or what is missing to read it; meanwhile pyarrow gives back memory at once."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingDependencyError(f"reading {source} needs pyarrow: pip install pyarrow") from error
    pool = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())  # the other kinds keep what they are given back
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        found = (str(error).splitlines() or [""])[0]
        raise PanelError(f"{source} is not a complete Parquet file ({found}): write it again") from error
    finally:
        pa.set_memory_pool(pool)


def open_parquet(path: Path, names: Sequence[str] = ()) -> Any:
    """Open a Parquet file to be read in pieces, however large its row groups are.

    Of the names, columns that are stored as numbers of distinct texts are read as such.
    """
    import pyarrow.parquet as pq

    # Buffered in advance, the whole file would stay in memory until its end.
    stored = pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False)
    coded = [name for name in names if _is_coded(stored.metadata, name)]
    if not coded:
        return stored
    stored.close()
    return pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False, read_dictionary=coded)


def _is_coded(metadata: Any, name: str) -> bool:
    """Whether a column's parts are numbers of few distinct texts, by the bytes per value."""
    columns = [metadata.row_group(0).column(i) for i in range(metadata.num_columns)] if metadata.num_row_groups else []
    found = [column for column in columns if column.path_in_schema == name]
    return any(c.has_dictionary_page and c.total_uncompressed_size <= MOST_BYTES * c.num_values for c in found)


def parquet_names(stored: Any) -> list[str]:
    """The columns of a file, without an index that pandas added."""
    return [name for name in stored.schema_arrow.names if not PANDAS_INDEX.fullmatch(name)]


def read_parquet(path: Path, advance: Callable[[float], None], planner: Planner | None) -> Table:
    """Read a whole file; names are numbered batch by batch, and columns that are not wanted are not read."""
    source = path.name
    with reading_parquet(source):
        stored = open_parquet(path)
        names = parquet_names(stored)
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise PanelError(f"{source} has two columns with the same name, {twice[0]!r}: rename or delete one")
        header = check_header(source, names)
        plans = [TEXT] * len(names) if planner is None else planner(header)
        stored = open_parquet(path, [name for name, plan in zip(names, plans, strict=True) if plan == NAME])
        wanted = [name for name, plan in zip(names, plans, strict=True) if plan != SKIP]
        gathered = {
            name: _NameColumn(f"{source} row {{row}}, column {title}") if plan == NAME else _OtherColumn()
            for name, title, plan in zip(names, header, plans, strict=True)
            if plan != SKIP
        }
        total, done = stored.metadata.num_rows, 0
        for batch in stored.iter_batches(ROWS, columns=wanted, use_threads=False):
            for name in wanted:
                gathered[name].add(batch.column(batch.schema.get_field_index(name)))
            done += len(batch)
            advance(done / total)
        stored.close()
    columns = {
        title: gathered[name].cells(stored.schema_arrow.field(name).type) if name in gathered else []
        for name, title in zip(names, header, strict=True)
    }
    return Table(source, columns, range(1, total + 1))


class _OtherColumn:
    """Gathers the parts of a column as they are."""

    def __init__(self) -> None:
        self._parts: list[Any] = []

    def add(self, part: Any) -> None:
        self._parts.append(part)

    def cells(self, kind: Any) -> TableCells:
        import pyarrow as pa

        numbers = [numbers_of(part) for part in self._parts]
        found = [values for values in numbers if values is not None]
        if found and len(found) == len(numbers):
            return np.concatenate(found)
        cells = pa.chunked_array(self._parts, kind)
        if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return cells.cast(pa.float64(), safe=False).to_numpy()  # type: ignore[no-any-return]
        return cells.to_pylist()  # type: ignore[no-any-return]


class _NameColumn(_OtherColumn):
    """Gathers the numbers of names, if the column has texts."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self._place = place
        self._pool = _core.TextPool()
        self._codes: list[np.ndarray[Any, np.dtype[np.int32]]] = []
        self._rows = 0

    def add(self, part: Any) -> None:
        import pyarrow as pa

        rows = range(self._rows + 1, self._rows + len(part) + 1)
        codes = add_names(self._pool, pa.chunked_array([part]).__arrow_c_stream__(), self._place, rows)
        self._rows += len(part)
        if codes is None:
            super().add(part)
        else:
            self._codes.append(codes)

    def cells(self, kind: Any) -> TableCells:
        if not self._codes:
            return super().cells(kind)
        return CodedCells(np.concatenate(self._codes), PackedTexts(*self._pool.pack(0)))
