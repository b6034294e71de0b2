"""The connected components of a problem, each a problem of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from coherently.problem.problem import Merged

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A component: its coordinates in the whole, and itself with variables numbered from 0.

    The `origin` of `merged` is the whole problem's variable behind each of its variables.
    """

    coordinates: NDArray[np.int64]
    merged: Merged


def split(merged: Merged) -> list[Part]:
    """Take the components apart: events that share no variable, directly or through others, are independent.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> panel = Panel.from_records([("Ann", "p & q", 0.2), ("Ann", "r", 0.5), ("Ann", "q", 0.1)])
    >>> [part.coordinates.tolist() for part in split(pose(panel).merged)]
    [[0, 2], [1]]
    """
    component = merged.components()
    order = np.argsort(component, kind="stable")
    cuts = np.concatenate([[0], np.cumsum(np.bincount(component))])
    home = np.full(merged.n_variables, -1, np.int64)
    home[merged.variables] = np.repeat(component, merged.sizes())
    used = np.argsort(home, kind="stable")[np.count_nonzero(home < 0) :]
    own_cuts = np.concatenate([[0], np.cumsum(np.bincount(home[used], minlength=len(cuts) - 1))]).astype(np.int64)
    number = np.zeros(merged.n_variables, np.int64)
    number[used] = np.arange(len(used)) - own_cuts[home[used]]
    starts, variables = _rows(merged.starts, number[merged.variables].astype(np.int32), order)
    table_starts, tables = _rows(merged.table_starts, merged.tables, order)

    def part(c: int) -> Part:
        a, b = cuts[c], cuts[c + 1]
        mine = order[a:b]
        local = Merged(
            merged.event[mine],
            merged.condition[mine],
            merged.weight[mine],
            merged.mean[mine],
            starts[a : b + 1] - starts[a],
            variables[starts[a] : starts[b]],
            used[own_cuts[c] : own_cuts[c + 1]].astype(np.int32),
            table_starts[a : b + 1] - table_starts[a],
            tables[table_starts[a] : table_starts[b]],
        )
        return Part(mine, local)

    return [part(c) for c in range(len(cuts) - 1)]


def _rows(
    starts: NDArray[np.int64], values: NDArray[T], index: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[T]]:
    """Take rows of different lengths in the order of an index."""
    sizes = np.diff(starts)[index]
    new = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return new, values[np.arange(new[-1]) + np.repeat(starts[index] - new[:-1], sizes)]
