"""Groups in colours: no two groups of a colour have an event in common, so they are projected at the same time.

Predd, Kulkarni, Poor and Osherson (2006) remark that disjoint groups need not wait for each other. A sweep goes colour
by colour; within a colour it does not matter which group comes first, so the answer is the same for every number of
threads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from coherently import _core
from coherently.engine.threads import count_threads
from coherently.values import Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem import Groups


Order: TypeAlias = Literal["appearance", "colours"]
"""Groups one after the other, as their events first appear, or sets of disjoint groups."""


@dataclass(frozen=True, slots=True, eq=False)
class Colours(Value):
    """Where each colour begins among the groups, with their number at the end; the groups of a colour share threads."""

    starts: NDArray[np.int64]
    threads: int


def by_order(order: Order, groups: Groups, coordinates: int, threads: int) -> tuple[Groups, Colours | None]:
    """The groups in the order in which they are projected, and how they share threads, if they do."""
    if order == "appearance":
        return groups, None
    found, starts = in_colours(groups, coordinates)
    return found, Colours(starts, count_threads(threads))


def in_colours(groups: Groups, coordinates: int) -> tuple[Groups, NDArray[np.int64]]:
    """The groups sorted by colour, each colour in the given order, and where each colour begins.

    The colour of a group is the first that no earlier group with a common event has. The last entry is the number of
    groups.
    """
    colour = _core.colour_groups(groups.starts, groups.members, coordinates)
    order = np.argsort(colour, kind="stable")
    sizes = np.diff(groups.starts)[order]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    place = np.arange(starts[-1]) + np.repeat(groups.starts[order] - starts[:-1], sizes)
    colours = np.concatenate([[0], np.cumsum(np.bincount(colour))]).astype(np.int64)
    return replace(groups, starts=starts, members=groups.members[place], pattern=groups.pattern[order]), colours
