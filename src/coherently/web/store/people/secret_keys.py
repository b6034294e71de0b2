"""Secrets that stand for somebody: cookies of browsers, and tokens of programs. Only their hashes are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, or_, select, update

from coherently.web.store.database.schema import (
    account,
    columns,
    judge,
    panel,
    read_record,
    read_records,
    session,
    token,
)
from coherently.web.store.identifiers import after, hash_secret, new_id, new_secret, now, read_time, same_secret
from coherently.web.store.resources.change_resource import Resource
from coherently.web.store.store_errors import NotFoundError, StoreError
from coherently.web.store.store_records import SessionRecord, TokenRecord

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

SESSION_SECONDS = 14 * 24 * 3600
"""How long a browser stays signed in: two weeks."""
SESSIONS = select(*columns(SessionRecord))
TOKENS = select(*columns(TokenRecord))


def _with_secret(connection: Connection, query: Select[Any], secret: str) -> dict[str, Any] | None:
    """The fields of the row with a secret, without its hash."""
    row = connection.execute(query).mappings().first()
    if row is None or not same_secret(row["secret_hash"], secret):
        return None
    return {name: value for name, value in row.items() if name != "secret_hash"}


class SessionResource(Resource):
    """Browsers that are signed in, for an account or for the judge of a link."""

    def open(
        self, account: str | None = None, judge: str | None = None, seconds: float = SESSION_SECONDS
    ) -> tuple[SessionRecord, str]:
        """Sign a browser in; the text is the secret for its cookie."""
        if (account is None) == (judge is None):
            raise StoreError("a session is either of an account or of a judge")
        secret = new_secret()
        made = SessionRecord(new_id("s"), account, judge, new_secret(), created_at=now(), expires_at=after(seconds))

        def action(connection: Connection) -> SessionRecord:
            connection.execute(insert(session), {**made.as_dict(), "secret_hash": hash_secret(secret)})
            return made

        return self._write(action), secret

    def by_secret(self, secret: str) -> SessionRecord | None:
        """The session of a cookie; None if it has ended, or its account or link has."""
        query = SESSIONS.add_columns(session.c.secret_hash)
        query = query.outerjoin(account, account.c.id == session.c.account)
        query = query.outerjoin(judge, judge.c.id == session.c.judge).outerjoin(panel, panel.c.id == judge.c.panel)
        query = query.where(
            session.c.secret_hash == hash_secret(secret),
            session.c.expires_at > now(),
            account.c.closed_at.is_(None),
            judge.c.revoked_at.is_(None),
            panel.c.deleted_at.is_(None),
        )
        found = self._read(lambda connection: _with_secret(connection, query, secret))
        return None if found is None else SessionRecord(**found)

    def prolong(self, name: str, seconds: float) -> None:
        """Let a session hold for as long as one that begins now."""
        later = update(session).where(session.c.id == name).values(expires_at=after(seconds))
        self._write(lambda connection: connection.execute(later))

    def close(self, name: str) -> None:
        """Sign one browser out."""
        self._write(lambda connection: connection.execute(delete(session).where(session.c.id == name)))

    def close_all(self, account: str | None = None, judge: str | None = None) -> None:
        """Sign out all browsers of an account or of a judge."""
        theirs = session.c.account == account if account is not None else session.c.judge == judge
        self._write(lambda connection: connection.execute(delete(session).where(theirs)))


class TokenResource(Resource):
    """Keys of accounts for programs."""

    def create(self, account: str, name: str, expires_at: str | None = None) -> tuple[TokenRecord, str]:
        """Make a token; the text is its secret, which is shown once."""
        secret = new_secret()
        expires = None if expires_at is None else read_time(expires_at)
        made = TokenRecord(new_id("t"), account, name, now(), expires_at=expires)

        def action(connection: Connection) -> TokenRecord:
            connection.execute(insert(token), {**made.as_dict(), "secret_hash": hash_secret(secret)})
            return made

        return self._write(action), secret

    def by_secret(self, secret: str) -> TokenRecord | None:
        """The token of a secret; None if it was revoked, has expired, or its account is closed."""
        query = TOKENS.add_columns(token.c.secret_hash).join(account, account.c.id == token.c.account)
        query = query.where(
            token.c.secret_hash == hash_secret(secret),
            token.c.revoked_at.is_(None),
            or_(token.c.expires_at.is_(None), token.c.expires_at > now()),
            account.c.closed_at.is_(None),
        )
        found = self._read(lambda connection: _with_secret(connection, query, secret))
        return None if found is None else TokenRecord(**found)

    def list(self, account: str) -> tuple[TokenRecord, ...]:
        """All tokens of an account, the oldest first."""
        query = TOKENS.where(token.c.account == account).order_by(token.c.created_at, token.c.id)
        return self._read(lambda connection: tuple(read_records(TokenRecord, connection.execute(query))))

    def revoke(self, name: str) -> TokenRecord:
        """End a token; it stays in the list."""

        def action(connection: Connection) -> TokenRecord:
            ended = update(token).where(token.c.id == name, token.c.revoked_at.is_(None))
            connection.execute(ended.values(revoked_at=now()))
            record = read_record(TokenRecord, connection.execute(TOKENS.where(token.c.id == name)))
            if record is None:
                raise NotFoundError("there is no such token")
            return record

        return self._write(action)
