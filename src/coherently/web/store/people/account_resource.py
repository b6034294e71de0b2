"""Accounts of facilitators."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from sqlalchemy import func, insert, select, update

from coherently.web.store.database.schema import account, columns, read_record, read_records, session
from coherently.web.store.identifiers import new_id, now
from coherently.web.store.resources.change_resource import Resource
from coherently.web.store.store_errors import ConflictError, NotFoundError, StoreError
from coherently.web.store.store_records import AccountRecord
from coherently.web.store.stored_fields import stored_row

if TYPE_CHECKING:
    from sqlalchemy import Connection

LOCAL = "local"
"""The account of whoever uses the browser of this machine, while there is no other."""
LEAST_PASSWORD, MOST_PASSWORD = 8, 1000
"""Least and greatest number of characters of a password."""
SELECTED = select(*columns(AccountRecord), account.c.password_hash.is_not(None).label("has_password"))


@cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()


@cache
def _nobody() -> str:
    """A hash that no password has, so that unknown names take as long as known ones."""
    return _hasher().hash(new_id("x"))


def _hash(password: str) -> str:
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise StoreError(f"a password has {LEAST_PASSWORD} to {MOST_PASSWORD:,} characters, not {len(password):,}")
    return _hasher().hash(password.encode("utf-8", "surrogatepass"))


def _get(connection: Connection, name: str) -> AccountRecord:
    record = read_record(AccountRecord, connection.execute(SELECTED.where(account.c.id == name)))
    if record is None:
        raise NotFoundError("there is no such account")
    return record


class AccountResource(Resource):
    """Accounts. Passwords are hashed by argon2, outside of any transaction."""

    def create(self, name: str, password: str | None = None) -> AccountRecord:
        """Make an account; without a password only a proxy or this machine signs it in."""
        if not name.strip():
            raise StoreError("an account needs a name")
        hashed = None if password is None else _hash(password)

        def action(connection: Connection) -> AccountRecord:
            if connection.execute(select(account.c.id).where(account.c.name == name)).first() is not None:
                raise ConflictError(f"there is an account named {name!r} already: choose another name")
            made = AccountRecord(new_id("u"), name, hashed is not None, now())
            connection.execute(insert(account), stored_row(made) | {"password_hash": hashed})
            return made

        return self._write(action)

    def local(self) -> AccountRecord:
        """The account of this machine, which is made on first use."""
        known = self.by_name(LOCAL)
        if known is not None:
            return known
        return self._write(lambda _: self.by_name(LOCAL) or self.create(LOCAL))

    def get(self, name: str) -> AccountRecord:
        """The account of an id."""
        return self._read(lambda connection: _get(connection, name))

    def by_name(self, name: str) -> AccountRecord | None:
        """The account of a name."""
        query = SELECTED.where(account.c.name == name)
        return self._read(lambda connection: read_record(AccountRecord, connection.execute(query)))

    def list(self) -> tuple[AccountRecord, ...]:
        """All accounts, by name."""
        query = SELECTED.order_by(account.c.name)
        return self._read(lambda connection: tuple(read_records(AccountRecord, connection.execute(query))))

    def count(self, *, with_password: bool = True) -> int:
        """How many open accounts there are: with a password, or in all."""
        query = select(func.count()).select_from(account).where(account.c.closed_at.is_(None))
        if with_password:
            query = query.where(account.c.password_hash.is_not(None))
        return self._read(lambda connection: connection.scalar(query) or 0)

    def check(self, name: str, password: str) -> AccountRecord | None:
        """The account of a name and its password; None if they do not fit, in the same time."""
        query = select(account.c.id, account.c.password_hash)
        query = query.where(account.c.name == name, account.c.closed_at.is_(None))
        row = self._read(lambda connection: connection.execute(query).first())
        kept = None if row is None else row.password_hash
        try:
            _hasher().verify(kept or _nobody(), password[:MOST_PASSWORD].encode("utf-8", "surrogatepass"))
        except VerificationError:
            return None
        return None if row is None or kept is None else self.get(row.id)

    def set_password(self, name: str, password: str) -> None:
        """Set a password; all browsers of the account are signed out."""
        hashed = _hash(password)

        def action(connection: Connection) -> None:
            _get(connection, name)
            connection.execute(update(account).where(account.c.id == name).values(password_hash=hashed))
            connection.execute(session.delete().where(session.c.account == name))

        self._write(action)

    def close(self, name: str) -> None:
        """Let nobody sign in with it any more; its panels are kept."""

        def action(connection: Connection) -> None:
            _get(connection, name)
            connection.execute(update(account).where(account.c.id == name).values(closed_at=now()))
            connection.execute(session.delete().where(session.c.account == name))

        self._write(action)
