"""The possible worlds of some variables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem.functions import Functions
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


class BlockForm(Enum):
    """Which joint states a block has."""

    LISTED = "those that are listed"
    EXACTLY_ONE = "exactly one variable is true"
    AT_MOST_ONE = "one variable is true, or none"
    CHAIN = "each variable implies the next"


class _WithStates:
    """A place for the states that a form stands for, which are made once: they are as many as variables squared."""

    __slots__ = ("_states",)


@dataclass(frozen=True, slots=True, eq=False)
class Block(_WithStates, Value):
    """Variables that are in one of some joint states, which a form describes or an array lists.

    The last state stands for `unnamed` values of a declared variable, which no event distinguishes.

    >>> Block.one_of(np.array([4, 5, 6]), complete=True).states.tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> Block.chain(np.array([4, 5])).states.tolist()
    [[1, 1], [0, 1], [0, 0]]
    """

    variables: NDArray[np.int32]
    listed: NDArray[np.uint8] | None = None
    unnamed: int = 1
    form: BlockForm = BlockForm.LISTED

    @staticmethod
    def one_of(variables: NDArray[np.integer], *, complete: bool, unnamed: int = 1) -> Block:
        """At most one is true, or exactly one; the state in which none is true may stand for several values."""
        form = BlockForm.EXACTLY_ONE if complete else BlockForm.AT_MOST_ONE
        return Block(variables.astype(np.int32), None, 1 if complete else unnamed, form)

    @staticmethod
    def chain(variables: NDArray[np.integer]) -> Block:
        """Each implies the next."""
        return Block(variables.astype(np.int32), form=BlockForm.CHAIN)

    @property
    def states(self) -> NDArray[np.uint8]:
        """One row per state and one column per variable."""
        if self.listed is not None:
            return self.listed
        known: NDArray[np.uint8] | None = getattr(self, "_states", None)
        if known is None:
            known = _formed(self.form, len(self.variables))
            object.__setattr__(self, "_states", known)
        return known

    @property
    def n_states(self) -> int:
        """The number of states."""
        if self.listed is not None:
            return len(self.listed)
        return len(self.variables) + (self.form is not BlockForm.EXACTLY_ONE)

    def renumbered(self, variables: NDArray[np.integer]) -> Block:
        """The same with other variables in their places."""
        other = Block(variables.astype(np.int32), self.listed, self.unnamed, self.form)
        if (known := getattr(self, "_states", None)) is not None:
            object.__setattr__(other, "_states", known)
        return other


def _formed(form: BlockForm, size: int) -> NDArray[np.uint8]:
    if form is BlockForm.CHAIN:
        return np.triu(np.ones((size + 1, size), np.uint8))
    return np.eye(size + (form is BlockForm.AT_MOST_ONE), size, dtype=np.uint8)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LawFunctions(Functions):
    """Boolean functions, and the truth that each must have."""

    truth: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))

    def take(self, index: NDArray[np.integer]) -> LawFunctions:
        """Some of the laws, in the order of an index."""
        return replace(Functions.take(self, index), truth=self.truth[index])

    def part(self, first: int, end: int) -> LawFunctions:
        """The laws from one number up to another, without copying them."""
        own = Functions.part(self, first, end)
        return LawFunctions(
            starts=own.starts,
            variables=own.variables,
            table_starts=own.table_starts,
            tables=own.tables,
            truth=self.truth[first:end],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Space(Value):
    """The worlds that are possible: every block is in one of its states, every law has its truth, the rest is free.

    Blocks have no variable in common. Laws may be about variables of blocks.
    """

    blocks: tuple[Block, ...] = ()
    laws: LawFunctions = field(default_factory=LawFunctions)

    @property
    def is_free(self) -> bool:
        """Whether every truth assignment is a world."""
        return not self.blocks and not len(self.laws)

    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The variables that each block and then each law ties together, as starts and members."""
        own = [block.variables for block in self.blocks]
        sizes = np.concatenate([[len(variables) for variables in own], np.diff(self.laws.starts)])
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), np.concatenate([*own, self.laws.variables])

    def split(self, home: NDArray[np.integer], number: NDArray[np.integer], count: int) -> Iterator[Space]:
        """The blocks and laws of each of the first `count` homes; `home` has one entry per block, then one per law."""
        blocks = len(self.blocks)
        own, rows = rows_by_home(home[:blocks], count), rows_by_home(home[blocks:], count)
        laws, end = self.laws.take(np.concatenate(rows)), 0
        laws = laws.renumbered(number[laws.variables].astype(np.int32))
        for mine, some in zip(own, rows, strict=True):
            first, end = end, end + len(some)
            kept = tuple(self.blocks[i].renumbered(number[self.blocks[i].variables]) for i in mine.tolist())
            yield Space(kept, laws.part(first, end) if len(some) else FREE.laws) if len(mine) or len(some) else FREE


FREE = Space()


def rows_by_home(home: NDArray[np.integer], count: int) -> list[NDArray[np.int64]]:
    """The rows of each of the first `count` homes, ascending."""
    order = np.argsort(home, kind="stable")
    cuts = np.searchsorted(home[order], np.arange(count + 1)).tolist()
    return [order[first:end] for first, end in pairwise(cuts)]
