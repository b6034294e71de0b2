"""The possible worlds of a component in the form of the core, with a first one."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently import _core
from coherently.errors import MethodError, counted
from coherently.problem import broken_symmetry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Truth
    from coherently.problem import Block, Merged, Space


MOST_ENTRIES = 2**31
"""Maximum number of truth values of the states of a block: one byte each."""
MOST_STATES = 2**22
"""Maximum number of states of a junction tree for dynamic programming."""
FEW_VARIABLES = 14
"""Up to this many variables, all truth assignments are tried, whatever the events."""
FEWER = 16
"""Minimum factor by which symmetry must reduce the states of a junction tree."""
NO_BLOCKS = np.zeros(1, np.int64), np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.uint8)
"""The arrays of a space that has only laws."""


class CoreSpace(NamedTuple):
    """The possible worlds, None if every truth assignment is one; `reduced` if symmetry leaves only some of them."""

    space: _core.Space | None
    reduced: bool


def core_space(part: Merged) -> CoreSpace:
    """The space of a component, with a witness.

    If variables are interchangeable and that makes worlds far fewer, only those few are in the space: they show every
    truth vector of the events.
    """
    space = None if part.space.is_free else without_witness(part.space, part.n_variables)
    fewer = _fewer_worlds(part, space) if part.n_variables > FEW_VARIABLES else None
    if fewer is not None:
        return CoreSpace(fewer, True)
    if space is not None and not space.find_witness():
        raise MethodError(
            f"no world that obeys the {counted(len(part.space.laws), 'law')} of a component was found; leave some out"
        )
    return CoreSpace(space, False)


def _fewer_worlds(part: Merged, space: _core.Space | None) -> _core.Space | None:
    """The space reduced by symmetry, if that makes dynamic programming far quicker or possible at all."""
    broken = broken_symmetry(part)
    if broken is None:
        return None
    fewer = without_witness(broken, part.n_variables)
    cost, least = (_core.elimination_cost(part.handle, MOST_STATES, some)[0] for some in (space, fewer))
    return fewer if least < cost / FEWER and fewer.find_witness() else None


def without_witness(space: Space, n_variables: int) -> _core.Space:
    """The space in the core's arrays."""
    _check_sizes(space.blocks)
    laws = space.laws
    return _core.Space(*block_arrays(space.blocks), laws.handle(n_variables), laws.truth.view(np.uint8))


def _check_sizes(blocks: Sequence[Block]) -> None:
    """Refuse states that memory cannot list, before they are."""
    for block in blocks:
        if (entries := block.n_states * len(block.variables)) > MOST_ENTRIES:
            raise MethodError(
                f"a variable of {counted(block.n_states, 'value')} is tied to other events in a way that needs a list "
                f"of its states, with {counted(entries, 'entry', 'entries')}; at most {MOST_ENTRIES:,} are allowed. "
                "Declare fewer values, or leave out the events and laws that tie it to others"
            )


def block_arrays(blocks: Sequence[Block]) -> tuple[Indices, NDArray[np.int32], Indices, Truth]:
    """The variables of blocks, and the truth values of these in each state, one block after the other."""
    if not blocks:
        return NO_BLOCKS
    return (
        _starts([len(block.variables) for block in blocks]),
        np.concatenate([block.variables for block in blocks]),
        _starts([block.n_states * len(block.variables) for block in blocks]),
        np.concatenate([block.states.ravel() for block in blocks]),
    )


def _starts(sizes: list[int]) -> Indices:
    return np.array([0, *accumulate(sizes)], np.int64)
