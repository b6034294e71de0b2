"""What was made lately, for whoever asks for the same again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import wraps
from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

Kept = TypeVar("Kept")
Owner = TypeVar("Owner")


class Lately(Generic[Kept]):
    """What was asked for lately, so many of it, and at most so many `bytes` as `weigh` says; the last always stays."""

    def __init__(self, size: int, weigh: Callable[[Kept], int] = lambda _: 0, most: int = 0) -> None:
        self._size, self._weigh, self._most, self._lock = size, weigh, most, threading.Lock()
        self._known: OrderedDict[Hashable, Kept] = OrderedDict()
        self._bytes = 0

    def get(self, key: Hashable) -> Kept | None:
        """What is known under a key."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def put(self, key: Hashable, value: Kept) -> None:
        """Keep something under a key."""
        with self._lock:
            if key in self._known:
                self._bytes -= self._weigh(self._known.pop(key))
            self._known[key] = value
            self._bytes += self._weigh(value)
            while len(self._known) > 1 and (len(self._known) > self._size or self._bytes > self._most):
                self._bytes -= self._weigh(self._known.popitem(last=False)[1])


def kept_with_owner(make: Callable[[Owner], Kept]) -> Callable[[Owner], Kept]:
    """Make what belongs to a value once, and keep it for as long as that value is kept by somebody else.

    >>> class Sheet: pass
    >>> made = kept_with_owner(lambda sheet: [])
    >>> one = Sheet()
    >>> made(one) is made(one), made(one) is made(Sheet())
    (True, False)
    """
    known: WeakKeyDictionary[Owner, Kept] = WeakKeyDictionary()

    @wraps(make)
    def of(owner: Owner) -> Kept:
        found = known.get(owner)
        if found is None and owner not in known:
            found = known.setdefault(owner, make(owner))
        return found  # type: ignore[return-value]  # None only where that was made

    return of
