"""The truth of events along a list of worlds, as runs: event e holds from the world `first` up to the one before `end`.

Worlds that are listed by the state of a variable have events of its values, rungs and bins in one run, or a few. What
a table of truth would cost, worlds times events, runs cost in proportion to their number.

The probability of an event is the sum of the shares in its runs, and that of its complement the sum between them, so
that either has all its digits however small it is: no difference of sums is taken unless a run is long and in the
middle of the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.solve.component.structure.literal_order import sums_at

if TYPE_CHECKING:
    from coherently.arrays import Indices, Mask, Vector

SHORT = 64
"""Maximum length of a run in the middle whose shares are added one by one."""


class Stretches(NamedTuple):
    """Parts of rows: row `row` has `value` from place `first` up to the one before `end`."""

    row: Indices
    first: Indices
    end: Indices
    value: Vector

    def lengths(self, count: int) -> Indices:
        """The number of places in those of each of `count` rows."""
        found: Indices = np.bincount(self.row, self.end - self.first, count).astype(np.int64)
        return found

    def kept(self, rows: Mask) -> Stretches:
        """Those of some rows."""
        some = rows[self.row]
        return Stretches(self.row[some], self.first[some], self.end[some], self.value[some])

    def negated(self) -> Stretches:
        """The same with the other sign."""
        return Stretches(self.row, self.first, self.end, -self.value)

    def entries(self) -> tuple[Indices, Indices, Vector]:
        """The rows, places and values of all entries, one by one."""
        length = self.end - self.first
        return np.repeat(self.row, length), _places(self.first, length), np.repeat(self.value, length)


@dataclass(frozen=True, eq=False)
class EventRuns:
    """Runs of `n_events` events along `n_worlds` worlds, those of an event in a row and apart from each other."""

    event: Indices
    first: Indices
    end: Indices
    n_events: int
    n_worlds: int

    def counts(self) -> Indices:
        """The number of worlds in which each event holds."""
        return self.stretches().lengths(self.n_events)

    def probabilities(self, share: Vector) -> tuple[Vector, Vector]:
        """Those of the events and of their complements, with shares of the worlds that sum to 1."""
        before, after = np.append(0.0, np.cumsum(share)), np.append(np.cumsum(share[::-1])[::-1], 0.0)
        held, failed = (each.sums(share, before, after) for each in self._sums)
        return np.minimum(held, 1.0), np.minimum(failed, 1.0)

    def least(self, coefficients: Vector) -> float:
        """A lower bound on the sum of coefficients of events in any world, as good as rounding allows.

        Sums of n numbers, each made from the one before, are off by at most n units of rounding times the sum of their
        absolute values.
        """
        values = coefficients[self.event].astype(np.longdouble)
        steps = np.zeros(self.n_worlds + 1, np.longdouble)
        np.add.at(steps, self.first, values)
        np.subtract.at(steps, self.end, values)
        unit = float(np.finfo(np.longdouble).eps) * (2 * len(values) + self.n_worlds)
        rounding = 2.0 * unit * float(np.abs(values).sum()) + 2.0**-51 * float(np.abs(coefficients).sum())
        return float(np.cumsum(steps)[:-1].min()) - rounding

    def stretches(self) -> Stretches:
        """The runs, as rows of ones."""
        return Stretches(self.event, self.first, self.end, np.ones(len(self.event)))

    def complement(self) -> EventRuns:
        """Where the events do not hold."""
        event, size, every = self.event, self.n_events, np.arange(self.n_events)
        owner = np.concatenate([every, event])
        first = np.concatenate([np.zeros(size, np.int64), self.end])
        end = np.concatenate([self.first, np.full(size, self.n_worlds)])
        order, back = np.lexsort([first, owner]), np.lexsort([end, np.concatenate([event, every])])
        owner, first, end = owner[order], first[order], end[back]
        some = end > first
        return EventRuns(owner[some], first[some], end[some], n_events=size, n_worlds=self.n_worlds)

    def beside(self, others: EventRuns) -> EventRuns:
        """These events, and after them others of the same worlds."""
        event = np.concatenate([self.event, self.n_events + others.event])
        first, end = np.concatenate([self.first, others.first]), np.concatenate([self.end, others.end])
        return EventRuns(event, first, end, n_events=self.n_events + others.n_events, n_worlds=self.n_worlds)

    def take(self, events: Indices) -> EventRuns:
        """The runs of some events, in the order of an index."""
        by_event = np.argsort(self.event, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.event, minlength=self.n_events))])
        length = np.diff(starts)[events]
        run = by_event[_places(starts[events], length)]
        event, count = np.repeat(np.arange(len(events)), length), len(events)
        return EventRuns(event, self.first[run], self.end[run], n_events=count, n_worlds=self.n_worlds)

    def compared(self) -> Stretches:
        """Each event less the one before it, as rows of 1 and -1; the first event by itself."""
        later = self.event + 1 < self.n_events
        row = np.concatenate([self.event, self.event, self.event[later] + 1, self.event[later] + 1])
        place = np.concatenate([self.first, self.end, self.first[later], self.end[later]])
        ones, twos = np.ones(len(self.event)), np.ones(np.count_nonzero(later))
        step = np.concatenate([ones, -ones, -twos, twos])
        order = np.lexsort([place, row])
        row, place, level = row[order], place[order], np.cumsum(step[order])  # 0 again at the end of each row
        some = (level != 0) & (np.diff(place, append=0) > 0)
        return Stretches(row[some], place[some], np.append(place[1:], 0)[some], level[some])

    @cached_property
    def _sums(self) -> tuple[_RunSums, _RunSums]:
        return _run_sums(self), _run_sums(self.complement())


class _RunSums(NamedTuple):
    """Runs by the way in which their shares are added up: from the first world on, up to the last one, or between.

    `short` has the worlds of short runs in between, one after the other, and `owner` the event of each.
    """

    n_events: int
    head: tuple[Indices, Indices]
    tail: tuple[Indices, Indices]
    long: tuple[Indices, Indices, Indices]
    owner: Indices
    short: Indices

    def sums(self, share: Vector, before: Vector, after: Vector) -> Vector:
        """The sums of shares of each event, from those `before` and `after` each place."""
        event, first, end = self.long
        between = np.maximum(before[end] - before[first], 0.0)
        return sums_at(
            np.concatenate([self.head[0], self.tail[0], event, self.owner]),
            np.concatenate([before[self.head[1]], after[self.tail[1]], between, share[self.short]]),
            self.n_events,
        )


def _run_sums(runs: EventRuns) -> _RunSums:
    head = runs.first == 0
    tail = ~head & (runs.end == runs.n_worlds)
    length = runs.end - runs.first
    short, long = (~head & ~tail & some for some in (length <= SHORT, length > SHORT))
    return _RunSums(
        n_events=runs.n_events,
        head=(runs.event[head], runs.end[head]),
        tail=(runs.event[tail], runs.first[tail]),
        long=(runs.event[long], runs.first[long], runs.end[long]),
        owner=np.repeat(runs.event[short], length[short]),
        short=_places(runs.first[short], length[short]),
    )


def _places(first: Indices, length: Indices) -> Indices:
    """The places from each first one on, one stretch after the other."""
    found: Indices = np.repeat(first - (np.cumsum(length) - length), length) + np.arange(int(length.sum()))
    return found


def runs_of(truth: Mask) -> tuple[Indices, Indices, Indices]:
    """The event, the first world and the end of each run in a table with one row per world."""
    edges = np.zeros((truth.shape[1], len(truth) + 2), np.int8)
    edges[:, 1:-1] = truth.T
    steps = np.diff(edges, axis=1)
    event, first = np.nonzero(steps > 0)
    return event, first, np.nonzero(steps < 0)[1]
