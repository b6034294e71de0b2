"""Secrets that stand for somebody: cookies of browsers, and tokens of programs. Only their hashes are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, or_, select, update

from coherently.web.store.database.schema import account, judge, panel, session, token
from coherently.web.store.identifiers import after, hash_secret, new_id, new_secret, now, read_time, same_secret
from coherently.web.store.resources.change_resource import Resource
from coherently.web.store.store_errors import NotFoundError, StoreError
from coherently.web.store.store_records import SessionRecord, TokenRecord

if TYPE_CHECKING:
    from sqlalchemy import Connection

SESSION_SECONDS = 14 * 24 * 3600
"""How long a browser stays signed in: two weeks."""
SESSION_COLUMNS = tuple(session.c[name] for name in SessionRecord.__dataclass_fields__)
TOKEN_COLUMNS = tuple(token.c[name] for name in TokenRecord.__dataclass_fields__)


class SessionResource(Resource):
    """Browsers that are signed in, for an account or for the judge of a link."""

    def open(
        self, account: str | None = None, judge: str | None = None, seconds: float = SESSION_SECONDS
    ) -> tuple[SessionRecord, str]:
        """Sign a browser in; the text is the secret for its cookie."""
        if (account is None) == (judge is None):
            raise StoreError("a session is either of an account or of a judge")
        secret = new_secret()
        made = SessionRecord(new_id("s"), account, judge, new_secret(), now(), after(seconds))

        def action(connection: Connection) -> SessionRecord:
            connection.execute(insert(session), {**made.as_dict(), "secret_hash": hash_secret(secret)})
            return made

        return self._write(action), secret

    def by_secret(self, secret: str) -> SessionRecord | None:
        """The session of a cookie; None if it has ended, or its account or link has."""
        query = select(*SESSION_COLUMNS, session.c.secret_hash)
        query = query.outerjoin(account, account.c.id == session.c.account)
        query = query.outerjoin(judge, judge.c.id == session.c.judge).outerjoin(panel, panel.c.id == judge.c.panel)
        query = query.where(
            session.c.secret_hash == hash_secret(secret),
            session.c.expires_at > now(),
            account.c.closed_at.is_(None),
            judge.c.revoked_at.is_(None),
            panel.c.deleted_at.is_(None),
        )
        row = self._read(lambda connection: connection.execute(query).first())
        if row is None or not same_secret(row.secret_hash, secret):
            return None
        return SessionRecord(*row[:-1])

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
        made = TokenRecord(new_id("t"), account, name, now(), expires)

        def action(connection: Connection) -> TokenRecord:
            connection.execute(insert(token), {**made.as_dict(), "secret_hash": hash_secret(secret)})
            return made

        return self._write(action), secret

    def by_secret(self, secret: str) -> TokenRecord | None:
        """The token of a secret; None if it was revoked, has expired, or its account is closed."""
        query = select(*TOKEN_COLUMNS, token.c.secret_hash).join(account, account.c.id == token.c.account)
        query = query.where(
            token.c.secret_hash == hash_secret(secret),
            token.c.revoked_at.is_(None),
            or_(token.c.expires_at.is_(None), token.c.expires_at > now()),
            account.c.closed_at.is_(None),
        )
        row = self._read(lambda connection: connection.execute(query).first())
        if row is None or not same_secret(row.secret_hash, secret):
            return None
        return TokenRecord(*row[:-1])

    def list(self, account: str) -> tuple[TokenRecord, ...]:
        """All tokens of an account, the oldest first."""
        query = select(*TOKEN_COLUMNS).where(token.c.account == account).order_by(token.c.created_at, token.c.id)
        return self._read(lambda connection: tuple(TokenRecord(*row) for row in connection.execute(query)))

    def revoke(self, name: str) -> TokenRecord:
        """End a token; it stays in the list."""

        def action(connection: Connection) -> TokenRecord:
            query = select(*TOKEN_COLUMNS).where(token.c.id == name)
            row = connection.execute(query).first()
            if row is None:
                raise NotFoundError("there is no such token")
            ended = update(token).where(token.c.id == name, token.c.revoked_at.is_(None))
            connection.execute(ended.values(revoked_at=now()))
            return TokenRecord(*connection.execute(query).one())

        return self._write(action)
