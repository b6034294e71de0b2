"""Cells of a column as numbers: of distinct texts, or themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CodedCells(Sequence[Any]):
    """Cells by the numbers of their distinct values, which are in the order of their first appearance.

    The number -1 is a missing cell, None.
    """

    codes: NDArray[np.int32]
    distinct: Sequence[Any]

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> CodedCells: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return CodedCells(self.codes[index], self.distinct)
        code = int(self.codes[index])
        return None if code < 0 else self.distinct[code]

    def __iter__(self) -> Iterator[Any]:
        values = [*self.distinct, None]
        return (values[code] for code in self.codes.tolist())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NumberCells(Sequence[Any]):
    """Cells that are plain numbers, except the odd ones: `values` is NaN there, and `odd_cells` has them as they are.

    `odd` are the rows of the odd cells, ascending; `first_number` is the first plain number as it is written.
    """

    values: NDArray[np.float64]
    odd: NDArray[np.int64]
    odd_cells: CodedCells
    first_number: object

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[row] for row in range(len(self))[index]]
        row = range(len(self))[index]
        place = int(np.searchsorted(self.odd, row))
        if place < len(self.odd) and self.odd[place] == row:
            return self.odd_cells[place]
        return self.first_number if place == row else float(self.values[row])
