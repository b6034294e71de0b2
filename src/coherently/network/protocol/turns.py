"""Which group has the values of an event next: the order of turns, which all keepers know without asking each other.

Every group has a clock. Its n-th tick comes at n, or, in gossip, after n random times of mean 1: a Poisson process, as
in the asynchronous model of Boyd, Ghosh, Prabhakar and Shah (2006). An event goes to its groups in the order of their
ticks, of equal ones in the order of groups. So the values are those of a loop over all groups in the order of their
ticks, although nobody waits for a group with which it shares no event, directly or through others; and since the order
is the same everywhere, no two groups wait for each other.
"""

from __future__ import annotations

import math
from heapq import heapify, heapreplace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coherently.network.protocol.node_plan import Agreement

_MASK, _GOLDEN = (1 << 64) - 1, 0x9E3779B97F4A7C15


class Clocks:
    """The ticks of groups, one after the other."""

    __slots__ = ("_random", "_seed", "_sweeps", "_tick")

    def __init__(self, groups: Iterable[int], agreement: Agreement) -> None:
        self._random, self._seed, self._sweeps = agreement.schedule == "gossip", agreement.seed, agreement.sweeps
        self._tick = dict.fromkeys(groups, 0.0)
        for group in self._tick:
            self.advance(group, 0)

    def tick(self, group: int) -> float:
        """When the next tick of a group comes."""
        return self._tick[group]

    def advance(self, group: int, done: int) -> float:
        """Go on to the tick after `done` ticks; after the last sweep none comes."""
        gap = exponential(self._seed, group, done) if self._random else 1.0
        self._tick[group] = math.inf if done == self._sweeps else self._tick[group] + gap
        return self._tick[group]


class Turns:
    """Every event of a keeper goes round its groups in the order of their ticks."""

    __slots__ = ("_clocks", "_events", "_line", "_missing")

    def __init__(
        self, groups: Mapping[int, tuple[int, ...]], events: Mapping[int, tuple[int, ...]], agreement: Agreement
    ) -> None:
        """Begin with `groups`, those of each event, and `events`, those of each group."""
        self._events, self._clocks = events, Clocks(events, agreement)
        self._line = {event: [(self._clocks.tick(g), g) for g in own] for event, own in groups.items()}
        for line in self._line.values():
            heapify(line)
        self._missing = {group: len(own) for group, own in events.items()}

    def known(self, event: int) -> list[int]:
        """Give an event to the group whose turn it is: that group, if it has all of its events now."""
        line = self._line[event]
        if not line:
            return []
        group = line[0][1]
        self._missing[group] -= 1
        return [] if self._missing[group] else [group]

    def freed(self, group: int, done: int) -> list[int]:
        """Take events back from a group that has had `done` turns: the groups that have all of theirs now."""
        tick, own = self._clocks.advance(group, done), self._events[group]
        self._missing[group] = len(own)
        found = []
        for event in own:
            heapreplace(self._line[event], (tick, group))
            found += self.known(event)
        return found

    def restore(self, done: Mapping[int, int]) -> None:
        """Go on from finished turns; no event is given to a group yet."""
        for group, count in done.items():
            for number in range(1, count + 1):
                self._clocks.advance(group, number)
        for event, line in self._line.items():
            self._line[event] = [(self._clocks.tick(group), group) for _, group in line]
            heapify(self._line[event])


def exponential(seed: int, group: int, number: int) -> float:
    """A random time of mean 1 that depends on nothing but its arguments (SplitMix64)."""
    mixed = (seed * 0xD1B54A32D192ED03 + group * _GOLDEN + number * 0x2545F4914F6CDD1D + _GOLDEN) & _MASK
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = ((mixed ^ mixed >> shift) * factor) & _MASK
    return -math.log(((mixed ^ mixed >> 31) + 1) / (_MASK + 2))
