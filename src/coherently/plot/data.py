"""What pictures show, as plain numbers: for matplotlib here, and for the pages of `coherently.report`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.panel import Panel
    from coherently.result import Result

DRAWN = 24
"""Maximum number of variables for which a graph is drawn."""
ROUNDING = 9
"""Number of decimals of a change that count: the rest is rounding."""
INWARDS = 0.3
"""A group is drawn this fraction of the way from the middle of its variables to the middle of the ring."""
ON_EACH_SIDE = 0.5
"""The radius of the ring of variables: the picture is the unit square."""


@dataclass(frozen=True, slots=True, eq=False)
class Adjustments:
    """The events that moved most, one entry per event, the largest change first; `total` counts all changed events."""

    event: tuple[str, ...]
    raw: NDArray[np.float64]
    probability: NDArray[np.float64]
    total: int

    @property
    def change(self) -> NDArray[np.float64]:
        """How far each event moved, up or down."""
        return self.probability - self.raw


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Variables on a ring, and groups: events and laws that are about the same variables.

    `place` has the two coordinates of each variable in the unit square. For each group, `members` has the numbers of
    its variables, and `events` the texts of its events and laws.
    """

    names: tuple[str, ...]
    place: NDArray[np.float64]
    members: tuple[tuple[int, ...], ...]
    events: tuple[tuple[str, ...], ...]

    def centre(self, group: int) -> NDArray[np.float64]:
        """The middle of a group's variables, moved a little inwards, so that neighbours are not on one line."""
        middle: NDArray[np.float64] = self.place[list(self.members[group])].mean(axis=0)
        return middle + INWARDS * (0.5 - middle)


def largest_adjustments(result: Result, count: int) -> Adjustments:
    """The events whose probability moved most from the panel's mean, by their labels."""
    raw, value = result.problem.mean, result.solution.value
    change = np.nan_to_num(np.abs(value - raw)).round(ROUNDING)
    order = np.argsort(-change, kind="stable")[:count]
    order = order[change[order] > 0]
    texts, labels = result.panel.written.text, result.panel.labels
    named = tuple(labels.get(texts[i], texts[i]) for i in order.tolist())
    return Adjustments(named, raw[order], value[order], int(np.count_nonzero(change)))


def graph_of(panel: Panel) -> Graph:
    """The variables of a panel and the groups of its events and laws; refused if there are too many to draw."""
    names, number = _variables(panel)
    if len(names) > DRAWN:
        raise MethodError(f"the panel is about {len(names):,} variables; a graph of more than {DRAWN} cannot be read")
    groups: dict[tuple[int, ...], list[str]] = {}
    for text, atoms in _statements(panel):
        own = tuple(sorted({number[atom] for atom in atoms}))
        if len(own) > 1:
            groups.setdefault(own, []).append(panel.labels.get(text, text))
    members = tuple(groups)
    named = tuple(panel.labels.get(name, name) for name in names)
    return Graph(named, _ring(len(names), members), members, tuple(map(tuple, groups.values())))


def count_variables(panel: Panel) -> int:
    """How many variables a graph of the panel has."""
    return len(_variables(panel)[0])


def _variables(panel: Panel) -> tuple[list[str], dict[int, int]]:
    """The variables as the user knows them, and the place of each atom's variable; declared ones have many atoms."""
    names = panel.events.variables
    owner = {atom: choice.name for choice in panel.events.choices() for atom in choice.atoms.tolist()}
    places: dict[str, int] = {}
    number = {}
    for atom in np.unique(panel.events.supports(_sides(panel).ravel() // 2)[1]).tolist():
        number[atom] = places.setdefault(owner.get(atom, names[atom]), len(places))
    return list(places), number


def _sides(panel: Panel) -> NDArray[np.int32]:
    """One row per event or law: its side, and that of its condition."""
    written, laws = panel.written, panel.laws
    rows = [(written.event, written.condition), (laws.side, laws.side), (laws.pins.event, laws.pins.condition)]
    sides: NDArray[np.int32] = np.concatenate([np.column_stack(row) for row in rows]).astype(np.int32)
    return sides


def _statements(panel: Panel) -> Iterator[tuple[str, list[int]]]:
    """The text of each event and law, and its atoms."""
    texts = (*panel.written.text, *panel.laws.text, *panel.laws.pins.text)
    starts, members = panel.events.supports(_sides(panel).ravel() // 2)
    ends = starts[::2].tolist()
    for text, first, last in zip(texts, ends[:-1], ends[1:], strict=True):
        yield text, members[first:last].tolist()


def _ring(count: int, groups: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Places on a ring, with variables of one group near each other: ordered by the Fiedler vector of the graph."""
    laplacian = np.zeros((count, count))
    for group in groups:
        for a in group:
            for b in group:
                laplacian[a, b] -= a != b
                laplacian[a, a] += a != b
    order = np.argsort(np.linalg.eigh(laplacian)[1][:, 1].round(9), kind="stable") if count > 2 else np.arange(count)
    angle = np.empty(count)
    angle[order] = 2 * np.pi * np.arange(count) / max(count, 1) + np.pi
    return ON_EACH_SIDE + ON_EACH_SIDE * np.column_stack([np.cos(angle), np.sin(angle)])
