"""The worlds of a component that are few for its size: a declared variable with other variables beside it.

A variable of k values, a ladder or bins of k steps, and m other variables have at most k 2^m worlds. They are listed
factor by factor: a block is in one of its states, a variable beside blocks is true or false. After each factor, laws
whose variables are all known leave out what they forbid; and of worlds that agree on all events that are known and on
all variables that later events and laws need, one is kept: nothing tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from coherently.arrays import Indices, Mask, Truth, Vector
    from coherently.problem import Functions, Merged

MOST_ENTRIES = 2**26
"""Maximum size of the table of worlds and events, or of worlds and variables."""


@dataclass(frozen=True, slots=True, eq=False)
class ListedWorlds:
    """Possible worlds, one row each, and the truth of the events in these: every truth vector is there once."""

    worlds: Truth
    truth: Mask

    def __len__(self) -> int:
        return len(self.worlds)

    def least(self, coefficients: Vector) -> float:
        """A lower bound on the sum of coefficients of events in any world, as good as rounding allows."""
        return float((self.truth @ coefficients).min()) - 2.0**-49 * float(np.abs(coefficients).sum())


def listed_worlds(part: Merged, most: int) -> ListedWorlds | None:
    """The distinguishable worlds of a component; None if more than `most` would have to be looked at.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> panel = Panel.from_records([("Ann", "w = a | w = b & x", 0.5)], laws=["variable w: a, b, c"])
    >>> listed_worlds(pose(panel).merged, 6).worlds.tolist(), listed_worlds(pose(panel).merged, 3)
    ([[0, 0, 0], [1, 0, 1]], None)
    """
    most = min(most, MOST_ENTRIES // max(1, part.n_variables, len(part)))
    factors = _factors(part)
    home = np.empty(part.n_variables, np.int64)
    for number, factor in enumerate(factors):
        home[factor.variables] = number
    events, laws = _known_after(part.functions, home), _known_after(part.space.laws, home)
    worlds, label = np.zeros((1, part.n_variables), np.uint8), np.zeros(1, np.int64)
    for number, factor in enumerate(factors):
        count = len(factor.states)
        if len(worlds) * count > most:
            return None
        worlds, label = np.repeat(worlds, count, axis=0), np.repeat(label, count)
        worlds[:, factor.variables] = np.tile(factor.states, (len(worlds) // count, 1))
        lawful = _obeyed(part, np.flatnonzero(laws == number), worlds)
        worlds, label = worlds[lawful], label[lawful]
        new = part.functions.take(np.flatnonzero(events == number)).hold(worlds)
        later = _needed(part, home <= number, events > number, laws > number)
        label = _distinct(label, new)[1]
        kept = _distinct(label, worlds[:, later].astype(np.bool_))[0]
        worlds, label = worlds[kept], label[kept]
    return ListedWorlds(worlds, part.functions.hold(worlds))


class _Factor(NamedTuple):
    """Variables that are in one of some joint states."""

    variables: Indices
    states: Truth


def _factors(part: Merged) -> list[_Factor]:
    """Blocks, those of the most states first, then each other variable by itself."""
    blocks = sorted(part.space.blocks, key=lambda block: -block.n_states)
    beside = np.ones(part.n_variables, np.bool_)
    for block in blocks:
        beside[block.variables] = False
    both = np.array([[0], [1]], np.uint8)
    found = [_Factor(block.variables.astype(np.int64), block.states) for block in blocks]
    return found + [_Factor(np.array([v]), both) for v in np.flatnonzero(beside).tolist()]


def _known_after(functions: Functions, home: Indices) -> Indices:
    """The factor after which each function is known: the last of those that its variables are in."""
    if not len(functions):
        return np.empty(0, np.int64)
    found = np.zeros(len(functions), np.int64)
    np.maximum.at(found, np.repeat(np.arange(len(functions)), functions.sizes()), home[functions.variables])
    return found


def _obeyed(part: Merged, which: Indices, worlds: Truth) -> Mask:
    laws = part.space.laws.take(which)
    found: Mask = (laws.hold(worlds) == laws.truth).all(axis=1)
    return found


def _needed(part: Merged, known: Mask, events: Mask, laws: Mask) -> Indices:
    """The known variables that some of these events and laws are about."""
    used = np.zeros(part.n_variables, np.bool_)
    for functions, which in ((part.functions, events), (part.space.laws, laws)):
        used[functions.variables[np.repeat(which, functions.sizes())]] = True
    return np.flatnonzero(used & known)


def _distinct(label: Indices, truth: Mask) -> tuple[Indices, Indices]:
    """The first of the rows of each kind, by label and truth, and a new label for each row."""
    if not truth.shape[1]:
        _, first, number = np.unique(label, return_index=True, return_inverse=True)
        return first, number
    rows = np.hstack([label.astype("<i8").view(np.uint8).reshape(-1, 8), np.packbits(truth, axis=1)])
    whole = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, number = np.unique(whole, return_index=True, return_inverse=True)
    return first, number
