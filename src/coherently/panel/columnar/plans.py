"""How a column is read, decided by its name before its cells are seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

Plan: TypeAlias = tuple[int, float, float]
"""A kind of column (ColumnKind in column.hpp) and, for numbers, the least and the greatest that are plain."""
Planner: TypeAlias = Callable[[Sequence[str]], list[Plan]]
"""Gives the plan of each column of a header."""

_NUMBER = 3
SKIP: Plan = (0, 0.0, 0.0)
"""The cells are not wanted."""
TEXT: Plan = (1, 0.0, 0.0)
"""Texts as they are."""
NAME: Plan = (2, 0.0, 0.0)
"""Texts without spaces around them."""


def number_between(low: float, high: float) -> Plan:
    """Numbers; a cell that is not a plain number in the range is kept as it is, for whoever knows what it means."""
    return _NUMBER, low, high


def is_number(plan: Plan) -> bool:
    """Whether a column has numbers."""
    return plan[0] == _NUMBER
