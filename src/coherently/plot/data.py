"""What pictures show, as plain numbers: for matplotlib here, and for the pages of `coherently.report`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.panel.left_out import SINGLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.explain.influence import Influence
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
class Moves:
    """What is left out (rows) and how many points that moves events (columns); NaN where that is not known."""

    names: tuple[str, ...]
    events: tuple[str, ...]
    points: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Variables on a ring, and groups: events and laws that are about the same variables.

    `place` has the two coordinates of each variable in the unit square. For each group, `members` has the numbers of
    its variables, and `events` the texts of its events and laws. `more` variables hang together with these, and are not
    drawn.
    """

    names: tuple[str, ...]
    place: NDArray[np.float64]
    members: tuple[tuple[int, ...], ...]
    events: tuple[tuple[str, ...], ...]
    more: int = 0

    def centre(self, group: int) -> NDArray[np.float64]:
        """The middle of a group's variables, moved a little inwards, so that neighbours are not on one line."""
        middle: NDArray[np.float64] = self.place[list(self.members[group])].mean(axis=0)
        return middle + INWARDS * (0.5 - middle)


def largest_moves(table: Influence, kind: str, count: int) -> Moves:
    """The judges, events or laws that move most, the largest first, and the events that they move most."""
    if kind not in SINGLE:
        raise MethodError(f"kind is {kind!r}; it may be {', '.join(SINGLE)}")
    rows = [one for one in table.of_kind(kind) if not np.isnan(one.largest)][:count]
    moved = np.array([one.moved for one in rows]).reshape(len(rows), len(table.events))
    reach = np.nan_to_num(np.abs(moved)).max(axis=0, initial=0.0)
    shown = np.sort(np.argsort(-reach, kind="stable")[:count])
    events = tuple(table.events[i] for i in shown.tolist())
    return Moves(tuple(one.name for one in rows), events, 100.0 * moved[:, shown])


def largest_adjustments(result: Result, count: int) -> Adjustments:
    """The events whose probability moved most from the panel's mean, by their labels."""
    raw, value = result.problem.mean, result.solution.value
    change = np.nan_to_num(np.abs(value - raw)).round(ROUNDING)
    order = np.argsort(-change, kind="stable")[:count]
    order = order[change[order] > 0]
    texts, labels = result.panel.written.text, result.panel.labels
    named = tuple(labels.get(texts[i], texts[i]) for i in order.tolist())
    return Adjustments(named, raw[order], value[order], int(np.count_nonzero(change)))


def graph_of(panel: Panel, around: str | None = None) -> Graph:
    """The variables of a panel and the groups of its events and laws: all, or those `around` an event.

    Around an event are its variables, then those that share an event or a law with these, and so on, up to `DRAWN`; of
    those that are equally near, the ones that share most come first. `more` counts the variables that are left out.
    """
    names, number = _variables(panel)
    groups: dict[tuple[int, ...], list[str]] = {}
    for text, atoms in _statements(panel):
        own = tuple(sorted({number[atom] for atom in atoms}))
        if len(own) > 1:
            groups.setdefault(own, []).append(panel.labels.get(text, text))
    if around is None and len(names) > DRAWN:
        raise MethodError(
            f"the panel is about {len(names):,} variables; a graph of more than {DRAWN} cannot be read: "
            "around=EVENT draws the part around an event"
        )
    kept = list(range(len(names)))
    if around is not None:
        kept = _nearest(_own_variables(panel, around, names, number), groups, DRAWN)
    place = {variable: i for i, variable in enumerate(kept)}
    inside = {own: texts for own, texts in groups.items() if place.keys() >= set(own)}
    members = tuple(tuple(place[v] for v in own) for own in inside)
    named = tuple(panel.labels.get(names[v], names[v]) for v in kept)
    more = 0 if around is None else len(_nearest(kept, groups, len(names))) - len(kept)
    return Graph(
        names=named,
        place=_ring(len(kept), members),
        members=members,
        events=tuple(map(tuple, inside.values())),
        more=more,
    )


def _own_variables(panel: Panel, event: str, names: list[str], number: dict[int, int]) -> list[int]:
    """The variables of an event of the panel, by its text, however it is written, by its label, or by a variable."""
    by_label = {label: text for text, label in panel.labels.items()}
    text = by_label.get(event, event)
    if text in names:
        return [names.index(text)]
    reading = panel.events.find([text])
    if reading.faults:
        raise reading.faults[0].error(f"{event!r}: {reading.faults[0]}")
    known = [side for side in reading.sides[0].tolist() if side > 1]
    atoms = panel.events.supports(np.array(known, np.int32) // 2)[1].tolist() if known else []
    found = sorted({number[atom] for atom in atoms if atom in number})
    if not found:
        raise MethodError(f"nothing in the panel is about {event!r}: name an event of it, or a part of one")
    return found


def _nearest(start: Sequence[int], groups: dict[tuple[int, ...], list[str]], most: int) -> list[int]:
    """The variables that are reached from some through groups, nearest first, at most so many beyond the first."""
    kept, size = dict.fromkeys(start), max(most, len(start))
    while len(kept) < size:
        shared: dict[int, int] = {}
        for own, texts in groups.items():
            if not kept.keys().isdisjoint(own):
                for variable in own:
                    if variable not in kept:
                        shared[variable] = shared.get(variable, 0) + len(texts)
        if not shared:
            break
        ranked = sorted(shared, key=lambda variable: (-shared[variable], variable))
        kept |= dict.fromkeys(ranked[: size - len(kept)])
    return list(kept)


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
