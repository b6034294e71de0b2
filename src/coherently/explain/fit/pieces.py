"""A piece of a sheet: items that hang together, with the joint states of their variables.

A mixture of worlds is described by the probabilities of the joint states of each clique of a junction tree, if
neighbours in the tree agree on what they have in common: then, and only then, some mixture of worlds has these
probabilities. All variables of an item, of a law and of a declared variable are in one clique, so linear programs over
the states of cliques are exact, and small where few variables meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from coherently.errors import MethodError
from coherently.explain.relations.scope_relations import Scope
from coherently.problem.groups.junction import eliminate, graph_of, junction_tree
from coherently.problem.spaces.enumerated import possible_worlds
from coherently.problem.spaces.states import MAX_STATES, States

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.explain.fit.read_sheets import ReadSheet
    from coherently.problem import Merged

    Truths = NDArray[np.bool_]

Variables: TypeAlias = tuple[int, ...]
"""The numbers of some variables of a piece, ascending."""
MOST_WORLDS = 2**13
"""Maximum number of worlds of a piece that are listed one by one."""
MOST_DISTINCT = 1_024
"""Maximum number of those that differ in an item, for looking at all items at once."""
NEARBY = 10
"""Maximum number of variables of neighbouring cliques whose items are compared, if worlds are too many."""


@dataclass(frozen=True, slots=True, eq=False)
class CliqueStates:
    """The joint states of cliques, one row each, with the truth of items and pins, one column each.

    An item wins in `joint` where it stands, in `given`; both are false in the cliques that it is not looked at in.
    `root` marks the states of one clique, and each row of `ties` sums to 0 over the states of two neighbours.
    """

    joint: Truths
    given: Truths
    pin_joint: Truths
    pin_given: Truths
    root: Truths
    ties: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.joint)


@dataclass(frozen=True, slots=True, eq=False)
class LinkedBlock:
    """Neighbouring cliques: `items` and `pins` of the piece that are looked at here, and their joint states.

    A link is a variable in common with another block, of which nothing else is shared: `links` has the block and, one
    column each in `link_joint`, the states in which the variable is true, of a clique whose states are `link_given`.
    """

    items: NDArray[np.int64]
    pins: NDArray[np.int64]
    columns: CliqueStates
    links: tuple[int, ...]
    link_joint: Truths
    link_given: Truths


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class SheetPiece:
    """Items that hang together by variables and laws; `columns` is None where the joint states are too many.

    `blocks` are a tree, each with those before it; there are none if the piece does not fall apart.
    """

    items: NDArray[np.int64]
    conditional: NDArray[np.bool_]
    columns: CliqueStates | None
    scopes: tuple[Scope, ...]
    pin_low: NDArray[np.float64]
    pin_high: NDArray[np.float64]
    blocks: tuple[LinkedBlock, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    @property
    def nbytes(self) -> int:
        """About how much memory it takes: that of its states."""
        states = [self.columns, *(block.columns for block in self.blocks)]
        listed = sum(len(each) * each.joint.shape[1] * 2 + each.ties.nbytes for each in states if each is not None)
        return int(listed + sum(scope.joint.nbytes + scope.given.nbytes for scope in self.scopes))


def make_piece(sheet: ReadSheet, part: Merged, origin: NDArray[np.int32], items: NDArray[np.int64]) -> SheetPiece:
    """Make a piece of a component of the sheet's panel; `origin` is the panel's variable behind each of its own."""
    limits, layout = part.terms.limits, _PieceMaker(sheet, part, origin, items)
    worlds = layout.all_worlds()
    try:
        tree = _tree(layout.needed, part.n_variables, States(part.space, part.n_variables))
    except MethodError:
        tree = None
    columns, blocks = None, tuple[LinkedBlock, ...]()
    if worlds is not None and (tree is None or _is_cheaper(worlds[0], tree)):
        columns = CliqueStates(*worlds, root=np.ones(len(worlds[0]), np.bool_), ties=np.zeros((0, len(worlds[0]))))
    elif tree is not None:
        columns = layout.columns(tree)
        blocks = tuple(layout.blocks(tree))
    if worlds is not None and len(worlds[0]) <= MOST_DISTINCT:
        scopes = [Scope(np.arange(len(items)), *worlds[:2])]
    else:
        scopes = list(layout.scopes(tree)) if tree is not None else []
    return SheetPiece(
        items=items,
        conditional=sheet.conditional[items],
        columns=columns,
        scopes=tuple(scopes),
        pin_low=limits.low,
        pin_high=limits.high,
        blocks=blocks,
    )


def _is_cheaper(worlds: Truths, tree: _Tree) -> bool:
    """Whether a program over all worlds has fewer entries than one over states of cliques, which has rows of ties."""
    count, items = len(worlds), worlds.shape[1]
    return bool(count * (items + 1) <= tree.count * (items + tree.ties))


@dataclass(frozen=True, eq=False)
class _Tree:
    """Cliques with their states, each tied to an earlier one (but the first) by the variables in common."""

    cliques: list[Variables]
    states: list[NDArray[np.uint8]]
    parents: list[int]

    @property
    def count(self) -> int:
        return sum(map(len, self.states))

    @property
    def ties(self) -> int:
        """About as many rows as say that neighbours agree: those of two states for each variable in common."""
        return sum(2 ** len(self.common(i)) for i, parent in enumerate(self.parents) if parent >= 0)

    @cached_property
    def _holders(self) -> dict[int, list[int]]:
        """The cliques of each variable."""
        holders: dict[int, list[int]] = {}
        for i, clique in enumerate(self.cliques):
            for v in clique:
                holders.setdefault(v, []).append(i)
        return holders

    def home(self, variables: Variables) -> int:
        """The smallest clique that has some variables."""
        near = self._holders[variables[0]] if variables else range(len(self.cliques))
        fits = [i for i in near if set(variables) <= set(self.cliques[i])]
        return min(fits, key=lambda i: len(self.states[i]))

    @cached_property
    def neighbours(self) -> list[list[int]]:
        """The neighbours of each clique, ascending."""
        near: list[list[int]] = [[] for _ in self.cliques]
        for i, parent in enumerate(self.parents):
            if parent >= 0:
                near[i].append(parent)
                near[parent].append(i)
        return [sorted(own) for own in near]

    def common(self, i: int) -> Variables:
        """The variables that a clique has in common with its parent."""
        return tuple(sorted(set(self.cliques[i]) & set(self.cliques[self.parents[i]])))


def _tree(needed: Sequence[Variables], count: int, states: States) -> _Tree:
    """A junction tree in which each of some sets of variables is in one clique."""
    known = [*needed, *(tuple(block.variables.tolist()) for block in states.space.blocks)]
    known += [tuple(states.space.laws.of(i).tolist()) for i in range(len(states.space.laws))]
    graph = {v: set[int]() for v in range(count)} | graph_of(known)
    order = eliminate(graph, lambda clique: states.count(sorted(clique)) <= MAX_STATES)
    left = junction_tree(order)[0] or [()]  # an event that is always or never true has no variable
    # A spanning tree of the largest intersections of cliques is a junction tree; `best` has, for each clique that is
    # not in it yet, the largest one so far and the first clique of the tree with it.
    holders: dict[int, list[int]] = {}
    for i, clique in enumerate(left):
        for v in clique:
            holders.setdefault(v, []).append(i)
    cliques, parents = list[Variables](), list[int]()
    best = dict.fromkeys(range(len(left)), (0, 0))
    waiting = [(0, k) for k in range(len(left))]
    while best:
        shared, i = heappop(waiting)
        if i not in best or best[i][0] != -shared:
            continue  # it is in the tree, or has a larger intersection by now
        _, parent = best.pop(i)
        parents.append(parent if cliques else -1)
        cliques.append(left[i])
        for k in {k for v in left[i] for k in holders[v] if k in best}:
            common = len(set(left[i]) & set(left[k]))
            if common > best[k][0]:
                best[k] = common, len(cliques) - 1
                heappush(waiting, (-common, k))
    return _Tree(cliques, [states.of(np.array(clique, np.int64)) for clique in cliques], parents)


class _Looked(NamedTuple):
    """The items and the pins that are looked at in some clique."""

    items: NDArray[np.int64]
    pins: NDArray[np.int64]


class _PieceMaker:
    """The sides of items and pins with their variables, and their truth in states of these."""

    def __init__(self, sheet: ReadSheet, part: Merged, origin: NDArray[np.int32], items: NDArray[np.int64]) -> None:
        self.events, self.part, self.origin = sheet.panel.events, part, origin
        pins, pin = sheet.panel.laws.pins, part.terms.limits.pin
        self.sides = [sheet.event[items], sheet.condition[items], pins.event[pin], pins.condition[pin]]
        place = {int(v): i for i, v in enumerate(origin)}
        joint, given = np.concatenate([self.sides[0], self.sides[2]]), np.concatenate([self.sides[1], self.sides[3]])
        supports = [self._supports(side, place) for side in (joint, given)]
        self.needed: list[Variables] = [tuple(sorted({*a, *b})) for a, b in zip(*supports, strict=True)]
        self.count = len(items)

    def _supports(self, sides: NDArray[np.int32], place: dict[int, int]) -> list[Variables]:
        starts, members = self.events.supports(sides // 2)
        return [tuple(place[v] for v in members[a:b].tolist()) for a, b in pairwise(starts.tolist())]

    def truth(
        self, variables: Sequence[int], states: Truths | NDArray[np.uint8], own: _Looked | None = None
    ) -> list[Truths]:
        """The truth of items and pins, and of their conditions, in joint states of some variables.

        `own` has the items and the pins that are looked at: the others are false.
        """
        full = np.zeros((len(states), self.events.n_variables), np.bool_)
        full[:, self.origin[list(variables)]] = states
        if own is None:
            truth = self.events.evaluate(np.concatenate(self.sides), full)
            return np.split(truth, np.cumsum([len(side) for side in self.sides])[:-1], axis=1)
        every = [np.zeros((len(states), len(side)), np.bool_) for side in self.sides]
        for truth, side, some in zip(every, self.sides, (own[0], own[0], own[1], own[1]), strict=True):
            truth[:, some] = self.events.evaluate(side[some], full)
        return every

    def all_worlds(self) -> tuple[Truths, Truths, Truths, Truths] | None:
        """The truths in all worlds that differ in some; None if they are too many to list."""
        worlds = possible_worlds(self.part, MOST_WORLDS)
        if worlds is None:
            return None
        truth = self.truth(range(self.part.n_variables), worlds)
        first = _distinct(np.hstack(truth))
        joint, given, pin_joint, pin_given = (one[first] for one in truth)
        return joint, given, pin_joint, pin_given

    def columns(self, tree: _Tree) -> CliqueStates:
        """The states of all cliques; each item and pin is looked at in one of them."""
        every = _Looked(np.arange(self.count), np.arange(len(self.sides[2])))
        return self._joined(tree, list(range(len(tree.cliques))), self.homes(tree), every)

    def _joined(self, tree: _Tree, cliques: list[int], homes: Sequence[_Looked], every: _Looked) -> CliqueStates:
        """The states of some neighbouring cliques, with columns for some items and pins."""
        blocks = []
        for i in cliques:
            truth = self.truth(tree.cliques[i], tree.states[i], homes[i])
            blocks.append(
                [one[:, some] for one, some in zip(truth, (every[0], every[0], every[1], every[1]), strict=True)]
            )
        joint, given, pin_joint, pin_given = (np.vstack(one) for one in zip(*blocks, strict=True))
        root = np.zeros(len(joint), np.bool_)
        root[: len(tree.states[cliques[0]])] = True
        return CliqueStates(
            joint=joint, given=given, pin_joint=pin_joint, pin_given=pin_given, root=root, ties=_ties(tree, cliques)
        )

    def blocks(self, tree: _Tree) -> Iterator[LinkedBlock]:
        """The cliques, cut where neighbours have one Boolean variable in common; nothing if there is no such place."""
        block_of = list[int]()
        members = list[list[int]]()
        for i, parent in enumerate(tree.parents):
            if parent < 0 or _is_link(tree, i):
                block_of.append(len(members))
                members.append([i])
            else:
                block_of.append(block_of[parent])
                members[block_of[parent]].append(i)
        if len(members) < 2:
            return
        homes = self.homes(tree)
        links: list[list[tuple[int, int, int]]] = [[] for _ in members]
        for own in members[1:]:
            i, parent = own[0], tree.parents[own[0]]
            (variable,) = tree.common(i)
            links[block_of[i]].append((block_of[parent], i, variable))
            links[block_of[parent]].append((block_of[i], parent, variable))
        for own, linked in zip(members, links, strict=True):
            looked = _Looked(*(np.sort(np.concatenate([homes[i][k] for i in own])) for k in (0, 1)))
            columns = self._joined(tree, own, homes, looked)
            starts = dict(zip(own, np.cumsum([0, *(len(tree.states[i]) for i in own)]).tolist(), strict=False))
            joint = np.zeros((len(columns), len(linked)), np.bool_)
            given = np.zeros_like(joint)
            for k, (_, clique, variable) in enumerate(linked):
                states = tree.states[clique]
                here = slice(starts[clique], starts[clique] + len(states))
                joint[here, k] = states[:, tree.cliques[clique].index(variable)] != 0
                given[here, k] = True
            yield LinkedBlock(
                items=looked.items,
                pins=looked.pins,
                columns=columns,
                links=tuple(block for block, _, _ in linked),
                link_joint=joint,
                link_given=given,
            )

    def homes(self, tree: _Tree) -> list[_Looked]:
        """The items and the pins that are looked at in each clique."""
        homes = np.array([tree.home(own) for own in self.needed], np.int64)
        order = np.argsort(homes, kind="stable")
        own = np.split(order, np.cumsum(np.bincount(homes, minlength=len(tree.cliques)))[:-1])
        return [_Looked(some[some < self.count], some[some >= self.count] - self.count) for some in own]

    def scopes(self, tree: _Tree) -> Iterator[Scope]:
        """The items of neighbouring cliques, in the states of their variables."""
        states = States(self.part.space, self.part.n_variables)
        seen = set[Variables]()
        holders: dict[int, list[int]] = {}
        for k, needed in enumerate(self.needed[: self.count]):
            for v in needed or (-1,):
                holders.setdefault(v, []).append(k)
        for i, clique in enumerate(tree.cliques):
            near = set(clique)
            for j in tree.neighbours[i]:
                if len(near | set(tree.cliques[j])) <= NEARBY:
                    near |= set(tree.cliques[j])
            own = tuple(sorted(near))
            some = {k for v in (*own, -1) for k in holders.get(v, ()) if set(self.needed[k]) <= near}
            if own in seen or len(some) < 2:
                continue
            seen.add(own)
            items = np.array(sorted(some), np.int64)
            joint, given, *_ = self.truth(own, states.of(np.array(own, np.int64)), _Looked(items, items[:0]))
            first = _distinct(np.hstack([joint[:, items], given[:, items]]))
            yield Scope(items, joint[first][:, items], given[first][:, items])


def _distinct(truth: Truths) -> NDArray[np.int64]:
    """The first of each kind of row, in order."""
    _, first = np.unique(np.packbits(truth, axis=1), axis=0, return_index=True)
    return np.sort(first)


def _is_link(tree: _Tree, i: int) -> bool:
    """Whether a clique has one variable in common with its parent."""
    return len(tree.common(i)) == 1


def _ties(tree: _Tree, cliques: Sequence[int]) -> NDArray[np.float64]:
    """A row for each of some cliques tied to another of them, and each state in common: its states less the other's."""
    starts = dict(zip(cliques, np.cumsum([0, *(len(tree.states[i]) for i in cliques)]).tolist(), strict=False))
    count = sum(len(tree.states[i]) for i in cliques)
    rows = []
    for i in cliques:
        parent = tree.parents[i]
        if parent not in starts:
            continue
        common = tree.common(i)
        sides = [tree.states[k][:, [tree.cliques[k].index(v) for v in common]] for k in (i, parent)]
        _, number = np.unique(np.vstack(sides), axis=0, return_inverse=True)
        block = np.zeros((int(number.max()) + 1, count))
        mine, theirs = np.split(number.ravel(), [len(sides[0])])
        block[mine, starts[i] + np.arange(len(mine))] = 1.0
        block[theirs, starts[parent] + np.arange(len(theirs))] = -1.0
        rows.append(block)
    return np.vstack(rows) if rows else np.zeros((0, count))
