"""Tables of functions of plain variables in the checker's order: bit 0 is all false, its last variable is fastest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from coherently.problem.functions import Functions


def plain_tables(
    functions: Functions, wanted: NDArray[np.bool_], numbers: NDArray[np.integer]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.integer], NDArray[np.uint8]]]:
    """For functions of equally many variables: which they are, their scopes and their bits, one row per function.

    `numbers` has the checker's number of each variable of the functions, those of one function all different.
    """
    sizes = functions.sizes()
    for size in np.unique(sizes[wanted]).tolist():
        rows = np.flatnonzero(wanted & (sizes == size))
        own = numbers[functions.starts[rows][:, None] + np.arange(size)]
        order = np.argsort(own, axis=1)
        words = functions.stacked_words(rows).astype("<u8").view(np.uint8)
        bits = np.unpackbits(words, axis=1, bitorder="little", count=2**size)
        # In the solver's tables the first variable is fastest.
        place, world = np.zeros((len(rows), 2**size), np.int64), np.arange(2**size)
        for rank in range(size):
            place += (world >> order[:, rank, None] & 1) << (size - 1 - rank)
        table = np.empty_like(bits)
        np.put_along_axis(table, place, bits, axis=1)
        yield rows, np.take_along_axis(own, order, axis=1), table


def masks(table: NDArray[np.uint8]) -> list[int]:
    """The bits of tables of at most 6 variables as integers."""
    packed = np.zeros((len(table), 8), np.uint8)
    some = np.packbits(table, axis=1, bitorder="little")
    packed[:, : some.shape[1]] = some
    found: list[int] = packed.view("<u8").ravel().tolist()
    return found
