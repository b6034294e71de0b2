"""What the cells of hub tables hold, whether they come from CSV, where all is text, or from Parquet."""

from __future__ import annotations

import math
import re
from datetime import date
from decimal import Decimal
from typing import Final

MISSING: Final = frozenset({"", "NA", "NaN", "nan", "None", "null", "<NA>", "NaT"})
"""Texts of a cell without a value."""
WHOLE: Final = re.compile(r"(-?\d+)\.0+")
"""A whole number as pandas writes it in a column with gaps."""
MIDNIGHT: Final = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00:00.*")
"""A day that was written as a time."""


def cell_text(value: object) -> str:
    """The text of a cell, the same whichever file format it comes from; empty if there is no value.

    >>> [cell_text(value) for value in (None, "NA", 1.0, "1.0", "01", 0.25, date(2024, 1, 6), "2024-01-06 00:00:00")]
    ['', '', '1', '1', '01', '0.25', '2024-01-06', '2024-01-06']
    """
    text = str(value).strip()
    if text in MISSING:
        return ""
    match = WHOLE.fullmatch(text) or MIDNIGHT.fullmatch(text)
    return match[1] if match else text


def cell_number(text: str) -> float | None:
    """The finite number that a text is, to 12 digits, or None.

    >>> cell_number("0.30000000000000004"), cell_number("low"), cell_number("inf")
    (0.3, None, None)
    """
    try:
        number = float(text)
    except ValueError:
        return None
    return float(f"{number:.12g}") if math.isfinite(number) else None


def cell_day(text: str) -> date | None:
    """The day that an ISO text is, or None."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def plain_number(number: float) -> str:
    """Write a number without an exponent.

    >>> plain_number(1e6), plain_number(2.50)
    ('1000000', '2.5')
    """
    return f"{Decimal(f'{number:.12g}').normalize():f}"
