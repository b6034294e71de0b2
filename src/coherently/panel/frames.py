"""Frames and records into tables, and columns into a frame of the library asked for."""

from __future__ import annotations

import importlib
import reprlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from coherently.errors import ListedProblem, MissingDependencyError, PanelError, Where, counted
from coherently.events import PackedTexts
from coherently.panel.cell_table import ProblemList, Table, append_records, check_header
from coherently.panel.columnar.arrow import encode_names
from coherently.panel.columnar.plans import NAME, TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable

    import narwhals as nw

    from coherently.panel.cell_table import Cells, Columns
    from coherently.panel.columnar.coded import CodedCells
    from coherently.panel.columnar.plans import Planner

Record: TypeAlias = "tuple[object, ...] | list[object] | Mapping[str, object]"

LIBRARIES = ("pandas", "polars", "pyarrow")
FIELDS = ("judge", "event", "probability", "weight")
READABLE = ("a mapping", "3 values", "4 values")
RECORDS = (
    "Each record is (judge, event, probability) or (judge, event, probability, weight), or a mapping with "
    "those names; all records must be of one kind."
)


def table_from_frame(frame: object, source: str = "frame", planner: Planner | None = None) -> Table:
    """Read a pandas, polars or pyarrow frame; a pandas index is ignored. A planner says which columns are names."""
    import narwhals as nw

    try:
        eager = nw.from_native(frame, eager_only=True)  # type: ignore[call-overload]
    except TypeError as error:
        kind = f"{type(frame).__module__.split('.')[0]}.{type(frame).__qualname__}"
        raise PanelError(
            f"{kind} is not a frame that can be read: pass a pandas or polars DataFrame or a pyarrow Table "
            f"(a LazyFrame after .collect())"
        ) from error
    except nw.exceptions.DuplicateError as error:
        found = " ".join(str(error).split())
        raise PanelError(f"{source} has two columns with the same name: rename or delete one ({found})") from error
    header = check_header(source, eager.columns)
    plans = [TEXT] * len(header) if planner is None else planner(header)
    columns = {}
    for name, column, plan in zip(header, eager.columns, plans, strict=True):
        series = eager.get_column(column)
        coded = _names(series, f"{source} row {{row}}, column {name}") if plan == NAME else None
        columns[name] = _cells(series) if coded is None else coded
    return Table(source, columns, range(1, len(eager) + 1), eager.implementation.value)


def _names(series: nw.Series[Any], place: str) -> CodedCells | None:
    """The distinct names of a column of texts, stripped; None if they are not to be had as columns."""
    import narwhals as nw

    if not isinstance(series.dtype, nw.String | nw.Categorical | nw.Enum):
        return None
    if series.implementation.is_pandas() and str(series.to_native().dtype) == "object":
        return None
    return encode_names(series.__arrow_c_stream__, place)


def _cells(series: nw.Series[Any]) -> Cells:
    """Return numbers as an array (NaN for null), everything else as a list (None for null)."""
    import narwhals as nw

    if series.dtype.is_integer() and not series.null_count():
        return series.to_numpy()
    if series.dtype.is_numeric():
        return series.cast(nw.Float64).to_numpy()
    cells: list[object] = series.to_list()
    for index in series.is_null().arg_true():
        cells[index] = None
    return cells


def table_from_records(records: Iterable[Record]) -> Table:
    """Read (judge, event, probability), the same with a weight, or mappings from column names."""
    try:
        rows: list[Any] = list(records)
    except TypeError as error:
        raise PanelError(
            f"{reprlib.repr(records)} is not a list of records. {RECORDS}", code="bad-record", remedy=RECORDS
        ) from error
    if not rows:
        raise PanelError(f"records is empty. {RECORDS}", code="no-rows", where=Where("records"), remedy=RECORDS)
    kinds = [_kind(row) for row in rows]
    wanted = next((kind for kind in kinds if kind in READABLE), None)
    bad = [index for index, kind in enumerate(kinds) if kind != wanted]
    problems = ProblemList()
    problems.add(bad, lambda index: _misfit(index + 1, rows[index], kinds[index], wanted), [RECORDS])
    problems.check()
    columns: dict[str, list[object]] = {}
    if wanted == READABLE[0]:
        append_records(columns, rows, 0)
    else:
        columns = dict(zip(FIELDS, map(list, zip(*rows, strict=True)), strict=False))
    header = check_header("records", list(columns))
    return Table("records", dict(zip(header, columns.values(), strict=True)), range(1, len(rows) + 1))


def _kind(record: object) -> str:
    if isinstance(record, Mapping):
        return READABLE[0]
    return counted(len(record), "value") if isinstance(record, tuple | list) else f"a {type(record).__name__}"


def _misfit(row: int, record: object, kind: str, wanted: str | None) -> ListedProblem:
    others = f", but other records are {wanted}" if wanted else ""
    found = f"records row {row}: {kind} ({reprlib.repr(record)}){others}"
    return ListedProblem(found, "bad-record", Where("records", row), RECORDS)


def to_frame(columns: Columns, library: str | None) -> Any:
    """Make a frame of the library, or of the first of pandas, polars and pyarrow that is installed."""
    for name in [library] if library else LIBRARIES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        plain = {name: list(cells) if isinstance(cells, PackedTexts) else cells for name, cells in columns.items()}
        return (module.table if name == "pyarrow" else module.DataFrame)(plain)
    wanted = library or "pandas, polars or pyarrow"
    raise MissingDependencyError(
        f"a frame needs {wanted}, which is not installed: pip install {library or LIBRARIES[0]} "
        f"(print() shows results without one)"
    )
