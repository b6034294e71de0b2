"""The possible worlds of a component as the core wants them, with one of them to begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.errors import MethodError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem import Merged, Space


def core_space(part: Merged) -> _core.Space | None:
    """The space of a component, with a witness; None where every truth assignment is a world."""
    if part.space.is_free:
        return None
    space = without_witness(part.space, part.n_variables)
    if not space.find_witness():
        raise MethodError(
            f"no world that obeys the {len(part.space.laws)} laws of a component was found; leave some laws out"
        )
    return space


def without_witness(space: Space, n_variables: int) -> _core.Space:
    """The space in the core's arrays."""
    blocks, laws = space.blocks, space.laws
    return _core.Space(
        n_variables,
        _starts([len(block.variables) for block in blocks]),
        np.concatenate([np.empty(0, np.int32), *(block.variables for block in blocks)]).astype(np.int32),
        _starts([block.states.size for block in blocks]),
        np.concatenate([np.empty(0, np.uint8), *(block.states.ravel() for block in blocks)]).astype(np.uint8),
        laws.starts,
        laws.variables,
        laws.table_starts,
        laws.tables,
        laws.truth.astype(np.uint8),
    )


def _starts(sizes: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
