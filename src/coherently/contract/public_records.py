"""The records of all public values: what has one is found by itself."""

from __future__ import annotations

from coherently.contract.description import Record
from coherently.errors import MethodError, did_you_mean


def public_records() -> dict[str, Record]:
    """The records by their names, in the order of the classes that have them.

    >>> list(public_records())[:4]
    ['book', 'bounds', 'bounds-table', 'check']
    """
    import coherently

    every = (getattr(getattr(coherently, name), "record", None) for name in coherently.__all__)
    return {record.name: record for record in every if isinstance(record, Record)}


def find_record(name: str) -> Record:
    """The record of a name."""
    records = public_records()
    if name not in records:
        hint = did_you_mean(name, records)
        raise MethodError(f"unknown record {name!r}; the records are {', '.join(records)}.{hint}")
    return records[name]
