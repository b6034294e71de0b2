"""Columns as text, for people who print a result and have no frame library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import counted
from coherently.table_views import ROWS, number_cells

if TYPE_CHECKING:
    from coherently.panel.cell_table import Cells, Columns

WIDTH = 60
"""How many characters of a text are printed."""
DECIMALS = 4


def text_table(columns: Columns, decimals: int = DECIMALS) -> str:
    """Print columns side by side, texts to the left and numbers, with at most so many decimals, to the right.

    >>> print(text_table({"event": ["rain", "wind"], "raw": np.array([0.675, np.nan]), "weight": np.array([2.0, 0.0])}))
    event    raw  weight
    rain   0.675       2
    wind       -       0
    """
    count = len(next(iter(columns.values())))
    printed = [_column(name, cells[:ROWS], decimals) for name, cells in columns.items()]
    lines = ["  ".join(row).rstrip() for row in zip(*printed, strict=True)]
    return "\n".join([*lines, f"... and {counted(count - ROWS, 'more row')}"] if count > ROWS else lines)


def _column(name: str, cells: Cells, decimals: int) -> list[str]:
    if isinstance(cells, np.ndarray):
        texts = [name, *number_cells(cells, decimals)]
        return [text.rjust(max(map(len, texts))) for text in texts]
    texts = [name, *(_text(cell) for cell in cells)]
    return [text.ljust(max(map(len, texts))) for text in texts]


def _text(cell: object) -> str:
    text = str(cell)
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: WIDTH + 1])
    return plain if len(plain) <= WIDTH else f"{plain[: WIDTH - 4]} ..."
