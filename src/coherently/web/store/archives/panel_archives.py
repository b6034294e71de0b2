"""Whole panels out and in, and forecasts from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.exc import IntegrityError

from coherently.web.store.archives.archive_files import pack, unpack
from coherently.web.store.archives.archive_parts import write_parts
from coherently.web.store.archives.archive_reader import ArchiveReader
from coherently.web.store.archives.table_import import TableImport, import_table
from coherently.web.store.resources.change_resource import note_change
from coherently.web.store.store_errors import ArchiveError, ConflictError

if TYPE_CHECKING:
    from coherently.web.store.store import Store
    from coherently.web.store.store_records import PanelRecord


class ArchiveResource:
    """Panels as files: an archive has all of a panel but its links, and knows no ids."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def export(self, panel: str) -> bytes:
        """A panel with its history, as of one moment, as one file."""
        return pack(self._store.read(lambda: write_parts(self._store, panel)))

    def import_panel(self, data: bytes, owner: str) -> PanelRecord:
        """A new panel from an archive, all of it or nothing; its judges need new links."""
        account = self._store.accounts.get(owner)
        reader = ArchiveReader(unpack(data), account.id)

        def action() -> PanelRecord:
            self._store.in_transaction(reader.write)
            self._store.in_transaction(lambda connection: note_change(connection, reader.panel, "panel"))
            return self._store.panels.get(reader.panel)

        try:
            return self._store.write(action)
        except (IntegrityError, ConflictError):
            raise ArchiveError(
                "the archive has two judges, questions or versions with the same name or number"
            ) from None

    def import_table(
        self, panel: str, data: bytes, filename: str, *, percent: bool = False, plain_events: bool = False
    ) -> TableImport:
        """Record the forecasts of a file (CSV, TSV, JSON lines or Parquet) in a panel, all of them or none.

        Judges and events that the panel does not have are added; an event becomes a question of its own.
        """
        return import_table(self._store, panel, data, filename, percent=percent, plain_events=plain_events)
