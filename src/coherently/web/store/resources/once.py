"""Requests that carry a key are done once."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, insert, select

from coherently.web.store.database.schema import idempotency
from coherently.web.store.identifiers import now
from coherently.web.store.store_errors import IdempotencyError
from coherently.web.store.store_records import OnceAnswer

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

NOTED = select(idempotency.c.digest, idempotency.c.status, idempotency.c.body).where(
    idempotency.c.scope == bindparam("its_scope"), idempotency.c.key == bindparam("its_key")
)


def do_once(
    connection: Connection, scope: str, key: str, digest: str, action: Callable[[], tuple[int, Any]]
) -> OnceAnswer:
    """Do an action and note its answer under the key, in one transaction; with a known key give that answer again."""
    row = connection.execute(NOTED, {"its_scope": scope, "its_key": key}).first()
    if row is not None:
        if not hmac.compare_digest(row.digest.encode(), digest.encode()):
            raise IdempotencyError("this key came with another request before: use a new key for a new request")
        return OnceAnswer(row.status, row.body, repeated=True)
    status, body = action()
    note = {"scope": scope, "key": key, "digest": digest, "status": status, "body": body, "time": now()}
    connection.execute(insert(idempotency), note)
    return OnceAnswer(status, body, repeated=False)
