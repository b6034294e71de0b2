"""What was made lately, for whoever asks for the same again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

Kept = TypeVar("Kept")


class Lately(Generic[Kept]):
    """What was asked for lately, so many of it."""

    def __init__(self, size: int) -> None:
        self._size, self._lock = size, threading.Lock()
        self._known: OrderedDict[Hashable, Kept] = OrderedDict()

    def get(self, key: Hashable) -> Kept | None:
        """What is known under a key."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def put(self, key: Hashable, value: Kept) -> None:
        """Keep something under a key."""
        with self._lock:
            self._known[key] = value
            while len(self._known) > self._size:
                self._known.popitem(last=False)
