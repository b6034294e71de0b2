"""A piece of a sheet: items that hang together, with the joint states of their variables.

A mixture of worlds is described by the probabilities of the joint states of each clique of a junction tree, if
neighbours in the tree agree on what they have in common: then, and only then, some mixture of worlds has these
probabilities. All variables of an item, of a law and of a declared variable are in one clique, so linear programs over
the states of cliques are exact, and small where few variables meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

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
class SheetPiece:
    """Items that hang together by variables and laws; `columns` is None where the joint states are too many."""

    items: NDArray[np.int64]
    conditional: NDArray[np.bool_]
    columns: CliqueStates | None
    scopes: tuple[Scope, ...]
    pin_low: NDArray[np.float64]
    pin_high: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.items)


def make_piece(sheet: ReadSheet, part: Merged, origin: NDArray[np.int32], items: NDArray[np.int64]) -> SheetPiece:
    """Make a piece of a component of the sheet's panel; `origin` is the panel's variable behind each of its own."""
    limits, layout = part.terms.limits, _PieceMaker(sheet, part, origin, items)
    worlds = layout.all_worlds()
    try:
        tree = _tree(layout.needed, part.n_variables, States(part.space, part.n_variables))
    except MethodError:
        tree = None
    columns = None
    if worlds is not None and (tree is None or _is_cheaper(worlds[0], tree)):
        columns = CliqueStates(*worlds, root=np.ones(len(worlds[0]), np.bool_), ties=np.zeros((0, len(worlds[0]))))
    elif tree is not None:
        columns = layout.columns(tree)
    if worlds is not None and len(worlds[0]) <= MOST_DISTINCT:
        scopes = [Scope(np.arange(len(items)), *worlds[:2])]
    else:
        scopes = list(layout.scopes(tree)) if tree is not None else []
    return SheetPiece(items, sheet.conditional[items], columns, tuple(scopes), limits.low, limits.high)


def _is_cheaper(worlds: Truths, tree: _Tree) -> bool:
    """Whether a program over all worlds has fewer entries than one over states of cliques, which has rows of ties."""
    count, items = worlds.shape
    return count * (items + 1) <= tree.count * (items + tree.ties)


@dataclass(frozen=True, slots=True, eq=False)
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
        common = [set(self.cliques[i]) & set(self.cliques[p]) for i, p in enumerate(self.parents) if p >= 0]
        return sum(2 ** len(own) for own in common)

    def home(self, variables: Variables) -> int:
        """The smallest clique that has some variables."""
        fits = [i for i, clique in enumerate(self.cliques) if set(variables) <= set(clique)]
        return min(fits, key=lambda i: len(self.states[i]))


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
    cliques, parents, best = list[Variables](), list[int](), dict.fromkeys(range(len(left)), (0, 0))
    while best:
        i = max(best, key=lambda k: (best[k][0], -k))
        parents.append(best.pop(i)[1] if cliques else -1)
        cliques.append(left[i])
        for k in {k for v in left[i] for k in holders[v] if k in best}:
            best[k] = max(best[k], (len(set(left[i]) & set(left[k])), len(cliques) - 1), key=lambda one: one[0])
    return _Tree(cliques, [states.of(np.array(clique, np.int64)) for clique in cliques], parents)


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

    def truth(self, variables: Sequence[int], states: Truths | NDArray[np.uint8]) -> list[Truths]:
        """The truth of items and pins, and of their conditions, in joint states of some variables."""
        full = np.zeros((len(states), self.events.n_variables), np.bool_)
        full[:, self.origin[list(variables)]] = states
        truth = self.events.evaluate(np.concatenate(self.sides), full)
        return np.split(truth, np.cumsum([len(side) for side in self.sides])[:-1], axis=1)

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
        homes = np.array([tree.home(own) for own in self.needed], np.int64)
        blocks = []
        for i, (clique, states) in enumerate(zip(tree.cliques, tree.states, strict=True)):
            item, pin = homes[: self.count] == i, homes[self.count :] == i
            joint, given, pin_joint, pin_given = self.truth(clique, states)
            blocks.append((joint & item, given & item, pin_joint & pin, pin_given & pin))
        root = np.zeros(tree.count, np.bool_)
        root[: len(tree.states[0])] = True
        joint, given, pin_joint, pin_given = (np.vstack(one) for one in zip(*blocks, strict=True))
        return CliqueStates(joint, given, pin_joint, pin_given, root, _ties(tree))

    def scopes(self, tree: _Tree) -> Iterator[Scope]:
        """The items of neighbouring cliques, in the states of their variables."""
        states = States(self.part.space, self.part.n_variables)
        seen = set[Variables]()
        for i, clique in enumerate(tree.cliques):
            near = set(clique)
            for j, other in enumerate(tree.cliques):
                linked = tree.parents[j] == i or tree.parents[i] == j
                if linked and len(near | set(other)) <= NEARBY:
                    near |= set(other)
            own = tuple(sorted(near))
            items = np.array([k for k in range(self.count) if set(self.needed[k]) <= near], np.int64)
            if own in seen or len(items) < 2:
                continue
            seen.add(own)
            joint, given, *_ = self.truth(own, states.of(np.array(own, np.int64)))
            first = _distinct(np.hstack([joint[:, items], given[:, items]]))
            yield Scope(items, joint[first][:, items], given[first][:, items])


def _distinct(truth: Truths) -> NDArray[np.int64]:
    """The first of each kind of row, in order."""
    _, first = np.unique(np.packbits(truth, axis=1), axis=0, return_index=True)
    return np.sort(first)


def _ties(tree: _Tree) -> NDArray[np.float64]:
    """For each neighbour in the tree and each state of what they have in common: its states less those of the other."""
    starts = np.concatenate([[0], np.cumsum([len(states) for states in tree.states])])
    rows = []
    for i, parent in enumerate(tree.parents):
        if parent < 0:
            continue
        common = sorted(set(tree.cliques[i]) & set(tree.cliques[parent]))
        sides = [tree.states[k][:, [tree.cliques[k].index(v) for v in common]] for k in (i, parent)]
        _, number = np.unique(np.vstack(sides), axis=0, return_inverse=True)
        block = np.zeros((int(number.max()) + 1, starts[-1]))
        mine, theirs = np.split(number.ravel(), [len(sides[0])])
        block[mine, starts[i] + np.arange(len(mine))] = 1.0
        block[theirs, starts[parent] + np.arange(len(theirs))] = -1.0
        rows.append(block)
    return np.vstack(rows) if rows else np.zeros((0, starts[-1]))
