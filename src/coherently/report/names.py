"""Names and numbers as a page shows them, whatever characters the names have."""

from __future__ import annotations

import math

from coherently.explain.people_sentences import SPACE
from coherently.explain.people_sentences import percent as per_cent
from coherently.result.shown import DIGITS

HARMLESS = f"\u200c\u200d{SPACE}"
"""The no-break space, and format characters that some scripts need; others could rearrange the text around them."""
MINUS = "\N{MINUS SIGN}"


def shown(text: str) -> str:
    r"""Text in which characters that act on the text around them are written as escapes.

    >>> shown("a\u202eb\x07\ud800"), shown("عدد"), shown("x\r\ny")
    ('a\\u202eb\\x07\\ud800', 'عدد', 'x\\r\\ny')
    """
    return "".join(c if c.isprintable() or c in HARMLESS else c.encode("unicode_escape").decode() for c in text)


def number(value: float | None) -> str:
    """A number to four places, or a dash if there is none.

    >>> number(0.18333), number(float("nan")), number(2e-7), number(0.0)
    ('0.1833', '-', '2.0e-07', '0')
    """
    if value is None or math.isnan(value):
        return "-"
    if value == 0:
        return "0"
    return f"{value:.{DIGITS}f}" if abs(value) >= 0.5 * 10**-DIGITS else f"{value:.1e}"


def percent(value: float, digits: int = 2) -> str:
    r"""A probability in whole per cents, or with so many decimals of it, or a dash if there is none.

    >>> percent(0.5), percent(0.125, 3), percent(float("nan"))
    ('50\xa0%', '12.5\xa0%', '–')
    """
    return "–" if math.isnan(value) else per_cent(value, max(digits - 2, 0))


def points(change: float, digits: int = 2) -> str:
    """The difference of two probabilities that are shown with so many decimals, in per cents.

    >>> points(0.04), points(-0.038, 3), points(0.0), points(float("nan"))
    ('+4', '−3.8', '0', '–')
    """
    if math.isnan(change):
        return "–"
    shown = round(100 * change, max(digits - 2, 0))
    words = f"{abs(shown):.{max(digits - 2, 0)}f}"
    return f"+{words}" if shown > 0 else f"{MINUS}{words}" if shown < 0 else "0"


def answer(value: float) -> str:
    """A judge's own number in per cents, with as many decimals as it has, two at most.

    >>> answer(0.4), answer(0.345), answer(0.12345)
    ('40', '34.5', '12.35')
    """
    return f"{100 * value:.2f}".rstrip("0").rstrip(".")
