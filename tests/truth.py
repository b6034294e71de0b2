"""The truth of functions in given worlds by NumPy: what the compiled evaluator is compared with."""

import numpy as np

LARGEST_TABLE = 16


def holds(functions, worlds):
    """Tell which functions, or events of a merged problem, hold in which worlds: one row per world."""
    functions = getattr(functions, "functions", functions)
    found = np.empty((len(worlds), len(functions)), np.bool_)
    size = np.diff(functions.starts)
    for k in np.unique(size).tolist():
        mine = np.flatnonzero(size == k)
        truth = worlds[:, functions.variables[functions.starts[mine][:, None] + np.arange(k)]].astype(bool)
        words = functions.table_starts[mine]
        if k > LARGEST_TABLE:
            counted = _bits(functions.tables, words, np.arange(k)[None, :])
            at = np.sum(truth == counted, axis=2)
            words = words + -(-k // 64)
        else:
            at = truth @ (1 << np.arange(k, dtype=np.int64))
        found[:, mine] = _bits(functions.tables, words, at.reshape(len(worlds), len(mine)).T).T
    return found


def _bits(tables, words, at):
    """Bits of bit fields that begin at some words; one row per field."""
    word = tables[words[:, None] + (at >> 6)]
    return (word >> (at & 63).astype(np.uint64) & np.uint64(1)).astype(np.bool_)
