"""What laws and declarations allow, as truth tables over a few variables."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem.truth_tables import MOST_VARIABLES, bits_of, expanded, table_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem.spaces.space import Space


class Constraints:
    """What laws and declarations say of a few variables at a time; `about` lists, by variable, the rules about it.

    Blocks are the first rules, and `block` has the block of a variable.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        starts, members = space.rows()
        self.about: dict[int, list[int]] = defaultdict(list)
        self._variables = [members[a:b] for a, b in pairwise(starts.tolist())]
        for rule, variables in enumerate(self._variables):
            for variable in variables.tolist():
                self.about[variable].append(rule)
        self.block = {v: i for i, block in enumerate(space.blocks) for v in block.variables.tolist()}
        self._known: dict[tuple[int, ...], int] = {}

    def home(self, variables: tuple[int, ...]) -> int | None:
        """The block that contains all of some variables, if there is one."""
        homes = {self.block.get(v) for v in variables}
        return homes.pop() if len(homes) == 1 else None

    def among(self, variables: set[int]) -> list[list[int]]:
        """The variables of each rule that leads on from some variables, by other rules, too."""
        found, todo = list[list[int]](), {rule for v in variables for rule in self.about.get(v, ())}
        seen = set(todo)
        while todo:
            own = self._variables[todo.pop()].tolist()
            found.append(own)
            new = {rule for v in own for rule in self.about[v]} - seen
            todo |= new
            seen |= new
        return found

    def states(self, block: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The variables of a block, and its states that the laws about only these variables allow."""
        variables, states = self._space.blocks[block].variables, self._space.blocks[block].states
        place = {v: i for i, v in enumerate(variables.tolist())}
        for rule in {rule for v in place for rule in self.about[v] if rule >= len(self._space.blocks)}:
            own = self._variables[rule].tolist()
            if len(own) <= MOST_VARIABLES and place.keys() >= set(own):
                rows = states[:, [place[v] for v in own]].astype(np.int64) @ (1 << np.arange(len(own)))
                states = states[bits_of(self._table(rule, tuple(own)), len(own))[rows] == 1]
        return variables, states

    def allowed(self, variables: tuple[int, ...]) -> int:
        """The truth table, over some variables, of what the rules about only these allow."""
        if variables not in self._known:
            rules = {rule for v in variables for rule in self.about.get(v, ())}
            table = (1 << (1 << len(variables))) - 1
            for rule in rules:
                table &= self._table(rule, variables)
            self._known[variables] = table
        return self._known[variables]

    def _table(self, rule: int, variables: tuple[int, ...]) -> int:
        own, blocks = self._variables[rule], len(self._space.blocks)
        place = {variable: i for i, variable in enumerate(variables)}
        shared = [i for i, v in enumerate(own.tolist()) if v in place]
        places = tuple(place[int(own[i])] for i in shared)
        if rule < blocks:
            states = self._space.blocks[rule].states[:, shared].astype(np.int64)
            rows = np.unique(states @ (1 << np.arange(len(shared))))
            return expanded(sum(1 << int(row) for row in rows), places, len(variables))
        everything = (1 << (1 << len(variables))) - 1
        if len(shared) < len(own) or len(own) > MOST_VARIABLES:
            return everything
        laws = self._space.laws
        table = table_of(laws.words(rule - blocks))
        found = expanded(table, places, len(variables))
        return found if laws.truth[rule - blocks] else everything ^ found
