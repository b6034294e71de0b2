"""Variances and covariances by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import SHOWN, MethodError, counted
from coherently.panel import cells
from coherently.panel.frames import table_from_frame
from coherently.panel.readers import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.panel.cell_table import Table

ROUNDING = 1e-8
"""How far a covariance may be from its mirror image, relative to the variances."""


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """Variances (`matrix` has one dimension) or covariances (two); `names` is None if only the order counts."""

    names: tuple[str, ...] | None
    matrix: NDArray[np.float64]

    def of(self, wanted: Sequence[str], what: str) -> NDArray[np.float64]:
        """Give the entries of some names, in their order; each name must be known."""
        if self.names is None:
            if self.matrix.ndim and len(self.matrix) != len(wanted):
                raise MethodError(
                    f"the covariance has {counted(len(self.matrix), 'row')} and the panel has {len(wanted):,} {what}; "
                    f"an array has one row for each, in the panel's order"
                )
            return self.matrix if self.matrix.ndim else np.full(len(wanted), self.matrix)
        place = {name: i for i, name in enumerate(self.names)}
        absent = [name for name in wanted if name not in place]
        if absent:
            more = f" and {len(absent) - SHOWN:,} more" if len(absent) > SHOWN else ""
            raise MethodError(f"the covariance has no entry for {', '.join(map(repr, absent[:SHOWN]))}{more} ({what})")
        rows = np.array([place[name] for name in wanted], np.int64)
        return self.matrix[rows] if self.matrix.ndim == 1 else self.matrix[np.ix_(rows, rows)]


def read_covariance(source: object) -> Covariance:
    """Read one variance for all; or variances or covariances by name (a mapping, a frame or a file); or an array.

    A table has names in its first column, and either one other column with variances or one column for each name. A
    frame with as many columns as rows, all of them numbers, has its names in the header, as covariances in pandas do.

    >>> read_covariance({"Ann": 1.0, "Bob": 4.0}).of(["Bob", "Ann"], "judges").tolist()
    [4.0, 1.0]
    >>> read_covariance({"Ann": {"Ann": 1.0, "Bob": 0.5}, "Bob": {"Bob": 4.0}}).of(["Bob", "Ann"], "judges").tolist()
    [[4.0, 0.5], [0.5, 1.0]]
    """
    if isinstance(source, Covariance):
        return source
    if source is None:
        return Covariance(None, np.array(1.0))
    if isinstance(source, Mapping):
        found = _from_mapping(source)
    elif isinstance(source, str | os.PathLike):
        found = _from_table(read_table(source))
    elif np.isscalar(source) or isinstance(source, list | tuple | np.ndarray):
        found = Covariance(None, _floats(source))
    else:
        found = _from_table(table_from_frame(source, "covariance"))
    _check(found)
    return found


def _from_mapping(source: Mapping[object, object]) -> Covariance:
    names = tuple(map(str, source))
    if not any(isinstance(row, Mapping) for row in source.values()):
        return Covariance(names, _floats(list(source.values())))
    matrix = np.full((len(names), len(names)), np.nan)
    place = {name: i for i, name in enumerate(names)}
    for name, row in source.items():
        if not isinstance(row, Mapping) or not row.keys() <= place.keys():
            raise MethodError(
                f"the covariances of {name!r} must be a mapping from some of the names {', '.join(names)}"
            )
        for other, value in row.items():
            matrix[place[str(name)], place[other]] = float(value)
    return Covariance(names, np.where(np.isnan(matrix), np.nan_to_num(matrix.T), matrix))


def _from_table(table: Table) -> Covariance:
    header = list(table.columns)
    numeric = all(isinstance(column, np.ndarray) for column in table.columns.values())
    if numeric and len(header) == len(table.rows):
        return Covariance(tuple(header), np.stack([_floats(table.columns[name]) for name in header], axis=1))
    names = tuple(cells.texts(table, header[0]))
    others = header[1:]
    if len(others) == 1 and others[0] not in names:
        return Covariance(names, _floats(table.columns[others[0]]))
    if set(others) != set(names) or len(set(names)) != len(names):
        raise MethodError(
            f"{table.source} is not a covariance: its first column names {len(names):,} things, and there must be one "
            f"other column of variances, or one for each of the same names"
        )
    columns = [_floats(table.columns[name]) for name in names]
    return Covariance(names, np.stack(columns, axis=1))


def _floats(values: object) -> NDArray[np.float64]:
    try:
        return np.array(values, np.float64)
    except (TypeError, ValueError) as error:
        raise MethodError(f"the covariance contains a value that is not a number ({error})") from error


def _check(covariance: Covariance) -> None:
    matrix, names = covariance.matrix, covariance.names
    if matrix.ndim > 2 or (matrix.ndim == 2 and matrix.shape[0] != matrix.shape[1]):
        raise MethodError(f"the covariance has the shape {matrix.shape}; it must be square, or one variance for each")
    if not np.isfinite(matrix).all():
        raise MethodError("the covariance contains numbers that are not finite")
    if matrix.ndim < 2:
        if not (matrix > 0).all():
            raise MethodError(f"a variance is {matrix.min()}; variances must be above 0")
        return
    apart = np.abs(matrix - matrix.T)
    if apart.max(initial=0.0) > ROUNDING * np.abs(matrix).max():
        i, j = np.unravel_index(np.argmax(apart), apart.shape)
        one, other = (names[k] if names else f"number {k}" for k in (int(i), int(j)))
        raise MethodError(
            f"the covariance is not symmetric: for {one} and {other} it is {matrix[i, j]:g}, for {other} and {one} "
            f"{matrix[j, i]:g}"
        )
    least = float(np.linalg.eigvalsh(0.5 * (matrix + matrix.T)).min(initial=1.0))
    if not least > 1e-12 * np.abs(matrix).max():
        raise MethodError(
            f"the covariance is not positive definite: its least eigenvalue is {least:.6g}; errors that determine each "
            f"other have no inverse covariance, so add a variance of its own to each"
        )
