"""Fields of an archive, each checked when it is taken."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from coherently.web.store.identifiers import read_time
from coherently.web.store.store_errors import ArchiveError, StoreError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class ArchivedFields:
    """An object of an archive's JSON; what is missing or of another kind is refused, with its place."""

    def __init__(self, values: Any, where: str) -> None:
        if not isinstance(values, dict):
            raise ArchiveError(f"{where} of the archive is not an object")
        self._values = values
        self._where = where

    def has(self, name: str) -> bool:
        """Whether a field is there, and not null."""
        return self._values.get(name) is not None

    def _take(self, name: str, kinds: type | tuple[type, ...], what: str) -> Any:
        value = self._values.get(name)
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise self._error(name, what)
        return value

    def _error(self, name: str, what: str) -> ArchiveError:
        return ArchiveError(f"{name!r} in {self._where} of the archive should be {what}")

    def text(self, name: str, allowed: Collection[str] | None = None) -> str:
        """A text, maybe one of a few."""
        value: str = self._take(name, str, "a text")
        if allowed is not None and value not in allowed:
            raise self._error(name, f"one of {', '.join(sorted(allowed))}")
        return value

    def time(self, name: str) -> str:
        """A moment."""
        try:
            return read_time(self.text(name))
        except StoreError:
            raise self._error(name, "a time, such as 2026-11-17T09:30:00.000Z") from None

    def flag(self, name: str) -> bool:
        """True or false."""
        value: bool = self._take(name, bool, "true or false")
        return value

    def number(self, name: str, least: int, most: int = 2**31 - 1) -> int:
        """A whole number within limits."""
        value: int = self._take(name, int, "a whole number")
        if not least <= value <= most:
            raise self._error(name, f"between {least} and {most}")
        return value

    def share(self, name: str) -> float:
        """A number from 0 to 1."""
        value = float(self._take(name, (int, float), "a number"))
        if not (math.isfinite(value) and 0 <= value <= 1):
            raise self._error(name, "between 0 and 1")
        return value

    def pick(self, name: str, choices: Sequence[str]) -> str:
        """The one of the choices whose number, from 1, the field has."""
        return choices[self.number(name, 1, len(choices)) - 1]

    def object(self, name: str) -> dict[str, Any]:
        """Plain values by name."""
        value: dict[str, Any] = self._take(name, dict, "an object")
        return value

    def outcome(self, name: str) -> bool | float | str | None:
        """What became of an event."""
        value = self._values.get(name)
        if value is None or isinstance(value, bool | str):
            return value
        return float(self._take(name, (int, float), "true, false, a number, a text or null"))

    def items(self, name: str) -> list[ArchivedFields]:
        """The objects of a list."""
        listed = self._take(name, list, "a list")
        return [ArchivedFields(each, f"{name}[{number}]") for number, each in enumerate(listed)]
