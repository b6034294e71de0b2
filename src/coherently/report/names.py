"""Names and numbers as a page shows them, whatever characters the names have."""

from __future__ import annotations

import math

from coherently.result.shown import DIGITS

JOINERS = "\u200c\u200d"
"""Format characters that some scripts and emoji need; all others could rearrange the text around them."""


def shown(text: str) -> str:
    r"""Text in which characters that act on the text around them are written as escapes.

    >>> shown("a\u202eb\x07\ud800"), shown("عدد"), shown("x\r\ny")
    ('a\\u202eb\\x07\\ud800', 'عدد', 'x\\r\\ny')
    """
    return "".join(c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode() for c in text)


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


def probability(value: float, digits: int = DIGITS) -> str:
    """A probability to some places, or a dash if there is none.

    >>> probability(0.5), probability(float("nan"))
    ('0.5000', '-')
    """
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def signed(value: float, digits: int = DIGITS) -> str:
    """A change with its sign, 0 if it is too small to be shown.

    >>> signed(0.08333), signed(-0.2), signed(1e-9), signed(float("nan"))
    ('+0.0833', '-0.2000', '0', '-')
    """
    if math.isnan(value):
        return "-"
    return "0" if abs(value) < 0.5 * 10**-digits else f"{value:+.{digits}f}"
