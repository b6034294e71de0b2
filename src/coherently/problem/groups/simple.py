"""Groups of coordinates that are made coherent together: the design parameter of the paper.

A design is a function from `Merged` to `Groups`. Groups are projected in the order in which their complex events
first appear in the panel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.problem.groups.restricted import (
    GroupDraft,
    Setting,
    component_drafts,
    logical_drafts,
    ordered,
    pair_drafts,
    vectors,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from coherently.problem.problem import Merged

MAX_VARIABLES = 10
"""Maximum number of variables of a group if all truth assignments are worlds: its truth vectors are enumerated."""


@dataclass(frozen=True, slots=True, eq=False)
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
    constant = np.flatnonzero(merged.sizes() == 0)
    return gather("singletons", [[int(i)] for i in constant], merged)


def is_plain(merged: Merged) -> bool:
    """Whether every truth assignment is a world and no forecast is conditional."""
    return merged.space.is_free and not len(merged.terms)


def drafted(design: str, setting: Setting, drafts: Iterable[GroupDraft]) -> Groups:
    """Make groups of drafts, without those that do not restrict their one event."""
    found = [(draft.members, vectors(setting, draft)) for draft in ordered(setting, drafts)]
    told = [(members, rows) for members, rows in found if rows.shape != (2, 1)]
    return number_patterns(design, [members for members, _ in told], [rows for _, rows in told])


def logical(merged: Merged) -> Groups:
    """Each complex event with the variables that it is made of (the paper's Figure 3)."""
    if not is_plain(merged):
        setting = Setting(merged)
        return drafted("logical", setting, logical_drafts(setting))
    single = _coordinate_of_variable(merged)
    size = merged.sizes()
    chosen = np.flatnonzero(size != 1)
    check_size(chosen, size[chosen])
    blocks = [_logical_block(merged, chosen[size[chosen] == k], k, single) for k in np.unique(size[chosen]).tolist()]
    return _join("logical", blocks)


def pairs(merged: Merged) -> Groups:
    """All events about the same two variables together; larger events as in `logical`."""
    if not is_plain(merged):
        setting = Setting(merged)
        return drafted("pairs", setting, pair_drafts(setting))
    size = merged.sizes()
    complex_ = np.flatnonzero(size != 1)
    alike: dict[tuple[int, ...], list[int]] = {}
    for coordinate in complex_.tolist():
        variables = tuple(merged.functions.of(coordinate).tolist())
        key = variables if len(variables) == 2 else (*variables, -1 - coordinate)
        alike.setdefault(key, []).append(coordinate)
    single = _coordinate_of_variable(merged)
    members = [[int(single[v]) for v in key if v >= 0 and single[v] >= 0] + events for key, events in alike.items()]
    return gather("pairs", members, merged)


def everything(merged: Merged) -> Groups:
    """All events of a connected component together, which is the whole problem (the paper's Figure 2)."""
    if not is_plain(merged):
        setting = Setting(merged)
        return drafted("global", setting, component_drafts(setting))
    component = merged.components()
    order = np.argsort(component, kind="stable")
    cuts = np.flatnonzero(np.diff(component[order])) + 1
    return gather("global", [part.tolist() for part in np.split(order, cuts) if len(part)], merged)


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


def _logical_block(merged: Merged, coordinates: NDArray[np.int64], size: int, single: NDArray[np.int64]) -> _Batch:
    """The logical groups of events with the same number of variables, all at once."""
    variables = merged.functions.variables[merged.functions.starts[coordinates][:, None] + np.arange(size)]
    own = single[variables]
    present = own >= 0
    tables = merged.functions.stacked_words(coordinates)
    mask = (present << np.arange(size)).sum(axis=1) if size else np.zeros(len(coordinates), np.int64)
    key = np.concatenate([tables, mask[:, None].astype(np.uint64)], axis=1)
    _, first, pattern = np.unique(key, axis=0, return_index=True, return_inverse=True)
    worlds = all_worlds(size)
    patterns = []
    for i in first.tolist():
        truth = unpack(tables[i], 2**size)
        patterns.append(np.unique(np.column_stack([worlds[:, present[i]], truth]), axis=0).astype(np.float64))
    all_members = np.column_stack([own, coordinates])
    kept = all_members >= 0
    return _Batch(coordinates, kept.sum(axis=1), all_members[kept].astype(np.int32), pattern.ravel(), patterns)


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """Some groups with their keys for ordering; `members` lie group after group."""

    order: NDArray[np.int64]
    sizes: NDArray[np.int64]
    members: NDArray[np.int32]
    pattern: NDArray[np.int64]
    patterns: list[NDArray[np.float64]]


def _join(design: str, blocks: Sequence[_Batch]) -> Groups:
    """Put blocks together in the order of their keys."""
    if not blocks:
        return Groups(design, np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32), ())
    order = np.argsort(np.concatenate([block.order for block in blocks]), kind="stable")
    sizes = np.concatenate([block.sizes for block in blocks])
    members = np.concatenate([block.members for block in blocks])
    begin = np.concatenate([[0], np.cumsum(sizes)[:-1]])[order]
    starts = np.concatenate([[0], np.cumsum(sizes[order])])
    index = np.arange(starts[-1]) + np.repeat(begin - starts[:-1], sizes[order])
    offsets = np.cumsum([0] + [len(block.patterns) for block in blocks[:-1]])
    pattern = np.concatenate([block.pattern + offset for block, offset in zip(blocks, offsets, strict=True)])
    patterns = tuple(matrix for block in blocks for matrix in block.patterns)
    return Groups(design, starts, members[index], pattern[order].astype(np.int32), patterns)


def gather(design: str, members: list[list[int]], merged: Merged) -> Groups:
    """Make groups of lists of coordinates, each with the pattern that their truth tables give."""
    if is_plain(merged):
        return number_patterns(design, members, [_truth_vectors(merged, group) for group in members])
    setting = Setting(merged)
    drafts = [GroupDraft(group, tuple(sorted({v for i in group for v in setting.own[i]}))) for group in members]
    return number_patterns(design, members, [vectors(setting, draft) for draft in drafts])


def number_patterns(design: str, members: Sequence[Sequence[int]], matrices: Iterable[NDArray[np.float64]]) -> Groups:
    """Make groups of lists of coordinates and the truth vectors of each; equal matrices are one pattern."""
    patterns: dict[bytes, int] = {}
    distinct: list[NDArray[np.float64]] = []
    numbers = []
    for matrix in matrices:
        key = bytes(str(matrix.shape), "ascii") + matrix.tobytes()
        if key not in patterns:
            patterns[key] = len(distinct)
            distinct.append(matrix)
        numbers.append(patterns[key])
    sizes = [len(group) for group in members]
    return Groups(
        design,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array([i for group in members for i in group], np.int32),
        np.array(numbers, np.int32),
        tuple(distinct),
    )


def _truth_vectors(merged: Merged, group: list[int]) -> NDArray[np.float64]:
    """The distinct truth vectors of some coordinates, one row each."""
    own = [merged.functions.of(i) for i in group]
    variables = np.unique(np.concatenate(own)) if own else np.empty(0, np.int32)
    check_size(np.array(group[:1]), np.array([len(variables)]))
    worlds = all_worlds(len(variables))
    columns = []
    for coordinate, mine in zip(group, own, strict=True):
        table = unpack(merged.functions.words(coordinate), 2 ** len(mine))
        at = worlds[:, np.searchsorted(variables, mine)].astype(np.int64) @ (1 << np.arange(len(mine)))
        columns.append(table[at])
    return np.unique(np.column_stack(columns), axis=0).astype(np.float64)


def unpack(words: NDArray[np.uint64], count: int) -> NDArray[np.uint8]:
    """Give the bits of a truth table."""
    return np.unpackbits(words.astype("<u8").view(np.uint8), count=count, bitorder="little")
