"""Fields of JSON, checked as they are taken: an error says where, what was found and what is allowed."""

from __future__ import annotations

import json
import math
import os
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from coherently.errors import ResultError, Where

Words = TypeVar("Words", bound=StrEnum)

LONGEST_PATH = 4096
"""A longer text is never taken for a path."""


def source_text(source: str | os.PathLike[str]) -> str:
    """The text of a file, by its path, or the text itself, which begins with a brace.

    >>> source_text(' {"status": "optimal"}')
    ' {"status": "optimal"}'
    >>> source_text("certificat.json")
    Traceback (most recent call last):
    ...
    coherently.errors.ResultError: there is no file 'certificat.json': check its name and folder, or pass JSON
    """
    if isinstance(source, str) and (source.lstrip()[:1] in ("", *"{[") or len(source) > LONGEST_PATH):
        return source
    if not isinstance(source, str | os.PathLike):
        raise ResultError(f"a result is read from JSON or from the path of a file, not from a {type(source).__name__}")
    try:
        return Path(source).read_text("utf-8-sig")
    except (FileNotFoundError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise ResultError(f"{source} is not a text in UTF-8, as the JSON of a result is: {error}") from None
        remedy = "check its name and folder, or pass JSON"
        message = f"there is no file {str(source)!r}: {remedy}"
        raise ResultError(message, code="no-such-file", where=Where(str(source)), remedy=remedy) from None
    except OSError as error:
        raise ResultError(f"{source} cannot be read: {error.strerror or error}") from None


def parse(text: str) -> Fields:
    """Read a JSON object."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ResultError(f"the result is not JSON: {error}", code="bad-json") from None
    if not isinstance(value, dict):
        raise ResultError(f"the result is {_shown(value)}; it must be a JSON object")
    return Fields(value, "")


class Fields:
    """A JSON object and its place in the whole.

    >>> parse('{"worlds": [{"weights": [0.5, "half"]}]}').objects("worlds")[0].numbers("weights")
    Traceback (most recent call last):
    ...
    coherently.errors.ResultError: worlds[0].weights[1] is 'half'; it must be a finite number
    """

    def __init__(self, values: dict[str, Any], place: str) -> None:
        self._values, self._place = values, place

    def place(self, name: str) -> str:
        """The place of a field, such as worlds[0].weights."""
        return f"{self._place}.{name}" if self._place else name

    def refuse(self, name: str, allowed: str) -> NoReturn:
        """Raise an error that says what a field must be."""
        raise bad_field(self.place(name), self._values[name], allowed)

    def _take(self, name: str) -> Any:
        if name not in self._values:
            where = Where(field=self.place(name))
            raise ResultError(f"the field {self.place(name)} is missing", code="missing-field", where=where)
        return self._values[name]

    def only(self, *names: str) -> None:
        """Refuse fields with other names: nobody would know what they mean."""
        unknown = [name for name in self._values if name not in names]
        if unknown:
            raise ResultError(
                f"the field {self.place(unknown[0])} is not one of a result; the fields are {', '.join(names)}",
                code="unknown-field",
                where=Where(field=self.place(unknown[0])),
            )

    def has(self, name: str) -> bool:
        """Whether there is such a field."""
        return name in self._values

    def text(self, name: str) -> str:
        """A text."""
        value = self._take(name)
        return value if isinstance(value, str) else self.refuse(name, "a text")

    def text_or_none(self, name: str) -> str | None:
        """A text or null."""
        return None if self._take(name) is None else self.text(name)

    def fact(self, name: str, kind: type[Words], before: str = "") -> Words:
        """A member of an enumeration, by its text: the whole field, or the part before a mark."""
        words = self.text(name).partition(before)[0] if before else self.text(name)
        return kind(words) if words in list(kind) else self.refuse(name, f"one of {', '.join(kind)}")

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self._take(name)
        return value if isinstance(value, bool) else self.refuse(name, "true or false")

    def whole(self, name: str) -> int:
        """A whole number, not negative."""
        value = self._take(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.refuse(name, "a whole number of 0 or more")
        return value

    def whole_or_none(self, name: str) -> int | None:
        """A whole number, not negative, or null."""
        return None if self._take(name) is None else self.whole(name)

    def number(self, name: str) -> float:
        """A finite number."""
        return _number(self._take(name), self.place(name))

    def number_or_none(self, name: str) -> float | None:
        """A finite number or null."""
        return None if self._take(name) is None else self.number(name)

    def items(self, name: str) -> list[Any]:
        """A list of anything."""
        value = self._take(name)
        return value if isinstance(value, list) else self.refuse(name, "a list")

    def numbers(self, name: str) -> list[float]:
        """A list of finite numbers."""
        place = self.place(name)
        return [_number(value, f"{place}[{i}]") for i, value in enumerate(self.items(name))]

    def texts(self, name: str) -> list[str]:
        """A list of texts."""
        for i, value in enumerate(self.items(name)):
            if not isinstance(value, str):
                raise bad_field(f"{self.place(name)}[{i}]", value, "a text")
        return self.items(name)

    def objects(self, name: str) -> list[Fields]:
        """A list of objects."""
        place = self.place(name)
        for i, value in enumerate(self.items(name)):
            if not isinstance(value, dict):
                raise bad_field(f"{place}[{i}]", value, "an object")
        return [Fields(value, f"{place}[{i}]") for i, value in enumerate(self.items(name))]

    def is_none(self, name: str) -> bool:
        """Whether a field is null."""
        return self._take(name) is None


def _number(value: object, place: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise bad_field(place, value, "a finite number")


def bad_field(place: str, value: object, allowed: str) -> ResultError:
    """A field that is not what it must be."""
    message = f"{place} is {_shown(value)}; it must be {allowed}"
    return ResultError(message, code="bad-field", where=Where(field=place), remedy=f"it must be {allowed}")


def _refuse_constant(word: str) -> NoReturn:
    raise ResultError(
        f"the result contains {word}; NaN and infinity are not valid JSON: write null for what is unknown"
    )


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
