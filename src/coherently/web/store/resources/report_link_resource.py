"""Links by which anybody reads the report of a panel; only their hashes are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from coherently.web.store.database.schema import columns, panel, read_record, read_records, report_link
from coherently.web.store.identifiers import hash_secret, new_id, new_secret, now
from coherently.web.store.resources.change_resource import Resource
from coherently.web.store.resources.panel_resource import get_panel
from coherently.web.store.store_errors import NotFoundError
from coherently.web.store.store_records import ReportLinkRecord
from coherently.web.store.stored_fields import stored_row

if TYPE_CHECKING:
    from sqlalchemy import Connection

SELECTED = select(*columns(ReportLinkRecord))


class ReportLinkResource(Resource):
    """Links to reports. The secret of one is given once."""

    def make(self, owner: str, note: str = "", *, with_names: bool = False) -> tuple[ReportLinkRecord, str]:
        """Make a link to the report of a panel; the text is its secret."""
        secret = new_secret()
        made = ReportLinkRecord(new_id("k"), owner, note, with_names, created_at=now())

        def action(connection: Connection) -> ReportLinkRecord:
            get_panel(connection, owner)
            connection.execute(insert(report_link), stored_row(made) | {"secret_hash": hash_secret(secret)})
            return made

        return self._write(action), secret

    def list(self, owner: str) -> tuple[ReportLinkRecord, ...]:
        """The links of a panel, the oldest first, with those that were withdrawn."""
        query = SELECTED.where(report_link.c.panel == owner).order_by(report_link.c.created_at, report_link.c.id)
        return self._read(lambda connection: tuple(read_records(ReportLinkRecord, connection.execute(query))))

    def by_secret(self, secret: str) -> ReportLinkRecord | None:
        """The link of a secret; None if it was withdrawn, or its panel deleted."""
        query = SELECTED.join(panel, panel.c.id == report_link.c.panel).where(
            report_link.c.secret_hash == hash_secret(secret),
            report_link.c.revoked_at.is_(None),
            panel.c.deleted_at.is_(None),
        )
        return self._read(lambda connection: read_record(ReportLinkRecord, connection.execute(query)))

    def revoke(self, owner: str, name: str) -> None:
        """End a link of a panel."""

        def action(connection: Connection) -> None:
            own = (report_link.c.id == name) & (report_link.c.panel == owner)
            if connection.execute(select(report_link.c.id).where(own)).first() is None:
                raise NotFoundError("there is no such link")
            ended = update(report_link).where(own, report_link.c.revoked_at.is_(None)).values(revoked_at=now())
            connection.execute(ended)

        self._write(action)
