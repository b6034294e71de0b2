"""One writer: queued writes run in one transaction, each in a savepoint, and are acknowledged after COMMIT."""

from __future__ import annotations

import math
import queue
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from coherently.web.store.database.failures import plain_failure
from coherently.web.store.store_errors import StoreUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

Action: TypeAlias = "Callable[[Connection], Any]"
MOST = 256
"""Maximum number of writes in one transaction."""
CLOSED = "the store is closed"


class _Job:
    """A write that waits, and what became of it: nothing is told to anybody before `acknowledge`."""

    __slots__ = ("action", "error", "future", "value")

    def __init__(self, action: Action) -> None:
        self.action = action
        self.future: Future[Any] = Future()
        self.value: Any = None
        self.error: BaseException | None = None

    def run(self, connection: Connection) -> None:
        """Run in a savepoint; an error takes back only this write."""
        try:
            with connection.begin_nested():
                self.value = self.action(connection)
        except Exception as error:
            self.error = plain_failure(error, writing=True)
            if not _still_in_transaction(connection):
                raise

    def acknowledge(self) -> None:
        if self.error is None:
            self.future.set_result(self.value)
        else:
            self.future.set_exception(self.error)


def _still_in_transaction(connection: Connection) -> bool:
    """Whether the transaction is there: a full disk makes SQLite take all of it back."""
    if connection.invalidated:
        return False
    driver: Any = connection.connection.dbapi_connection
    return bool(getattr(driver, "in_transaction", True))


class GroupCommit:
    """The thread that writes. `committed` is called after each transaction that noted a change.

    The order is what makes "acknowledged" mean "on the disk": a write runs in a savepoint, the transaction of all that
    were queued is committed, only then is anybody told (`acknowledge`), and only then do readers hear of changes. What
    a write found out on its way (`_Job.value`, `_Job.error`) counts for nothing before COMMIT: if that fails, every
    write of the batch has failed, also one that had failed by itself, as it may have seen rows that are gone.

    `_closing` is held for putting a write into the queue and for closing it, never while a write runs: no write gets
    into a queue that nobody will read again, and nobody waits for the disk to be refused.

    `kept_at` is when the last transaction was on the disk, by the monotonic clock; minus infinity if it failed.
    """

    def __init__(self, engine: Engine, committed: Callable[[], None]) -> None:
        self._engine = engine
        self._committed = committed
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self.kept_at = -math.inf
        self._thread = threading.Thread(target=self._work, name="store writer", daemon=True)
        self._thread.start()

    def write(self, action: Action) -> Any:
        """Run an action in a transaction; when this returns, it is on the disk."""
        job = _Job(action)
        with self._closing:
            if self._closed:
                raise StoreUnavailableError(CLOSED)
            self._queue.put(job)
        return job.future.result()

    def close(self) -> None:
        """Write what is queued, then end."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        self._engine.dispose()

    def _work(self) -> None:
        is_last = False
        try:
            while not is_last:
                batch, is_last = self._next_batch()
                if batch:
                    self._commit(batch)
        finally:
            self._refuse_the_rest()

    def _refuse_the_rest(self) -> None:
        """Let nobody wait for a thread that has ended."""
        with self._closing:
            self._closed = True
            with suppress(queue.Empty):
                while True:
                    job = self._queue.get_nowait()
                    if job is not None:
                        job.future.set_exception(StoreUnavailableError(CLOSED))

    def _next_batch(self) -> tuple[list[_Job], bool]:
        """What is queued, at least one; and whether it is the last."""
        batch: list[_Job] = []
        job = self._queue.get()
        with suppress(queue.Empty):
            while job is not None:
                batch.append(job)
                if len(batch) == MOST:
                    return batch, False
                job = self._queue.get_nowait()
            return batch, True
        return batch, False

    def _commit(self, batch: list[_Job]) -> None:
        ran = changed = False
        try:
            with self._engine.begin() as connection:
                for job in batch:
                    job.run(connection)
                ran, changed = True, bool(connection.info.pop("changed", False))
        except BaseException as error:
            # Nothing of the batch was committed: a write that failed by itself may have seen others that are gone.
            for job in batch:
                job.error = plain_failure(error, writing=True, committing=ran)
        if any(isinstance(job.error, StoreUnavailableError) for job in batch):
            self.kept_at = -math.inf
        elif any(job.error is None for job in batch):
            self.kept_at = time.monotonic()
        # Those who wait first, then listeners: a listener is slow or fails at nobody's expense.
        for job in batch:
            job.acknowledge()
        if changed:
            self._committed()
