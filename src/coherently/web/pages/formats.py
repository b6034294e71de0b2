"""Numbers and times as people read them: whole per cents, and clocks of this machine's time zone."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from markupsafe import Markup

from coherently.report.names import points
from coherently.web.wall_clock import present

if TYPE_CHECKING:
    from collections.abc import Iterable

GAP = "\u00a0"
"""A space that no line breaks at."""
DAY = 86_400
"""Seconds of a day."""
WEEK = 7
"""Days after which the name of a weekday says too little."""


def whole(probability: float) -> int:
    """A probability in whole per cents; halves are rounded up.

    >>> whole(0.345), whole(0.3449)
    (35, 34)
    """
    return int(100 * probability + 0.5 + 1e-9)


def percent(probability: float | None, digits: int = 2) -> str:
    """A probability in whole per cents, or with so many decimals of it, with a no-break space, or a dash.

    >>> percent(0.361).replace(GAP, " "), percent(0.361, 3).replace(GAP, " "), percent(None)
    ('36 %', '36.1 %', '–')
    """
    if probability is None:
        return "–"
    return f"{whole(probability)}{GAP}%" if digits <= 2 else f"{100 * probability:.{digits - 2}f}{GAP}%"


def between(low: float, high: float) -> str:
    """A range in whole per cents.

    >>> between(0.0, 0.33).replace(GAP, " ")
    '0 to 33 %'
    """
    first, last = whole(low), whole(high)
    return f"{first}{GAP}to{GAP}{last}{GAP}%" if first != last else f"{last}{GAP}%"


def change(before: float, after: float, digits: int = 2) -> str:
    """The difference of two probabilities that are shown with so many decimals, in per cents.

    >>> change(0.30, 0.34), change(0.38, 0.34), change(0.5, 0.5), change(0.301, 0.305, 3)
    ('+4', '−4', '0', '+0.4')
    """
    return points(after - before, digits)


def score(value: float) -> str:
    """A score with three decimals."""
    return f"{value:.3f}"


def listed(items: Iterable[str]) -> str:
    """Names in a sentence.

    >>> listed(["Ann"]), listed(["Ann", "Bob"]), listed(["Ann", "Bob", "Cem"])
    ('Ann', 'Ann and Bob', 'Ann, Bob and Cem')
    """
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def sentence(text: str) -> str:
    """A text with a capital letter at its beginning and a full stop at its end.

    >>> sentence("expected an event after '&' (column 7)")
    "Expected an event after '&' (column 7)."
    """
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def read_time(text: str) -> datetime:
    """A moment of the store, in the time zone of this machine."""
    return datetime.fromisoformat(text).astimezone()


def _time(text: str, words: str, style: str) -> Markup:
    shape = Markup('<time datetime="{}" data-time="{}">{}</time>')
    return shape.format(text, style, words)


def clock(text: str | None) -> Markup | str:
    """The time of the day, with the day unless it is today."""
    if text is None:
        return "–"
    then = read_time(text)
    apart = (present().astimezone().date() - then.date()).days
    if apart == 0:
        return _time(text, f"{then:%H:%M}", "clock")
    if 0 < apart < WEEK:
        return _time(text, f"{then:%a}, {then:%H:%M}", "clock")
    return _time(text, f"{then.day} {then:%b}, {then:%H:%M}", "clock")


def moment(text: str | None) -> Markup | str:
    """A day and a time, as of a version or of the end of a round."""
    if text is None:
        return "–"
    then = read_time(text)
    return _time(text, f"{then:%a} {then.day} {then:%b} {then.year}, {then:%H:%M}", "moment")


def day(text: str | None) -> Markup | str:
    """A day."""
    if text is None:
        return "–"
    then = read_time(text)
    return _time(text, f"{then.day} {then:%B} {then.year}", "day")


def deadline(text: str | None, zone: str) -> Markup | str:
    """When something ends, in a time zone that is named; a script tells it in the reader's own."""
    if text is None:
        return "–"
    then = datetime.fromisoformat(text).astimezone(ZoneInfo(zone))
    return _time(text, f"{then:%a} {then.day} {then:%b} {then.year}, {then:%H:%M} ({zone})", "deadline")


def local_field(text: str | None, zone: str) -> str:
    """A moment as a field for a date and a time holds it, in a time zone."""
    return "" if text is None else f"{datetime.fromisoformat(text).astimezone(ZoneInfo(zone)):%Y-%m-%dT%H:%M}"
