"""Values: frozen dataclasses with arrays in them, compared by what they hold."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Callable


class Value(Viewed):
    """A base for frozen dataclasses (with `eq=False`): two are equal if they have one class and equal fields.

    Fields with `compare=False` are not compared. Values cannot be hashed. A pickled or copied value is made by its
    class, so that arrays which the class makes read-only stay read-only, and it keeps what the value has worked out
    (public cached properties): working it out again could take other time, and end elsewhere.
    """

    __slots__ = ()
    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        known = (field for field in fields(self) if field.compare)  # type: ignore[arg-type]
        return all(alike(getattr(self, field.name), getattr(other, field.name)) for field in known)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[type, dict[str, object], dict[str, object]]]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        told = (item for item in getattr(self, "__dict__", {}).items() if not item[0].startswith("_"))
        known = {name: value for name, value in told if name not in values}
        return _make, (type(self), values, known)


def _make(kind: type, values: dict[str, object], known: dict[str, object]) -> object:
    made = kind(**values)
    if known:
        made.__dict__.update(known)
    return made


class Told(Viewed):
    """A base for values that `as_dict` turns into plain values, and `to_json` into text."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """All of it in plain values: dictionaries, lists, texts, numbers, true, false and None."""
        raise NotImplementedError

    def to_json(self) -> str:
        """The same as JSON; a number that is not finite is null."""
        return json_text(self.as_dict())


def json_text(value: Any) -> str:
    r"""JSON for people and programs; a number that is not finite is null.

    >>> json_text([float("nan"), 1])
    '[\n  null,\n  1\n]'
    """
    return json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def alike(one: object, other: object) -> bool:
    """Whether two things are equal. Arrays must have one type and equal entries; NaN equals NaN.

    >>> alike((1, np.array([0.5, np.nan])), (1, np.array([0.5, np.nan]))), alike(np.zeros(2), np.zeros(2, np.int32))
    (True, False)
    """
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, tuple | list) and type(one) is type(other):
        assert isinstance(other, tuple | list)
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(item, other[key]) for key, item in one.items())
    if isinstance(one, float) and isinstance(other, float) and one != one:  # noqa: PLR0124
        return other != other  # noqa: PLR0124
    return bool(one == other)
