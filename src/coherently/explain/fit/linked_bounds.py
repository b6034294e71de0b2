"""Bounds in a piece that falls into blocks, each tied to the next by one variable only.

What the answers of one side of a link allow for its variable is an interval, since mixtures that meet answers are
convex; and any mixtures of both sides that agree on the variable can be joined. So each block needs no more of the rest
than an interval for each of its links. Two passes over the tree of blocks find all intervals, and then the bounds of an
item are a program of its block: the whole takes time in proportion to the number of blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.explain.fit.small_program import Enclosed, SmallProgram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Mask, Vector
    from coherently.explain.fit.pieces import LinkedBlock, SheetPiece

WIDER = 1e-9
"""By how much an interval is made wider, so that rounding errors of one block do not contradict the next."""


class LinkedBounds:
    """The bounds of items of a piece with blocks, for some answers that fit."""

    def __init__(self, piece: SheetPiece, value: Vector, active: Mask, slack: float) -> None:
        self._piece, self._value, self._active, self._slack = piece, value, active, slack
        self._block_of = {int(i): k for k, block in enumerate(piece.blocks) for i in block.items}
        self._sent = self._messages()

    def bounds(self, items: Sequence[int]) -> list[Enclosed | None] | None:
        """What the others allow for each item; None if it is not known, because of rounding errors."""
        ends: dict[int, Enclosed | None] = {}
        if self._sent is None:
            return None
        for number in dict.fromkeys(self._block_of[item] for item in items):
            block = self._piece.blocks[number]
            own = [item for item in items if self._block_of[item] == number]
            allowed = [self._sent[other, number] for other in block.links]
            asked = np.searchsorted(block.items, own)
            found = self._program(block, allowed).bounds(asked.tolist(), *self._answers(block), self._slack)
            if found is None:
                return None
            ends |= zip(own, found, strict=True)
        return [ends[item] for item in items]

    def _messages(self) -> dict[tuple[int, int], Enclosed] | None:
        """What each block, with all that hangs on it, allows for its link to another; None if some allows nothing."""
        sent: dict[tuple[int, int], Enclosed] = {}
        blocks = self._piece.blocks
        # The first link of a block leads to one before it, but for the first block.
        upwards = [(number, blocks[number].links[0]) for number in range(len(blocks) - 1, 0, -1)]
        downwards = [(above, number) for number, above in reversed(upwards)]
        for number, towards in (*upwards, *downwards):
            allowed = self._allowed(blocks[number], number, towards, sent)
            if allowed is None:
                return None
            sent[number, towards] = allowed
        return sent

    def _allowed(
        self, block: LinkedBlock, number: int, towards: int, sent: dict[tuple[int, int], Enclosed]
    ) -> Enclosed | None:
        link = block.links.index(towards)
        others = [Enclosed(0.0, 1.0) if other == towards else sent[other, number] for other in block.links]
        program = self._program(block, others)
        found = program.bounds([len(block.items) + link], *self._answers(block), self._slack)
        if found is None or found[0] is None:
            return None
        return Enclosed(found[0].low - WIDER, found[0].high + WIDER)

    def _answers(self, block: LinkedBlock) -> _LinkedAnswers:
        """The answers on the items of a block; its links come after them, without answers."""
        count = len(block.items) + len(block.links)
        value, active = np.full(count, np.nan), np.zeros(count, np.bool_)
        value[: len(block.items)], active[: len(block.items)] = self._value[block.items], self._active[block.items]
        return _LinkedAnswers(value, active)

    def _program(self, block: LinkedBlock, allowed: Sequence[Enclosed]) -> SmallProgram:
        """The program of a block, in which links keep to their intervals."""
        piece, columns = self._piece, block.columns
        plain = np.zeros(len(block.links), np.bool_)
        low, high = (
            (np.array(ends, np.float64) for ends in zip(*allowed, strict=True)) if allowed else (np.zeros(0),) * 2
        )
        return SmallProgram(
            joint=np.hstack([columns.joint, block.link_joint]),
            given=np.hstack([columns.given, block.link_given]),
            conditional=np.concatenate([piece.conditional[block.items], plain]),
            pin_joint=np.hstack([columns.pin_joint, block.link_joint]),
            pin_given=np.hstack([columns.pin_given, block.link_given]),
            pin_low=np.concatenate([piece.pin_low[block.pins], low]),
            pin_high=np.concatenate([piece.pin_high[block.pins], high]),
            root=columns.root,
            ties=columns.ties,
        )


class _LinkedAnswers(NamedTuple):
    value: Vector
    active: Mask
