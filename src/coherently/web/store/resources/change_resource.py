"""The changes of panels: what streams to browsers, also across processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import func, insert, select

from coherently.web.store.database.schema import change, columns, read_records
from coherently.web.store.identifiers import now
from coherently.web.store.store_records import ChangeRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from coherently.web.store.database.database import Database

T = TypeVar("T")
NOTE = insert(change)
SELECTED = select(*columns(ChangeRecord))


class Resource:
    """A base: actions on the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _read(self, action: Callable[[Connection], T]) -> T:
        return self._database.read(action)

    def _write(self, action: Callable[[Connection], T]) -> T:
        return self._database.write(action)


def note_change(connection: Connection, panel: str, kind: str, judge: str | None = None, **data: Any) -> None:
    """Note a change in the transaction that makes it: writers come one after the other, so ids have its order."""
    connection.execute(NOTE, {"panel": panel, "kind": kind, "judge": judge, "data": data, "time": now()})
    connection.info["changed"] = True


class ChangeResource(Resource):
    """Changes in order; whoever has seen one asks for those after it."""

    def after(self, panel: str | None, seen: int, limit: int = 1000) -> tuple[ChangeRecord, ...]:
        """Changes of a panel, or of all panels, after the one with the number `seen`."""
        query = SELECTED.where(change.c.id > seen).order_by(change.c.id).limit(limit)
        if panel is not None:
            query = query.where(change.c.panel == panel)
        return self._read(lambda connection: tuple(read_records(ChangeRecord, connection.execute(query))))

    def last(self, panel: str | None = None) -> int:
        """The number of the last change; 0 if there is none."""
        query = select(func.max(change.c.id))
        if panel is not None:
            query = query.where(change.c.panel == panel)
        return self._read(lambda connection: connection.scalar(query) or 0)

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back after each commit of this process that made changes, from the writer's thread: be quick.

        Returns what ends that. Changes of other processes are seen only by asking.
        """
        return self._database.listen(callback)
