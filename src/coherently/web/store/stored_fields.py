"""What a stored field is: the one description from which column, record and archive row come.

A record names the kind of each field that is kept: `title: Annotated[str, WORDS]`. `| None` beside it is a column that
may be empty. A field without a kind is worked out when the record is read, and has no column.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from sqlalchemy import Boolean, Double, Integer, String

from coherently.web.store.archives.archived_fields import ArchivedFields
from coherently.web.store.database.column_types import COUNTER, Identifier, Json, Words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

FIRST = 1
"""The first version of the schema."""


@dataclass(frozen=True, slots=True)
class FieldKind:
    """How a field is kept: the type of its `column`, and how an archive gives it back (`read`; None: it has none).

    `refers` is the table whose rows the field names, and with whose rows its own goes. `name` is that of the column, if
    it is not that of the field. `since` is the version of the schema that added the field: a store of an older version
    gets the column, and an older archive the value, that the record has by default.
    """

    column: Any
    read: Callable[[ArchivedFields, str], Any] | None = None
    refers: str = ""
    name: str = ""
    since: int = FIRST
    is_key: bool = False
    is_unique: bool = False


ID = FieldKind(Identifier, is_key=True)
NUMBER = FieldKind(COUNTER, is_key=True)
"""Given out by the database, in the order in which rows are added."""
WORDS = FieldKind(Words, ArchivedFields.text)
TIME = FieldKind(String(24), ArchivedFields.time)
FLAG = FieldKind(Boolean, ArchivedFields.flag)
SHARE = FieldKind(Double, ArchivedFields.share)
VALUES = FieldKind(Json, ArchivedFields.object)
OUTCOME = FieldKind(Json, ArchivedFields.outcome)


def word(length: int = 16, allowed: Collection[str] | None = None) -> FieldKind:
    """A short word of the program's own, maybe one of a few."""
    return FieldKind(String(length), lambda archive, name: archive.text(name, allowed))


def count(least: int = 1) -> FieldKind:
    """A whole number that is not less than another."""
    return FieldKind(Integer, lambda archive, name: archive.number(name, least))


def belongs(table: str, *, is_key: bool = False) -> FieldKind:
    """The id of a row of another table; if that goes, this goes too."""
    return FieldKind(Identifier, refers=table, is_key=is_key)


def unarchived(kind: FieldKind) -> FieldKind:
    """A kind of field that stays in the store: no archive has it."""
    return replace(kind, read=None)


@dataclass(frozen=True, slots=True)
class StoredField:
    """A field of a record that is kept; `default` is `MISSING` if the record has none."""

    name: str
    kind: FieldKind
    is_nullable: bool
    default: Any


def stored_row(record: object) -> dict[str, Any]:
    """The values of a record that are kept, by the names of its fields."""
    return {field.name: getattr(record, field.name) for field in stored_fields(type(record))}


def stored_fields(record: type) -> tuple[StoredField, ...]:
    """The fields of a record that are kept, in its order."""
    return _described(record)


@cache
def _described(record: type) -> tuple[StoredField, ...]:
    hints = get_type_hints(record, include_extras=True)
    found = []
    for each in fields(record):
        hint, is_nullable = hints[each.name], False
        if get_origin(hint) is not Annotated:
            (hint,) = [part for part in get_args(hint) if get_origin(part) is Annotated] or (None,)
            is_nullable = True
        kind = next((part for part in get_args(hint) if isinstance(part, FieldKind)), None)
        if kind is not None:
            default = each.default if each.default_factory is MISSING else each.default_factory()
            found.append(StoredField(each.name, kind, is_nullable, default))
    return tuple(found)
