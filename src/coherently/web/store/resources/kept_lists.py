"""Lists of a panel that are read with every page, kept in memory for as long as no change concerns them.

The table of changes says whether that is so: changes are noted in the transaction that makes them, also those of other
processes, and whoever looks up the last one sees all that were before.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from sqlalchemy import bindparam, func, select

from coherently.web.store.database.schema import change

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from coherently.web.store.database.database import Database

Records = TypeVar("Records")
KEPT = 64
"""Maximum number of panels whose list is kept."""
STALE = 3_600.0
"""Seconds after which a list is read again that nobody looked at: changes are kept for a week only."""
FEW = 1_000
"""Maximum number of changes that are looked through."""
OTHERS = frozenset({"answers", "hand-in", "meant", "comments", "outcomes", "aggregation", "round", "judges"})
"""Kinds of changes after which questions and laws are as before."""
OWN = change.c.panel == bindparam("its_panel")
LAST = select(func.max(change.c.id)).where(OWN)
SINCE = select(change.c.kind).where(OWN, change.c.id > bindparam("seen")).limit(FEW)


class _ListAtChange(NamedTuple, Generic[Records]):
    """A list as it was at a change, and when that was last known to be so."""

    seen: int
    known_at: float
    records: Records


class KeptLists(Generic[Records]):
    """The list of each panel as `read` finds it."""

    def __init__(self, database: Database, read: Callable[[Connection, str], Records]) -> None:
        self._database, self._find, self._lock = database, read, threading.Lock()
        self._kept: OrderedDict[str, _ListAtChange[Records]] = OrderedDict()

    def get(self, panel: str) -> Records:
        """The list as it is in this moment of the store; inside of a write it is read, and not kept."""
        if self._database.is_writing:
            return self._database.read(lambda connection: self._find(connection, panel))
        return self._database.read(lambda connection: self._look(connection, panel))

    def _look(self, connection: Connection, panel: str) -> Records:
        last = connection.scalar(LAST, {"its_panel": panel}) or 0
        with self._lock:
            known = self._kept.get(panel)
        is_known = known is not None and time.monotonic() - known.known_at < STALE
        if known is None or not is_known or not _is_same(connection, panel, known.seen, last):
            known = _ListAtChange(last, 0.0, self._find(connection, panel))
        with self._lock:
            self._kept[panel] = known._replace(seen=last, known_at=time.monotonic())
            self._kept.move_to_end(panel)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return known.records


def _is_same(connection: Connection, panel: str, seen: int, last: int) -> bool:
    """Whether nothing happened between two changes that concerns the list."""
    if seen >= last:
        return seen == last  # a moment from before the list was read has another one
    kinds = connection.scalars(SINCE, {"its_panel": panel, "seen": seen}).all()
    return len(kinds) < FEW and OTHERS.issuperset(kinds)
