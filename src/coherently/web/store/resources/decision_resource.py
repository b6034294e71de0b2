"""Decisions about relations that words suggest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from coherently.web.store.database.schema import columns, decision, read_records
from coherently.web.store.identifiers import now
from coherently.web.store.resources.change_resource import Resource, note_change
from coherently.web.store.resources.panel_resource import get_panel
from coherently.web.store.store_records import DecisionRecord

if TYPE_CHECKING:
    from sqlalchemy import Connection

SELECTED = select(*columns(DecisionRecord))


class DecisionResource(Resource):
    """Decisions, recorded and never changed; of several about the same relation the last holds."""

    def record(
        self, panel: str, word: str, about: dict[str, Any], *, decided_by: str, reason: str = "", law: str = ""
    ) -> DecisionRecord:
        """Record what somebody decided about a relation; `about` says which one, in plain values."""
        row: dict[str, Any] = {"panel": panel, "decision": word, "about": about, "law": law}
        row |= {"decided_by": decided_by, "reason": reason, "time": now()}

        def action(connection: Connection) -> DecisionRecord:
            get_panel(connection, panel)
            number = connection.scalar(insert(decision).returning(decision.c.id), row)
            note_change(connection, panel, "decisions", decision=number or 0)
            return DecisionRecord(id=number or 0, **row)

        return self._write(action)

    def list(self, panel: str) -> tuple[DecisionRecord, ...]:
        """All decisions of a panel, in their order."""
        query = SELECTED.where(decision.c.panel == panel).order_by(decision.c.id)
        return self._read(lambda connection: tuple(read_records(DecisionRecord, connection.execute(query))))
