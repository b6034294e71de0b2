"""The joint states of some variables that a space allows, one by one."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Truth
    from coherently.problem.problem import Merged
    from coherently.problem.spaces.space import LawFunctions, Space

MAX_STATES = 4096
"""Maximum number of joint states of the variables of a group: its truth vectors are enumerated."""


class TooManyStatesError(MethodError):
    """Some variables have more joint states than may be enumerated."""

    def __init__(self, variables: int) -> None:
        super().__init__(
            f"a group is about {variables} variables that have more than {MAX_STATES:,} joint states under the laws, "
            f"the most that are enumerated: choose smaller groups, leave such events or laws out, or use the method "
            f"exact"
        )


class States:
    """Enumerates joint states: blocks in one of theirs, laws obeyed, the rest free.

    A law counts if all of its variables are among those in question.

    >>> from coherently.problem.spaces.space import Block, Space
    >>> States(Space((Block.one_of(np.array([0, 2]), complete=False),)), 3).of(np.array([0, 1, 2])).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 1, 0]]
    """

    def __init__(self, space: Space, n_variables: int) -> None:
        self.space = space
        self.block = np.full(n_variables, -1, np.int64)
        self.place = np.zeros(n_variables, np.int64)
        for i, block in enumerate(space.blocks):
            self.block[block.variables] = i
            self.place[block.variables] = np.arange(len(block.variables))
        self.parts: dict[tuple[int, bytes], NDArray[np.uint8]] = {}
        self.laws: defaultdict[int, list[int]] = defaultdict(list)
        for i in range(len(space.laws)):
            for v in space.laws.of(i).tolist():
                self.laws[v].append(i)

    @cached_property
    def tied(self) -> NDArray[np.bool_]:
        """Which variables a block or a law is about."""
        found = self.block >= 0
        found[list(self.laws)] = True
        return found

    def pieces(self, variables: NDArray[np.integer]) -> list[tuple[NDArray[np.int64], NDArray[np.uint8]]]:
        """The independent parts of some variables, ignoring laws: each with its states."""
        home = self.block[variables]
        free = np.array([[0], [1]], np.uint8)
        found = [(np.array([v]), free) for v in variables[home < 0].tolist()]
        for b in np.unique(home[home >= 0]).tolist():
            own = variables[home == b].astype(np.int64)
            found.append((own, self._part(b, own)))
        return found

    def _part(self, block: int, own: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The states of some of a block's variables."""
        key = (block, own.tobytes())
        if key not in self.parts:
            states = self.space.blocks[block].states[:, self.place[own]]
            whole = len(own) == len(self.space.blocks[block].variables)
            self.parts[key] = states if whole else np.unique(states, axis=0)
        return self.parts[key]

    def is_inside(self, variables: Sequence[int]) -> bool:
        """Whether one block contains all of the variables."""
        home = self.block[list(variables)]
        return bool(home[0] >= 0 and (home == home[0]).all())

    def count(self, variables: Sequence[int]) -> int:
        """The joint states that blocks allow, before laws."""
        if not self.space.blocks:
            return int(2 ** len(variables))
        return math.prod(len(states) for _, states in self.pieces(np.array(variables)))

    def inside(self, variables: NDArray[np.integer]) -> list[int]:
        """The laws that are about only these variables."""
        own = set(variables.tolist())
        met = {i for v in own for i in self.laws.get(v, ())}
        return sorted(i for i in met if own.issuperset(self.space.laws.of(i).tolist()))

    def lawful(self, variables: NDArray[np.integer], states: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Those joint states (one column per variable) that the laws about only these variables allow."""
        for i in self.inside(variables):
            states = states[may_hold(self.space.laws, i, variables, states)]
        return states

    def of(self, variables: NDArray[np.integer]) -> NDArray[np.uint8]:
        """The possible joint states of variables, ascending; one row per state and one column per variable."""
        if not self.tied[variables].any() and len(variables) <= math.log2(MAX_STATES):
            return _all_states(len(variables))
        laws = self.inside(variables)
        pieces = _in_order(self.pieces(variables), [set(self.space.laws.of(i).tolist()) for i in laws])
        found, own = np.zeros((1, 0), np.uint8), np.empty(0, np.int64)
        for new, states in pieces:
            if len(found) * len(states) > 16 * MAX_STATES:
                raise TooManyStatesError(len(variables))
            found = np.hstack([np.repeat(found, len(states), axis=0), np.tile(states, (len(found), 1))])
            own = np.concatenate([own, new])
            for i in laws:
                if not set(new.tolist()).isdisjoint(self.space.laws.of(i).tolist()):
                    found = found[may_hold(self.space.laws, i, own, found)]
        if len(found) > MAX_STATES:
            raise TooManyStatesError(len(variables))
        found = found[:, np.argsort(own)]
        return found[np.lexsort(found.T[::-1])] if found.shape[1] else found


@cache
def _all_states(count: int) -> NDArray[np.uint8]:
    """The joint states of free variables, ascending."""
    found = np.arange(2**count)[:, None] >> np.arange(count - 1, -1, -1) & 1
    states = found.astype(np.uint8)
    states.flags.writeable = False
    return states


def _in_order(
    pieces: list[tuple[NDArray[np.int64], NDArray[np.uint8]]], laws: Sequence[set[int]]
) -> list[tuple[NDArray[np.int64], NDArray[np.uint8]]]:
    """Order pieces so that laws connect each to earlier ones, if possible: then few states are tried in vain."""
    if not laws:
        return pieces
    left = [(set(own.tolist()), (own, states)) for own, states in pieces]
    found, seen = [], set[int]()
    while left:
        count = [sum(not law.isdisjoint(own) and not law.isdisjoint(seen) for law in laws) for own, _ in left]
        own, piece = left.pop(int(np.argmax(count)))
        seen |= own
        found.append(piece)
    return found


def may_hold(laws: LawFunctions, i: int, own: NDArray[np.integer], states: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which states of the variables `own`, one column each, leave a law possible."""
    variables = laws.of(i)
    place = {v: k for k, v in enumerate(own.tolist())}
    known = np.array([v in place for v in variables.tolist()])
    truth = states[:, [place[v] for v in variables[known].tolist()]].astype(np.int64)
    size, (literals, bits) = len(variables), laws.decoded(i)
    allowed = bits == laws.truth[i]
    if not len(literals):
        table = allowed.reshape((2,) * size)
        # The first axis is that of the last variable.
        table = table.any(axis=tuple(size - 1 - np.flatnonzero(~known))).ravel()
        possible: NDArray[np.bool_] = table[truth @ (1 << np.arange(truth.shape[1]))]
        return possible
    counted = literals[known]
    count = np.sum(truth == counted, axis=1)
    total = np.concatenate([[0], np.cumsum(allowed)])
    left: NDArray[np.bool_] = total[count + size - len(counted) + 1] > total[count]
    return left


class TruthVectors:
    """Gives the truth vectors of groups of coordinates; the same functions of the same states are evaluated once."""

    def __init__(self, merged: Merged) -> None:
        self.merged, self.own = merged, merged.functions.variable_sets()
        self.tables = [merged.functions.words(i).tobytes() for i in range(len(merged))]
        self.known: dict[Hashable, NDArray[np.float64]] = {}

    def of(self, members: Sequence[int], variables: Sequence[int], states: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The distinct truth vectors of coordinates about some variables, ascending, in joint states of these."""
        place = {v: k for k, v in enumerate(variables)}
        about = tuple((self.tables[i], *(place[v] for v in self.own[i])) for i in members)
        key = (about, states.shape, states.tobytes())
        if key not in self.known:
            truth = truths(self.merged, members, states, np.array(variables, np.int64))
            self.known[key] = distinct(truth).astype(np.float64)
        return self.known[key]


def distinct(truth: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The distinct rows of a 0/1 matrix, ascending."""
    _, first = np.unique(np.packbits(truth, axis=1), axis=0, return_index=True)
    return truth[first] if truth.shape[1] else truth[:1]


def truths(merged: Merged, members: Sequence[int] | Indices, worlds: Truth, variables: NDArray[np.integer]) -> Truth:
    """The truth of coordinates for rows of truth values of some variables, one column each, ascending."""
    index = np.array(members, np.int64)
    some = merged.functions.take(index)
    return some.renumbered(np.searchsorted(variables, some.variables).astype(np.int32)).hold(worlds).view(np.uint8)
