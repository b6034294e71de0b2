"""Rounds and their phases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, insert, select

from coherently.web.store.database.schema import columns, read_record, read_records, round_phase
from coherently.web.store.identifiers import now, read_time
from coherently.web.store.resources.change_resource import Resource, note_change
from coherently.web.store.resources.panel_resource import NO_PANEL, get_panel
from coherently.web.store.store_errors import NotFoundError, StoreError
from coherently.web.store.store_records import PHASES, RoundRecord

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from coherently.web.store.store_records import Phase

ANSWERING = ("private", "revision")
"""Phases in which judges answer."""
SELECTED = select(*columns(RoundRecord))
PRESENT = SELECTED.where(round_phase.c.panel == bindparam("its_panel")).order_by(round_phase.c.id.desc()).limit(1)


def current_round(connection: Connection, panel: str) -> RoundRecord:
    """The phase that a panel is in."""
    record = read_record(RoundRecord, connection.execute(PRESENT, {"its_panel": panel}))
    if record is None:
        raise NotFoundError(NO_PANEL)
    return record


class RoundResource(Resource):
    """The phases of a panel, the last of which it is in."""

    def current(self, panel: str) -> RoundRecord:
        """The phase that a panel is in."""
        return self._read(lambda connection: current_round(connection, panel))

    def list(self, panel: str) -> tuple[RoundRecord, ...]:
        """All phases so far, in order."""
        query = SELECTED.where(round_phase.c.panel == panel).order_by(round_phase.c.id)
        return self._read(lambda connection: tuple(read_records(RoundRecord, connection.execute(query))))

    def advance(
        self, panel: str, phase: Phase, closes_at: str | None = None, *, hide_numbers: bool = True
    ) -> RoundRecord:
        """Go on to a phase, or set anew when the present one closes and what it hides."""
        if phase not in PHASES:
            raise StoreError(f"unknown phase {phase!r}: the phases are {', '.join(PHASES)}")
        closes = None if closes_at is None else read_time(closes_at)

        def action(connection: Connection) -> RoundRecord:
            get_panel(connection, panel)
            old = current_round(connection, panel)
            begins = phase in ANSWERING and phase != old.phase
            made = RoundRecord(panel, old.number + begins, phase, closes, hide_numbers=hide_numbers, since=now())
            connection.execute(insert(round_phase), made.as_dict())
            note_change(connection, panel, "round", number=made.number, phase=phase)
            return made

        return self._write(action)
