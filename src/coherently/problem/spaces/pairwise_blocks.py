"""Blocks that laws of two variables say: "not both", for every pair of some variables.

Variables of which each excludes each other are exclusive: at most one is true. That is a block, and the laws about its
pairs say nothing more. A law that one of all of them is true makes it complete. Which sets to take is a choice where
laws leave several; every one that is taken has all of its pairs.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem.spaces.space import Block, BlockForm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem.spaces.space import LawFunctions

LEAST_EXCLUSIVE = 3
"""Minimum number of variables for which laws that at most one is true make a block."""
BOTH = 0b1000
"""The truth table of a conjunction of two variables."""


def pairwise_blocks(laws: LawFunctions, taken: set[int]) -> list[Block]:
    """Blocks of variables that exclude each other pair by pair, none of them `taken`, or in two blocks."""
    pairs = _members(laws, _excluded_pairs(laws)).tolist()
    free = [pair for pair in pairs if taken.isdisjoint(pair)] if taken else pairs
    return [Block.one_of(np.array(own), complete=False) for own in _cliques(free)]


def with_laws_inside(blocks: list[Block], laws: LawFunctions) -> tuple[list[Block], LawFunctions]:
    """Blocks of which at most one variable is true, with laws that say as much, or that one of all of them is true.

    Such blocks are complete, and the other laws are left.
    """
    home: dict[int, int] = {v: number for number, block in enumerate(blocks) for v in block.variables.tolist()}
    kept = np.ones(len(laws), np.bool_)
    pairs = _excluded_pairs(laws)
    ends = [(home.get(a, -1), home.get(b, -1)) for a, b in _members(laws, pairs).tolist()]
    kept[pairs] = [a < 0 or a != b for a, b in ends]
    found = list(blocks)
    for i in np.flatnonzero(laws.truth & (laws.sizes() >= LEAST_EXCLUSIVE)).tolist():
        own = laws.of(i)
        block = blocks[home[int(own[0])]] if int(own[0]) in home else None
        if block is None or block.form is not BlockForm.AT_MOST_ONE or not np.array_equal(own, block.variables):
            continue
        if _some_is_true(laws, i):
            found[home[int(own[0])]] = Block.one_of(own, complete=True)
            kept[i] = False
    return found, laws if kept.all() else laws.take(np.flatnonzero(kept))


def _members(laws: LawFunctions, pairs: NDArray[np.int64]) -> NDArray[np.int32]:
    """The two variables of each of some laws."""
    found: NDArray[np.int32] = laws.variables[laws.starts[pairs][:, None] + np.arange(2)]
    return found


def _excluded_pairs(laws: LawFunctions) -> NDArray[np.int64]:
    """The laws that say "not both" of two variables."""
    found = np.flatnonzero((laws.sizes() == 2) & ~laws.truth)
    pairs: NDArray[np.int64] = found[laws.tables[laws.table_starts[found]] == BOTH]
    return pairs


def _cliques(pairs: list[list[int]]) -> list[list[int]]:
    """Disjoint sets of which all pairs are there: always next, all that the variable of the fewest pairs excludes."""
    near: defaultdict[int, set[int]] = defaultdict(set)
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    found, left = [], set(near)
    for v in sorted(near, key=lambda v: (len(near[v]), v)):
        own = (near[v] & left) | {v}
        if v in left and len(own) >= LEAST_EXCLUSIVE and all(own <= near[u] | {u} for u in own):
            found.append(sorted(own))
            left -= own
    return found


def _some_is_true(laws: LawFunctions, i: int) -> bool:
    """Whether a law is that at least one of its variables is true."""
    literals, bits = laws.decoded(i)
    return bool(laws.truth[i] and literals.all() and not bits[0] and bits[1:].all())
