"""Groups of coordinates that are made coherent together: the design parameter of the paper.

A design is a function from `Merged` to `Groups`. Groups are projected in the order in which their complex events
first appear in the panel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.errors import MethodError
from coherently.problem.functions import decode
from coherently.problem.groups.restricted import (
    GroupDraft,
    Setting,
    component_drafts,
    logical_drafts,
    ordered,
    pair_drafts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from coherently.problem.functions import Functions
    from coherently.problem.problem import Merged

MAX_VARIABLES = 10
"""Maximum number of variables of a group if all truth assignments are worlds: its truth vectors are enumerated."""
Group: TypeAlias = "tuple[list[int], NDArray[np.float64]]"
"""A group while it is made: its members and their truth vectors, one row each."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Groups:
    """Groups in the order in which they are projected.

    Group g has the coordinates `members[starts[g]:starts[g + 1]]`; their coherent set is the convex hull of the
    rows of `patterns[pattern[g]]`, with one row per truth vector, or point of the unit cube, and one column per member.
    `auxiliary` is the number of coordinates that nobody forecast, which are numbered after those of the problem.
    """

    design: str
    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    pattern: NDArray[np.int32]
    patterns: tuple[NDArray[np.float64], ...]
    auxiliary: int = 0

    def __len__(self) -> int:
        return len(self.pattern)


def singletons(merged: Merged) -> Groups:
    """One group per event, which is linear averaging: only constant events are corrected."""
    # A constant is held as the event that is never true.
    constant = np.flatnonzero(merged.sizes() == 0).tolist()
    return number_patterns("singletons", [([i], np.zeros((1, 1))) for i in constant])


def is_plain(merged: Merged) -> bool:
    """Whether every truth assignment is a world and no forecast is conditional."""
    return merged.space.is_free and not len(merged.terms)


def drafted(design: str, setting: Setting, drafts: Sequence[GroupDraft]) -> Groups:
    """Make groups of drafts.

    If not every truth assignment is a world, they are put in order, and those are left out that do not restrict their
    one event.
    """
    if is_plain(setting.merged):
        return gather(design, setting, drafts)
    found = map(setting.group, ordered(setting, drafts))
    return number_patterns(design, (group for group in found if group[1].shape != (2, 1)))


def gather(design: str, setting: Setting, drafts: Sequence[GroupDraft]) -> Groups:
    """Make groups of drafts as they are, each with the pattern that its truth vectors give."""
    if is_plain(setting.merged):
        for draft in drafts:
            check_size(np.array(draft.members[:1]), np.array([len(draft.variables)]))
    return number_patterns(design, map(setting.group, drafts))


def logical(merged: Merged) -> Groups:
    """Each complex event with the variables that it is made of (the paper's Figure 3)."""
    if not is_plain(merged):
        setting = Setting(merged)
        return drafted("logical", setting, logical_drafts(setting))
    chosen = np.flatnonzero(merged.sizes() != 1)
    some = merged.functions.take(chosen)
    check_size(chosen, some.sizes())
    own = _coordinate_of_variable(merged)[some.variables]
    members = np.insert(own, some.starts[1:], chosen)  # the variables of each event, then the event
    place = np.append(0, np.cumsum(members >= 0))
    pattern = np.empty(len(some), np.int32)
    patterns: list[NDArray[np.float64]] = []
    for size in np.unique(some.sizes()).tolist():
        rows = np.flatnonzero(some.sizes() == size)
        number, found = _logical_patterns(some, rows, own[some.starts[rows][:, None] + np.arange(size)] >= 0)
        pattern[rows] = len(patterns) + number
        patterns += found
    starts = place[some.starts + np.arange(len(some) + 1)]
    return Groups(
        design="logical",
        starts=starts,
        members=members[members >= 0].astype(np.int32),
        pattern=pattern,
        patterns=tuple(patterns),
    )


def pairs(merged: Merged) -> Groups:
    """All events about the same two variables together; larger events as in `logical`."""
    setting = Setting(merged)
    return drafted("pairs", setting, pair_drafts(setting))


def everything(merged: Merged) -> Groups:
    """All events of a connected component together, which is the whole problem (the paper's Figure 2)."""
    setting = Setting(merged)
    return drafted("global", setting, component_drafts(setting))


def _coordinate_of_variable(merged: Merged) -> NDArray[np.int64]:
    """The coordinate of each single variable, -1 if nobody forecast it."""
    alone = np.flatnonzero(merged.sizes() == 1)
    found = np.full(merged.n_variables, -1, np.int64)
    found[merged.functions.variables[merged.functions.starts[alone]]] = alone
    return found


def check_size(coordinates: NDArray[np.int64], sizes: NDArray[np.int64]) -> None:
    """Refuse groups about too many variables; `coordinates` has the event of each."""
    if len(sizes) and sizes.max() > MAX_VARIABLES:
        worst = int(coordinates[np.argmax(sizes)])
        raise MethodError(
            f"the group of event number {worst + 1} is about {sizes.max()} variables; {MAX_VARIABLES} is the maximum "
            f"for enumerating truth vectors: leave such events out or choose another method"
        )


def all_worlds(count: int) -> NDArray[np.uint8]:
    """Every truth assignment of `count` variables: variable j has bit j of the row's number."""
    return (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.uint8)


def _logical_patterns(
    events: Functions, rows: NDArray[np.int64], present: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], list[NDArray[np.float64]]]:
    """The truth vectors of some events with those of their variables, equally many, that are present, numbered."""
    size, tables = present.shape[1], events.stacked_words(rows)
    mask = (present << np.arange(size)).sum(axis=1)
    key = np.concatenate([tables, mask[:, None].astype(np.uint64)], axis=1)
    _, first, number = np.unique(key, axis=0, return_index=True, return_inverse=True)
    worlds = all_worlds(size)
    every = (np.column_stack([worlds[:, present[i]], decode(tables[i], size)[1]]) for i in first.tolist())
    return number.ravel(), [np.unique(truth, axis=0).astype(np.float64) for truth in every]


def number_patterns(design: str, groups: Iterable[Group]) -> Groups:
    """Make groups of lists of coordinates and the truth vectors of each; equal matrices are one pattern."""
    numbers: dict[tuple[tuple[int, ...], bytes], int] = {}
    patterns: list[NDArray[np.float64]] = []
    members: list[list[int]] = []
    pattern = []
    for own, rows in groups:
        number = numbers.setdefault((rows.shape, rows.tobytes()), len(patterns))
        if number == len(patterns):
            patterns.append(rows)
        members.append(own)
        pattern.append(number)
    return Groups(
        design=design,
        starts=np.cumsum([0, *map(len, members)], dtype=np.int64),
        members=np.array([i for own in members for i in own], np.int32),
        pattern=np.array(pattern, np.int32),
        patterns=tuple(patterns),
    )
