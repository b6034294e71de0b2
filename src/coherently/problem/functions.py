"""Boolean functions of numbered variables: the one place that knows how they are stored."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from coherently import _core
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence, Sized

    from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)

COMPILED = (np.dtype(np.int32), np.dtype(np.uint64))
"""The types of values whose rows the compiled core takes."""
LARGEST_TABLE = 16
"""Maximum number of variables of a function with a truth table; a larger function is a cardinality."""


class _WithHandle:
    """A place for the compiled core's copy of the arrays, which is made once."""

    __slots__ = ("_handle",)


def _starts() -> NDArray[np.int64]:
    return np.zeros(1, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Functions(_WithHandle, Value):
    """Boolean functions of numbered variables, each false where all of its variables are.

    Function i is about `variables[starts[i]:starts[i + 1]]`, ascending. Its words are
    `tables[table_starts[i]:table_starts[i + 1]]`: a truth table or, of more than 16 variables, the counts of true
    literals that make it true (see `decode`).

    >>> both = np.array([0, 1], np.int32)
    >>> either = Functions(np.array([0, 2]), both, np.array([0, 1]), np.array([0b1110], np.uint64))
    >>> either.hold(np.array([[False, False], [False, True]])).tolist()
    [[False], [True]]
    """

    starts: NDArray[np.int64] = field(default_factory=_starts)
    variables: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    table_starts: NDArray[np.int64] = field(default_factory=_starts)
    tables: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def sizes(self) -> NDArray[np.int64]:
        """The number of variables of each function."""
        return np.diff(self.starts)

    def of(self, i: int) -> NDArray[np.int32]:
        """The variables of one function."""
        return self.variables[self.starts[i] : self.starts[i + 1]]

    def words(self, i: int) -> NDArray[np.uint64]:
        """The words of one function."""
        return self.tables[self.table_starts[i] : self.table_starts[i + 1]]

    def variable_sets(self) -> list[tuple[int, ...]]:
        """The variables of each function."""
        variables = self.variables.tolist()
        return [tuple(variables[first:end]) for first, end in pairwise(self.starts.tolist())]

    def decoded(self, i: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """The literals and bits of one function (see `decode`)."""
        return decode(self.words(i), len(self.of(i)))

    def stacked_words(self, index: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The words of functions that have equally many variables, one row per function."""
        first = self.table_starts[index]
        return self.tables[first[:, None] + np.arange(self.table_starts[index[0] + 1] - first[0])]

    def take(self, index: NDArray[np.integer]) -> Self:
        """Some of the functions, in the order of an index."""
        starts, variables = take_rows(self.starts, self.variables, index)
        table_starts, tables = take_rows(self.table_starts, self.tables, index)
        return replace(self, starts=starts, variables=variables, table_starts=table_starts, tables=tables)

    def part(self, first: int, end: int) -> Functions:
        """The functions from one number up to another, without copying them."""
        starts, words = self.starts[first : end + 1], self.table_starts[first : end + 1]
        return Functions(
            starts - starts[0],
            self.variables[starts[0] : starts[-1]],
            words - words[0],
            self.tables[words[0] : words[-1]],
        )

    def renumbered(self, variables: NDArray[np.int32]) -> Self:
        """The same functions of other variables."""
        return replace(self, variables=variables)

    def extend(self, variables: Sequence[Collection[int]], words: Sequence[NDArray[np.uint64]]) -> Functions:
        """These functions and more, each by its variables, ascending, and its words."""
        return Functions(
            _continued(self.starts, variables),
            np.append(self.variables, np.fromiter(chain.from_iterable(variables), np.int32)),
            _continued(self.table_starts, words),
            np.concatenate([self.tables, *words]),
        )

    def handle(self, n_variables: int) -> _core.Functions:
        """The compiled core's copy, for kernels that work on worlds of `n_variables` variables."""
        known: _core.Functions | None = getattr(self, "_handle", None)
        if known is None or known.n_variables != n_variables:
            known = _core.Functions(n_variables, self.starts, self.variables, self.table_starts, self.tables)
            object.__setattr__(self, "_handle", known)
        return known

    def hold(self, worlds: NDArray[np.bool_] | NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which functions hold in which worlds: one row per world, one column per variable or function."""
        return self.handle(worlds.shape[1]).evaluate(np.ascontiguousarray(worlds).view(np.uint8)).view(np.bool_)


def decode(words: NDArray[np.uint64], size: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The literals and the bits of a function of `size` variables (see `coherently.events.Events.tables`).

    If the bits are a truth table, there are no literals. For a cardinality they say whether the truth or the falsity of
    each variable is counted; one bit for each number from 0 then says whether the function is true at it.
    """
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
    if size <= LARGEST_TABLE:
        return bits[:0], bits[: 2**size]
    return bits[:size], bits[64 * -(-size // 64) :][: size + 1]


def _continued(starts: NDArray[np.int64], rows: Iterable[Sized]) -> NDArray[np.int64]:
    return np.append(starts, starts[-1] + np.cumsum([len(row) for row in rows], dtype=np.int64))


def take_rows(
    starts: NDArray[np.int64], values: NDArray[T], index: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[T]]:
    """Take rows of different lengths in the order of an index."""
    if values.dtype in COMPILED:
        return _core.take_rows(starts, values, np.ascontiguousarray(index, np.int64))
    first = starts[index]
    sizes = starts[index + 1] - first
    new = np.append(0, np.cumsum(sizes))
    return new, values[np.arange(new[-1]) + np.repeat(first - new[:-1], sizes)]
