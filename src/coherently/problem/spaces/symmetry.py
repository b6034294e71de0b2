"""Variables that are interchangeable in every event and law, as those of a count: only the number of true ones matters.

Swapping two such variables changes no event and no law. So every world has the truth vector of one in which the first
k variables of each class are true, for some k, and of these only the k matter that some event or law tells apart. A
block with these states makes n + 1 states, or fewer, of 2^n, and leaves all truth vectors as they are.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from coherently.problem.spaces.space import Block

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from coherently.problem.problem import Merged
    from coherently.problem.spaces.space import Space

LEAST = 4
"""Minimum number of interchangeable variables for which a block is worth it."""
MOST_ENTRIES = 2**26
"""Maximum number of entries of all states of the new blocks."""

Variables: TypeAlias = "NDArray[np.int64]"


class _Decoded(NamedTuple):
    """An event or a law: its variables, ascending, and what `decode` gives for it."""

    variables: Variables
    literals: NDArray[np.uint8]
    bits: NDArray[np.uint8]

    @property
    def is_count(self) -> bool:
        return len(self.literals) > 0

    def table(self) -> NDArray[np.uint8]:
        """The truth table, with one axis per variable."""
        # The first axis of a reshaped table is that of the last variable.
        return self.bits.reshape((2,) * len(self.variables)).transpose()

    def split(self, some: Variables) -> Iterable[Variables]:
        """Separate variables that are not interchangeable here."""
        place = np.searchsorted(self.variables, some)
        if self.is_count:
            counted = self.literals[place]
            return [some[counted == truth] for truth in (0, 1)]
        table = self.table()
        found: list[list[int]] = []
        for k in place.tolist():
            # Being interchangeable is an equivalence, so one variable of each class is tested.
            alike = (own for own in found if np.array_equal(table, table.swapaxes(own[0], k)))
            if (home := next(alike, None)) is None:
                found.append([k])
            else:
                home.append(k)
        return [self.variables[own] for own in found]

    def kinds(self, some: Variables) -> NDArray[np.int64]:
        """Number the functions of the other variables that result for each number of true variables of a class."""
        place, size = np.searchsorted(self.variables, some), len(some)
        if self.is_count:
            windows = np.lib.stride_tricks.sliding_window_view(self.bits, len(self.variables) - size + 1)
            rows = windows if self.literals[place[0]] else windows[::-1]
        else:
            rest = np.moveaxis(self.table(), place, np.arange(size))
            rows = np.array([rest[(1,) * k + (0,) * (size - k)].ravel() for k in range(size + 1)])
        _, kind = np.unique(np.packbits(rows, axis=1), axis=0, return_inverse=True)
        return kind.ravel()


def broken_symmetry(merged: Merged) -> Space | None:
    """The space with one block for each class of interchangeable variables; None if there are none.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> panel = Panel.from_records([("A", "at_least(2; p, q, r, s, t)", 0.5), ("A", "p", 0.5)])
    >>> [(block.variables.tolist(), block.states.tolist()) for block in broken_symmetry(pose(panel).merged).blocks]
    [([1, 2, 3, 4], [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0]])]
    """
    if max(merged.sizes().max(initial=0), merged.space.laws.sizes().max(initial=0)) < LEAST:
        return None
    blocks, entries = [], 0
    for some, functions in _classes(merged):
        kinds = np.column_stack([function.kinds(some) for function in functions])
        _, counts = np.unique(kinds, axis=0, return_index=True)
        entries += len(counts) * len(some)
        if entries > MOST_ENTRIES:
            return None
        states = np.arange(len(some)) < np.sort(counts)[:, None]
        blocks.append(Block(some.astype(np.int32), states.astype(np.uint8)))
    return replace(merged.space, blocks=merged.space.blocks + tuple(blocks)) if blocks else None


def _classes(merged: Merged) -> Iterable[tuple[Variables, list[_Decoded]]]:
    """Interchangeable variables in no block, and the functions that they are in."""
    functions = _functions(merged)
    owner = np.repeat(np.arange(len(functions)), [len(function.variables) for function in functions])
    members = np.concatenate([np.empty(0, np.int64), *(function.variables for function in functions)])
    order = np.argsort(members, kind="stable")
    cuts = np.searchsorted(members[order], np.arange(1, merged.n_variables))
    home = np.split(owner[order], cuts)
    taken = {v for block in merged.space.blocks for v in block.variables.tolist()}
    alike: dict[bytes, list[int]] = defaultdict(list)
    for v, own in enumerate(home):
        if v not in taken:
            alike[own.tobytes()].append(v)
    for some in (variables for variables in alike.values() if len(variables) >= LEAST):
        about = [functions[i] for i in home[some[0]].tolist()]
        classes = [np.array(some)]
        for function in about:
            classes = [part for whole in classes for part in function.split(whole) if len(part) >= LEAST]
        yield from ((part, about) for part in classes if about)


def _functions(merged: Merged) -> list[_Decoded]:
    """All events and laws."""
    return [
        _Decoded(source.of(i).astype(np.int64), *source.decoded(i))
        for source in (merged.functions, merged.space.laws)
        for i in range(len(source))
    ]
