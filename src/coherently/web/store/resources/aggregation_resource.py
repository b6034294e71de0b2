"""Aggregations: versions of a panel's answer, and the jobs that make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, func, insert, or_, select, update

from coherently.web.store.database.schema import aggregation, columns, panel, read_record, read_records
from coherently.web.store.identifiers import after, new_id, now, read_time
from coherently.web.store.resources.change_resource import Resource, note_change
from coherently.web.store.resources.leases import is_over
from coherently.web.store.resources.panel_resource import get_panel
from coherently.web.store.store_errors import ConflictError, NotFoundError
from coherently.web.store.store_records import JOB_STATUSES, AggregationRecord

if TYPE_CHECKING:
    from sqlalchemy import Connection

SELECTED = select(*columns(AggregationRecord))
ATTEMPTS = 2
"""How often a job is begun: once more after its worker was lost."""
LOST = f"The worker that ran this was lost {ATTEMPTS} times, perhaps for lack of memory. Ask again with tighter limits."
UNDER_WAY = ("queued", "running")


def _get(connection: Connection, name: str) -> AggregationRecord:
    record = read_record(AggregationRecord, connection.execute(SELECTED.where(aggregation.c.id == name)))
    if record is None:
        raise NotFoundError("there is no such aggregation")
    return record


def _set(connection: Connection, name: str, **values: Any) -> AggregationRecord:
    connection.execute(update(aggregation).where(aggregation.c.id == name).values(values))
    record = _get(connection, name)
    told: dict[str, Any] = {"version": record.version, "status": record.status, "progress": record.progress}
    note_change(connection, record.panel, "aggregation", None, aggregation=name, **told)
    return record


class AggregationResource(Resource):
    """Versions are asked for, claimed by a worker for the time of a lease, and ended; they are never changed after."""

    def request(
        self,
        panel: str,
        options: dict[str, Any] | None = None,
        limits: dict[str, Any] | None = None,
        note: str = "",
        inputs: Any = None,
        as_of: str | None = None,
    ) -> AggregationRecord:
        """Queue the next version; `inputs` (plain values without ids) are what it is made from."""
        moment = now()
        made = AggregationRecord(
            id=new_id("a"),
            panel=panel,
            version=0,
            status="queued",
            options=options or {},
            limits=limits or {},
            note=note,
            as_of=moment if as_of is None else read_time(as_of),
            requested_at=moment,
        )

        def action(connection: Connection) -> AggregationRecord:
            get_panel(connection, panel)
            last = connection.scalar(select(func.max(aggregation.c.version)).where(aggregation.c.panel == panel))
            row = {**made.as_dict(), "version": (last or 0) + 1, "inputs": inputs}
            connection.execute(insert(aggregation), row)
            return _set(connection, made.id, status="queued")

        return self._write(action)

    def get(self, name: str) -> AggregationRecord:
        """The aggregation of an id."""
        return self._read(lambda connection: _get(connection, name))

    def list(self, panel: str) -> tuple[AggregationRecord, ...]:
        """All versions, the first one first."""
        query = SELECTED.where(aggregation.c.panel == panel).order_by(aggregation.c.version)
        return self._read(lambda connection: tuple(read_records(AggregationRecord, connection.execute(query))))

    def inputs(self, name: str) -> Any:
        """What the version is made from; None if nothing was given."""
        return self._read(lambda connection: _large(connection, name, "inputs"))

    def result(self, name: str) -> Any:
        """What came out."""

        def action(connection: Connection) -> Any:
            value = _large(connection, name, "result")
            if value is None:
                raise NotFoundError(f"the aggregation has no result: its status is {_get(connection, name).status!r}")
            return value

        return self._read(action)

    def waiting(self, panel: str | None = None, owner: str | None = None) -> int:
        """How many are queued or running: of a panel, of an account, or in all."""
        query = select(func.count()).select_from(aggregation).where(aggregation.c.status.in_(UNDER_WAY))
        if panel is not None:
            query = query.where(aggregation.c.panel == panel)
        if owner is not None:
            query = query.where(aggregation.c.panel.in_(_panels_of(owner)))
        return self._read(lambda connection: connection.scalar(query) or 0)

    def counts(self) -> dict[str, int]:
        """How many there are of each status, in all panels."""
        query = select(aggregation.c.status, func.count()).group_by(aggregation.c.status)
        counted = self._read(lambda connection: {row[0]: row[1] for row in connection.execute(query)})
        return {status: counted.get(status, 0) for status in JOB_STATUSES}

    def claim(self, worker: str, lease_seconds: float) -> AggregationRecord | None:
        """The next job, now of this worker until the lease is over; None if there is none.

        A job whose lease is over was lost with its worker: it is begun once more, then it has failed.
        """
        lost = and_(aggregation.c.status == "running", is_over(aggregation.c.lease_until, lease_seconds))
        ready = or_(aggregation.c.status == "queued", lost)
        # Within a millisecond the versions of a panel tell which was asked for first; ids are random.
        query = SELECTED.where(ready).order_by(aggregation.c.requested_at, aggregation.c.version, aggregation.c.id)
        if self._read(lambda connection: connection.execute(query.limit(1)).first()) is None:
            return None

        def action(connection: Connection) -> AggregationRecord | None:
            waiting = connection.execute(query.with_for_update(skip_locked=True))
            for job in tuple(read_records(AggregationRecord, waiting)):
                record = _begin(connection, job, worker, lease_seconds)
                if record is not None:
                    return record
            return None

        return self._write(action)

    def progress(
        self, name: str, worker: str, share: float, text: str = "", lease_seconds: float = 60
    ) -> AggregationRecord:
        """Say how far it is and prolong the lease; `cancel_requested` of the answer says whether to stop."""
        values = {"progress": min(max(share, 0.0), 1.0), "progress_text": text, "lease_until": after(lease_seconds)}
        return self._by_worker(name, worker, values)

    def finish(self, name: str, worker: str, result: Any, summary: dict[str, Any]) -> AggregationRecord:
        """Keep the result."""
        ended = {"status": "done", "progress": 1.0, "result": result, "summary": summary, "ended_at": now()}
        return self._by_worker(name, worker, ended)

    def fail(self, name: str, worker: str, error: str) -> AggregationRecord:
        """Note why there is no result."""
        return self._by_worker(name, worker, {"status": "failed", "error": error, "ended_at": now()})

    def stopped(self, name: str, worker: str) -> AggregationRecord:
        """Note that the worker stopped, as it was asked to."""
        return self._by_worker(name, worker, {"status": "cancelled", "ended_at": now()})

    def cancel(self, name: str) -> AggregationRecord:
        """End one that waits, and ask the worker of one that runs to stop."""

        def action(connection: Connection) -> AggregationRecord:
            old = _get(connection, name)
            if old.status == "queued":
                return _set(connection, name, status="cancelled", cancel_requested=True, ended_at=now())
            if old.status != "running":
                raise ConflictError(f"the aggregation has ended: its status is {old.status!r}")
            return _set(connection, name, cancel_requested=True)

        return self._write(action)

    def annotate(self, name: str, note: str) -> AggregationRecord:
        """Set the note of a version."""

        def action(connection: Connection) -> AggregationRecord:
            _get(connection, name)
            return _set(connection, name, note=note)

        return self._write(action)

    def _by_worker(self, name: str, worker: str, values: dict[str, Any]) -> AggregationRecord:
        def action(connection: Connection) -> AggregationRecord:
            old = _get(connection, name)
            if old.status != "running" or old.worker != worker:
                raise ConflictError(f"the aggregation is not of {worker!r} any more: its status is {old.status!r}")
            return _set(connection, name, **values)

        return self._write(action)


def _begin(connection: Connection, job: AggregationRecord, worker: str, seconds: float) -> AggregationRecord | None:
    """Give a job to a worker, or end it if that was asked for or tried too often."""
    if job.cancel_requested:
        _set(connection, job.id, status="cancelled", ended_at=now())
        return None
    if job.attempts >= ATTEMPTS:
        _set(connection, job.id, status="failed", error=LOST, ended_at=now())
        return None
    return _set(
        connection,
        job.id,
        status="running",
        worker=worker,
        lease_until=after(seconds),
        attempts=job.attempts + 1,
        started_at=now(),
        progress=0.0,
        progress_text="",
    )


def _large(connection: Connection, name: str, column: str) -> Any:
    row = connection.execute(select(aggregation.c[column]).where(aggregation.c.id == name)).first()
    if row is None:
        raise NotFoundError("there is no such aggregation")
    return row[0]


def _panels_of(owner: str) -> Any:
    return select(panel.c.id).where(panel.c.owner == owner)
