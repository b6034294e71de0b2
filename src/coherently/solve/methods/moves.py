"""The moves of annealing if not every truth assignment is a world: sets of variables and their joint states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from coherently import _core
from coherently.errors import ContradictionError
from coherently.problem import BlockForm, States, TooManyStatesError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.arrays import Indices, Truth, Vector
    from coherently.problem import LawFunctions, Merged, Space


@dataclass(frozen=True, slots=True)
class MoveTuning:
    """Which variables are moved together, and what a broken pin costs."""

    few_states: int = 256
    """Maximum number of states of linked laws that are moved together."""
    most_linked: int = 12
    """Maximum number of laws that are moved together."""
    penalty: float = 4.0
    """Penalty of a pin, times the weight of all forecasts and its violation; in the descent, per world."""


TUNING = MoveTuning()


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """Sets of variables, each with its joint states, one per row; `worlds` obey the space, one per row.

    A set of all variables that some laws tie together has the states that they allow. If these are too many, there is
    one set for each block, variable and law, and `laws` forbid moves that break others.
    """

    variables: list[Indices]
    states: list[Truth]
    laws: LawFunctions
    worlds: Truth

    def slots(self) -> NDArray[np.int32]:
        """The number of each set, repeated once per bit in the number of its states."""
        bits = [max(1, int(np.ceil(np.log2(len(rows))))) for rows in self.states]
        return np.repeat(np.arange(len(self.states), dtype=np.int32), bits)

    def bits(self) -> int:
        """The number of bits of a world; overlapping sets count at most once per variable."""
        overlap = len(set(np.concatenate([np.empty(0, np.int64), *self.variables]).tolist()))
        return min(len(self.slots()), overlap)


def plan(merged: Merged, columns: int, seed: int) -> Sets:
    """Find the sets to move, and the first worlds."""
    random = np.random.default_rng(seed)
    worlds = random.integers(0, 2, (columns, merged.n_variables), np.uint8)
    enumerated = States(merged.space, merged.n_variables)
    sets: list[tuple[Indices, Truth]] = []
    kept: list[int] = []
    for own, blocks, laws in _components(merged.space):
        try:
            scope, rows = _joint(enumerated, own, blocks, laws)
        except TooManyStatesError:
            kept += laws
            sets += _small_sets(enumerated, own, laws)
            worlds[:, own] = _world(merged.space, blocks, laws, merged.n_variables)[own]
            continue
        if not len(rows):
            _refuse()
        sets.append((scope, rows))
        worlds[:, scope] = rows[random.integers(0, len(rows), columns)]
    # Variables of events about which nothing is said stay as they are.
    told = merged.functions.variables[np.repeat(merged.known(), merged.sizes())]
    loose = np.setdiff1d(told, np.flatnonzero(enumerated.tied))
    sets += [(np.array([v]), np.array([[0], [1]], np.uint8)) for v in loose.tolist()]
    laws_left = merged.space.laws.take(np.array(kept, np.int64))
    return Sets([own for own, _ in sets], [rows for _, rows in sets], laws_left, worlds)


def _joint(states: States, own: Indices, blocks: list[int], laws: list[int]) -> tuple[Indices, Truth]:
    """The variables that laws tie together, or a single block, with the possible states."""
    if laws:
        return own, states.of(own)
    block = states.space.blocks[blocks[0]]
    return block.variables.astype(np.int64), block.states


def _components(space: Space) -> list[tuple[Indices, list[int], list[int]]]:
    """The variables, blocks and laws that laws connect."""
    starts, members = space.rows()
    count = int(members.max(initial=-1)) + 1
    label = _core.connected_rows(starts, members.astype(np.int32), count)
    blocks = len(space.blocks)
    found = []
    for c in range(int(label.max(initial=-1)) + 1):
        rows = np.flatnonzero(label == c).tolist()
        own = np.unique(np.concatenate([members[starts[i] : starts[i + 1]] for i in rows])).astype(np.int64)
        found.append((own, [i for i in rows if i < blocks], [i - blocks for i in rows if i >= blocks]))
    return found


def _small_sets(states: States, own: Indices, laws: list[int]) -> list[tuple[Indices, Truth]]:
    """Each block and variable, and for each law its variables and those of linked laws while their states are few."""
    found = {tuple(scope.tolist()): (scope, rows) for scope, rows in states.pieces(own)}
    for i in laws:
        grown = _grown(states, i)
        if grown is not None:
            found.setdefault(tuple(grown[0].tolist()), grown)
    return list(found.values())


def _grown(states: States, law: int) -> tuple[Indices, Truth] | None:
    """The variables of a law, and of laws linked to it, added one by one while their states are few."""
    best = None
    scope, waiting, seen = np.empty(0, np.int64), [law], {law}
    for _ in range(TUNING.most_linked):
        if not waiting:
            break
        scope = np.union1d(scope, states.space.laws.of(waiting.pop(0))).astype(np.int64)
        try:
            rows = states.of(scope)
        except TooManyStatesError:
            break
        if best is not None and len(rows) > TUNING.few_states:
            break
        best = (scope, rows)
        linked = [i for v in scope.tolist() for i in states.laws[v] if i not in seen]
        waiting += dict.fromkeys(linked)
        seen.update(linked)
    return best


def _world(space: Space, blocks: list[int], laws: list[int], count: int) -> Truth:
    """A world that obeys some blocks and laws."""
    some = space.laws.take(np.array(laws, np.int64))
    chosen = [space.blocks[i] for i in blocks]
    atoms = [block.variables for block in chosen]
    ordered = [block.form is BlockForm.CHAIN and len(block.variables) > 1 for block in chosen]
    found = _core.satisfy(
        some.handle(count),
        some.truth.astype(np.uint8),
        np.cumsum([0, *map(len, atoms)], dtype=np.int64),
        np.concatenate([np.empty(0, np.int32), *atoms]),
        np.array(ordered, np.uint8),
        np.array([block.form is BlockForm.EXACTLY_ONE for block in chosen], np.uint8),
        np.full(count, -1, np.int8),
    )
    return _refuse() if found is None else found


def _refuse() -> NoReturn:
    raise ContradictionError("no world obeys the laws")


def terms_of(merged: Merged) -> tuple[NDArray[np.int32], Vector]:
    """Conditionals, intervals and pins in the form of the kernel.

    One row each: the coordinates of E & H and H, whether these are turned, and whether it is a pin; the ends and the
    weight.
    """
    given, inner, limits = merged.terms.conditionals, merged.terms.intervals, merged.terms.limits
    hard = TUNING.penalty * (float(merged.weight.sum() + given.weight.sum() + inner.weight.sum()) or 1.0)
    mean = np.nan_to_num(given.mean)
    rows = [
        (given.joint, given.condition, 0, mean, mean, given.weight),
        (*merged.terms.of_intervals(), 0, inner.low, inner.high, inner.weight),
        (limits.joint, limits.condition, 1, limits.low, limits.high, np.full(len(limits), hard)),
    ]
    about = [
        np.stack(np.broadcast_arrays(joint.coordinate, condition.coordinate, joint.turned, condition.turned, pin), 1)
        for joint, condition, pin, *_ in rows
    ]
    said = [np.stack(numbers, axis=1) for _, _, _, *numbers in rows]
    return np.concatenate(about).astype(np.int32), np.concatenate(said)
