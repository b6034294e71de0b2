"""Laws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, func, insert, or_, select, update

from coherently.web.store.database.schema import columns, law, read_record, read_records
from coherently.web.store.identifiers import new_id, now, read_time
from coherently.web.store.resources.change_resource import Resource, note_change
from coherently.web.store.resources.kept_lists import KeptLists
from coherently.web.store.resources.panel_resource import get_panel
from coherently.web.store.store_errors import NotFoundError
from coherently.web.store.store_records import LawRecord

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from coherently.web.store.database.database import Database

SELECTED = select(*columns(LawRecord))
STANDING = SELECTED.where(law.c.panel == bindparam("its_panel"), law.c.dropped_at.is_(None)).order_by(law.c.position)


def _get(connection: Connection, name: str) -> LawRecord:
    record = read_record(LawRecord, connection.execute(SELECTED.where(law.c.id == name)))
    if record is None:
        raise NotFoundError("there is no such law")
    return record


def insert_law(connection: Connection, made: LawRecord) -> None:
    """Add the row of a law, after all others of its panel."""
    last = connection.scalar(select(func.max(law.c.position)).where(law.c.panel == made.panel))
    connection.execute(insert(law), {**made.as_dict(), "position": (last or 0) + 1})


def _list_laws(connection: Connection, home: str) -> tuple[LawRecord, ...]:
    """The laws that hold."""
    return tuple(read_records(LawRecord, connection.execute(STANDING, {"its_panel": home})))


class LawResource(Resource):
    """Laws in the order in which they were added; one that is dropped is kept."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._standing = KeptLists(database, _list_laws)

    def add(self, panel: str, statement: str, title: str = "", origin: str = "") -> LawRecord:
        """Add a law; `origin` says who accepted it, if words suggested it."""
        made = LawRecord(new_id("l"), panel, statement, title, added_at=now(), origin=origin)

        def action(connection: Connection) -> LawRecord:
            get_panel(connection, panel)
            insert_law(connection, made)
            note_change(connection, panel, "laws", law=made.id)
            return made

        return self._write(action)

    def get(self, name: str) -> LawRecord:
        """The law of an id."""
        return self._read(lambda connection: _get(connection, name))

    def list(self, panel: str, *, dropped: bool = False, as_of: str | None = None) -> tuple[LawRecord, ...]:
        """The laws that hold, or held at a time; with those that were dropped if asked for."""
        if as_of is None and not dropped:
            return self._standing.get(panel)
        query = SELECTED.where(law.c.panel == panel).order_by(law.c.position)
        if as_of is not None:
            moment = read_time(as_of)
            held = or_(law.c.dropped_at.is_(None), law.c.dropped_at > moment)
            query = query.where(law.c.added_at <= moment, held)
        return self._read(lambda connection: tuple(read_records(LawRecord, connection.execute(query))))

    def count(self, panel: str) -> int:
        """The number of laws that hold."""
        query = select(func.count()).select_from(law).where(law.c.panel == panel, law.c.dropped_at.is_(None))
        return self._read(lambda connection: int(connection.scalar(query) or 0))

    def drop(self, name: str) -> LawRecord:
        """Let a law hold no longer."""

        def action(connection: Connection) -> LawRecord:
            old = _get(connection, name)
            if old.dropped_at is None:
                connection.execute(update(law).where(law.c.id == name).values(dropped_at=now()))
                note_change(connection, old.panel, "laws", law=name)
            return _get(connection, name)

        return self._write(action)
