"""Numbers with few digits, rounded so that they keep what people check."""

from coherently.result.shown.shown_numbers import (
    DIGITS,
    LARGEST,
    ShownForecasts,
    ShownNumbers,
    beside,
    nearest,
    outward,
    rounded,
    rounded_changes,
)

__all__ = [
    "DIGITS",
    "LARGEST",
    "ShownForecasts",
    "ShownNumbers",
    "beside",
    "nearest",
    "outward",
    "rounded",
    "rounded_changes",
]
