"""Findings in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHOWN = 6
"""Maximum number of bets or forecasts that a sentence names; more are counted."""


def number(value: float) -> str:
    """A probability in as few digits as possible, at least two.

    >>> number(0.6), number(0.125), number(0.1 + 0.2), number(0.2666666667)
    ('0.60', '0.125', '0.30', '0.2667')
    """
    for digits in (2, 3):
        if abs(value - round(value, digits)) < 1e-9:
            return f"{value:.{digits}f}"
    return f"{value:.4f}"


def apart(first: float, second: float) -> tuple[str, str]:
    """Two different numbers in enough digits to tell them apart.

    >>> apart(0.6, 0.0), apart(0.2000001, 0.2)
    (('0.60', '0.00'), ('0.2000001', '0.2000000'))
    """
    shown = number(first), number(second)
    digits = 5
    while float(shown[0]) == float(shown[1]) and digits < 17:
        shown = f"{first:.{digits}f}", f"{second:.{digits}f}"
        digits += 1
    return shown


def amount(value: float) -> str:
    """A stake or a profit in four significant digits.

    >>> amount(0.08333333), amount(2e-7), amount(12.0)
    ('0.08333', '2e-07', '12')
    """
    return f"{value:.4g}"


def listing(items: Sequence[str]) -> str:
    """The first items, and how many more there are.

    >>> listing(["a", "b", "c"])
    'a, b and c'
    """
    if len(items) > SHOWN:
        return f"{', '.join(items[:SHOWN])} and {len(items) - SHOWN:,} more"
    return " and ".join(part for part in (", ".join(items[:-1]), items[-1]) if part)


def trades(bets: Iterable[tuple[str, float, float]]) -> str:
    """What to sell and buy, of (event, stake, price), the largest stakes first.

    >>> trades([("p & q", 0.0833, 0.2667), ("q", -0.0833, 0.1)])
    'sell 0.0833 of [p & q] at 0.2667 and buy 0.0833 of [q] at 0.10'
    """
    ordered = sorted(bets, key=lambda bet: -abs(bet[1]))
    return listing(
        [
            f"{'sell' if stake > 0 else 'buy'} {amount(abs(stake))} of [{event}] at {number(price)}"
            for event, stake, price in ordered
        ]
    )
