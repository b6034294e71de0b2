"""From a panel's declarations and laws to the possible worlds of the variables that its forecasts are about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.panel.texts import SPARSE
from coherently.problem.functions import take_rows
from coherently.problem.spaces.pairwise_blocks import LEAST_EXCLUSIVE, pairwise_blocks, with_laws_inside
from coherently.problem.spaces.space import FREE, Block, LawFunctions, Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.events import Choice
    from coherently.panel import Panel


def possible(panel: Panel) -> Space:
    """The possible worlds of all variables of the panel's events.

    A law that exactly or at most one of some variables is true makes a block of them, if no other block has any; and so
    do laws of which each says so of two.

    >>> from coherently.panel import Panel
    >>> possible(Panel.from_records([("Ann", "p", 0.5)])).is_free
    True
    """
    choices = panel.events.choices()
    if not choices and not len(panel.laws):
        return FREE
    blocks = [_declared(choice) for choice in choices]
    side = panel.laws.side
    functions = (*panel.events.supports(side // 2), *panel.events.tables(side // 2))
    laws = LawFunctions(*functions, truth=side % 2 == 0)
    taken = {v for block in blocks for v in block.variables.tolist()}
    rest = []
    sizes = laws.sizes()
    likely = ((sizes > 1) & (laws.truth | (sizes >= LEAST_EXCLUSIVE))).tolist()
    for i in range(len(laws)):
        complete = _exclusive(laws, i) if likely[i] else None
        if complete is None:
            rest.append(i)
            continue
        own = laws.of(i)
        if not taken.isdisjoint(own.tolist()):
            rest.append(i)
        else:
            blocks.append(Block.one_of(own, complete=complete))
            taken.update(own.tolist())
    left = laws.take(np.array(rest, np.int64))
    declared = len(choices)
    made, left = with_laws_inside(blocks[declared:] + pairwise_blocks(left, taken), left)
    return Space((*blocks[:declared], *made), left)


def _declared(choice: Choice) -> Block:
    """The block of a declared variable: of a quantity, a chain of thresholds."""
    if choice.ordered:
        return Block.chain(choice.atoms)
    return Block.one_of(choice.atoms, complete=choice.complete, unnamed=len(choice.values) - len(choice.atoms))


def _exclusive(laws: LawFunctions, i: int) -> bool | None:
    """Whether a law is that exactly one of its variables is true (True), at most one (False), or neither (None)."""
    size = len(laws.of(i))
    truth = bool(laws.truth[i])
    literals, bits = laws.decoded(i)
    wanted = np.zeros(size + 1, np.bool_)
    wanted[1] = True
    if not truth:
        wanted = ~wanted
        wanted[0] = False
    if not len(literals):
        wanted = wanted[np.bitwise_count(np.arange(2**size))]
    return truth if literals.all() and np.array_equal(bits, wanted) else None


@dataclass(frozen=True, slots=True, eq=False)
class Numbering:
    """Variables numbered from 0, separately for each owner, with their possible worlds.

    `keys` are owner * `count` + variable, ascending: a variable's number is its place there. `pins` lists the owners
    and numbers of the pins about their variables.
    """

    count: int
    keys: NDArray[np.int64]
    space: Space
    pins: tuple[NDArray[np.int64], NDArray[np.int64]]

    @property
    def origin(self) -> NDArray[np.int32]:
        """The panel's variable behind each."""
        return (self.keys % self.count).astype(np.int32)

    def number(self, owner: NDArray[np.int64], variable: NDArray[np.int32]) -> NDArray[np.int32]:
        """The numbers of owners' variables."""
        key, size = owner * self.count + variable, int(self.keys[-1]) + 1 if len(self.keys) else 0
        if size > SPARSE * len(key):
            return np.searchsorted(self.keys, key).astype(np.int32)
        place = np.empty(size, np.int32)
        place[self.keys] = np.arange(len(self.keys))
        found: NDArray[np.int32] = place[key]
        return found


def number_variables(panel: Panel, owner: NDArray[np.int64], variable: NDArray[np.int32]) -> Numbering:
    """Number the variables of the owners' forecasts, and those that laws and pins tie to them."""
    count = panel.events.n_variables or 1
    used = _distinct(owner * count + variable)
    space, pins = possible(panel), panel.laws.pins
    none = np.empty(0, np.int64)
    if space.is_free and not len(pins):
        return Numbering(count, used, FREE, (none, none))
    starts, members = _ties(panel, space)
    copy_owner, copy = _copies(starts, members, used, count)
    sizes, own = take_rows(starts, members, copy)
    keys = _distinct(np.concatenate([used, np.repeat(copy_owner, np.diff(sizes)) * count + own]))
    blocks, laws = len(space.blocks), len(space.laws)

    def number(which: NDArray[np.bool_], start: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return copy_owner[which], copy[which] - start

    block_owner, block = number(copy < blocks, 0)
    law_owner, law = number((copy >= blocks) & (copy < blocks + laws), blocks)
    some = space.laws.take(law)
    place = np.searchsorted(keys, np.repeat(law_owner, np.diff(some.starts)) * count + some.variables)
    local = tuple(
        space.blocks[b].renumbered(np.searchsorted(keys, who * count + space.blocks[b].variables))
        for who, b in zip(block_owner.tolist(), block.tolist(), strict=True)
    )
    return Numbering(
        count, keys, Space(local, some.renumbered(place.astype(np.int32))), number(copy >= blocks + laws, blocks + laws)
    )


def _distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct keys, none below 0, ascending."""
    size = int(keys.max(initial=-1)) + 1
    if size > SPARSE * len(keys):
        return np.unique(keys, return_counts=True)[0]  # without counts, NumPy loads its masked arrays first: 15 ms
    present = np.zeros(size, np.bool_)
    present[keys] = True
    return np.flatnonzero(present)


def _ties(panel: Panel, space: Space) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The variables that each block, then each law, then each pin ties together."""
    starts, members = space.rows()
    pins = panel.laws.pins
    coordinates = np.stack([pins.event, pins.condition], axis=1).ravel() // 2
    more, own = panel.events.supports(coordinates.astype(np.int32))
    return np.concatenate([starts, starts[-1] + more[2::2]]), np.concatenate([members, own]).astype(np.int32)


def _copies(
    starts: NDArray[np.int64], members: NDArray[np.int32], used: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ties that are connected to the variables of each owner: owners and ties, by owner and component."""
    label = _core.connected_rows(starts, members, count).astype(np.int64)
    home = np.full(count, -1, np.int64)
    home[members] = np.repeat(label, np.diff(starts))
    there = home[used % count]
    labels = int(label.max(initial=-1)) + 1
    touched = _distinct((used // count * labels + there)[there >= 0])
    order = np.argsort(label, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=labels))]).astype(np.int64)
    sizes, copies = take_rows(first, order, touched % max(1, labels))
    return np.repeat(touched // max(1, labels), np.diff(sizes)), copies
