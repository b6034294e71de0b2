"""The system of a step on the shares of worlds: a band with a border.

With the rows R of terms (see `world_shares`), T what shares give way by and C what terms give way by, the inverse of
their second derivatives in differences B of neighbours, the matrix is

    M = B C B' + R T R'.

Rows of values, of bins, of differences of rungs, and of conditionals whose condition is such an event have few
entries. Two of them meet only in a world that they share or in a term, and numbered by the algorithm of Cuthill and
McKee they are a band. Rows of many worlds meet all others; they are few, and go last. The band is eliminated first,
the border after it:

    M = [K L'; L D],   S = D - L K^-1 L'.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently import _core
from coherently.solve.component.structure.level_program import MOST_WORK, pairs_within
from coherently.solve.component.structure.literal_order import sums_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.arrays import Indices, Mask, Vector

    Table = NDArray[np.float64]

MANY_WORLDS = 24
"""Number of worlds from which a row is in the border, if there are not more such rows than a border may have."""
MOST_IN_BORDER = 128
"""Maximum number of rows in the border."""
REFINED = 1
"""How often the solution of a system is refined."""
MOST_PAIRS = 2**24
"""Maximum number of pairs of rows that meet."""


class SparseRows(NamedTuple):
    """The entries of `n_rows` rows: at `row` and `place` there is `value`."""

    row: Indices
    place: Indices
    value: Vector
    n_rows: int

    def times(self, z: Vector) -> Vector:
        """The rows times a vector."""
        return sums_at(self.row, self.value * z[self.place], self.n_rows)

    def transposed_times(self, v: Vector, size: int) -> Vector:
        """The sum of the rows, each times a number."""
        return sums_at(self.place, self.value * v[self.row], size)

    def with_values(self, value: Vector) -> SparseRows:
        """Other values at the same entries."""
        return SparseRows(self.row, self.place, value, self.n_rows)

    def renumbered(self, number: Indices) -> SparseRows:
        """The same rows with other numbers."""
        return SparseRows(number[self.row], self.place, self.value, self.n_rows)

    def without(self, out: Mask) -> SparseRows:
        """The rows that are not `out`, renumbered."""
        some, number = ~out[self.row], np.cumsum(~out) - 1
        return SparseRows(number[self.row[some]], self.place[some], self.value[some], int(np.count_nonzero(~out)))

    def dense(self, which: Mask, size: int) -> Table:
        """Some rows as a table of `size` columns."""
        line, some = np.cumsum(which) - 1, which[self.row]
        found = np.zeros((int(np.count_nonzero(which)), size))
        found[line[self.row[some]], self.place[some]] = self.value[some]
        return found


class _Meetings(NamedTuple):
    """Ordered pairs of entries at the same place, each with itself included, and their rows."""

    entries: tuple[Indices, Indices]
    rows: tuple[Indices, Indices]
    place: Indices

    def band(self, number: Indices, width: int) -> _Products:
        """Where the products of entries go in the band, with these numbers of rows."""
        i, j = (number[one] for one in self.rows)
        lower = i >= j
        return _Products(
            (j * (width + 1) + i - j)[lower],
            self.place[lower],
            self.entries[0][lower],
            self.entries[1][lower],
        )


class _Products(NamedTuple):
    """The products of the entries `first` and `second` go to a `flat` place in the band, times what `place` has."""

    flat: Indices
    place: Indices
    first: Indices
    second: Indices

    def sums(self, value: Vector, by_place: Vector, total: int) -> Vector:
        """The entries of the band."""
        return sums_at(self.flat, value[self.first] * value[self.second] * by_place[self.place], total)


def _meetings(rows: SparseRows) -> _Meetings | None:
    """The pairs of rows that meet; None if they are too many."""
    order = np.argsort(rows.place, kind="stable")
    counts = np.unique(rows.place[order], return_counts=True)[1]
    if float(np.square(counts, dtype=np.float64).sum()) > MOST_PAIRS:
        return None
    first, second = (order[one] for one in pairs_within(np.concatenate([[0], np.cumsum(counts)])))
    return _Meetings((first, second), (rows.row[first], rows.row[second]), rows.place[first])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BorderedRows:
    """Rows in the band, `size` of them, and those `out` of it, in the border.

    `own` has the rows of the band in worlds, `own_terms` in terms; `edge` and `edge_terms` those of the border.
    """

    size: int
    width: int
    out: Mask
    own: SparseRows
    own_terms: SparseRows
    edge: Table
    edge_terms: Table
    by_worlds: _Products
    by_terms: _Products

    def band(self, give: Vector, soft: Vector) -> Vector:
        """The entries of the band."""
        total = (self.width + 1) * self.size
        found = self.by_worlds.sums(self.own.value, give, total)
        found += self.by_terms.sums(self.own_terms.value, soft, total)
        return found

    def revalued(self, rows: SparseRows) -> BorderedRows:
        """The same with other values at the same entries."""
        own = self.own.with_values(rows.value[~self.out[rows.row]])
        return replace(self, own=own, edge=rows.dense(self.out, self.edge.shape[1]))


def bordered(rows: SparseRows, terms: SparseRows, n_worlds: int) -> BorderedRows | None:
    """The arrangement of rows; None if it has neither a narrow band nor a short border."""
    out = np.bincount(rows.row, minlength=rows.n_rows) > MANY_WORLDS
    size = int(np.count_nonzero(~out))
    if len(out) - size > MOST_IN_BORDER:
        return None
    own, own_terms = rows.without(out), terms.without(out)
    in_worlds, in_terms = _meetings(own), _meetings(own_terms)
    if in_worlds is None or in_terms is None:
        return None
    first, second = (np.concatenate([in_worlds.rows[k], in_terms.rows[k]]).astype(np.int32) for k in (0, 1))
    number = _core.band_order(size, first, second).astype(np.int64)
    width = int(np.abs(number[first] - number[second]).max(initial=0))
    if size * (width + 1.0) ** 2 > MOST_WORK:
        return None
    return BorderedRows(
        size=size,
        width=width,
        out=out,
        own=own.renumbered(number),
        own_terms=own_terms.renumbered(number),
        edge=rows.dense(out, n_worlds),
        edge_terms=terms.dense(out, terms.n_rows),
        by_worlds=in_worlds.band(number, width),
        by_terms=in_terms.band(number, width),
    )


class ShareFactor:
    """Solves for changes of shares that sum to 0.

    `give` is what shares give way by, 0 where they stay; `soft` the same of terms.
    """

    def __init__(self, rows: BorderedRows, give: Vector, soft: Vector, raised: float = 0.0) -> None:
        self.rows, self.give, self.soft = rows, give, soft
        band = rows.band(give, soft)
        band[:: rows.width + 1] *= 1.0 + raised
        self._band = _core.BandFactor(rows.size, rows.width, band)
        self.is_positive = self._band.is_positive
        if self.is_positive:
            self._eliminate(raised)
        if self.is_positive:
            self.even = self._free(np.ones_like(give))
            self.is_positive = bool(self.even.sum() > 0)

    def _eliminate(self, raised: float) -> None:
        """The border, once the band is gone."""
        rows, given, softened = self.rows, self.rows.edge * self.give, self.rows.edge_terms * self.soft
        corner = given @ rows.edge.T + softened @ rows.edge_terms.T
        corner[np.diag_indices(len(corner))] *= 1.0 + raised
        self._side = np.zeros((len(corner), rows.size))
        self._reached = np.zeros_like(self._side)
        for i in range(len(corner)):
            self._side[i] = rows.own.times(given[i]) + rows.own_terms.times(softened[i])
            self._reached[i] = self._band.solve(self._side[i])
        try:
            half = np.linalg.inv(np.linalg.cholesky(corner - self._side @ self._reached.T))
        except np.linalg.LinAlgError:
            self.is_positive = False
        else:
            self._corner = half.T @ half

    def solve(self, right: Vector) -> Vector:
        """The changes for a right side."""
        found = self._free(right)
        changes: Vector = found - found.sum() / self.even.sum() * self.even
        return changes

    def _free(self, right: Vector) -> Vector:
        """The same without the sum held; what rounding has left is solved for once more."""
        pushed, rows = self.give * right, self.rows
        inner, outer = self._system(rows.own.times(pushed), rows.edge @ pushed)
        for _ in range(REFINED):
            back = self.give * (right - self._spread(inner, outer))
            soft_inner, soft_outer = self._softness(inner, outer)
            more = self._system(rows.own.times(back) - soft_inner, rows.edge @ back - soft_outer)
            inner, outer = inner + more[0], outer + more[1]
        found: Vector = self.give * (right - self._spread(inner, outer))
        return found

    def _system(self, inner: Vector, outer: Vector) -> tuple[Vector, Vector]:
        """The solution for a right side in the band and one in the border."""
        inner = self._band.solve(inner)
        outer = self._corner @ (outer - self._side @ inner)
        return inner - outer @ self._reached, outer

    def _spread(self, inner: Vector, outer: Vector) -> Vector:
        """The sum of all rows in worlds, each times a number."""
        return self.rows.own.transposed_times(inner, len(self.give)) + outer @ self.rows.edge

    def _softness(self, inner: Vector, outer: Vector) -> tuple[Vector, Vector]:
        """What terms give way by, for these numbers of rows."""
        rows = self.rows
        pulled = self.soft * (rows.own_terms.transposed_times(inner, len(self.soft)) + outer @ rows.edge_terms)
        return rows.own_terms.times(pulled), rows.edge_terms @ pulled
