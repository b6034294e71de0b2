"""What pictures show, as plain numbers: for matplotlib here, and for the pages of `coherently.report`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.problem import pose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.panel import Panel
    from coherently.problem import Merged
    from coherently.result import Result

DRAWN = 24
"""Variables up to which a graph is drawn."""
ROUNDING = 9
"""Digits of a change that count: the rest is rounding."""
ON_EACH_SIDE = 0.5
"""How far from the middle the ring of variables lies: the picture is the unit square."""


@dataclass(frozen=True, slots=True, eq=False)
class Adjustments:
    """The events that moved most, an entry each, the largest change first; `total` counts all events with a change."""

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
    """Variables on a ring, and groups of events: those that are about the same variables.

    `place` has the two coordinates of each variable in the unit square. A group is its variables, by number, in
    `members`, and what it is made of in `events`: texts of events, laws or declarations.
    """

    names: tuple[str, ...]
    place: NDArray[np.float64]
    members: tuple[tuple[int, ...], ...]
    events: tuple[tuple[str, ...], ...]

    def centre(self, group: int) -> NDArray[np.float64]:
        """The middle of a group's variables."""
        middle: NDArray[np.float64] = self.place[list(self.members[group])].mean(axis=0)
        return middle


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
    """The variables of a panel and the groups of its events, laws and declarations; refused if too many to draw."""
    merged = pose(panel).merged
    used = np.unique(merged.variables)
    if len(used) > DRAWN:
        raise MethodError(f"the panel is about {len(used):,} variables; a graph of more than {DRAWN} cannot be read")
    groups = _groups(panel, merged)
    number = {variable: i for i, variable in enumerate(used.tolist())}
    members = tuple(tuple(number[v] for v in variables if v in number) for variables in groups)
    names = panel.events.variables
    return Graph(
        tuple(panel.labels.get(names[v], names[v]) for v in merged.origin[used].tolist()),
        _ring(len(used), members),
        members,
        tuple(map(tuple, groups.values())),
    )


def _groups(panel: Panel, merged: Merged) -> dict[tuple[int, ...], list[str]]:
    """What is said about two variables or more, by the variables."""
    texts = _texts(panel)
    groups: dict[tuple[int, ...], list[str]] = {}
    cuts = merged.starts.tolist()
    for coordinate in np.flatnonzero(merged.sizes() > 1).tolist():
        variables = tuple(merged.variables[cuts[coordinate] : cuts[coordinate + 1]].tolist())
        text = texts.get(int(merged.event[coordinate]) // 2)
        groups.setdefault(variables, []).extend([] if text is None else [panel.labels.get(text, text)])
    if not merged.space.is_free:
        starts, rows = merged.space.rows()
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            groups.setdefault(tuple(sorted(rows[first:last].tolist())), []).append("law")
    return groups


def _texts(panel: Panel) -> dict[int, str]:
    """The first text of each coordinate that was forecast."""
    texts: dict[int, str] = {}
    for side, text in zip(panel.written.event.tolist(), panel.written.text, strict=True):
        texts.setdefault(side // 2, text)
    return texts


def _ring(count: int, groups: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Places on a ring, variables of one group near each other: ordered by the Fiedler vector of the graph."""
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
