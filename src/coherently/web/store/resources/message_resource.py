"""Mail to judges: what waits to be sent, what was sent, and what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update

from coherently.web.store.database.schema import columns, judge_link, message, panel, read_record, read_records
from coherently.web.store.identifiers import after, hash_secret, new_id, new_secret, now
from coherently.web.store.resources.change_resource import Resource, note_change
from coherently.web.store.resources.judge_resource import get_judge
from coherently.web.store.resources.leases import is_over
from coherently.web.store.store_errors import ConflictError, NotFoundError
from coherently.web.store.store_records import MessageRecord
from coherently.web.store.stored_fields import stored_row

if TYPE_CHECKING:
    from sqlalchemy import Connection

SELECTED = select(*columns(MessageRecord))
UNKNOWN = "The workbench ended while the mail was being handed over, so that nobody knows whether it was sent."
FARTHEST = 24 * 3600.0
"""Maximum number of seconds for which a message is put off."""
UNDER_WAY = ("waiting", "sending")
REPEATABLE = ("failed", "unsure", "cancelled")
"""States of messages that a person may have sent once more."""


def _get(connection: Connection, name: str) -> MessageRecord:
    record = read_record(MessageRecord, connection.execute(SELECTED.where(message.c.id == name)))
    if record is None:
        raise NotFoundError("there is no such message")
    return record


def _set(connection: Connection, name: str, **values: Any) -> MessageRecord:
    connection.execute(update(message).where(message.c.id == name).values(values))
    record = _get(connection, name)
    note_change(connection, record.panel, "judges", judge=record.judge)
    return record


class MessageResource(Resource):
    """A message is sent at most once: it is noted as `sending` before a mail server hears of it.

    Whoever sends it holds a lease. If that ends without a word, the message is `unsure`, and only a person can have it
    sent once more. So a crash may leave a mail unsent, with a note of that, and never makes two of one.
    """

    def add(self, judge: str, kind: str, round: int, origin: str) -> MessageRecord:  # noqa: A002
        """Queue a message to the address that the judge has now."""

        def action(connection: Connection) -> MessageRecord:
            known, moment = get_judge(connection, judge), now()
            made = MessageRecord(
                id=new_id("m"),
                panel=known.panel,
                judge=judge,
                kind=kind,
                round=round,
                address=known.address,
                origin=origin,
                requested_at=moment,
                next_at=moment,
            )
            connection.execute(insert(message), stored_row(made))
            return _set(connection, made.id, state="waiting")

        return self._write(action)

    def get(self, name: str) -> MessageRecord:
        """The message of an id."""
        return self._read(lambda connection: _get(connection, name))

    def list(self, panel: str) -> tuple[MessageRecord, ...]:
        """All messages of a panel, the oldest first."""
        query = SELECTED.where(message.c.panel == panel).order_by(message.c.requested_at, message.c.id)
        return self._read(lambda connection: tuple(read_records(MessageRecord, connection.execute(query))))

    def claim(self, lease_seconds: float) -> tuple[MessageRecord, str] | None:
        """The next message whose time has come, now being sent, with the secret of a new link for it; None if none is.

        Messages whose lease is over are noted as `unsure` on the way, and those of deleted panels wait.
        """
        moment = now()
        lost = (message.c.state == "sending") & is_over(message.c.lease_until, lease_seconds)
        # A clock that was set back since may have noted a time that is far away: a new message waits for none.
        turn = (message.c.next_at <= moment) | (message.c.attempts == 0) | (message.c.next_at > after(FARTHEST))
        due = (message.c.state == "waiting") & turn & panel.c.deleted_at.is_(None)
        query = SELECTED.join(panel, panel.c.id == message.c.panel).where(due | lost)
        query = query.order_by(message.c.next_at, message.c.id)
        if self._read(lambda connection: connection.execute(query.limit(1)).first()) is None:
            return None

        def action(connection: Connection) -> tuple[MessageRecord, str] | None:
            for each in tuple(read_records(MessageRecord, connection.execute(query.with_for_update(of=message)))):
                if each.state == "sending":
                    _set(connection, each.id, state="unsure", error=UNKNOWN, ended_at=moment, lease_until=None)
                    continue
                secret = new_secret()
                link = {"secret_hash": hash_secret(secret), "judge": each.judge, "made_at": moment}
                connection.execute(insert(judge_link), link)
                begun = {"attempts": each.attempts + 1, "lease_until": after(lease_seconds)}
                return _set(connection, each.id, state="sending", **begun), secret
            return None

        return self._write(action)

    def end(self, name: str, state: str, error: str = "") -> MessageRecord:
        """Note what became of a message that was being sent: `sent`, `failed`, `unsure` or `cancelled`."""
        return self._write(
            lambda connection: _set(connection, name, state=state, error=error, ended_at=now(), lease_until=None)
        )

    def put_off(self, name: str, error: str, seconds: float) -> MessageRecord:
        """Try a message again later, which was certainly not sent."""
        return self._write(
            lambda connection: _set(
                connection, name, state="waiting", error=error, next_at=after(seconds), lease_until=None
            )
        )

    def drop_link(self, secret: str) -> None:
        """End the link of a message that was certainly not sent."""
        gone = delete(judge_link).where(judge_link.c.secret_hash == hash_secret(secret))
        self._write(lambda connection: connection.execute(gone))

    def repeat(self, name: str) -> MessageRecord:
        """Have a message sent once more that failed, or of which nobody knows, to the judge's address of now."""

        def action(connection: Connection) -> MessageRecord:
            old = _get(connection, name)
            if old.state not in REPEATABLE:
                raise ConflictError(f"the message is {old.state}: only one that failed is sent once more")
            address = get_judge(connection, old.judge).address
            fresh = {"attempts": 0, "error": "", "ended_at": None, "next_at": now(), "address": address}
            return _set(connection, name, state="waiting", **fresh)

        return self._write(action)

    def cancel(self, name: str) -> MessageRecord:
        """Do not send a message that still waits."""

        def action(connection: Connection) -> MessageRecord:
            old = _get(connection, name)
            if old.state != "waiting":
                raise ConflictError(f"the message is {old.state}: only one that waits can be cancelled")
            return _set(connection, name, state="cancelled", ended_at=now())

        return self._write(action)
