"""Messages that are sent again until somebody answers."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

    from coherently.network.protocol.messages import Message

LONGEST = 256.0
"""The longest time between two sendings of a message, in units of the patience."""


class Retries:
    """Messages with the times at which they are due; the time between two sendings doubles."""

    __slots__ = ("_due", "_patience", "_pending", "_ticket")

    def __init__(self, patience: float) -> None:
        self._patience, self._ticket = patience, 0
        self._pending: dict[Hashable, tuple[int, float, Message]] = {}
        self._due: list[tuple[float, int, Hashable]] = []

    def add(self, key: Hashable, message: Message, due: float, wait: float = 0.0) -> None:
        """Remember a message that is due at a time, in place of any with the same key."""
        self._ticket += 1
        self._pending[key] = self._ticket, wait or self._patience, message
        heapq.heappush(self._due, (due, self._ticket, key))

    def sent(self, key: Hashable, message: Message, now: float) -> None:
        """Remember a message that was sent now."""
        self.add(key, message, now + self._patience, 2 * self._patience)

    def drop(self, key: Hashable) -> None:
        """Forget a message: it was answered."""
        self._pending.pop(key, None)

    def deadline(self) -> float:
        """When the next message is due; infinite if none is."""
        due, pending = self._due, self._pending
        while due:
            known = pending.get(due[0][2])
            if known is not None and known[0] == due[0][1]:
                return due[0][0]
            heapq.heappop(due)
        return math.inf

    def take(self, now: float) -> list[Message]:
        """The messages that are due, which are to be sent now and will be due again."""
        found = []
        while self.deadline() <= now:
            key = heapq.heappop(self._due)[2]
            _, wait, message = self._pending[key]
            found.append(message)
            self.add(key, message, now + wait, min(2 * wait, LONGEST * self._patience))
        return found
