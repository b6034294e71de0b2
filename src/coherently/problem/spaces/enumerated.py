"""All possible worlds of a small component, and how many each stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem.problem import Merged


def possible_worlds(merged: Merged, most: int) -> NDArray[np.bool_] | None:
    """The possible worlds, one row each and one column per variable; None if more than `most` would have to be tried.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> merged = pose(Panel.from_records([("Ann", "p & q", 0.5)])).merged
    >>> possible_worlds(merged, 4).astype(int).tolist(), possible_worlds(merged, 3)
    ([[0, 0], [1, 0], [0, 1], [1, 1]], None)
    """
    space, n = merged.space, merged.n_variables
    tied = {v for block in space.blocks for v in block.variables.tolist()}
    factors = [(np.array([v]), np.array([[0], [1]], np.uint8)) for v in range(n) if v not in tied]
    factors += [(block.variables, block.states) for block in space.blocks]
    worlds = np.zeros((1, n), np.bool_)
    for variables, states in factors:
        if len(worlds) * len(states) > most:
            return None
        worlds = np.tile(worlds, (len(states), 1))
        worlds[:, variables] = np.repeat(states, len(worlds) // len(states), axis=0).astype(np.bool_)
    laws = space.laws
    if not len(laws):
        return worlds
    obeyed: NDArray[np.bool_] = (laws.hold(worlds) == laws.truth).all(axis=1)
    return worlds[obeyed]


def multiplicity(merged: Merged, worlds: NDArray[np.bool_]) -> NDArray[np.float64]:
    """How many worlds each of some stands for: no event distinguishes declared values that none mentions.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> panel = Panel.from_records([("Ann", "w = a", 0.5)], laws=["variable w: a, b, c, d"])
    >>> merged = pose(panel).merged
    >>> multiplicity(merged, possible_worlds(merged, 2)).tolist()
    [1.0, 3.0]
    """
    found = np.ones(len(worlds))
    for block in merged.space.blocks:
        last = (worlds[:, block.variables] == block.states[-1]).all(axis=1)
        found[last] *= block.unnamed
    return found
