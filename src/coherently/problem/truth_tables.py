"""Truth tables of a few variables as integers: bit r says whether the function holds in row r."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_VARIABLES = 16
"""Maximum number of variables of events that are compared by their joint truth table."""


def table_of(words: NDArray[np.uint64]) -> int:
    """A truth table as one integer."""
    return sum(int(word) << 64 * i for i, word in enumerate(words.tolist()))


def bits_of(table: int, count: int) -> NDArray[np.uint8]:
    """The entries of a truth table of `count` variables."""
    size = 1 << count
    packed = np.frombuffer(table.to_bytes((size + 7) // 8, "little"), np.uint8)
    return np.unpackbits(packed, count=size, bitorder="little")


@lru_cache(maxsize=100_000)
def expanded(table: int, places: tuple[int, ...], count: int) -> int:
    """A truth table over `count` variables; its own variables are at `places`."""
    rows = np.arange(1 << count)
    index = np.zeros(1 << count, np.int64)
    for i, place in enumerate(places):
        index |= (rows >> place & 1) << i
    bits = bits_of(table, len(places))
    return int.from_bytes(np.packbits(bits[index], bitorder="little").tobytes(), "little")
