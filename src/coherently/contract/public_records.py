"""The records of all public values: what has one is found by itself."""

from __future__ import annotations

from coherently.contract.description import Record
from coherently.contract.error_record import ERROR
from coherently.errors import MethodError, did_you_mean


def public_records() -> dict[str, Record]:
    """The records by their names.

    >>> list(public_records())[:4]
    ['book', 'bounds', 'bounds-table', 'check']
    """
    import coherently

    things = (getattr(room, name) for room in (coherently, coherently.network) for name in room.__all__)
    every = (getattr(thing, "record", None) for thing in things)
    found = [record for record in every if isinstance(record, Record)]
    return {record.name: record for record in sorted([*found, ERROR], key=lambda record: record.name)}


def find_record(name: str) -> Record:
    """The record of a name."""
    records = public_records()
    if name not in records:
        hint = did_you_mean(name, records)
        raise MethodError(
            f"unknown record {name!r}; the records are {', '.join(records)}.{hint}", code="unknown-record"
        )
    return records[name]
