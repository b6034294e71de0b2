"""What became of events."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select

from coherently.web.store.database.schema import columns, outcome, read_records
from coherently.web.store.identifiers import now
from coherently.web.store.resources.change_resource import Resource, note_change
from coherently.web.store.resources.panel_resource import get_panel
from coherently.web.store.store_errors import StoreError
from coherently.web.store.store_records import OutcomeRecord

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from coherently.web.store.store_records import OutcomeValue

SELECTED = select(*columns(OutcomeRecord))


class OutcomeResource(Resource):
    """Outcomes, recorded and never changed; the last of a text holds."""

    def record(self, panel: str, event: str, value: OutcomeValue, note: str = "") -> OutcomeRecord:
        """Record what became of an event or of a declared variable; None takes the last outcome back."""
        if isinstance(value, float) and not math.isfinite(value):
            raise StoreError(f"an outcome is a finite number, not {value}")
        row: dict[str, Any] = {"panel": panel, "event": event, "outcome": value, "note": note, "time": now()}

        def action(connection: Connection) -> OutcomeRecord:
            get_panel(connection, panel)
            number = connection.scalar(insert(outcome).returning(outcome.c.id), row)
            note_change(connection, panel, "outcomes", event=event)
            return OutcomeRecord(id=number or 0, **row)

        return self._write(action)

    def latest(self, panel: str) -> tuple[OutcomeRecord, ...]:
        """The outcomes that hold."""
        last = select(func.max(outcome.c.id)).where(outcome.c.panel == panel).group_by(outcome.c.event)
        query = SELECTED.where(outcome.c.id.in_(last)).order_by(outcome.c.id)

        def action(connection: Connection) -> tuple[OutcomeRecord, ...]:
            found = read_records(OutcomeRecord, connection.execute(query))
            return tuple(one for one in found if one.outcome is not None)

        return self._read(action)

    def history(self, panel: str, after: int = 0) -> tuple[OutcomeRecord, ...]:
        """All that was recorded, in order; `after` is the number of the last one seen."""
        query = SELECTED.where(outcome.c.panel == panel, outcome.c.id > after).order_by(outcome.c.id)
        return self._read(lambda connection: tuple(read_records(OutcomeRecord, connection.execute(query))))
