"""Means, medians and sums that spreadsheets have beside the judges: found by name and by arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

ROUNDED = 0.00501
"""How far a mean may be off: it is rounded to whole per cents."""
FEWEST_ROWS, FEWEST_OTHERS, MANY_ROWS = 3, 3, 6
"""Numbers of rows and of others from which on arithmetic tells a summary from somebody who happens to agree."""
MOST_COLUMNS = 1_000
"""Tables with more columns of answers are not searched, as that compares each column with all others."""
SPREAD = 0.02
"""How far judges must be apart in a row for that row to tell anything."""

SUMS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "mean": lambda others: np.nanmean(others, axis=1),
    "median": lambda others: np.nanmedian(others, axis=1),
    "sum": lambda others: np.nansum(others, axis=1),
    "lowest": lambda others: np.nanmin(others, axis=1),
    "highest": lambda others: np.nanmax(others, axis=1),
}
"""What sums up the answers of each row."""


def arithmetic_of(answers: NDArray[np.float64], column: int) -> str | None:
    """What a column is of the others, if it is that in every row: the mean, the median, the sum, an extreme.

    Rows are events, columns judges, NaN is no answer. Rows in which the others agree tell nothing.

    >>> answers = np.array([[0.4, 0.5, 0.6, 0.5], [0.1, 0.2, 0.6, 0.3], [0.3, 0.6, 0.6, 0.5]])
    >>> arithmetic_of(answers, 3), arithmetic_of(answers, 0)
    ('mean', None)
    """
    others = np.delete(answers, column, axis=1)
    known = ~np.isnan(answers[:, column]) & (np.count_nonzero(~np.isnan(others), axis=1) >= 2)
    if others.shape[1] < 2 or not known.any():
        return None
    rows, own = others[known], answers[known, column]
    telling = np.nanmax(rows, axis=1) - np.nanmin(rows, axis=1) > SPREAD
    if np.count_nonzero(telling) < (FEWEST_ROWS if others.shape[1] >= FEWEST_OTHERS else MANY_ROWS):
        return None
    # Hardly any column is right in the first rows.
    likely = [name for name, summed in SUMS.items() if _is_that(summed, rows[:FEWEST_ROWS], own[:FEWEST_ROWS])]
    return next((name for name in likely if _is_that(SUMS[name], rows, own)), None)


def _is_that(
    summed: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    rows: NDArray[np.float64],
    own: NDArray[np.float64],
) -> bool:
    return bool(np.all(np.abs(summed(rows) - own) <= ROUNDED))


def arithmetic_columns(answers: NDArray[np.float64]) -> dict[int, str]:
    """The columns that sum up the others, the last ones first, so that a mean of means is found too."""
    found: dict[int, str] = {}
    if answers.shape[1] > MOST_COLUMNS:
        return found
    kept = list(range(answers.shape[1]))
    for column in reversed(range(answers.shape[1])):
        if len(kept) > 2:
            what = arithmetic_of(answers[:, kept], kept.index(column))
            if what is not None:
                found[column] = what
                kept.remove(column)
    return found


def sums_up_rows(above: NDArray[np.float64], row: NDArray[np.float64]) -> str | None:
    """What a row is of the rows above it, if it is that in every column with a number.

    >>> sums_up_rows(np.array([[0.4, 0.5], [0.6, 0.5]]), np.array([1.0, 1.0]))
    'sum'
    """
    known = ~np.isnan(row) & (np.count_nonzero(~np.isnan(above), axis=0) > 0)
    if not known.any() or len(above) < 2 or known.sum() < (~np.isnan(row)).sum():
        return None
    columns, own = above[:, known], row[known]
    for name, summed in (("sum", np.nansum(columns, axis=0)), ("mean", np.nanmean(columns, axis=0))):
        if np.all(np.abs(summed - own) <= ROUNDED):
            return name
    return None
