"""Which group may have the values of a keeper's events next: by turns, or whoever asks first.

Both make concurrent projections serialisable: while a group has the values of its events, nobody else changes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Access(Protocol):
    """Grants groups the events that a keeper has of them; a method returns the groups that are granted theirs now."""

    def known(self, event: int) -> list[int]:
        """The event has a value from now on."""

    def ask(self, group: int) -> list[int]:
        """The host of a group wants to have its events."""

    def freed(self, group: int) -> list[int]:
        """A group has given its events back."""

    def restore(self, done: Mapping[int, int], lent: Iterable[int], known: Iterable[int]) -> list[int]:
        """Go on from finished rounds, groups that have their events, and events with values."""


class Turns:
    """Every event goes round its groups in a fixed order.

    The order is the same at all keepers, so no two groups wait for each other, and the values are those of a loop over
    the groups in that order; groups without a common event do not wait for each other.
    """

    __slots__ = ("_events", "_groups", "_missing", "_turn")

    def __init__(self, groups: Mapping[int, tuple[int, ...]], events: Mapping[int, tuple[int, ...]]) -> None:
        """Begin with `groups`, those of each event in their order, and `events`, those of each group."""
        self._groups, self._events = groups, events
        self._turn = dict.fromkeys(groups, 0)
        self._missing = {group: len(own) for group, own in events.items()}

    def known(self, event: int) -> list[int]:
        """The event goes to the group whose turn it is."""
        groups = self._groups[event]
        if not groups:
            return []
        group = groups[self._turn[event]]
        self._missing[group] -= 1
        return [] if self._missing[group] else [group]

    def ask(self, group: int) -> list[int]:  # noqa: ARG002
        """Nothing is asked for: turns come by themselves."""
        return []

    def freed(self, group: int) -> list[int]:
        """Each event goes to its next group."""
        own = self._events[group]
        self._missing[group] = len(own)
        found = []
        for event in own:
            self._turn[event] = (self._turn[event] + 1) % len(self._groups[event])
            found += self.known(event)
        return found

    def restore(self, done: Mapping[int, int], lent: Iterable[int], known: Iterable[int]) -> list[int]:  # noqa: ARG002
        """Turns follow from the rounds that are finished."""
        for event, groups in self._groups.items():
            self._turn[event] = sum(done[group] for group in groups) % max(len(groups), 1)
        return [group for event in known for group in self.known(event)]


class Locks:
    """Groups get their events in the order in which they ask, all that the keeper has of them at once.

    Hosts ask keepers one after the other, in the order of their numbers, so no two groups wait for each other.
    """

    __slots__ = ("_events", "_holder", "_known", "_waiting")

    def __init__(self, events: Mapping[int, tuple[int, ...]]) -> None:
        """Begin with `events`, those of each group."""
        self._events = events
        self._holder: dict[int, int] = {}
        self._known: set[int] = set()
        self._waiting: list[int] = []

    def known(self, event: int) -> list[int]:
        """The event may be given away."""
        self._known.add(event)
        return self._grant()

    def ask(self, group: int) -> list[int]:
        """Wait in the line, once."""
        if group in self._waiting or self._holder.get(self._events[group][0]) == group:
            return []
        self._waiting.append(group)
        return self._grant()

    def freed(self, group: int) -> list[int]:
        """The events are free for whoever waits."""
        for event in self._events[group]:
            del self._holder[event]
        return self._grant()

    def restore(self, done: Mapping[int, int], lent: Iterable[int], known: Iterable[int]) -> list[int]:  # noqa: ARG002
        """Loans stand; who waited asks again."""
        self._known.update(known)
        granted = list(lent)
        self._holder.update((event, group) for group in granted for event in self._events[group])
        return granted

    def _grant(self) -> list[int]:
        """Those who wait get their events, unless somebody has one of them or waits longer for it."""
        found, taken = [], set()
        for group in self._waiting:
            own = self._events[group]
            if all(e in self._known and e not in self._holder and e not in taken for e in own):
                found.append(group)
                self._holder.update(dict.fromkeys(own, group))
            taken.update(own)
        if found:
            self._waiting = [group for group in self._waiting if group not in found]
        return found
