"""The truth of coordinates in given worlds, and a coordinate that nobody forecast."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem.spaces.space import LARGEST_TABLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem.problem import Merged
    from coherently.problem.spaces.space import Functions


def holds(functions: Merged | Functions, worlds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which functions hold in which worlds: one row per world, one column per variable or function.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> merged = pose(Panel.from_records([("Ann", "p & q", 0.2), ("Ann", "p | q", 0.5), ("Ann", "q", 0.1)])).merged
    >>> holds(merged, np.array([[False, True], [True, True]])).astype(int).tolist()
    [[0, 1, 1], [1, 1, 1]]
    """
    found = np.empty((len(worlds), len(functions)), np.bool_)
    size = np.diff(functions.starts)
    for k in np.unique(size).tolist():
        mine = np.flatnonzero(size == k)
        truth = worlds[:, functions.variables[functions.starts[mine][:, None] + np.arange(k)]]
        words = functions.table_starts[mine]
        if k > LARGEST_TABLE:
            length = -(-k // 64)
            counted = _bits(functions.tables, words, np.arange(k)[None, :])
            at = np.sum(truth == counted, axis=2)
            words = words + length
        else:
            at = truth @ (1 << np.arange(k, dtype=np.int64))
        found[:, mine] = _bits(functions.tables, words, at.reshape(len(worlds), len(mine)).T).T
    return found


def append(merged: Merged, new: int, variables: NDArray[np.int32], table: NDArray[np.uint64]) -> Merged:
    """Append a coordinate without weight, by its variables, ascending, and its table; `new` variables come too."""
    return replace(
        merged,
        event=np.append(merged.event, np.int32(-1)),
        weight=np.append(merged.weight, 0.0),
        mean=np.append(merged.mean, np.nan),
        starts=np.append(merged.starts, merged.starts[-1] + len(variables)),
        variables=np.concatenate([merged.variables, variables]),
        origin=np.concatenate([merged.origin, np.full(new, -1, np.int32)]),
        table_starts=np.append(merged.table_starts, merged.table_starts[-1] + len(table)),
        tables=np.concatenate([merged.tables, table]),
    )


def _bits(tables: NDArray[np.uint64], words: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Bits of bit fields that begin at some words; a row a field."""
    word = tables[words[:, None] + (at >> 6)]
    return (word >> (at & 63).astype(np.uint64) & np.uint64(1)).astype(np.bool_)
