"""Texts of frames through the Arrow C interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coherently import _core
from coherently.errors import PanelError
from coherently.events import PackedTexts
from coherently.panel.columnar.coded import CodedCells

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from coherently.panel.cell_table import Cells

MOST_BYTES = 1 << 31
"""What the smaller kind of Arrow text can hold."""
EVERY_ROW = range(1, MOST_BYTES)
"""The rows of a source that is read whole."""
NO_STREAM = (AttributeError, ImportError, NotImplementedError, TypeError, ValueError)
"""What libraries raise if they cannot give a column as an Arrow stream."""


def numbers_of(array: Any) -> NDArray[Any] | None:
    """The numbers of a pyarrow Array, NaN where one is missing; None if it has something else.

    This looks at the buffers: pyarrow's own way would import pandas wherever that is installed.
    """
    import pyarrow as pa

    kind = array.type
    if not (pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind)):
        return None
    validity, data = array.buffers()
    letter = "f" if pa.types.is_floating(kind) else "i" if pa.types.is_signed_integer(kind) else "u"
    width = np.dtype(f"{letter}{kind.bit_width // 8}")
    values: NDArray[Any] = np.frombuffer(data, width, len(array), array.offset * width.itemsize)
    if not array.null_count:
        return values
    bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
    return np.where(bits[array.offset : array.offset + len(array)], values, np.nan)


def arrow_array(column: Cells) -> Any:
    """A column of an answer as a pyarrow Array, without pandas if it has numbers or texts."""
    import pyarrow as pa

    if isinstance(column, np.ndarray) and column.dtype in (np.float64, np.int64):
        kind = pa.float64() if column.dtype == np.float64 else pa.int64()
        return pa.Array.from_buffers(kind, len(column), [None, pa.py_buffer(np.ascontiguousarray(column))])
    if isinstance(column, list) and set(map(type, column)) == {str}:
        column = PackedTexts.of(column)
    if not isinstance(column, PackedTexts):
        return pa.array(column)
    if column.offsets[-1] < MOST_BYTES:
        offsets, kind = pa.py_buffer(column.offsets.astype(np.int32)), pa.StringArray
    else:
        offsets, kind = pa.py_buffer(np.ascontiguousarray(column.offsets)), pa.LargeStringArray
    return kind.from_buffers(len(column), offsets, pa.py_buffer(np.ascontiguousarray(column.data)))


def encode_names(export: Callable[[], object], place: str) -> CodedCells | None:
    """The names in a column, stripped; None if it cannot be given as a stream of texts.

    `export` makes the stream; `place` names the column in errors.
    """
    pool = _core.TextPool()
    try:
        stream = export()
    except NO_STREAM:
        return None
    codes = add_names(pool, stream, place, EVERY_ROW)
    return None if codes is None else CodedCells(codes, PackedTexts(*pool.pack(0)))


def add_names(
    pool: _core.TextPool, stream: object, place: str, rows: Sequence[int] | NDArray[np.int64]
) -> NDArray[np.int32] | None:
    """Number the names of a stream in a pool; `rows` says in which row each is."""
    try:
        return pool.encode(stream)
    except ValueError as error:
        row = int(rows[int(str(error))])
        raise PanelError(
            f"{place.format(row=row)}: the text is not UTF-8, as Parquet and Arrow demand: write the file again"
        ) from error
