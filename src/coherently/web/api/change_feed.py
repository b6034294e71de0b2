"""Changes of panels, read once for all who listen, and handed to each."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from coherently.web.access.logbook import LOG
from coherently.web.refusals import too_many
from coherently.web.store import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Gauge

    from coherently.web.store import ChangeRecord, Store

POLL = 0.3
"""Seconds between two looks for changes that other processes made; own changes are seen at once."""
PAGE = 1_000
"""Number of changes that are read at a time."""
WAITING = 2_000
"""Maximum number of changes that wait for one listener; one who is slower is let go, and comes back by itself."""


class StreamListener:
    """One open stream: changes of one panel, in order."""

    def __init__(self, panel: str) -> None:
        self.panel = panel
        self.changes: asyncio.Queue[ChangeRecord | None] = asyncio.Queue(WAITING)

    def give(self, change: ChangeRecord | None) -> None:
        """Hand over a change; None, or too many of them, ends the stream."""
        with suppress(asyncio.QueueFull):
            self.changes.put_nowait(change)
            return
        while not self.changes.empty():
            self.changes.get_nowait()
        self.changes.put_nowait(None)


class ChangeFeed:
    """Reads the table of changes while anybody listens."""

    def __init__(self, store: Store, streams: int, gauge: Gauge) -> None:
        self._store, self._most, self._gauge = store, streams, gauge
        self._listeners: set[StreamListener] = set()
        self._open: dict[str, int] = {}
        self._wake, self._ready = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.closed = False

    def check_room(self, caller: str) -> None:
        """Refuse one stream too many of one caller."""
        if self._open.get(caller, 0) >= self._most:
            raise too_many("streams", self._most, "Close a page of the workbench.")

    @contextmanager
    def listening(self, panel: str, caller: str) -> Iterator[StreamListener]:
        """Listen to a panel."""
        listener = StreamListener(panel)
        self._open[caller] = self._open.get(caller, 0) + 1
        self._listeners.add(listener)
        self._gauge.inc()
        if self._task is None or self._task.done():
            self._ready.clear()
            self._task = asyncio.create_task(self._read())
        try:
            yield listener
        finally:
            self._listeners.discard(listener)
            self._gauge.dec()
            self._open[caller] -= 1
            if not self._open[caller]:
                del self._open[caller]

    async def ready(self) -> None:
        """Wait until changes are read: what the table has then, a listener reads from it without a gap."""
        await self._ready.wait()

    async def _read(self) -> None:
        self._loop = loop = asyncio.get_running_loop()

        def wake() -> None:
            loop.call_soon_threadsafe(self._wake.set)

        unsubscribe = self._store.changes.subscribe(wake)
        try:
            seen = await run_in_threadpool(self._store.changes.last)
            self._ready.set()
            while self._listeners and not self.closed:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), POLL)
                self._wake.clear()
                seen = await self._pass_on(seen)
        finally:
            self._ready.set()
            unsubscribe()

    async def _pass_on(self, seen: int) -> int:
        try:
            found = await run_in_threadpool(self._store.changes.after, None, seen, PAGE)
        except StoreError as error:
            LOG.warning("changes not read", extra={"values": {"error": str(error)}})
            return seen
        by_panel: dict[str, list[StreamListener]] = {}
        for listener in self._listeners:
            by_panel.setdefault(listener.panel, []).append(listener)
        for change in found:
            for listener in by_panel.get(change.panel, ()):
                listener.give(change)
        if len(found) == PAGE:
            self._wake.set()
        return found[-1].id if found else seen

    def close(self) -> None:
        """End all streams; this may be called from any thread."""
        self.closed = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._let_go)

    def _let_go(self) -> None:
        for listener in list(self._listeners):
            listener.give(None)
        self._wake.set()
