"""The fields of all records as Markdown, for the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coherently.contract.description import ListOf, MapOf, ObjectOf, OrNull, RecordField, RecordOf
from coherently.contract.public_records import public_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from coherently.contract.description import Record, ValueKind


def records_page() -> str:
    """One section per record."""
    return "\n\n".join(_section(record) for record in public_records().values())


def _section(record: Record) -> str:
    earlier = f"; versions from {record.oldest} on are readable" if record.oldest < record.version else ""
    lines = [
        f"## {record.name}",
        "",
        f"{record.meaning} Format `{record.format}`, version {record.version}{earlier}; "
        f"[its schema](../../src/coherently/contract/schemas/{record.name}.json).",
        "",
        "| field | value | meaning |",
        "|---|---|---|",
        *_rows(record.fields, ""),
    ]
    return "\n".join(lines)


def _rows(fields: Iterable[RecordField], before: str) -> Iterator[str]:
    for each in fields:
        path = f"{before}{each.name}"
        remarks = [word for word, holds in (("optional", each.optional), ("derived", each.derived)) if holds]
        remarks += [f"since version {each.since}"] if each.since > 1 else []
        said = f" ({', '.join(remarks)})" if remarks else ""
        yield f"| `{path}` | {_value(each.kind)} | {each.meaning}{said} |"
        yield from _inside(each.kind, path)


def _inside(kind: ValueKind, path: str) -> Iterator[str]:
    """The rows of the fields of an object, of its items or of its values."""
    if isinstance(kind, OrNull):
        yield from _inside(kind.kind, path)
    elif isinstance(kind, ListOf):
        yield from _inside(kind.kind, f"{path}[]")
    elif isinstance(kind, MapOf):
        yield from _inside(kind.kind, f"{path}.*")
    elif isinstance(kind, ObjectOf):
        yield from _rows(kind.fields, f"{path}.")
        if kind.others is not None:
            words = ", ".join(f"`{word}`" for word in kind.others.words())
            named = f": {words}" if words else ""
            yield f"| `{path}.*` | {_value(kind.others.kind)} | {kind.others.meaning}{named} |"


def _value(kind: ValueKind) -> str:
    if isinstance(kind, OrNull):
        return f"{_value(kind.kind)}, or null"
    if isinstance(kind, ListOf):
        return "list"
    if isinstance(kind, RecordOf):
        return f"the record [{kind.record().name}](#{kind.record().name})"
    if isinstance(kind, MapOf | ObjectOf):
        return "object"
    told: dict[str, Any] = kind.schema()
    words = told.get("enum") or told.get("examples")
    if words:
        return ("one of " if "enum" in told else "text, such as ") + ", ".join(f"`{word}`" for word in words)
    words_of_kind: str = getattr(kind, "words", "any value")
    return words_of_kind.removeprefix("a ")
