"""The system of a step on the shares of worlds: a band with a border.

With the rows R of terms (see `world_shares`), T what shares give way by and C what terms give way by, the inverse of
their second derivatives in differences B of neighbours, the matrix is

    M = B C B' + R T R'.

Rows of values, of bins and of differences of rungs hold in few worlds. Two of them meet only in a world that they
share or in a term, and numbered by the algorithm of Cuthill and McKee they are a band. Rows of many worlds, and of
terms with a condition, meet all others; they are few, and go last. The band is eliminated first, the border after it:

    M = [K L'; L D],   S = D - L K^-1 L'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently import _core
from coherently.solve.component.structure.level_program import MOST_WORK, BandEntries, pairs_within
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
    """The entries of `count` rows: at `row` and `place` there is `value`."""

    row: Indices
    place: Indices
    value: Vector
    count: int

    def times(self, z: Vector) -> Vector:
        """The rows times a vector."""
        return sums_at(self.row, self.value * z[self.place], self.count)

    def transposed_times(self, v: Vector, size: int) -> Vector:
        """The sum of the rows, each times a number."""
        return sums_at(self.place, self.value * v[self.row], size)

    def without(self, out: Mask) -> SparseRows:
        """The rows that are not `out`, renumbered."""
        some, number = ~out[self.row], np.cumsum(~out) - 1
        return SparseRows(number[self.row[some]], self.place[some], self.value[some], int(np.count_nonzero(~out)))

    def dense(self, which: Indices, size: int) -> Table:
        """Some rows as a table of `size` columns."""
        line = np.full(self.count, -1)
        line[which] = np.arange(len(which))
        some = line[self.row] >= 0
        found = np.zeros((len(which), size))
        found[line[self.row[some]], self.place[some]] = self.value[some]
        return found


class _Meetings(NamedTuple):
    """Ordered pairs of rows that have an entry at the same place, each row with itself included."""

    first: Indices
    second: Indices
    place: Indices
    factor: Vector

    def band(self, number: Indices, width: int) -> BandEntries:
        """Where the products go in the band, with these numbers of rows."""
        i, j = number[self.first], number[self.second]
        lower = i >= j
        return BandEntries((j * (width + 1) + i - j)[lower], self.place[lower], self.factor[lower])


def _meetings(rows: SparseRows) -> _Meetings | None:
    """The pairs of rows that meet; None if they are too many."""
    order = np.argsort(rows.place, kind="stable")
    counts = np.unique(rows.place[order], return_counts=True)[1]
    if float(np.square(counts, dtype=np.float64).sum()) > MOST_PAIRS:
        return None
    first, second = (order[one] for one in pairs_within(np.concatenate([[0], np.cumsum(counts)])))
    return _Meetings(rows.row[first], rows.row[second], rows.place[first], rows.value[first] * rows.value[second])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BorderedRows:
    """Rows in the band, `size` of them, and rows in the border.

    `own` has the rows of the band in worlds, `own_terms` in terms; `edge` and `edge_terms` those of the border.
    """

    size: int
    width: int
    own: SparseRows
    own_terms: SparseRows
    edge: Table
    edge_terms: Table
    by_worlds: BandEntries
    by_terms: BandEntries

    def band(self, give: Vector, soft: Vector) -> Vector:
        """The entries of the band."""
        total = (self.width + 1) * self.size
        found = sums_at(self.by_worlds.flat, self.by_worlds.factor * give[self.by_worlds.term], total)
        found += sums_at(self.by_terms.flat, self.by_terms.factor * soft[self.by_terms.term], total)
        return found


def bordered(rows: SparseRows, terms: SparseRows, n_worlds: int) -> BorderedRows | None:
    """The arrangement of rows; None if it has neither a narrow band nor a short border."""
    out = np.bincount(rows.row, minlength=rows.count) > MANY_WORLDS
    border, size = np.flatnonzero(out), int(np.count_nonzero(~out))
    if len(border) > MOST_IN_BORDER:
        return None
    own, own_terms = rows.without(out), terms.without(out)
    in_worlds, in_terms = _meetings(own), _meetings(own_terms)
    if in_worlds is None or in_terms is None:
        return None
    first = np.concatenate([in_worlds.first, in_terms.first]).astype(np.int32)
    second = np.concatenate([in_worlds.second, in_terms.second]).astype(np.int32)
    number = _core.band_order(size, first, second).astype(np.int64)
    width = int(np.abs(number[first] - number[second]).max(initial=0))
    if size * (width + 1.0) ** 2 > MOST_WORK:
        return None
    return BorderedRows(
        size=size,
        width=width,
        own=own._replace(row=number[own.row]),
        own_terms=own_terms._replace(row=number[own_terms.row]),
        edge=rows.dense(border, n_worlds),
        edge_terms=terms.dense(border, terms.count),
        by_worlds=in_worlds.band(number, width),
        by_terms=in_terms.band(number, width),
    )


class ShareFactor:
    """Solves for changes of shares that sum to 0.

    `give` is what shares give way by, 0 where they stay; `soft` the same of plain terms. `bent` has one more row for
    each term with a condition, in worlds, and `bent_soft` what it gives way by.
    """

    def __init__(
        self, rows: BorderedRows, give: Vector, soft: Vector, *, bent: Table, bent_soft: Vector, raised: float = 0.0
    ) -> None:
        self.rows, self.give, self.soft, self.bent_soft = rows, give, soft, bent_soft
        self.edge = np.vstack([rows.edge, bent])
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
        rows, given = self.rows, self.edge * self.give
        softened = rows.edge_terms * self.soft
        corner = given @ self.edge.T
        count = len(softened)
        corner[:count, :count] += softened @ rows.edge_terms.T
        corner[np.arange(count, len(corner)), np.arange(count, len(corner))] += self.bent_soft
        corner[np.diag_indices(len(corner))] *= 1.0 + raised
        self._side = np.array([rows.own.times(one) for one in given]).reshape(len(corner), rows.size)
        self._side[:count] += np.array([rows.own_terms.times(one) for one in softened]).reshape(count, rows.size)
        self._reached = np.array([self._band.solve(one) for one in self._side]).reshape(self._side.shape)
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
        pushed, own = self.give * right, self.rows.own
        inner, outer = self._system(own.times(pushed), self.edge @ pushed)
        for _ in range(REFINED):
            back = self.give * (right - self._spread(inner, outer))
            soft_inner, soft_outer = self._softness(inner, outer)
            more = self._system(own.times(back) - soft_inner, self.edge @ back - soft_outer)
            inner, outer = inner + more[0], outer + more[1]
        return self.give * (right - self._spread(inner, outer))

    def _system(self, inner: Vector, outer: Vector) -> tuple[Vector, Vector]:
        """The solution for a right side in the band and one in the border."""
        inner = self._band.solve(inner)
        outer = self._corner @ (outer - self._side @ inner)
        return inner - outer @ self._reached, outer

    def _spread(self, inner: Vector, outer: Vector) -> Vector:
        """The sum of all rows in worlds, each times a number."""
        return self.rows.own.transposed_times(inner, len(self.give)) + outer @ self.edge

    def _softness(self, inner: Vector, outer: Vector) -> tuple[Vector, Vector]:
        """What terms give way by, for these numbers of rows."""
        rows, count = self.rows, len(self.rows.edge_terms)
        pulled = self.soft * (
            rows.own_terms.transposed_times(inner, len(self.soft)) + outer[:count] @ rows.edge_terms
        )
        beside = np.concatenate([rows.edge_terms @ pulled, self.bent_soft * outer[count:]])
        return rows.own_terms.times(pulled), beside
