"""The clusters of a component whose worlds are restricted: what blocks and laws allow of a few variables at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.errors import MethodError
from coherently.problem.groups.junction import Variables, graph_of
from coherently.problem.groups.shared import _extend, _gives_conjunction, _triangles
from coherently.problem.groups.simple import Groups
from coherently.problem.spaces.states import States, truths

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from coherently.problem.problem import Merged
    from coherently.problem.spaces.space import Block

    Rows: TypeAlias = NDArray[np.uint8]

MOST_STATES = 1024
"""Maximum number of joint states of a cluster's variables."""
SMALL_BLOCK = 4
"""Maximum number of variables of a block that is in a cluster as a whole."""


def lawful_clusters(merged: Merged) -> Groups:
    """All events about a triangle of variables together, as in `clusters`, in the states that laws and blocks allow.

    Each block is a separate group, with the events inside; each law is a cluster, too, unless its variables have too
    many joint states: such a law is left out, so that the clusters allow more than possible. Clusters share every
    variable and every pair.
    """
    sets = _sets(merged, States(merged.space, merged.n_variables))
    uses = Counter(two for variables in sets for two in combinations(variables, 2))
    return _gathered(merged, sets, [two for two, count in uses.items() if count > 1])[0]


def wider_clusters(merged: Merged, more: Collection[Variables]) -> tuple[Groups, Merged]:
    """The clusters of `lawful_clusters` and `more`, and the coordinates that they share: every pair has one.

    What a wider cluster covers is left out, and so is a wider cluster with too many joint states.
    """
    states = States(merged.space, merged.n_variables)
    wide = [set(variables) for variables in sorted(more) if states.count(variables) <= MOST_STATES]
    usual = _sets(merged, states)
    sets = {tuple(sorted(variables)) for variables in wide}
    sets |= {variables for variables in usual if not any(other.issuperset(variables) for other in wide)}
    shared = {two for variables in usual for two in combinations(variables, 2)}
    uses = Counter(two for variables in sets for two in combinations(variables, 2))
    return _gathered(merged, sorted(sets), shared | {two for two, count in uses.items() if count > 1})


def _gathered(merged: Merged, sets: Sequence[Variables], pairs: Iterable[Variables]) -> tuple[Groups, Merged]:
    """One cluster per set and per block; they share every variable and these pairs, which are coordinates."""
    space = merged.space
    alone = set(merged.functions.variables[merged.functions.starts[:-1][merged.sizes() == 1]].tolist())
    told = {tuple(_own(merged, i)) for i in np.flatnonzero(merged.sizes() == 2).tolist()}
    missing: list[Variables] = [(v,) for v in range(merged.n_variables) if v not in alone]
    missing += sorted(two for two in pairs if two not in told)
    whole = _extend(merged, missing)
    maker = _Maker(whole, States(space, merged.n_variables))
    for coordinate in np.flatnonzero(merged.sizes() == 0).tolist():
        maker.add([coordinate], maker.number(np.zeros((1, 1), np.uint8)))
    for block in space.blocks:
        maker.add_block(block)
    for variables in sets:
        maker.add_cluster(variables)
    return maker.groups(len(missing)), whole


def _own(merged: Merged, i: int) -> list[int]:
    found: list[int] = merged.functions.of(i).tolist()
    return found


def _sets(merged: Merged, states: States) -> list[Variables]:
    """The variables of each cluster: triangles, larger events and laws, then pairs and single variables."""
    known = {tuple(_own(merged, i)) for i in range(len(merged))} - {()}
    for variables in known:
        if not states.is_inside(variables) and states.count(variables) > MOST_STATES:
            raise MethodError(
                f"an event is about {len(variables)} variables with more than {MOST_STATES:,} joint states, "
                "the maximum of a cluster: leave such events out or choose another method"
            )
    laws = merged.space.laws
    known |= {own for own in (tuple(laws.of(i).tolist()) for i in range(len(laws))) if states.count(own) <= MOST_STATES}
    known = {variables for variables in known if not states.is_inside(variables)}
    graph = graph_of(known)
    larger = {variables for variables in known if len(variables) > 3}
    inside = {three for variables in larger for three in combinations(variables, 3)}
    sets = (_triangles(graph) - inside) | larger
    covered = {two for variables in sets for two in combinations(variables, 2)}
    sets |= {(a, b) for a, near in graph.items() for b in near if a < b} - covered
    sets |= {variables for variables in known if len(variables) == 1 and variables[0] not in graph}
    return sorted({_widened(states, variables) for variables in sets})


def _widened(states: States, variables: Variables) -> Variables:
    """The same with the rest of the small blocks that it overlaps, if that is not too much."""
    if not states.space.blocks:
        return variables
    blocks = (states.space.blocks[h].variables.tolist() for h in np.unique(states.block[list(variables)]) if h >= 0)
    more = tuple(sorted(set(variables).union(*(own for own in blocks if len(own) <= SMALL_BLOCK))))
    return more if states.count(more) <= MOST_STATES else variables


def _by_pair(members: Iterable[int], own: Sequence[Variables]) -> dict[Variables, list[int]]:
    found: defaultdict[Variables, list[int]] = defaultdict(list)
    for i in members:
        if len(own[i]) == 2:
            found[own[i]].append(i)
    return found


class _Maker:
    """Collects groups; equal patterns have one number."""

    def __init__(self, merged: Merged, states: States) -> None:
        self.merged, self.states = merged, states
        self.own = [tuple(_own(merged, i)) for i in range(len(merged))]
        self.first: defaultdict[int, list[int]] = defaultdict(list)
        for i, variables in enumerate(self.own):
            if variables:
                self.first[variables[0]].append(i)
        tables = [merged.functions.words(i).tobytes() for i in range(len(merged))]
        self.kind = [(len(own), table) for own, table in zip(self.own, tables, strict=True)]
        self.numbers: dict[tuple[tuple[int, ...], bytes], int] = {}
        self.known: dict[Hashable, int] = {}
        self.patterns: list[NDArray[np.float64]] = []
        self.members: list[Sequence[int]] = []
        self.pattern: list[int] = []

    def add(self, members: Sequence[int], number: int) -> None:
        """Add a group by the number of its pattern."""
        self.members.append(members)
        self.pattern.append(number)

    def number(self, rows: NDArray[np.uint8]) -> int:
        """The number of a pattern."""
        rows = np.unique(rows, axis=0)
        key = (rows.shape, rows.tobytes())
        if key not in self.numbers:
            self.numbers[key] = len(self.patterns)
            self.patterns.append(rows.astype(np.float64))
        return self.numbers[key]

    def add_block(self, block: Block) -> None:
        """Add a block with the events about only its variables."""
        order = np.argsort(block.variables)
        variables = tuple(block.variables[order].tolist())
        states = self.states.lawful(block.variables[order], block.states[:, order])
        self._add(variables, states, list(self._about(variables)))

    def add_cluster(self, variables: Variables) -> None:
        """Add a cluster; later ones with the same pair need only one of the events about it."""
        members = list(self._about(variables))
        self._add(variables, self.states.of(np.array(variables)), members)
        for pair, mine in _by_pair(members, self.own).items():
            if len(mine) > 1:
                kept = next(i for i in mine if _gives_conjunction(self.merged, i))
                self.first[pair[0]] = [i for i in self.first[pair[0]] if self.own[i] != pair or i == kept]

    def _about(self, variables: Variables) -> Iterable[int]:
        inside = set(variables)
        return [i for v in variables for i in self.first[v] if inside.issuperset(self.own[i])]

    def _add(self, variables: Variables, states: Rows, members: list[int]) -> None:
        place = {v: k for k, v in enumerate(variables)}
        where = tuple((self.kind[i], *(place[v] for v in self.own[i])) for i in members)
        key = (where, len(variables), states.tobytes())  # the same functions of the same states have the same pattern
        if key not in self.known:
            self.known[key] = self.number(truths(self.merged, members, states, np.array(variables)))
        self.add(members, self.known[key])

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
