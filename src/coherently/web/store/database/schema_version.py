"""The schema of a database is brought to that of this version; a newer one is refused.

A new database gets all tables as they are. An older one gets, version by version, the columns and tables that were
added since: the records say in which version each field came. What cannot be had that way needs a step in `STEPS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Column, MetaData, String, Table, insert, inspect, select, update
from sqlalchemy.schema import CreateColumn

from coherently.web.store.database.schema import LATER, METADATA, TABLES
from coherently.web.store.store_errors import NewerStoreError, StoreError
from coherently.web.store.stored_fields import FIRST, stored_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from sqlalchemy import Connection

STEPS: Mapping[int, Callable[[Connection], None]] = {}
"""What else a version changed, after its columns were added."""
LAST = max([FIRST, *STEPS, *LATER, *(field.kind.since for record in TABLES for field in stored_fields(record))])
"""The version of this schema."""
_version = Table("schema_version", MetaData(), Column("version_num", String(32), primary_key=True))


def migrate(connection: Connection, where: str) -> None:
    """Make the tables, or bring those that are there up to date, in the transaction of the connection.

    That transaction begins with the lock for writing, so that of several processes that open a database at once one
    does this, and the others find it done.
    """
    tables = inspect(connection).get_table_names()
    if _version.name not in tables:
        if tables:
            raise StoreError(
                f"{where} has tables of another program ({', '.join(sorted(tables)[:3])}). Nothing was changed: name "
                "an empty database"
            )
        METADATA.create_all(connection)
        _version.create(connection)
        connection.execute(insert(_version).values(version_num=version_text(LAST)))
        return
    for version in range(_known_version(connection, where) + 1, LAST + 1):
        _add_columns(connection, version, where)
        for table in LATER.get(version, ()):
            table.create(connection)
        STEPS.get(version, _nothing)(connection)
        connection.execute(update(_version).values(version_num=version_text(version)))


def version_text(version: int) -> str:
    """A version as the database has it.

    >>> version_text(2)
    '0002'
    """
    return f"{version:04d}"


def _known_version(connection: Connection, where: str) -> int:
    told = connection.scalar(select(_version.c.version_num)) or ""
    known = {version_text(version): version for version in range(FIRST, LAST + 1)}
    if told not in known:
        raise NewerStoreError(
            f"{where} was written by a newer version of Coherently (schema {told}; this version knows up to "
            f"{version_text(LAST)}). Nothing was changed: install that version, or open another store"
        )
    return known[told]


def _add_columns(connection: Connection, version: int, where: str) -> None:
    quoted = connection.dialect.identifier_preparer.format_table
    for record, table in TABLES.items():
        added = [table.c[field.name] for field in stored_fields(record) if field.kind.since == version]
        there = {column["name"] for column in inspect(connection).get_columns(table.name)} if added else set()
        for column in added:
            if column.name in there:
                raise StoreError(
                    f"{where} says that it has the schema {version_text(version - 1)}, but its table {table.name} has "
                    f"the column {column.name} already. Nothing was changed: restore a backup"
                )
            made = CreateColumn(column).compile(dialect=connection.dialect)
            connection.exec_driver_sql(f"ALTER TABLE {quoted(table)} ADD COLUMN {made}{_reference(connection, column)}")


def _reference(connection: Connection, column: Column[Any]) -> str:
    """What a new column refers to, which SQLAlchemy would say at the end of a new table."""
    names = connection.dialect.identifier_preparer
    return "".join(
        f" CONSTRAINT {names.format_constraint(key.constraint)} REFERENCES {names.format_table(key.column.table)} "
        f"({names.format_column(key.column)}) ON DELETE {key.ondelete}"
        for key in column.foreign_keys
        if key.constraint is not None
    )


def _nothing(_: Connection) -> None:
    """A version that only added columns."""
