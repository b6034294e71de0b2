"""A table of worlds that is made when somebody asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coherently.errors import ResultError, counted
from coherently.values import alike

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_ENTRIES = 2**31
"""Maximum number of entries of a table that is made, one byte each."""


class LazyTable:
    """The truth of `width` variables in `count` worlds, made on demand; it equals the array, and is pickled as that.

    A structure of k values or rungs mixes about k worlds of k variables: that table takes longer to write than the
    answer takes to find, and few ask for it.

    >>> table = LazyTable(lambda: np.eye(2, dtype=np.uint8), 2, 2)
    >>> np.asarray(table).tolist(), table == np.eye(2, dtype=np.uint8)
    ([[1, 0], [0, 1]], True)
    """

    __slots__ = ("_made", "_make", "count", "width")
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # an array compared with a table leaves that to the table

    def __init__(self, make: Callable[[], NDArray[np.uint8]], count: int, width: int) -> None:
        self._make, self.count, self.width = make, count, width
        self._made: NDArray[np.uint8] | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.uint8]:
        if self._made is None:
            self._check_size()
            self._made = self._make()
        return np.array(self._made, dtype, copy=copy)

    def _check_size(self) -> None:
        if self.count * self.width > MOST_ENTRIES:
            raise ResultError(
                f"the answer mixes {counted(self.count, 'world')} of {counted(self.width, 'variable')}, more than the "
                f"{MOST_ENTRIES:,} entries that a table of worlds may have. Its probabilities and its bound are there; "
                "to see its worlds, to verify it or to keep it as JSON, declare fewer values"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, np.ndarray | LazyTable):
            return NotImplemented
        return alike(np.asarray(self), np.asarray(other))

    def __reduce__(self) -> tuple[Any, ...]:
        return np.asarray, (np.asarray(self),)


WorldRows: TypeAlias = NDArray[np.uint8] | LazyTable
"""Worlds, one row each, as an array or as a table that becomes one."""
