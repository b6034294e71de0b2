"""Where the marks of small drawings stand: dots of judges, cells of progress, bands."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from coherently.web.pages.formats import whole

if TYPE_CHECKING:
    from collections.abc import Sequence

NEAR = 0.017
"""Dots nearer than this would hide each other, so that the next one is set above or below."""
STEP, LEVELS = 7.0, 3
"""How far above each other dots stand that would hide each other, and how many of them at most."""
LANES = (14.0, 8.0, 20.0)
"""Heights at which dots stand in a strip of 28 pixels: on the axis, above it, below it."""


def share(value: float) -> str:
    """A share of the width, as SVG takes it.

    >>> share(0.3), share(1 / 3), share(1.2)
    ('30%', '33.33%', '100%')
    """
    return f"{round(100 * min(max(value, 0.0), 1.0), 2):g}%"


def width(low: float, high: float) -> str:
    """The width of a band."""
    return share(max(high - low, 0.0))


def dots(values: Sequence[float]) -> list[tuple[str, float]]:
    """Where the dots of the answers stand, in increasing order; near ones side by side.

    >>> dots([0.3, 0.3, 0.5])
    [('30%', 14.0), ('30%', 8.0), ('50%', 14.0)]
    """
    last = dict.fromkeys(LANES, -1.0)
    placed = []
    for value in sorted(values):
        free = [lane for lane in LANES if value - last[lane] >= NEAR]
        lane = free[0] if free else min(LANES, key=lambda each: last[each])
        last[lane] = value
        placed.append((share(value), lane))
    return placed


def stacked(values: Sequence[float], axis: float) -> list[tuple[str, float]]:
    """Where the dots of the answers stand on an axis at a height; near ones above each other.

    >>> stacked([0.3, 0.3, 0.5], 23.0)
    [('30%', 23.0), ('30%', 16.0), ('50%', 23.0)]
    """
    placed: list[tuple[float, float]] = []
    for value in sorted(values):
        taken = [lane for known, lane in placed if value - known < NEAR]
        lanes = (axis - STEP * level for level in range(LEVELS))
        placed.append((value, next((lane for lane in lanes if lane not in taken), axis)))
    return [(share(value), lane) for value, lane in placed]


def middle(values: Sequence[float]) -> str:
    """Where the median stands."""
    return share(median(values))


def spoken(values: Sequence[float]) -> str:
    """The answers as a screen reader says them: whole per cents, in increasing order."""
    return ", ".join(str(whole(value)) for value in sorted(values))


def cells(count: int) -> list[tuple[str, str, str, str]]:
    """Left edge, width, and the two ends of a dash, of each of a row of cells that fills the width."""
    step = 1.0 / max(count, 1)
    gap = 0.14 * step
    return [
        (share(i * step), share(step - gap), share(i * step + 1.5 * gap), share((i + 1) * step - 2.5 * gap))
        for i in range(count)
    ]


def on_scale(value: float, low: float, high: float) -> str:
    """Where a number stands on an axis from `low` to `high`."""
    return share((value - low) / (high - low)) if high > low else share(0.5)
