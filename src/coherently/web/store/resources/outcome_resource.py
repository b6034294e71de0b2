"""What became of events."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sqlalchemy import func, insert, select

from coherently.web.store.database.schema import outcome
from coherently.web.store.identifiers import now
from coherently.web.store.resources.change_resource import Resource, note_change
from coherently.web.store.resources.panel_resource import get_panel
from coherently.web.store.store_errors import StoreError
from coherently.web.store.store_records import OutcomeRecord

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from coherently.web.store.store_records import OutcomeValue

COLUMNS = (outcome.c.id, outcome.c.panel, outcome.c.event, outcome.c.outcome, outcome.c.note, outcome.c.time)


class OutcomeResource(Resource):
    """Outcomes, recorded and never changed; the last of a text holds."""

    def record(self, panel: str, event: str, value: OutcomeValue, note: str = "") -> OutcomeRecord:
        """Record what became of an event or of a declared variable; None takes the last outcome back."""
        if isinstance(value, float) and not math.isfinite(value):
            raise StoreError(f"an outcome is a finite number, not {value}")
        row = {"panel": panel, "event": event, "outcome": value, "note": note, "time": now()}

        def action(connection: Connection) -> OutcomeRecord:
            get_panel(connection, panel)
            number = connection.scalar(insert(outcome).returning(outcome.c.id), row)
            note_change(connection, panel, "outcomes", event=event)
            return OutcomeRecord(number or 0, panel, event, value, note, row["time"])  # type: ignore[arg-type]

        return self._write(action)

    def latest(self, panel: str) -> tuple[OutcomeRecord, ...]:
        """The outcomes that hold."""
        last = select(func.max(outcome.c.id)).where(outcome.c.panel == panel).group_by(outcome.c.event)
        query = select(*COLUMNS).where(outcome.c.id.in_(last)).order_by(outcome.c.id)

        def action(connection: Connection) -> tuple[OutcomeRecord, ...]:
            rows = (OutcomeRecord(*row) for row in connection.execute(query))
            return tuple(row for row in rows if row.outcome is not None)

        return self._read(action)

    def history(self, panel: str) -> tuple[OutcomeRecord, ...]:
        """All that was recorded, in order."""
        query = select(*COLUMNS).where(outcome.c.panel == panel).order_by(outcome.c.id)
        return self._read(lambda connection: tuple(OutcomeRecord(*row) for row in connection.execute(query)))
