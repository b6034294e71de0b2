"""Panels larger than memory: files reduced to the sums of each distinct text while they are read."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np

from coherently import _core
from coherently.errors import SHOWN, PanelError
from coherently.events import CERTAIN, PackedTexts
from coherently.panel.build import build
from coherently.panel.cell_table import Table, no_rows
from coherently.panel.columnar.coded import CodedCells
from coherently.panel.columnar.forecast_piece import ONLY_LONG, CellRules
from coherently.panel.columnar.parquet_parts import ParquetPart
from coherently.panel.columnar.text_files import UnusualError
from coherently.panel.columnar.text_parts import TextPart

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from coherently.panel.build import Options
    from coherently.panel.cell_table import Columns, TableCells
    from coherently.panel.columnar.forecast_piece import ForecastPiece, TablePart
    from coherently.panel.panel import Panel

RowProgress: TypeAlias = Callable[[int, int], None]
"""A function that is called with the number of rows that have been read, and of all, as far as that is known."""

UNWEIGHTED = 0.5
"""Stands for the mean of forecasts that all have weight 0: they have none, and it has no effect."""
UNUSUAL = "unusual-lines"
"""The kind of error of JSON lines that can be read, but not in pieces."""
LEAST_BYTES = {".parquet": 1, ".gz": 8}
"""About how many bytes a row has at least, by the ending of a file; 24 with any other ending."""
ENDINGS = (".parquet", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
"""The files of a folder that are read; all of them have the same ending."""


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """Many forecasts as one per distinct text, and the way back to the forecasts.

    `panel` has, by one judge named panel, the weighted mean of the forecasts of each text with their total weight.
    The text with the number i in `pool` has the forecast `place[i]` of the panel, -1 if nobody forecast it. `forecasts`
    counts the rows that have a probability, `seconds` is the time of reading.

    `scatter` is the sum of w (p - q)^2 over forecasts p of texts with the mean q, conditionals left out. Averaging
    lowers the summed Brier penalty by this much in every outcome:
    sum w (p - t)^2 = sum w (q - t)^2 + sum w (p - q)^2 for t = 0 and 1.
    """

    panel: Panel
    parts: tuple[TablePart, ...]
    pool: _core.TextPool
    place: NDArray[np.int64]
    rules: CellRules
    forecasts: int
    scatter: float
    seconds: float

    def row_batches(self, value: NDArray[np.float64], progress: RowProgress | None) -> Iterator[Columns]:
        """Read the files again and give one row per forecast, batch by batch; `value` has the answer of each text."""
        event_index, texts = self.panel.event_index, PackedTexts.of(self.panel.written.text)
        for piece, _ in _pieces(self.parts, self.rules, self.pool, progress, with_judges=True):
            assert piece.judge is not None
            given = np.flatnonzero(~np.isnan(piece.probability))
            place, raw = self.place[piece.event[given]], piece.probability[given]
            answer = value[place]
            yield {
                "judge": piece.judge.pick(given),
                "event": texts.pick(event_index[place]),
                "probability": answer,
                "raw": raw,
                "weight": np.ones(len(answer)) if piece.weight is None else piece.weight[given],
                "adjustment": answer - raw,
            }


def find_parts(source: Path) -> tuple[TablePart, ...]:
    """The tables of a folder, in the order of their names, or a single one; all have the same columns."""
    paths = _tables(source) if source.is_dir() else [source]
    opener = ParquetPart.of if paths[0].suffix.lower() == ".parquet" else TextPart.of
    parts: list[TablePart] = [opener(path) for path in paths]
    _check_columns({part.path.name: part.kinds for part in parts})
    parts = [part for part in parts if part.rows != 0]
    if not parts:
        raise no_rows(source.name)
    return tuple(parts)


def _tables(folder: Path) -> list[Path]:
    for ending in ENDINGS:
        found = sorted(path for path in folder.iterdir() if path.name.lower().endswith(ending))
        if found:
            return found
    raise PanelError(f"{folder} is a folder without .parquet files or others that hold tables: name a file in it")


def can_reduce(path: Path, rows: int) -> bool:
    """Whether a file is a long table of probabilities with at least so many rows, as far as its size tells."""
    if path.stat().st_size < rows * LEAST_BYTES.get(path.suffix.lower(), 24):
        return False
    try:
        parts = find_parts(path)
    except (PanelError, UnusualError):
        return False
    known = parts[0].rows
    return (known is None or known >= rows) and _obstacle(parts) is None


def _obstacle(parts: tuple[TablePart, ...]) -> str | None:
    """What the files have that keeps them from being reduced, if anything."""
    layout = parts[0].layout
    bounds = [name for name in (layout.lower, layout.upper) if name is not None]
    return f"the column {bounds[0]!r}" if bounds else None


def _check_columns(kinds: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse files whose columns differ from those of the first."""
    (first, wanted), *others = kinds.items()
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


def reduce_tables(source: Path, progress: RowProgress | None = None, **options: Unpack[Options]) -> Reduction:
    """Reduce a file, or the files of a folder, to one forecast per distinct text: CSV, TSV, JSON lines or Parquet.

    Memory grows with the distinct texts, not with the rows. The means and weights are those of `read_panel`; so is the
    result of every method that needs only means. All repeated forecasts are kept, and they are not counted. Intervals,
    wide tables and `repeats` other than "keep" are refused.
    """
    begun = time.monotonic()
    repeats, rules = options.get("repeats", "keep"), CellRules(bool(options.get("percent")), _missing(options))
    if repeats != "keep":
        raise PanelError(ONLY_LONG.format(what=f"repeats={repeats!r} (--repeats {repeats})", source=source.name))
    parts = find_parts(source)
    what = _obstacle(parts)
    if what is not None:
        raise PanelError(ONLY_LONG.format(what=what, source=source.name))
    pool, tally, kept, ends = _core.TextPool(), _core.Tally(), 0, np.zeros(len(parts) + 1, np.int64)
    for piece, part in _pieces(parts, rules, pool, progress, with_judges=False):
        tally.add(piece.event, piece.probability, piece.weight, piece.row + ends[part])
        ends[part + 1 :] = ends[part] + piece.row[-1]
        kept += len(piece.probability) - int(np.count_nonzero(np.isnan(piece.probability)))
    if not len(pool):
        raise no_rows(source.name)
    sums = _Sums(*tally.sums())
    options = {**options, "percent": False, "missing": "abstain"}
    panel = _reduced_panel(source.name, parts, pool, sums, places=_Places(parts, ends, sums.first), options=options)
    return Reduction(
        panel,
        parts,
        pool,
        place=np.where(sums.count > 0, np.cumsum(sums.count > 0) - 1, -1),
        rules=rules,
        forecasts=kept,
        scatter=_scatter(panel, sums.forecast()),
        seconds=time.monotonic() - begun,
    )


def _missing(options: Options) -> Any:
    return options.get("missing", "error")


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Of each text the number of its forecasts, the sums of w, w p and w p^2, and its first row."""

    count: NDArray[np.int64]
    weight: NDArray[np.float64]
    product: NDArray[np.float64]
    square: NDArray[np.float64]
    first: NDArray[np.int64]

    def forecast(self) -> _Sums:
        """Those of texts that have a forecast."""
        given = np.flatnonzero(self.count)
        if len(given) == len(self.count):
            return self
        return _Sums(*(getattr(self, name)[given] for name in self.__slots__))


def _scatter(panel: Panel, sums: _Sums) -> float:
    """The sum of w p^2 - (sum of w p)^2 / sum of w, over the texts without a condition."""
    told = (panel.written.condition[panel.event_index] == CERTAIN) & (sums.weight > 0)
    weight, product, square = sums.weight[told], sums.product[told], sums.square[told]
    return float(np.maximum(0.0, square - product**2 / weight).sum())


def _reduced_panel(
    name: str, parts: tuple[TablePart, ...], pool: _core.TextPool, sums: _Sums, *, places: _Places, options: Options
) -> Panel:
    unweighted = np.where(sums.count > 0, UNWEIGHTED, np.nan)
    mean = np.divide(sums.product, sums.weight, out=unweighted, where=sums.weight > 0)
    columns: dict[str, TableCells] = {
        "event": CodedCells(np.arange(len(mean), dtype=np.int32), PackedTexts(*pool.pack(0))),
        "probability": np.clip(mean, 0.0, 1.0),
    }
    panel = build(Table(name, columns, places), reduced=True, **options)
    panel = replace(panel, weight=sums.forecast().weight)  # may exceed the greatest weight of a forecast
    unused = [column for column in (parts[0].layout.outcome, parts[0].layout.time) if column is not None]
    notes = [f"{name}: not used while reading in pieces: {', '.join(unused)}"] if unused else []
    return replace(panel, notes=(*notes, *panel.notes))


class _Places(Sequence[object]):
    """Where the first forecast of each text is: the row, and the file if there are several."""

    def __init__(self, parts: tuple[TablePart, ...], ends: NDArray[np.int64], first: NDArray[np.int64]) -> None:
        self._parts = parts
        self._ends = ends
        self._first = first

    def __len__(self) -> int:
        return len(self._first)

    def __getitem__(self, index: Any) -> Any:
        row = int(self._first[index])
        if len(self._parts) == 1:
            return row
        part = int(np.searchsorted(self._ends, row, "left")) - 1
        return f"{row - int(self._ends[part])} of {self._parts[part].path.name}"


def _pieces(
    parts: tuple[TablePart, ...],
    rules: CellRules,
    pool: _core.TextPool,
    progress: RowProgress | None,
    *,
    with_judges: bool,
) -> Iterator[tuple[ForecastPiece, int]]:
    """The pieces of all files, each with the number of its file; after each it is told how many rows are done."""
    sizes = [part.path.stat().st_size for part in parts]
    known = [part.rows for part in parts]
    rows = 0
    for number, part in enumerate(parts):
        try:
            for piece in part.pieces(rules, pool, with_judges=with_judges):
                yield piece, number
                rows += len(piece.row)
                share = (sum(sizes[:number]) + piece.share * sizes[number]) / max(1, sum(sizes))
                if progress is not None:
                    total = max(rows, round(rows / share)) if share > 0 else rows
                    progress(rows, total if None in known else sum(filter(None, known)))
        except UnusualError as error:
            raise PanelError(
                f"{part.path.name} has JSON lines that are not flat objects with the same keys in the same order, "
                f"which cannot be read in pieces: write them so, or read a smaller file",
                code=UNUSUAL,
            ) from error
