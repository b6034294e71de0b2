"""Plain values: what JSON can hold, from arrays, enumerations and numbers that are not finite, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from coherently.arrays import Vector

Fact = TypeVar("Fact", bound=StrEnum)


def plain(value: Any) -> Any:
    """The same in dictionaries, lists, texts, numbers, true, false and None; a number that is not finite is None.

    >>> plain({"a": np.array([0.5, np.nan]), "b": (True, np.int64(3))})
    {'a': [0.5, None], 'b': [True, 3]}
    """
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Enum):
        return plain(value.value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def fact(kind: type[Fact], word: str) -> Fact:
    """The member of an enumeration of words."""
    return kind(word)


def number_or_nan(value: float | None) -> float:
    """The number that null stands for is NaN."""
    return math.nan if value is None else float(value)


def numbers(values: Any) -> Vector:
    """Numbers of any depth of lists as an array, in which null is NaN.

    >>> numbers([[1, None]])
    array([[ 1., nan]])
    """
    return np.array(values, np.float64)


def shown_score(value: float) -> float | str | None:
    """A score in JSON, where an infinite one is a text."""
    return "Infinity" if value == math.inf else plain(value)


def score_of(value: float | str | None) -> float:
    """The score that was written so."""
    return math.inf if value == "Infinity" else number_or_nan(value)  # type: ignore[arg-type]
