"""The only module with floating point.

Numbers of a panel's canonical form are the shortest decimals of doubles, by definition of that form; so whoever makes
it from a table rounds as the definition says. What is checked is the canonical form, whose decimals are read as
fractions. The hint may be any number between 0 and 1: a bad one weakens a bound, and cannot make it wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from .check_errors import BadInputError

ROUNDING = 1e-12
"""A probability that lies at most this far outside [0, 1] counts as 0 or 1."""
LIGHTEST, HEAVIEST = 1e-50, 1e50
MISSING = ("", "na", "n/a", "null", "nan")


def double(cell: object, where: str) -> float | None:
    """The double that a cell means; None if it is missing."""
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING):
        return None
    try:
        value = math.nan if isinstance(cell, bool) or "_" in str(cell) else float(str(cell))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadInputError(f"{where}: {cell!r} is not a number")
    return value


def share(cell: object, percent: bool, where: str) -> float | None:
    """A probability: a number from 0 to 1, or a percentage; None if it is missing."""
    scale = 100 if percent else 1
    if isinstance(cell, str) and cell.rstrip().endswith("%"):
        cell, scale = cell.rstrip()[:-1], 100
    value = double(cell, where)
    if value is None:
        return None
    value = value / scale
    if not -ROUNDING <= value <= 1 + ROUNDING:
        raise BadInputError(f"{where}: {cell!r} is not a probability from 0 to 1; percentages need --percent")
    return min(max(value, 0.0), 1.0)


def weight(cell: object, where: str) -> float:
    """A weight: 0, or a number from 1e-50 to 1e50."""
    value = double(cell, where)
    if value is None or not (value == 0 or LIGHTEST <= value <= HEAVIEST):
        raise BadInputError(f"{where}: {cell!r} is not a weight, which is 0 or a number from 1e-50 to 1e50")
    return value


def middle(low: float | None, high: float | None) -> float:
    """The middle of an interval, which begins at 0 or ends at 1 where nothing is said."""
    return ((0.0 if low is None else low) + (1.0 if high is None else high)) / 2


def mean(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """The (weighted) mean, summed in order, as the canonical form of repeats that are averaged has it."""
    if weights is None:
        return sum(values, 0.0) / len(values)
    return min(max(sum((w * v for w, v in zip(weights, values, strict=True)), 0.0) / sum(weights, 0.0), 0.0), 1.0)


def shortest(value: float) -> str:
    """The shortest decimals that read back as the double."""
    return repr(float(value) + 0.0)


def sigmoid_hint(z: Fraction) -> Fraction:
    """About 1 / (1 + exp(-z)), strictly between 0 and 1."""
    near = min(max(float(z), -40.0), 40.0)
    # Both sides are computed from the smaller tail, so that neither loses its digits.
    tail = Fraction(1.0 / (1.0 + math.exp(abs(near))))
    return tail if near < 0 else 1 - tail
