"""Worlds that show what is possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently import _core
from coherently.problem import decode
from coherently.solve.worlds.distinct import distinct_worlds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.arrays import Mask, Truth
    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.worlds.oracle import Oracle


_EFFORT = (0, 1e-4)  # doublings of the length of a search, and the improvement at which it ends


class Examples(NamedTuple):
    """Worlds, and the doubtful events: they never hold, or never fail, here, but might in other worlds."""

    worlds: Truth
    doubtful: Mask


def example_worlds(part: Merged, oracle: Oracle, budget: Budget) -> Examples:
    """Worlds such that each event holds in one and fails in another, as far as these are found.

    Under laws they are the worlds of the mixture in which every event is as close to 1/2 as possible, and those that
    the oracle finds for the rest.
    """
    doubtful = np.zeros(len(part), np.bool_)
    if part.space.is_free:
        worlds = np.vstack([np.zeros(part.n_variables, np.uint8), *_true_examples(part)])
        return Examples(distinct_worlds(worlds)[0], doubtful)
    half = np.full(len(part), 0.5)
    core = _core.NearestMixture(part.handle, np.ones(len(part)), half, 0, oracle.space)
    while (seconds := budget.slice()) > 0 and not core.search(seconds, *_EFFORT):
        pass
    worlds = core.worlds()[1]
    found = [worlds]
    truth = part.functions.hold(worlds)
    seen: dict[bool, Mask] = {True: np.asarray(truth.any(axis=0)), False: np.asarray(~truth.all(axis=0))}
    for holds, shown in seen.items():
        for j in np.flatnonzero(~shown).tolist():
            if shown[j]:
                continue
            if budget.is_over():
                doubtful |= ~shown
                break
            world, may_be = _shown(part, oracle, j, budget, holds=holds)
            doubtful[j] |= may_be
            found.append(world[None])
            truth = part.functions.hold(world[None])[0]
            seen[True] |= truth
            seen[False] |= ~truth
    return Examples(distinct_worlds(np.vstack(found))[0], doubtful)


def _shown(part: Merged, oracle: Oracle, j: int, budget: Budget, *, holds: bool) -> tuple[Truth, bool]:
    """A world in which an event holds, or fails, if one is found; and whether there may be one that is not found."""
    coefficients = np.zeros(len(part))
    coefficients[j] = -1.0 if holds else 1.0
    lowest = min(0.0, coefficients[j])
    if not oracle.is_exact:
        world, value = oracle.search(coefficients, budget)
        if value <= lowest:
            return world, False
    least = oracle.least(coefficients, budget)
    # Sums are whole numbers: a bound past the middle rules out the smaller of the two.
    return least.world, least.value > lowest and least.bound <= lowest + 0.5


def _true_examples(part: Merged) -> list[Truth]:
    """A few worlds of which one makes each event true: events are false where all of their variables are.

    A world is made of true rows of events that have no variable in common, and makes others true by chance.
    """
    functions, worlds = part.functions, []
    left = np.flatnonzero(part.sizes() > 0)
    while len(left):
        world, free = np.zeros(part.n_variables, np.uint8), np.ones(part.n_variables, np.bool_)
        for j in left.tolist():
            own = functions.of(j)
            if free[own].all():
                world[own], free[own] = _satisfying(functions.words(j), len(own)), False
        worlds.append(world)
        left = left[~functions.hold(world[None])[0, left]]
    return worlds


def _satisfying(words: NDArray[np.uint64], size: int) -> Truth:
    """The truth of an event's variables in one of the rows of its table, or counts, that make it true."""
    literals, bits = decode(words, size)
    first = int(np.flatnonzero(bits)[0])
    if not len(literals):
        return (first >> np.arange(size) & 1).astype(np.uint8)
    truth = 1 - literals
    truth[:first] ^= 1
    return truth
