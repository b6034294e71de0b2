"""Leases: for how long a row belongs to whoever works on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import or_

from coherently.web.store.identifiers import after, now

if TYPE_CHECKING:
    from sqlalchemy import Column, ColumnElement

LONGER = 4
"""How many times as long as a new lease one must hold to be of a clock that ran ahead: those of machines may differ."""


def is_over(lease_until: Column[Any], lease_seconds: float) -> ColumnElement[bool]:
    """Whether a lease has ended, or ends so late that the clock was set back since: who lives has prolonged it."""
    return or_(lease_until < now(), lease_until > after(LONGER * lease_seconds))
