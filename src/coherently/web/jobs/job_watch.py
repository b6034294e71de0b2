"""A worker: claims jobs from the table, makes them, and keeps watch over time, memory and the wish to stop."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError
from coherently.web.access.logbook import LOG
from coherently.web.jobs.aggregation_job import make
from coherently.web.jobs.memory import memory_taken
from coherently.web.store import ConflictError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.web.store import AggregationRecord, Store

LEASE = 15.0
"""Seconds for which a job is a worker's; a worker that lives prolongs it long before."""
WATCH = 0.25
"""Seconds between two looks at time and memory."""
TELL = 1.0
"""Seconds between two notes of progress in the table, which also prolong the lease and read the wish to stop."""
GRACE = 30.0
"""Seconds after the time limit, which a method keeps by itself, until the process is ended."""
DEFAULT_LIMITS = {"seconds": 60.0, "memory": 4_000_000_000}
"""Limits of a job that has none of its own."""


class JobWatch:
    """Whether a job should stop, and why; `is_set` is what a solver asks.

    A job goes queued -> running -> done, failed or cancelled, and every step is a transaction of the table, which says
    whose the job is. Running is a lease: a worker that lives prolongs it with each note, one that was killed does not,
    and then another may claim the job. A worker that was only slow learns of that by a `ConflictError`: it has lost the
    job (`is_lost`), stops, and tells the table nothing more, so that a job is never ended twice. `is_cancelled` is the
    wish of a person, `reason` a limit; the thread that looks only sets these, and only the thread that works ends the
    job, unless it does not stop by itself (`_give_up`).
    """

    def __init__(self, store: Store, job: AggregationRecord, worker: str, stopping: threading.Event) -> None:
        self._store, self._job, self._worker, self._stopping = store, job, worker, stopping
        limits = DEFAULT_LIMITS | job.limits
        self.seconds, self.memory = float(limits["seconds"]), int(limits["memory"])
        self.reason: str | None = None
        self.is_cancelled = self.is_lost = False
        self._ended = threading.Event()
        self._share, self._text = 0.0, ""
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> JobWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def is_set(self) -> bool:
        """Whether the work should stop."""
        return self.is_cancelled or self.is_lost or self.reason is not None or self._stopping.is_set()

    def tell(self, share: float, text: str) -> None:
        """Note how far the work is; the table learns it within a second."""
        self._share, self._text = max(self._share, share), text

    def _look(self) -> None:
        begun, told = time.monotonic(), 0.0
        while not self._ended.wait(WATCH):
            now = time.monotonic()
            if memory_taken() > self.memory and self.reason is None:
                self.reason = f"It took more than {self.memory:,} bytes of memory, which is the limit."
            overdue = now - begun > self.seconds + GRACE
            if overdue and self.reason is None:
                self.reason = f"It took more than {self.seconds:g} seconds, which is the limit."
            if overdue or memory_taken() > 1.25 * self.memory:
                self._give_up()
            if now - told >= TELL and not self.is_lost:
                told = now
                self._note()

    def _note(self) -> None:
        try:
            record = self._store.aggregations.progress(self._job.id, self._worker, self._share, self._text, LEASE)
            self.is_cancelled = self.is_cancelled or record.cancel_requested
        except ConflictError:
            self.is_lost = True
        except StoreError as error:
            LOG.warning("progress not noted", extra={"values": {"job": self._job.id, "error": str(error)}})

    def _give_up(self) -> None:
        """End the process with a job that does not stop by itself; another process takes its place."""
        try:
            self._store.aggregations.fail(self._job.id, self._worker, self.reason or "It did not stop.")
        finally:
            os._exit(1)


def run_next(store: Store, worker: str, stopping: threading.Event | None = None) -> bool:
    """Claim the next job and make it; False if there is none."""
    job = store.aggregations.claim(worker, LEASE)
    if job is None:
        return False
    begun = time.monotonic()
    with JobWatch(store, job, worker, stopping or threading.Event()) as watch:
        end = _ending(store, job, worker, watch)
    # The watch has ended here: no note of progress can come after the last word on the job.
    try:
        end()
    except ConflictError:
        LOG.warning("job lost", extra={"values": {"job": job.id}})
        return True
    seconds = round(time.monotonic() - begun, 2)
    LOG.info("job", extra={"values": {"job": job.id, "version": job.version, "seconds": seconds}})
    return True


def _ending(store: Store, job: AggregationRecord, worker: str, watch: JobWatch) -> Callable[[], object]:
    """Do the work; what to tell the table then."""
    table = store.aggregations
    try:
        options = {**job.options, "title": store.panels.get(job.panel).title}
        made = make(table.inputs(job.id), options, watch.seconds, cancel=watch, tell=watch.tell)
    except MemoryError:
        return lambda: table.fail(job.id, worker, f"It took more memory than the limit of {watch.memory:,} bytes.")
    except CoherentlyError as error:
        message = str(error)
        return lambda: table.fail(job.id, worker, message)
    except Exception:
        LOG.exception("job fault", extra={"values": {"job": job.id}})
        return lambda: table.fail(job.id, worker, "The workbench made a mistake, which its log describes.")
    if watch.reason is not None:
        reason = watch.reason
        return lambda: table.fail(job.id, worker, reason)
    if made is None:
        return lambda: table.stopped(job.id, worker) if watch.is_cancelled else None
    return lambda: table.finish(job.id, worker, made.result, made.summary)
