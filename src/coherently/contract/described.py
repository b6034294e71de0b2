"""Public values that have a record, as which they are written and read."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

from coherently.errors import ResultError
from coherently.values import Told, Value

if TYPE_CHECKING:
    import os

    from coherently.contract.description import Record


class Described(Told):
    """A base for public values with a `record`; docs/reference/records.md has the fields of all of them.

    `_plain` gives the values of the fields, and `_from_plain` makes the value of such ones.
    """

    __slots__ = ()
    record: ClassVar[Record]

    def as_dict(self) -> dict[str, Any]:
        """The record in plain values: format, version, and the fields of docs/reference/records.md."""
        return self.record.headed(self._plain())

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Self:
        """Read what `to_json` wrote: a text, or a file by its path."""
        return cls._from_plain(cls.record.read(source))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Make the value that `as_dict` gave; an error names the field that does not fit."""
        return cls._from_plain(cls.record.checked(values))

    def _plain(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Self:
        raise NotImplementedError


class Worked(Value, Described):
    """A base for values that work out more on request than they are made of, such as a judge's contradictions.

    Read from JSON, such a value has all that was told, and not what it was worked out from: asking for more is an
    error. What is told makes two of them equal.
    """

    __slots__ = ()

    @classmethod
    def _retold(cls, **told: Any) -> Self:
        """The value that has only these of its fields and cached properties."""
        made = object.__new__(cls)
        for name, value in told.items():
            object.__setattr__(made, name, value)
        return made

    def __getattr__(self, name: str) -> Any:
        if name in {each.name for each in fields(type(self))}:  # type: ignore[arg-type]
            raise ResultError(
                f"this {self.record.name} was read from JSON and has only what was told there; "
                "for more, work on the panel again"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def is_retold(self) -> bool:
        """Whether the value was read from JSON."""
        try:
            for each in fields(self):  # type: ignore[arg-type]
                getattr(self, each.name)
        except ResultError:
            return True
        return False

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Worked)
        return self is other or self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return (_read_again, (type(self), self.as_dict())) if self.is_retold else Value.__reduce__(self)


def _read_again(kind: type[Described], values: dict[str, Any]) -> Described:
    return kind.from_dict(values)
