"""Which forecasts come true together: those about the same variables, or about variables that laws or clusters tie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from coherently.panel import Panel


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What is independent: variables. Those that laws, a declaration or a cluster tie together are one unit.

    `starts` and `members` list the units of each event as written; `count` is their number.
    """

    starts: NDArray[np.int64]
    members: NDArray[np.int64]
    count: int

    def of(self, event: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of a place in `event` and a unit of the event that stands there."""
        sizes = np.diff(self.starts)[event]
        place = np.repeat(np.arange(len(event)), sizes)
        first = np.repeat(self.starts[:-1][event] - (np.cumsum(sizes) - sizes), sizes)
        return place, self.members[first + np.arange(len(place))]

    def sets(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Number the sets of units: the set of each event, and the size of each set."""
        # Sums of random numbers of 64 bits tell sets apart; overflow wraps around.
        marks = np.random.default_rng(0).integers(0, 2**64, self.count, np.uint64, endpoint=False)
        ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(marks[self.members], dtype=np.uint64)])[self.starts]
        _, first, number = np.unique(np.diff(ends), return_index=True, return_inverse=True)
        return number.ravel(), np.diff(self.starts)[first]


def units_of(panel: Panel, label: NDArray[np.int64] | None = None) -> Units:
    """The units that the panel's events mention; `label` has the cluster of each event as written, -1 for none.

    >>> from coherently.panel import Panel
    >>> units = units_of(Panel.from_records([("Ann", "p", 0.5), ("Ann", "p & q", 0.2), ("Ann", "p & ~q", 0.2)]))
    >>> units.count, units.starts.tolist(), units.members.tolist()
    (2, [0, 1, 3, 5], [0, 0, 1, 0, 1])
    """
    written, events = panel.written, panel.events
    starts, variables = events.supports(np.stack([written.event, written.condition], axis=1).ravel() // 2)
    event = np.repeat(np.arange(len(written)), np.diff(starts[::2]))
    unit = _tied(panel, [] if label is None else _of_clusters(label, event, variables))[variables]
    pairs = np.unique(np.stack([event, unit]), axis=1)
    used, members = np.unique(pairs[1], return_inverse=True)
    ends = np.cumsum(np.bincount(pairs[0], minlength=len(written)))
    return Units(np.concatenate([[0], ends]), members.ravel(), len(used))


def clusters_of(panel: Panel, label: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """The cluster of each event as written: events are in one that share variables, directly, by laws or by others.

    `label` has clusters that the user states, -1 for none: events of one of these hang together, too. An event without
    variables, which logic settles, is alone.

    >>> from coherently.panel import Panel
    >>> rows = [("Ann", text, 0.5) for text in ("p", "p & q", "r", "q | ~q", "s")]
    >>> clusters_of(Panel.from_records(rows, laws=["s -> r"])).tolist()
    [0, 0, 1, 2, 1]
    """
    written, events = panel.written, panel.events
    starts, variables = events.supports(np.stack([written.event, written.condition], axis=1).ravel() // 2)
    event = np.repeat(np.arange(len(written)), np.diff(starts[::2]))
    rows = np.split(variables, np.cumsum(np.bincount(event, minlength=len(written)))[:-1])
    tied = _tied(panel, rows if label is None else [*rows, *_of_clusters(label, event, variables)])
    alone = len(tied) + np.arange(len(written))
    own = np.array([tied[row[0]] if len(row) else alone[i] for i, row in enumerate(rows)], np.int64)
    _, first, number = np.unique(own, return_index=True, return_inverse=True)
    place: NDArray[np.int64] = np.argsort(np.argsort(first))
    return place[number.ravel()]


class UnitSets(NamedTuple):
    """What intervals leave out where parts of a panel hang together: sets of units, and the set of each event.

    `events` has the number of the set of each event as written, `units` the units of each set.
    """

    events: NDArray[np.int64]
    units: tuple[tuple[int, ...], ...]

    def with_checks(self, checks: Iterable[Sequence[int]]) -> tuple[UnitSets, NDArray[np.int64]]:
        """The sets with those of checks, each a few events, and the set of each check: all units of its events."""
        number = {units: place for place, units in enumerate(self.units)}
        found = []
        for check in checks:
            union = tuple(sorted({unit for event in check for unit in self.units[self.events[event]]}))
            found.append(number.setdefault(union, len(number)))
        return UnitSets(self.events, tuple(number)), np.array(found, np.int64)


def unit_sets(panel: Panel, label: NDArray[np.int64] | None = None) -> UnitSets:
    """Clusters as units; but if one has more than half of the forecasts, its variables are, as in `units_of`.

    >>> from coherently.panel import Panel
    >>> rows = [("Ann", text, 0.5) for text in ("p", "q", "p & q", "r", "r & s")]
    >>> unit_sets(Panel.from_records(rows))
    UnitSets(events=array([0, 1, 2, 3, 3]), units=((0,), (1,), (0, 1), (2,)))
    >>> unit_sets(Panel.from_records(rows[1:]))
    UnitSets(events=array([0, 0, 1, 1]), units=((0,), (1,)))
    """
    cluster = clusters_of(panel, label)
    answers = np.bincount(cluster[panel.event_index], minlength=1)
    largest = int(answers.argmax())
    if 2 * answers[largest] <= len(panel):
        return UnitSets(cluster, tuple((unit,) for unit in range(len(answers))))
    units = units_of(panel, label)
    own = [
        tuple(units.members[first:end].tolist()) if inside else (-1 - number,)
        for first, end, inside, number in zip(
            units.starts[:-1], units.starts[1:], cluster == largest, cluster.tolist(), strict=True
        )
    ]
    unit = {old: new for new, old in enumerate(dict.fromkeys(each for event in own for each in event))}
    renamed = [tuple(unit[each] for each in event) for event in own]
    number = {units_: place for place, units_ in enumerate(dict.fromkeys(renamed))}
    return UnitSets(np.array([number[units_] for units_ in renamed], np.int64), tuple(number))


def _of_clusters(
    label: NDArray[np.int64], event: NDArray[np.int64], variables: NDArray[np.int32]
) -> list[NDArray[np.int32]]:
    """The variables of the events of each cluster; `event` and `variables` are pairs of an event and its variable."""
    order = np.argsort(label[event], kind="stable")
    cluster = label[event][order]
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))  # events without a cluster come first, with -1
    return np.split(variables[order], starts)[1:]


def _tied(panel: Panel, more: list[NDArray[np.int32]]) -> NDArray[np.int64]:
    """Label each variable with the set that laws, declarations and rows of variables, `more`, tie it to."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    starts, members = panel.events.supports(panel.laws.side // 2)
    rows = [members[a:b] for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)]
    rows += [*more, *(choice.atoms for choice in panel.events.choices())]
    count = len(panel.events.variables)
    none = np.empty(0, np.int64)
    first = np.concatenate([none, *(np.broadcast_to(row[:1], max(len(row) - 1, 0)) for row in rows)])
    other = np.concatenate([none, *(row[1:] for row in rows)])
    ties = coo_array((np.ones(len(first)), (first, other)), (count, count))
    label: NDArray[np.int64] = connected_components(ties, directed=False)[1]
    return label.astype(np.int64)
