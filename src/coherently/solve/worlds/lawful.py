"""The possible worlds of a component as the core wants them, with one of them to begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently import _core
from coherently.errors import MethodError
from coherently.problem import broken_symmetry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem import Merged, Space


MOST_STATES = 2**22
"""States of a junction tree up to which the best world is found by dynamic programming."""
FEW_VARIABLES = 14
"""Variables whose truth assignments are all looked at, whatever the events."""
FEWER = 16
"""By how much symmetry must make the states of a junction tree fewer."""


class CoreSpace(NamedTuple):
    """The possible worlds, None where every truth assignment is one; `reduced` where symmetry leaves only some."""

    space: _core.Space | None
    reduced: bool


def core_space(part: Merged) -> CoreSpace:
    """The space of a component, with a witness.

    Where variables may change places and that makes worlds far fewer, only those few are in the space: they have all
    truth vectors that there are.
    """
    space = None if part.space.is_free else without_witness(part.space, part.n_variables)
    fewer = _fewer_worlds(part, space) if part.n_variables > FEW_VARIABLES else None
    if fewer is not None:
        return CoreSpace(fewer, True)
    if space is not None and not space.find_witness():
        raise MethodError(
            f"no world that obeys the {len(part.space.laws)} laws of a component was found; leave some laws out"
        )
    return CoreSpace(space, False)


def _fewer_worlds(part: Merged, space: _core.Space | None) -> _core.Space | None:
    """The space that symmetry makes far quicker to search by dynamic programming, or makes searchable at all."""
    broken = broken_symmetry(part)
    if broken is None:
        return None
    fewer = without_witness(broken, part.n_variables)
    cost, least = (_core.elimination_cost(part.handle, MOST_STATES, some) for some in (space, fewer))
    return fewer if least < cost / FEWER and fewer.find_witness() else None


def without_witness(space: Space, n_variables: int) -> _core.Space:
    """The space in the core's arrays."""
    blocks, laws = space.blocks, space.laws
    return _core.Space(
        _starts([len(block.variables) for block in blocks]),
        np.concatenate([np.empty(0, np.int32), *(block.variables for block in blocks)]).astype(np.int32),
        _starts([block.states.size for block in blocks]),
        np.concatenate([np.empty(0, np.uint8), *(block.states.ravel() for block in blocks)]).astype(np.uint8),
        laws.handle(n_variables),
        laws.truth.astype(np.uint8),
    )


def _starts(sizes: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
