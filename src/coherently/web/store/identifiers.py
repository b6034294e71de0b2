"""Ids, secrets and times."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import UTC, datetime, timedelta

from coherently.web.store.store_errors import StoreError
from coherently.web.wall_clock import present

LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
ID_LENGTH = 12
"""Number of random characters of an id: 71 bits, so that two are never the same; an id is not a secret."""
SECRET_LENGTH = 32
"""Number of random characters of a link, a cookie or a token: 190 bits."""


def new_id(kind: str) -> str:
    """A fresh id, with the letter of its kind before it.

    >>> len(new_id("p")), new_id("p")[:2]
    (14, 'p_')
    """
    return f"{kind}_{_random(ID_LENGTH)}"


def new_secret() -> str:
    """A fresh secret for a link, a cookie or a token; the store keeps only its hash."""
    return _random(SECRET_LENGTH)


def _random(length: int) -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(length))


def hash_secret(secret: str) -> str:
    """What is kept of a random secret. It is too long to be guessed, so that a fast hash is enough."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def same_secret(kept: str, secret: str) -> bool:
    """Whether a secret has the kept hash; the time taken does not depend on where they differ."""
    return hmac.compare_digest(kept, hash_secret(secret))


def now() -> str:
    """The present moment."""
    return time_text(present())


def after(seconds: float) -> str:
    """The moment so many seconds from now."""
    return time_text(present() + timedelta(seconds=seconds))


def time_text(moment: datetime) -> str:
    """A moment as the store keeps it.

    >>> time_text(datetime(2026, 11, 17, 9, 30, tzinfo=UTC))
    '2026-11-17T09:30:00.000Z'
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def read_time(text: str) -> str:
    """A time as the store keeps it, from any ISO 8601 text that says its offset from UTC.

    >>> read_time("2026-11-17T10:30:00+01:00")
    '2026-11-17T09:30:00.000Z'
    """
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return time_text(moment)
    except (ValueError, OverflowError):
        pass
    raise StoreError(f"{text!r} is not a time; write it like 2026-11-17T09:30:00Z")
