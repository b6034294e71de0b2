"""The clusters of a component whose worlds are restricted: what blocks and laws allow of a few variables at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.errors import MethodError
from coherently.problem.groups.shared import (
    Variables,
    _extend,
    _gives_conjunction,
    _graph,
    _triangles,
)
from coherently.problem.groups.simple import Groups, all_worlds
from coherently.problem.spaces.space import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from coherently.problem.problem import Merged
    from coherently.problem.spaces.space import Block, Space

    States: TypeAlias = NDArray[np.uint8]

MOST_STATES = 1024
"""Joint states of a cluster's variables."""
SMALL_BLOCK = 4
"""Variables of a block up to which it is in a cluster as a whole."""


def lawful_clusters(merged: Merged) -> Groups:
    """All events about a triangle of variables together, as in `clusters`, in the states that laws and blocks allow.

    Each block is a group of its own, with the events inside; each law is a cluster, too, unless its variables have too
    many joint states: such a law is left out, so that the clusters allow more than they might. Clusters share every
    variable and every pair.
    """
    space = merged.space
    sets = _sets(merged, _States(space, merged.n_variables))
    uses = Counter(two for variables in sets for two in combinations(variables, 2))
    alone = set(merged.variables[merged.starts[:-1][merged.sizes() == 1]].tolist())
    told = {tuple(_own(merged, i)) for i in np.flatnonzero(merged.sizes() == 2).tolist()}
    missing: list[Variables] = [(v,) for v in range(merged.n_variables) if v not in alone]
    missing += sorted(two for two, count in uses.items() if count > 1 and two not in told)
    whole = _extend(merged, missing)
    maker = _Maker(whole, _States(space, merged.n_variables))
    for coordinate in np.flatnonzero(merged.sizes() == 0).tolist():
        maker.add([coordinate], np.zeros((1, 1)))
    for block in space.blocks:
        maker.add_block(block)
    for variables in sets:
        maker.add_cluster(variables)
    return maker.groups(len(missing))


def _own(merged: Merged, i: int) -> list[int]:
    found: list[int] = merged.variables[merged.starts[i] : merged.starts[i + 1]].tolist()
    return found


def _sets(merged: Merged, states: _States) -> list[Variables]:
    """The variables of each cluster: triangles, larger events and laws, then pairs and single variables."""
    known = {tuple(_own(merged, i)) for i in range(len(merged))} - {()}
    for variables in known:
        if not states.is_inside(variables) and states.count(variables) > MOST_STATES:
            raise MethodError(
                f"an event is about {len(variables)} variables with more than {MOST_STATES:,} joint states, "
                "which is the most of a cluster: leave such events out or choose another method"
            )
    laws = merged.space.laws
    known |= {own for own in (tuple(laws.of(i).tolist()) for i in range(len(laws))) if states.count(own) <= MOST_STATES}
    known = {variables for variables in known if not states.is_inside(variables)}
    graph = _graph(known)
    larger = {variables for variables in known if len(variables) > 3}
    inside = {three for variables in larger for three in combinations(variables, 3)}
    sets = (_triangles(graph) - inside) | larger
    covered = {two for variables in sets for two in combinations(variables, 2)}
    sets |= {(a, b) for a, near in graph.items() for b in near if a < b} - covered
    sets |= {variables for variables in known if len(variables) == 1 and variables[0] not in graph}
    return sorted({states.widened(variables) for variables in sets})


class _States:
    """The joint states that blocks and laws allow of some variables."""

    def __init__(self, space: Space, n_variables: int) -> None:
        self.space = space
        self.home = np.full(n_variables, -1, np.int64)
        self.place = np.zeros(n_variables, np.int64)
        for number, block in enumerate(space.blocks):
            self.home[block.variables] = number
            self.place[block.variables] = np.arange(len(block.variables))
        self.laws: defaultdict[int, list[tuple[int, Variables]]] = defaultdict(list)
        for i in range(len(space.laws)):
            own = tuple(space.laws.of(i).tolist())
            if own:
                self.laws[own[0]].append((i, own))
        self.seen: dict[tuple[int, Variables], States] = {}

    def is_inside(self, variables: Variables) -> bool:
        """Whether one block has all of the variables."""
        home = self.home[list(variables)]
        return bool(home[0] >= 0 and (home == home[0]).all())

    def count(self, variables: Variables) -> int:
        """The joint states that blocks allow, before laws."""
        count = 1
        for _, states in self._parts(variables):
            count *= len(states)
        return count

    def widened(self, variables: Variables) -> Variables:
        """The same with the rest of the small blocks that it has some of, where that is not too much."""
        homes = {int(h) for h in self.home[list(variables)] if h >= 0}
        small = [self.space.blocks[h].variables.tolist() for h in homes if self._is_small(h)]
        more = tuple(sorted(set(variables).union(*small)))
        return more if self.count(more) <= MOST_STATES else variables

    def _is_small(self, block: int) -> bool:
        return len(self.space.blocks[block].variables) <= SMALL_BLOCK

    def _parts(self, variables: Variables) -> list[tuple[Variables, States]]:
        """The variables of each block with its states of them, and each of the others with its two."""
        own: defaultdict[int, list[int]] = defaultdict(list)
        for v in variables:
            own[int(self.home[v]) if self.home[v] >= 0 else -1 - v].append(v)
        return [(tuple(some), self._projected(home, tuple(some))) for home, some in own.items()]

    def _projected(self, home: int, some: Variables) -> States:
        if home < 0:
            return all_worlds(1)
        if (home, some) not in self.seen:
            self.seen[home, some] = np.unique(self.space.blocks[home].states[:, self.place[list(some)]], axis=0)
        return self.seen[home, some]

    def of(self, variables: Variables) -> States:
        """The states, a row each, in the order of the variables."""
        parts = self._parts(variables)
        rows = np.zeros((1, 0), np.uint8)
        for _, states in parts:
            rows = np.hstack([np.repeat(rows, len(states), axis=0), np.tile(states, (len(rows), 1))])
        order = [v for some, _ in parts for v in some]
        return self.lawful(variables, rows[:, [order.index(v) for v in variables]])

    def lawful(self, variables: Variables, rows: States) -> States:
        """Those of some joint states that the laws about no other variables allow."""
        place = {v: k for k, v in enumerate(variables)}
        laws = self.space.laws
        for v in variables:
            for law, own in self.laws.get(v, ()):
                if all(w in place for w in own):
                    words = laws.tables[laws.table_starts[law] : laws.table_starts[law + 1]]
                    truth = _truth(words, rows[:, [place[w] for w in own]])
                    rows = rows[truth == laws.truth[law]]
        return rows


def _truth(words: NDArray[np.uint64], rows: States) -> NDArray[np.uint8]:
    """The truth of a function in the states of its variables."""
    literals, bits = decode(words, rows.shape[1])
    at = np.sum(rows == literals, axis=1) if len(literals) else rows.astype(np.int64) @ (1 << np.arange(rows.shape[1]))
    return np.take(bits, at)


def _by_pair(members: Iterable[int], own: Sequence[Variables]) -> dict[Variables, list[int]]:
    found: defaultdict[Variables, list[int]] = defaultdict(list)
    for i in members:
        if len(own[i]) == 2:
            found[own[i]].append(i)
    return found


class _Maker:
    """Collects groups, those of equal patterns under one number."""

    def __init__(self, merged: Merged, states: _States) -> None:
        self.merged, self.states = merged, states
        self.own = [tuple(_own(merged, i)) for i in range(len(merged))]
        self.first: defaultdict[int, list[int]] = defaultdict(list)
        for i, variables in enumerate(self.own):
            if variables:
                self.first[variables[0]].append(i)
        self.numbers: dict[tuple[tuple[int, ...], bytes], int] = {}
        self.patterns: list[NDArray[np.float64]] = []
        self.members: list[Sequence[int]] = []
        self.pattern: list[int] = []

    def add(self, members: Sequence[int], rows: NDArray[np.float64]) -> None:
        """Add a group by its pattern."""
        rows = np.unique(rows, axis=0)
        key = (rows.shape, rows.astype(np.uint8).tobytes())
        if key not in self.numbers:
            self.numbers[key] = len(self.patterns)
            self.patterns.append(rows)
        self.members.append(members)
        self.pattern.append(self.numbers[key])

    def add_block(self, block: Block) -> None:
        """Add a block with the events about no other variables."""
        order = np.argsort(block.variables)
        variables = tuple(block.variables[order].tolist())
        self._add(variables, self.states.lawful(variables, block.states[:, order]), list(self._about(variables)))

    def add_cluster(self, variables: Variables) -> None:
        """Add a cluster; later ones with the same pair need only one of the events about it."""
        members = list(self._about(variables))
        self._add(variables, self.states.of(variables), members)
        for pair, mine in _by_pair(members, self.own).items():
            if len(mine) > 1:
                kept = next(i for i in mine if _gives_conjunction(self.merged, i))
                self.first[pair[0]] = [i for i in self.first[pair[0]] if self.own[i] != pair or i == kept]

    def _about(self, variables: Variables) -> Iterable[int]:
        inside = set(variables)
        return [i for v in variables for i in self.first[v] if inside.issuperset(self.own[i])]

    def _add(self, variables: Variables, states: States, members: list[int]) -> None:
        place = {v: k for k, v in enumerate(variables)}
        columns = []
        for i in members:
            words = self.merged.tables[self.merged.table_starts[i] : self.merged.table_starts[i + 1]]
            columns.append(_truth(words, states[:, [place[v] for v in self.own[i]]]))
        self.add(members, np.column_stack(columns).astype(np.float64))

    def groups(self, auxiliary: int) -> Groups:
        """All of them."""
        return Groups(
            "clusters",
            np.cumsum([0] + [len(members) for members in self.members], dtype=np.int64),
            np.array([i for members in self.members for i in members], np.int32),
            np.array(self.pattern, np.int32),
            tuple(self.patterns),
            auxiliary,
        )
