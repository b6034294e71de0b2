"""A record as an object of an archive's JSON, and back: every field that its description does not keep out.

Nothing in an archive has an id: a field that names a judge or a question has its number there, from 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coherently.web.store.stored_fields import FIRST, stored_fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.web.store.archives.archived_fields import ArchivedFields
    from coherently.web.store.store_records import StoredRecord


def archive_row(record: StoredRecord, numbers: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """A record as an archive has it; `numbers` are those of ids, by table."""
    row: dict[str, Any] = {}
    for field in stored_fields(type(record)):
        value = getattr(record, field.name)
        if field.kind.refers in numbers:
            row[field.name] = None if value is None else numbers[field.kind.refers][value]
        elif field.kind.read is not None:
            row[field.name] = value
    return row


def read_row(record: type[StoredRecord], archive: ArchivedFields, ids: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The fields of a record that an archive has; `ids` are those of numbers, by table."""
    row: dict[str, Any] = {}
    for field in stored_fields(record):
        kind, name = field.kind, field.name
        if kind.refers not in ids and kind.read is None:
            continue
        if not archive.has(name) and (field.is_nullable or kind.since > FIRST):
            row[name] = None if field.is_nullable else field.default
        elif kind.read is None:
            row[name] = archive.pick(name, ids[kind.refers])
        else:
            row[name] = kind.read(archive, name)
    return row
