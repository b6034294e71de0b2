"""Rows that replace those with the same key, on both databases."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Table


def insert_or_replace(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Add rows; where one with the same primary key is there, its other columns are set anew."""
    if rows:
        connection.execute(_upsert(connection.dialect.name, table), list(rows))


@cache
def _upsert(dialect: str, table: Table) -> Any:
    added = (postgresql.insert if dialect == "postgresql" else sqlite.insert)(table)
    fresh = {column.name: added.excluded[column.name] for column in table.columns if not column.primary_key}
    return added.on_conflict_do_update(index_elements=list(table.primary_key), set_=fresh)
