"""Distinct worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from coherently.arrays import Indices, Truth


def distinct_worlds(worlds: Truth) -> tuple[Truth, Indices]:
    """The distinct rows in ascending order, and for each world the number of its row.

    >>> rows, number = distinct_worlds(np.array([[1, 0], [0, 1], [1, 0]], np.uint8))
    >>> rows.tolist(), number.tolist()
    ([[0, 1], [1, 0]], [1, 0, 1])
    """
    keys = [row.tobytes() for row in worlds]
    place = {key: i for i, key in enumerate(sorted(set(keys)))}
    rows = np.frombuffer(bytearray(b"".join(place)), np.uint8).reshape(len(place), worlds.shape[1])
    return rows, np.array([place[key] for key in keys], np.int64)
