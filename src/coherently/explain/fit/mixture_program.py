"""Linear programs over the states of a piece: how far answers are from fitting, and what they allow for another event.

A mixture p of worlds gives every answer a its row, P(E & H) - a P(H) = 0; a plain event has P(H) = 1. With the sum of p
fixed at 1, the least and the greatest P(E) are linear programs. Those of P(E given H) are as well (Charnes and Cooper):
all rows are homogeneous, so that P(H) may be fixed at 1 instead, and P(E & H) is then the ratio.

Half a per cent of grace is meant of the sum of all misses of rows: an answer that is half a per cent more than another
that it may not exceed, two that exceed 100 % by half a per cent.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.fit.linked_bounds import LinkedBounds
from coherently.explain.fit.small_program import SmallProgram
from coherently.explain.fit.sparse_program import SparseProgram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Mask, Vector
    from coherently.explain.fit.pieces import SheetPiece
    from coherently.explain.fit.small_program import Enclosed

GRACE = 0.005 + 1e-9
"""Answers fit if they miss by at most this in all: half a per cent, but for rounding errors."""
MOST_ROWS, MOST_TIED_ROWS = 150, 60
"""Maximum number of rows of a program whose matrices are kept in full; ties make many steps without progress."""
MANY = 8
"""Number of items from which it pays to find what all blocks allow each other; for fewer, one large program is less."""


class MixtureProgram:
    """Mixtures of the worlds of a piece that meet answers, of which `value` has one per item.

    Small programs are solved in the compiled core, which leaves the rare ones open that rounding errors spoil: those,
    and large ones that do not fall into blocks, are asked of HiGHS.
    """

    def __init__(self, piece: SheetPiece) -> None:
        assert piece.columns is not None
        self._piece, columns = piece, piece.columns
        self._small: SmallProgram | None = None
        if _is_small(len(piece), len(piece.pin_low), len(columns.ties)):
            self._small = SmallProgram(
                joint=columns.joint,
                given=columns.given,
                conditional=piece.conditional,
                pin_joint=columns.pin_joint,
                pin_given=columns.pin_given,
                pin_low=piece.pin_low,
                pin_high=piece.pin_high,
                root=columns.root,
                ties=columns.ties,
            )
        self._linked: tuple[bytes, LinkedBounds] | None = None

    @cached_property
    def _has_small_blocks(self) -> bool:
        blocks = self._piece.blocks
        return bool(blocks) and all(
            _is_small(len(block.items), len(block.pins) + len(block.links), len(block.columns.ties)) for block in blocks
        )

    @cached_property
    def _sparse(self) -> SparseProgram:
        return SparseProgram(self._piece)

    def misses(self, values: Vector, active: Mask, enough: float = -1.0) -> Vector:
        """The least sum of misses of some answers for each row of values; infinite if even the laws do not fit.

        Past one that is at most `enough` they may be NaN: nobody looked.
        """
        if self._small is None:
            return self._sparse.misses(values, active, enough)
        found = self._small.misses(values, active, enough)
        for k in np.flatnonzero(np.isnan(found)).tolist():
            if (found[:k] <= enough).any():
                break
            found[k] = self._sparse.misses(values[k : k + 1], active)[0]
        return found

    def bounds(self, items: Sequence[int], value: Vector, active: Mask, slack: float) -> list[Enclosed | None]:
        """What the other active answers allow for each item; None if they, or its condition, cannot be met."""
        ends = None
        if self._small is not None:
            ends = self._small.bounds(items, value, active, slack)
        elif self._has_small_blocks and len(items) >= MANY:
            ends = self._in_blocks(value, active, slack).bounds(items)
        return self._sparse.bounds(items, value, active, slack) if ends is None else ends

    def _in_blocks(self, value: Vector, active: Mask, slack: float) -> LinkedBounds:
        """The bounds in blocks of these answers, which are kept for the next items."""
        key = value.tobytes() + active.tobytes() + str(slack).encode()
        if self._linked is None or self._linked[0] != key:
            self._linked = key, LinkedBounds(self._piece, value, active, slack)
        return self._linked[1]


def _is_small(items: int, pins: int, ties: int) -> bool:
    return items + 2 * pins + ties <= (MOST_TIED_ROWS if ties else MOST_ROWS)
