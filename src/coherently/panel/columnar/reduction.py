"""Panels larger than memory: Parquet files reduced to the sums of each distinct text while they are read."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np

from coherently import _core
from coherently.errors import SHOWN, PanelError
from coherently.events import CERTAIN, PackedTexts
from coherently.panel import cells
from coherently.panel.build import ONLY_JUDGE, build
from coherently.panel.cell_table import Table, check_header, no_rows
from coherently.panel.columnar.arrow import add_names, arrow_array, numbers_of
from coherently.panel.columnar.coded import CodedCells
from coherently.panel.columnar.parquet_files import ROWS, open_parquet, parquet_names, reading_parquet
from coherently.panel.layout import Long, recognise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from coherently.panel.build import Options
    from coherently.panel.cell_table import Columns
    from coherently.panel.panel import Panel

RowProgress: TypeAlias = Callable[[int, int], None]
"""A function that is called with the number of rows that have been read, and of all."""

UNWEIGHTED = 0.5
"""Stands for the mean of forecasts that all have weight 0: they have none, and it has no effect."""
KEPT_ONLY = (
    "Forecasts are added up while they are read, so {what} cannot be used for {source}. "
    "Leave it out, or read a smaller file."
)


@dataclass(frozen=True, slots=True, eq=False)
class ParquetPart:
    """One file: where it is, how its columns are named there, and how many rows it has."""

    path: Path
    layout: Long
    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """Many forecasts as one per distinct text, and the way back to the forecasts.

    `panel` has, by one judge named panel, the weighted mean of the forecasts of each text with their total weight.
    Forecast i of it belongs to the text with the number i in `pool`. `forecasts` counts the rows that have a
    probability, `seconds` is the time of reading.

    `scatter` is the sum of w (p - q)^2 over forecasts p of texts with the mean q, conditionals left out. Averaging
    lowers the summed Brier penalty by this much in every outcome:
    sum w (p - t)^2 = sum w (q - t)^2 + sum w (p - q)^2 for t = 0 and 1.
    """

    panel: Panel
    parts: tuple[ParquetPart, ...]
    pool: _core.TextPool
    percent: bool
    missing: cells.Missing
    forecasts: int
    scatter: float
    seconds: float

    def row_batches(self, value: NDArray[np.float64], progress: RowProgress | None) -> Iterator[Columns]:
        """Read the files again and give one row per forecast, batch by batch; `value` has the answer of each text."""
        event_index, texts = self.panel.event_index, PackedTexts.of(self.panel.written.text)
        for batch in _told(_batches(self.parts, self.percent, self.missing, with_judges=True), self.parts, progress):
            codes = batch.names(self.pool)
            answer = value[codes]
            yield {
                "judge": batch.judges(),
                "event": texts.pick(event_index[codes]),
                "probability": answer,
                "raw": batch.probability,
                "weight": np.ones(len(answer)) if batch.weight is None else batch.weight,
                "adjustment": answer - batch.probability,
            }


def find_parts(source: Path) -> tuple[ParquetPart, ...]:
    """The Parquet files of a folder, in the order of their names, or a single one; all have the same columns."""
    paths = sorted(source.glob("*.parquet")) if source.is_dir() else [source]
    if not paths:
        raise PanelError(
            f"{source} is a folder without .parquet files: name a file in it, or a folder of Parquet files"
        )
    schemas = {}
    parts = []
    for path in paths:
        with reading_parquet(path.name), open_parquet(path) as stored:
            names = parquet_names(stored)
            schemas[path.name] = {name: str(stored.schema_arrow.field(name).type) for name in names}
            rows = stored.metadata.num_rows
        check_header(path.name, names)
        if rows:
            parts.append(ParquetPart(path, _layout(path.name, names), rows))
    _check_schemas(schemas)
    if not parts:
        raise no_rows(source.name)
    return tuple(parts)


def count_rows(path: Path) -> int:
    """The number of rows of a Parquet file, without reading them."""
    with reading_parquet(path.name), open_parquet(path) as stored:
        return int(stored.metadata.num_rows)


def can_reduce(path: Path) -> bool:
    """Whether a Parquet file is a long table of probabilities."""
    try:
        return _obstacle(find_parts(path)) is None
    except PanelError:
        return False


def _obstacle(parts: tuple[ParquetPart, ...]) -> str | None:
    """What the files have that keeps them from being reduced, if anything."""
    layout = parts[0].layout
    bounds = [name for name in (layout.lower, layout.upper) if name is not None]
    return f"the column {bounds[0]!r}" if bounds else None


def _layout(source: str, names: list[str]) -> Long:
    header = [name.strip() for name in names]
    layout = recognise(Table(source, {name: [] for name in header}, range(1)))
    if not isinstance(layout, Long):
        raise PanelError(KEPT_ONLY.format(what="a wide table", source=source))
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


def _check_schemas(schemas: dict[str, dict[str, str]]) -> None:
    """Refuse files whose columns differ from those of the first."""
    (first, wanted), *others = schemas.items()
    for name, found in others:
        differing = [column for column in dict.fromkeys([*wanted, *found]) if wanted.get(column) != found.get(column)]
        if differing:
            told = [
                f"{column!r} is {wanted.get(column, 'absent')} in {first} and {found.get(column, 'absent')} in {name}"
                for column in differing[:SHOWN]
            ]
            raise PanelError(
                f"the files of the folder have different columns: {'; '.join(told)}. "
                f"Write all files with the same columns, or keep them in different folders."
            )


def reduce_parquet(source: Path, progress: RowProgress | None = None, **options: Unpack[Options]) -> Reduction:
    """Reduce a Parquet file, or the Parquet files of a folder, to one forecast per distinct text.

    Memory grows with the distinct texts, not with the rows. The means and weights are those of `read_panel`; so is the
    result of every method that needs only means. All repeated forecasts are kept, and they are not counted. Intervals,
    wide tables and `repeats` other than "keep" are refused.
    """
    begun = time.monotonic()
    repeats, missing = options.get("repeats", "keep"), options.get("missing", "error")
    if repeats != "keep":
        raise PanelError(KEPT_ONLY.format(what=f"repeats={repeats!r} (--repeats {repeats})", source=source.name))
    parts, percent = find_parts(source), bool(options.get("percent"))
    what = _obstacle(parts)
    if what is not None:
        raise PanelError(KEPT_ONLY.format(what=what, source=source.name))
    pool, tally, kept = _core.TextPool(), _core.Tally(), 0
    for batch in _told(_batches(parts, percent, missing, with_judges=False), parts, progress):
        tally.add(batch.names(pool), batch.probability, batch.weight, batch.rows + batch.before)
        kept += len(batch.probability)
    panel = _reduced_panel(source, parts, pool, tally, options={**options, "percent": False, "missing": "error"})
    return Reduction(
        panel,
        parts,
        pool,
        percent,
        missing=missing,
        forecasts=kept,
        scatter=_scatter(panel, tally),
        seconds=time.monotonic() - begun,
    )


def _scatter(panel: Panel, tally: _core.Tally) -> float:
    """The sum of w p^2 - (sum of w p)^2 / sum of w, over the texts without a condition."""
    _, weight, product, square, _ = tally.sums()
    told = (panel.written.condition[panel.event_index] == CERTAIN) & (weight > 0)
    return float(np.maximum(0.0, square[told] - product[told] ** 2 / weight[told]).sum())


def _reduced_panel(
    source: Path, parts: tuple[ParquetPart, ...], pool: _core.TextPool, tally: _core.Tally, options: Options
) -> Panel:
    if not len(pool):
        raise PanelError(f"{source.name} has no forecast: every probability is missing")
    _, weight, product, _, first = tally.sums()
    mean = np.divide(product, weight, out=np.full(len(weight), UNWEIGHTED), where=weight > 0)
    columns = {
        "event": CodedCells(np.arange(len(pool), dtype=np.int32), PackedTexts(*pool.pack(0))),
        "probability": np.clip(mean, 0.0, 1.0),
    }
    panel = build(Table(source.name, columns, _Places(parts, first)), reduced=True, **options)
    panel = replace(panel, weight=weight)  # sums, which may exceed the greatest weight of a forecast
    unused = [name for name in (parts[0].layout.outcome, parts[0].layout.time) if name is not None]
    notes = [f"{source.name}: not used while reading in pieces: {', '.join(unused)}"] if unused else []
    return replace(panel, notes=(*notes, *panel.notes))


class _Places(Sequence[object]):
    """Where the first forecast of each text is: the row, and the file if there are several."""

    def __init__(self, parts: tuple[ParquetPart, ...], first: NDArray[np.int64]) -> None:
        self._parts = parts
        self._first = first
        self._ends = np.cumsum([part.rows for part in parts])

    def __len__(self) -> int:
        return len(self._first)

    def __getitem__(self, index: Any) -> Any:
        row = int(self._first[index])
        if len(self._parts) == 1:
            return row + 1
        place = int(np.searchsorted(self._ends, row, "right"))
        part = self._parts[place]
        return f"{row - int(self._ends[place]) + part.rows + 1} of {part.path.name}"


class _ReadBatch:
    """Some rows of a file: those that have a probability. `rows` count from 0 in the file, `before` those of others."""

    def __init__(
        self, part: ParquetPart, batch: Any, start: int, before: int, percent: bool, missing: cells.Missing
    ) -> None:
        self.part = part
        self.before = before
        self.done = before + start + len(batch)
        self._batch = batch
        layout = part.layout
        rows = np.arange(start, start + len(batch))
        numbers = {name: _cells(self._column(name)) for name in (layout.probability, layout.weight) if name}
        table = Table(part.path.name, numbers, rows + 1)
        probability = cells.probabilities(table, str(layout.probability), percent=percent, missing=missing)
        weight = None if layout.weight is None else cells.weights(table, layout.weight)
        given = ~np.isnan(probability)
        self._kept = None if given.all() else np.flatnonzero(given)
        self.rows = self._keep(rows)
        self.probability = self._keep(probability)
        self.weight = None if weight is None else self._keep(weight)

    def _keep(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self._kept is None else values[self._kept]

    def _column(self, name: str) -> Any:
        return self._batch.column(self._batch.schema.get_field_index(name))

    def names(self, pool: _core.TextPool) -> NDArray[np.int32]:
        """The number of each event's text."""
        known = len(pool)
        codes = self._encoded(pool, self.part.layout.event)
        fresh = PackedTexts(*pool.pack(known))
        if codes.min(initial=0) < 0 or len(fresh.empty()):
            self._texts(self.part.layout.event)  # says which rows have none
        return codes

    def judges(self) -> PackedTexts:
        """The judge of each forecast."""
        judge, pool = self.part.layout.judge, _core.TextPool()
        if judge is None:
            return PackedTexts.of([ONLY_JUDGE]).pick(np.zeros(len(self.rows), np.int64))
        codes = self._encoded(pool, judge)
        if codes.min(initial=0) < 0:
            self._texts(judge)
        return PackedTexts(*pool.pack(0)).pick(codes)

    def _encoded(self, pool: _core.TextPool, name: str) -> NDArray[np.int32]:
        import pyarrow as pa

        place = f"{self.part.path.name} row {{row}}, column {name}"
        column = self._column(name)
        codes = add_names(pool, pa.chunked_array([column]).__arrow_c_stream__(), place, int(self._first_row()))
        if codes is None:
            texts = pa.chunked_array([arrow_array(self._texts(name))])
            codes = pool.encode(texts.__arrow_c_stream__())
            assert codes is not None
            return codes
        return self._keep(codes)

    def _first_row(self) -> int:
        return int(self.rows[0]) + 1 if self._kept is None and len(self.rows) else 1

    def _texts(self, name: str) -> list[str]:
        """The cells of a column of another type, such as whole numbers, as texts; others are refused."""
        column = self._column(name) if self._kept is None else self._column(name).take(arrow_array(self._kept))
        return cells.texts(Table(self.part.path.name, {name: _cells(column)}, self.rows + 1), name)


def _cells(column: Any) -> Any:
    values = numbers_of(column)
    return column.to_pylist() if values is None else values


def _told(
    batches: Iterable[_ReadBatch], parts: tuple[ParquetPart, ...], progress: RowProgress | None
) -> Iterator[_ReadBatch]:
    """Tell of each batch when it is done."""
    total = sum(part.rows for part in parts)
    for batch in batches:
        yield batch
        if progress is not None:
            progress(batch.done, total)


def _batches(
    parts: tuple[ParquetPart, ...], percent: bool, missing: cells.Missing, *, with_judges: bool
) -> Iterator[_ReadBatch]:
    before = 0
    for part in parts:
        layout, start = part.layout, 0
        wanted = [layout.event, layout.probability, layout.weight, layout.judge if with_judges else None]
        columns = [name for name in wanted if name is not None]
        with reading_parquet(part.path.name), open_parquet(part.path, [layout.event]) as stored:
            for batch in stored.iter_batches(ROWS, columns=columns, use_threads=False):
                yield _ReadBatch(part, batch, start, before, percent=percent, missing=missing)
                start += len(batch)
        before += start
