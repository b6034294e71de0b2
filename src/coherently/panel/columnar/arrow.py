"""Texts of frames through the Arrow C interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently import _core
from coherently.errors import PanelError
from coherently.events import PackedTexts
from coherently.panel.columnar.coded import CodedCells

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

NO_STREAM = (AttributeError, ImportError, NotImplementedError, TypeError, ValueError)
"""What libraries raise if they cannot give a column as an Arrow stream."""


def encode_names(export: Callable[[], object], place: str) -> CodedCells | None:
    """The names in a column, stripped; None if it cannot be given as a stream of texts.

    `export` makes the stream; `place` names the column in errors.
    """
    pool = _core.TextPool()
    try:
        stream = export()
    except NO_STREAM:
        return None
    codes = add_names(pool, stream, place, 1)
    return None if codes is None else CodedCells(codes, PackedTexts(*pool.pack(0)))


def add_names(pool: _core.TextPool, stream: object, place: str, first_row: int) -> NDArray[np.int32] | None:
    """Number the names of a stream in a pool; its first one is in `first_row`."""
    try:
        return pool.encode(stream)
    except ValueError as error:
        row = first_row + int(str(error))
        raise PanelError(
            f"{place.format(row=row)}: the text is not UTF-8, as Parquet and Arrow demand: write the file again"
        ) from error
