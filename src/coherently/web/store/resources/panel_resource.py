"""Panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, insert, select, update

from coherently.web.store.database.schema import account, columns, panel, read_record, read_records, round_phase
from coherently.web.store.identifiers import new_id, now
from coherently.web.store.resources.change_resource import Resource, note_change
from coherently.web.store.store_errors import NotFoundError
from coherently.web.store.store_records import PanelRecord
from coherently.web.store.stored_fields import stored_row

if TYPE_CHECKING:
    from sqlalchemy import Connection

NO_PANEL = "there is no such panel, or it was deleted"
SELECTED = select(*columns(PanelRecord))
NAMED = SELECTED.where(panel.c.id == bindparam("its_name"))


def get_panel(connection: Connection, name: str, *, deleted: bool = False) -> PanelRecord:
    """The panel of an id, unless it was deleted."""
    record = read_record(PanelRecord, connection.execute(NAMED, {"its_name": name}))
    if record is None or (record.deleted_at is not None and not deleted):
        raise NotFoundError(NO_PANEL)
    return record


class PanelResource(Resource):
    """Panels of accounts. One that is deleted is hidden until it is restored or purged."""

    def create(self, owner: str, title: str, **said: Any) -> PanelRecord:
        """Make a panel in its first, private round; `said` are other fields of its record."""
        made = PanelRecord(id=new_id("p"), owner=owner, title=title, created_at=now(), **said)

        def action(connection: Connection) -> PanelRecord:
            if connection.execute(select(account.c.id).where(account.c.id == owner)).first() is None:
                raise NotFoundError("there is no such account")
            connection.execute(insert(panel), stored_row(made))
            opening = {
                "panel": made.id,
                "number": 1,
                "phase": "private",
                "hide_numbers": True,
                "since": made.created_at,
            }
            connection.execute(insert(round_phase), opening)
            note_change(connection, made.id, "panel")
            return made

        return self._write(action)

    def get(self, name: str) -> PanelRecord:
        """The panel of an id."""
        return self._read(lambda connection: get_panel(connection, name))

    def list(self, owner: str | None = None, after: str | None = None, limit: int = 100) -> tuple[PanelRecord, ...]:
        """Panels of an account, or of all, the newest first; `after` is the id of the last one seen."""
        query = SELECTED.where(panel.c.deleted_at.is_(None))
        query = query.order_by(panel.c.created_at.desc(), panel.c.id.desc()).limit(limit)
        if owner is not None:
            query = query.where(panel.c.owner == owner)

        def action(connection: Connection) -> tuple[PanelRecord, ...]:
            chosen = query
            if after is not None:
                last = get_panel(connection, after, deleted=True)
                same, earlier = panel.c.created_at == last.created_at, panel.c.created_at < last.created_at
                chosen = query.where(earlier | (same & (panel.c.id < last.id)))
            return tuple(read_records(PanelRecord, connection.execute(chosen)))

        return self._read(action)

    def deleted(self, owner: str) -> tuple[PanelRecord, ...]:
        """Panels of an account that were deleted and can be restored."""
        query = SELECTED.where(panel.c.owner == owner, panel.c.deleted_at.is_not(None))
        return self._read(lambda connection: tuple(read_records(PanelRecord, connection.execute(query))))

    def edit(self, name: str, **said: Any) -> PanelRecord:
        """Change fields of the record; None leaves one as it is."""
        return self._change(name, {field: value for field, value in said.items() if value is not None})

    def delete(self, name: str) -> None:
        """Hide a panel; its links and its stream end."""
        self._change(name, {"deleted_at": now()})

    def restore(self, name: str) -> PanelRecord:
        """Show a deleted panel again."""
        return self._change(name, {"deleted_at": None}, deleted=True)

    def purge(self, name: str) -> None:
        """Remove a panel with all that belongs to it, for good."""

        def action(connection: Connection) -> None:
            get_panel(connection, name, deleted=True)
            connection.execute(delete(panel).where(panel.c.id == name))

        self._write(action)

    def _change(self, name: str, values: dict[str, Any], *, deleted: bool = False) -> PanelRecord:
        def action(connection: Connection) -> PanelRecord:
            get_panel(connection, name, deleted=deleted)
            if values:
                connection.execute(update(panel).where(panel.c.id == name).values(values))
                note_change(connection, name, "panel")
            return get_panel(connection, name, deleted=True)

        return self._write(action)
