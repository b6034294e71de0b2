"""Messages that are sent again until somebody answers."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

    from coherently.network.protocol.messages import Message

LONGEST = 4.0
"""The longest time between two sendings of a message, in units of the patience.

Who waits for an answer cannot know whether it was lost or must itself wait for others; a longer time would save
messages in the second case and hold up everybody in the first.
"""


class Retries:
    """Messages with the times at which they are due; the time between two sendings doubles, up to a limit.

    `_pending` is what counts: the last message of each key. Entries of the heap `_due` are not removed when a message
    is answered or replaced; each has a ticket, and one whose ticket is not the pending message's is passed over.
    """

    __slots__ = ("_due", "_patience", "_pending", "_ticket")

    def __init__(self, patience: float) -> None:
        self._patience, self._ticket = patience, 0
        self._pending: dict[Hashable, tuple[int, float, Message]] = {}
        self._due: list[tuple[float, int, Hashable]] = []

    def sent(self, key: Hashable, message: Message, now: float) -> None:
        """Remember a message that was sent now, in place of any with the same key."""
        self._add(key, message, now + self._patience, 2.0 * self._patience)

    def later(self, key: Hashable, message: Message, due: float) -> None:
        """Remember a message that is to be sent for the first time when it is due."""
        self._add(key, message, due, self._patience)

    def _add(self, key: Hashable, message: Message, due: float, wait: float) -> None:
        self._ticket += 1
        self._pending[key] = self._ticket, wait, message
        heapq.heappush(self._due, (due, self._ticket, key))

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
            self._add(key, message, now + wait, min(2.0 * wait, LONGEST * self._patience))
        return found
