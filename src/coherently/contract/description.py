"""The description of a record: its fields, what each means, and what its value may be.

A kind of value says it twice, by `check`, which refuses other values, and by `schema`, as JSON Schema (draft 2020-12).
Words that come from a registry are asked for when they are needed, so that a method, a loss or a scoring rule which is
added later is in the schemas, too.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias

from coherently.contract.record_text import file_of, parsed, shown, source_text
from coherently.errors import CoherentlyError, ResultError, Where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Words: TypeAlias = "Callable[[], Iterable[str]]"
Schema: TypeAlias = "dict[str, Any]"


class MisfitError(Exception):
    """A value that the description does not allow; the record turns it into the error that its reader expects.

    `code` is the kind of problem, `place` the path of the field, and `allowed` what its value may be.
    """

    def __init__(self, message: str, code: str, place: str | None = None, allowed: str | None = None) -> None:
        super().__init__(message)
        self.code, self.place, self.allowed = code, place, allowed

    def told_as(self, kind: type[CoherentlyError]) -> CoherentlyError:
        """The same as an error of a reader."""
        remedy = None if self.allowed is None else f"it must be {self.allowed}"
        return kind(str(self), code=self.code, where=Where(field=self.place) if self.place else None, remedy=remedy)


def refuse(value: object, place: str, allowed: str) -> NoReturn:
    """Say where a value is, what it is and what is allowed."""
    raise MisfitError(f"{place} is {shown(value)}; it must be {allowed}", "bad-field", place, allowed)


class ValueKind(Protocol):
    """What the value of a field may be."""

    def schema(self) -> Schema:
        """The kind as JSON Schema."""

    def check(self, value: Any, place: str) -> None:
        """Raise a `MisfitError` that names the place, unless the value is of this kind."""


@dataclass(frozen=True, slots=True)
class PlainKind:
    """A single value: the words for it in messages, its schema, and whether a value is one."""

    words: str
    told: tuple[tuple[str, Any], ...]
    fits: Callable[[Any], bool]

    def schema(self) -> Schema:
        """The kind as JSON Schema."""
        return dict(self.told)

    def check(self, value: Any, place: str) -> None:
        """Refuse any other value."""
        if not self.fits(value):
            refuse(value, place, self.words)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


TEXT = PlainKind("a text", (("type", "string"),), lambda value: isinstance(value, str))
NUMBER = PlainKind("a finite number", (("type", "number"),), _is_number)
WHOLE = PlainKind("a whole number of 0 or more", (("type", "integer"), ("minimum", 0)), _is_whole)
FLAG = PlainKind("true or false", (("type", "boolean"),), lambda value: isinstance(value, bool))
SCALAR = PlainKind(
    "true, false, a text, a number or null",
    (("type", ["boolean", "string", "number", "null"]),),
    lambda value: value is None or isinstance(value, bool | str) or _is_number(value),
)
SCORE = PlainKind(
    'a number, "Infinity" or null',
    (("anyOf", [{"type": ["number", "null"]}, {"const": "Infinity"}]),),
    lambda value: value is None or value == "Infinity" or _is_number(value),
)
"""A score may be infinite (a certain forecast that fails, without a clip), or there may be none."""
ANY = PlainKind("any value", (), lambda _: True)


@dataclass(frozen=True, slots=True)
class OrNull:
    """A value, or null."""

    kind: ValueKind

    def schema(self) -> Schema:
        """The kind as JSON Schema."""
        inner = self.kind.schema()
        if isinstance(inner.get("type"), str) and "enum" not in inner:
            return {**inner, "type": [inner["type"], "null"]}
        return {"anyOf": [inner, {"type": "null"}]}

    def check(self, value: Any, place: str) -> None:
        """Refuse what is neither."""
        if value is None:
            return
        try:
            self.kind.check(value, place)
        except MisfitError as error:
            if error.place != place:
                raise
            refuse(value, place, f"null or {error.allowed}")


@dataclass(frozen=True, slots=True)
class OneWord:
    """One of some words."""

    words: Words

    def schema(self) -> Schema:
        """The kind as JSON Schema."""
        return {"type": "string", "enum": [str(word) for word in self.words()]}

    def check(self, value: Any, place: str) -> None:
        """Refuse any other word."""
        TEXT.check(value, place)
        words = [str(word) for word in self.words()]
        if value not in words:
            refuse(value, place, f"one of {', '.join(words)}")


@dataclass(frozen=True, slots=True)
class KnownText:
    """A text, such as one of some words; users may have words of their own, as for methods and losses."""

    words: Words

    def schema(self) -> Schema:
        """The kind as JSON Schema; the words are its examples."""
        return {"type": "string", "examples": [str(word) for word in self.words()]}

    def check(self, value: Any, place: str) -> None:
        """Refuse what is not a text."""
        TEXT.check(value, place)


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values of one kind; with `least` and `most`, of so many."""

    kind: ValueKind
    least: int = 0
    most: int | None = None

    def schema(self) -> Schema:
        """The kind as JSON Schema."""
        limits = {"minItems": self.least or None, "maxItems": self.most}
        told = {name: number for name, number in limits.items() if number is not None}
        return {"type": "array", "items": self.kind.schema(), **told}

    def check(self, value: Any, place: str) -> None:
        """Refuse what is not such a list."""
        if not isinstance(value, list):
            refuse(value, place, "a list")
        if len(value) < self.least or (self.most is not None and len(value) > self.most):
            told = f"{self.least:,} or more" if self.most is None else f"{self.least:,} to {self.most:,}"
            message = f"{place} has {len(value):,} items; it must have {told}"
            raise MisfitError(message, "bad-length", place, f"a list of {told} items")
        for i, item in enumerate(value):
            self.kind.check(item, f"{place}[{i}]")


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object whose names are free, with values of one kind."""

    kind: ValueKind

    def schema(self) -> Schema:
        """The kind as JSON Schema."""
        return {"type": "object", "additionalProperties": self.kind.schema()}

    def check(self, value: Any, place: str) -> None:
        """Refuse what is not such an object."""
        if not isinstance(value, dict):
            refuse(value, place, "an object")
        for name, item in value.items():
            self.kind.check(item, f"{place}.{name}" if place else name)


@dataclass(frozen=True, slots=True)
class RecordField:
    """A field: its name, what its value may be, and what it means.

    An `optional` field may be left out. What is `derived` follows from other fields: it is written for readers, and not
    read back. `since` is the version of the record that has the field first.
    """

    name: str
    kind: ValueKind
    meaning: str
    optional: bool = False
    derived: bool = False
    since: int = 1

    def schema(self) -> Schema:
        """The value as JSON Schema, with the meaning as its description."""
        return {**self.kind.schema(), "description": self.meaning}


@dataclass(frozen=True, slots=True)
class OtherFields:
    """Fields that are named by the words of a registry, such as one for each scoring rule.

    Records of another version of Coherently may have other words, or lack some of these.
    """

    words: Words
    kind: ValueKind
    meaning: str


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """An object with these fields and, if there are `others`, with fields named by words."""

    noun: str
    fields: tuple[RecordField, ...]
    others: OtherFields | None = None

    def schema(self) -> Schema:
        """The kind as JSON Schema."""
        properties = {each.name: each.schema() for each in self.fields}
        more: bool | Schema = False
        if self.others is not None:
            more = self.others.kind.schema()
            told = {**more, "description": self.others.meaning}
            properties = {**{str(word): told for word in self.others.words()}, **properties}
        required = [each.name for each in self.fields if not each.optional]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": more}

    def check(self, value: Any, place: str, version: int | None = None) -> None:
        """Refuse missing and unknown fields, and values of other kinds."""
        if not isinstance(value, dict):
            refuse(value, place, "an object")
        known = {each.name: each for each in self.fields if version is None or each.since <= version}
        begin = f"{place}." if place else ""
        for each in known.values():
            if each.name in value:
                each.kind.check(value[each.name], f"{begin}{each.name}")
            elif not (each.optional or each.derived):
                place = f"{begin}{each.name}"
                raise MisfitError(f"the field {place} is missing", "missing-field", place)
        for name in value:
            if name not in known:
                self._check_other(name, value[name], begin, known)

    def _check_other(self, name: str, value: Any, begin: str, known: Iterable[str]) -> None:
        if self.others is None:
            message = f"the field {begin}{name} is not one of {self.noun}; the fields are {', '.join(known)}"
            raise MisfitError(message, "unknown-field", f"{begin}{name}")
        self.others.kind.check(value, f"{begin}{name}")


@dataclass(frozen=True, slots=True)
class Record:
    """A public value as one JSON object: its name, its version, and its fields after `format` and `version`.

    Versions from `oldest` on can be read. What does not fit is an `error`.

    >>> record = Record("coin", 1, "A coin.", (RecordField("heads", NUMBER, "the probability of heads"),))
    >>> record.format, record.read('{"format": "coherently-coin", "version": 1, "heads": 0.5}')
    ('coherently-coin', {'heads': 0.5})
    >>> record.read('{"format": "coherently-coin", "version": 1, "heads": "half"}')
    Traceback (most recent call last):
    ...
    coherently.errors.ResultError: heads is 'half'; it must be a finite number
    """

    name: str
    version: int
    meaning: str
    fields: tuple[RecordField, ...]
    error: type[CoherentlyError] = ResultError
    oldest: int = 1

    @property
    def format(self) -> str:
        """The text of the field `format`."""
        return f"coherently-{self.name}"

    def headed(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values after the format and the version."""
        return {"format": self.format, "version": self.version, **values}

    def schema(self) -> Schema:
        """The JSON Schema of this version."""
        told = _whole(self).schema()
        head = {"$schema": DIALECT, "$id": f"urn:{self.format.replace('-', ':', 1)}:{self.version}"}
        return {**head, "title": self.format, "description": self.meaning, **told}

    def schema_text(self) -> str:
        """The schema as a text for people and programs."""
        return json.dumps(self.schema(), indent=2, ensure_ascii=False) + "\n"

    def read(self, source: Any) -> dict[str, Any]:
        """The fields of a text or of a file, checked."""
        values = self.values_in(source)
        try:
            return self.checked(values)
        except CoherentlyError as error:
            raise _in_file(error, file_of(source)) from None

    def values_in(self, source: Any) -> Any:
        """The plain values of a text or of a file, unchecked."""
        return parsed(source_text(source, self.name, self.error), self.name, self.error, file_of(source))

    def checked(self, values: Any) -> dict[str, Any]:
        """The fields of plain values without format and version, if they are those of a version that can be read."""
        try:
            version = self._version(values)
            _whole(self).check(values, "", version)
        except MisfitError as error:
            raise error.told_as(self.error) from None
        return {name: value for name, value in values.items() if name not in ("format", "version")}

    def _version(self, values: Any) -> int:
        if not isinstance(values, dict):
            raise MisfitError(f"the {self.name} is {shown(values)}; it must be a JSON object", "bad-record")
        for name, kind in (("format", TEXT), ("version", WHOLE)):
            if name not in values:
                message = f"the field {name} is missing: this is not a record of Coherently"
                raise MisfitError(message, "missing-field", name)
            kind.check(values[name], name)
        version: int = values["version"]
        if values["format"] != self.format or not self.oldest <= version <= self.version:
            earlier = ", ".join(map(str, range(self.oldest, self.version)))
            also = f", and the earlier version {earlier}" if earlier else ""
            raise MisfitError(
                f"the record is {values['format']!r}, version {version}; this version of Coherently reads "
                f"{self.format!r}, version {self.version}{also}",
                "unknown-version",
                "version" if values["format"] == self.format else "format",
            )
        return version


def _in_file(error: CoherentlyError, file: str | None) -> CoherentlyError:
    """An error about a record with the name of the file that it is in."""
    if file is None:
        return error
    where = replace(error.where or Where(), file=file)
    return type(error)(f"{file}: {error}", code=error.code, where=where, remedy=error.remedy)


def _whole(record: Record) -> ObjectOf:
    """The object with format and version."""
    article = "an" if record.name[0] in "aeiou" else "a"
    head = (
        RecordField("format", _Constant(record.format), "what the record is"),
        RecordField("version", _Constant(record.version), "the version of its fields"),
    )
    return ObjectOf(f"{article} {record.name}", (*head, *record.fields))


@dataclass(frozen=True, slots=True)
class _Constant:
    value: str | int

    def schema(self) -> Schema:
        return {"const": self.value}

    def check(self, value: Any, place: str) -> None:
        """Anything: the record has looked at its head before."""


@dataclass(frozen=True, slots=True)
class RecordOf:
    """A whole record inside another."""

    record: Callable[[], Record]

    def schema(self) -> Schema:
        """The kind as JSON Schema."""
        return _whole(self.record()).schema()

    def check(self, value: Any, place: str) -> None:
        """Refuse what is not such a record, of any version that can be read."""
        record = self.record()
        try:
            version = record._version(value)
        except MisfitError as error:
            inner = f"{place}.{error.place}" if error.place else place
            raise MisfitError(f"{place}: {error}", error.code, inner, error.allowed) from None
        _whole(record).check(value, place, version)
