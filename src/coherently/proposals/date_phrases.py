"""Dates in questions: what day, month, quarter or year is named, and what its preposition makes of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Final, TypeAlias

from coherently.conversion.label_groups import MONTHS

Day: TypeAlias = tuple[int, int, int]
"""Year, month and day; the year is 0 where none is stated, and is never filled in."""


class DateRole(StrEnum):
    """What a date says about an event."""

    DEADLINE = "deadline"
    UNTIL = "until"
    AT = "at"
    PERIOD = "period"
    WITHIN = "within"
    WINDOW = "window"
    LITERAL = "literal"


ROLES: Final = {
    **dict.fromkeys(
        ("by the end of", "by end of", "before the end of", "before end of", "by the close of"), DateRole.DEADLINE
    ),
    **dict.fromkeys(("on or before", "at or before", "no later than", "prior to", "before", "by"), DateRole.DEADLINE),
    **dict.fromkeys(("through the end of", "until the end of", "through", "until", "till"), DateRole.UNTIL),
    **dict.fromkeys(("at the end of", "at end of", "as of", "on"), DateRole.AT),
    **dict.fromkeys(("during", "in", "for", "at any time in", "at any point in"), DateRole.PERIOD),
}
_ENDS: Final = {word for word in ROLES if "end of" in word or "close of" in word}
_STRICT: Final = {"before", "prior to"}

_MONTH: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR: Final = r"(?:19|20|21)\d\d"
_NTH: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE: Final = (
    rf"(?P<iso>{_YEAR}-\d\d-\d\d)"
    rf"|(?P<dotted>\d{{1,2}}\.\d{{1,2}}\.{_YEAR})"
    rf"|(?P<slashed>\d{{1,2}}/\d{{1,2}}(?:/{_YEAR})?)"
    rf"|(?P<month_day>(?:{_MONTH})\.?\s+{_NTH}\b(?:,?\s+{_YEAR}\b)?)"
    rf"|(?P<day_month>{_NTH}\s+(?:of\s+)?(?:{_MONTH})\b\.?(?:,?\s+{_YEAR}\b)?)"
    rf"|(?P<quarter>q[1-4]\s+(?:of\s+)?{_YEAR}|{_YEAR}\s*q[1-4]"
    rf"|(?:1st|2nd|3rd|4th|first|second|third|fourth)\s+quarter(?:\s+of)?\s+{_YEAR})"
    rf"|(?P<half>h[12]\s+{_YEAR}|(?:first|second)\s+half\s+of\s+{_YEAR})"
    rf"|(?P<month_year>(?:{_MONTH})\.?,?\s+{_YEAR}\b)"
    rf"|(?P<month>(?:{_MONTH})\b)"
    rf"|(?P<year>{_YEAR}\b)"
)
_PREPOSITION: Final = "|".join(word.replace(" ", r"\s+") for word in sorted(ROLES, key=len, reverse=True))
_PHRASE: Final = re.compile(
    rf"(?<![\w/.,$])(?<![a-z]-)(?:(?P<word>{_PREPOSITION})\s+(?P<article>the\s+)?)?(?:{_DATE})(?![\w/%]|\.\d|-\d)"
)
_JOINED: Final = re.compile(r"\s*(?:-|to|and|through|until)\s*")
_OPENS: Final = re.compile(r"(?:\bbetween|\bfrom)\s+$")
_SEASON: Final = re.compile(rf"\b{_YEAR}\s?[-/]\s?(?:{_YEAR}|\d\d)\b(?!-\d)")
COUNTS: Final = {
    word: number
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 1
    )
}
_WITHIN: Final = re.compile(
    rf"\bwithin\s+(?:the\s+next\s+)?(?P<count>\d+|{'|'.join(COUNTS)})\s+(?P<unit>day|week|month|year)s?\b"
)
_ORDINALS: Final = {"1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "first": 1, "second": 2, "third": 3, "fourth": 4}
_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class DatePhrase:
    """A date with its role: `start` is its first day, and `stop` the first day after it.

    `style` is the preposition with the precision of the date: dates of one style are compared alike, whatever the
    preposition includes. A deadline lies between `earliest` and `latest`: "by 2030" may mean its beginning or its end.
    """

    role: DateRole
    style: str
    span: tuple[int, int]
    start: Day
    stop: Day
    has_year: bool = True

    @property
    def canonical(self) -> str:
        """The same for every way to write the date with the same role."""
        return f"{self.role}:{'-'.join(map(str, self.start))}:{'-'.join(map(str, self.stop))}"

    @property
    def earliest(self) -> Day:
        """The earliest moment that the words may mean as a limit."""
        word, precision = self.style.split("|")
        if word in _ENDS or (precision == "day" and word not in _STRICT):
            return self.stop
        return self.start

    @property
    def latest(self) -> Day:
        """The latest moment that the words may mean as a limit."""
        return self.start if self.style.split("|")[0] in _STRICT else self.stop

    def is_before(self, other: DatePhrase) -> bool:
        """Whether this limit comes before the other, on every reading of the words."""
        if self.has_year != other.has_year:
            return False
        if self.style == other.style:
            return self.start < other.start
        return self.latest <= other.earliest and self != other and self.earliest < other.latest


def find_dates(text: str) -> list[DatePhrase]:
    """The dates of a text in lower case, in their order.

    >>> [(date.role.value, date.start, date.stop) for date in find_dates("cut by june 30, 2026 or in q1 2027")]
    [('deadline', (2026, 6, 30), (2026, 7, 1)), ('period', (2027, 1, 1), (2027, 4, 1))]
    >>> find_dates("before 7/13")[0].has_year
    False
    """
    masked = _SEASON.sub(lambda match: " " * len(match[0]), text)
    found = [phrase for match in _PHRASE.finditer(masked) if (phrase := _phrase(match)) is not None]
    found += [_within(match) for match in _WITHIN.finditer(masked)]
    return _windows(sorted(found, key=lambda phrase: phrase.span), masked)


def season_spans(text: str) -> list[tuple[int, int]]:
    """Where seasons such as 2024-25 stand: they name an edition, not a date."""
    return [match.span() for match in _SEASON.finditer(text)]


def _phrase(match: re.Match[str]) -> DatePhrase | None:
    kind = match.lastgroup
    assert kind is not None
    named, begin = match[kind], match.start()
    word = re.sub(r"\s+", " ", match["word"] or "")
    if kind == "year" and match["article"] and "end of" not in word:
        word, begin = "", match.start(kind)  # "in the 2026 World Cup" names an edition
    if kind == "month" and not word:
        return None  # "may" and "march" are words too
    if kind == "year" and not word and _is_amount(match):
        return None
    days = _days(kind, named)
    if days is None:
        return None
    precision = {"month_year": "month", "month": "month", "quarter": "quarter", "half": "half", "year": "year"}
    role = ROLES.get(word, DateRole.LITERAL)
    style = f"{word}|{precision.get(kind, 'day')}"
    return DatePhrase(role, style, (begin, match.end()), *days, has_year=days[0][0] > 0)


def _is_amount(match: re.Match[str]) -> bool:
    """Whether a number that could be a year is the end of a range, as in "2000 to 2600 miles"."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    other = re.match(r"\s*(?:to|-)\s*(\d+)", after) or re.search(r"(\d+)\s*(?:to|-)\s*$", before)
    return other is not None and not re.fullmatch(_YEAR, other[1])


def _days(kind: str, named: str) -> tuple[Day, Day] | None:
    """The first day, and the day after the last."""
    numbers = [int(number) for number in re.findall(r"\d+", named)]
    year = next((number for number in numbers if number > 1000), 0)
    if kind == "year":
        return (year, 1, 1), (year + 1, 1, 1)
    if kind in ("quarter", "half"):
        ordinal = next((_ORDINALS[word] for word in _ORDINALS if word in named), 0)
        part = ordinal or next(number for number in numbers if number < 5)
        months = 3 if kind == "quarter" else 6
        return (year, months * (part - 1) + 1, 1), _month_after(year, months * part)
    if kind in ("month", "month_year"):
        month = _month(named)
        return (year, month, 1), _month_after(year, month)
    return _single_day(kind, named, numbers, year)


def _single_day(kind: str, named: str, numbers: list[int], year: int) -> tuple[Day, Day] | None:
    if kind in ("month_day", "day_month"):
        month, day = _month(named), next(number for number in numbers if number < 1000)
    elif kind == "iso":
        month, day = numbers[1], numbers[2]
    elif kind == "dotted":
        day, month = numbers[0], numbers[1]
    else:
        month, day = numbers[0], numbers[1]
        if month > 12:
            month, day = day, month
    try:
        following = date(year or 2000, month, day) + timedelta(days=1)
    except ValueError:
        return None
    return (year, month, day), (following.year - (0 if year else 2000), following.month, following.day)


def _month(named: str) -> int:
    return next(MONTHS[word] for word in re.findall("[a-z]+", named) if word in MONTHS)


def _month_after(year: int, month: int) -> Day:
    return (year + month // 12, month % 12 + 1, 1)


def _within(match: re.Match[str]) -> DatePhrase:
    count = COUNTS.get(match["count"]) or int(match["count"])
    days = count * _DAYS[match["unit"]]
    return DatePhrase(DateRole.WITHIN, f"within|{match['unit']}", match.span(), start=(days, 0, 0), stop=(days, 0, 1))


def _windows(found: list[DatePhrase], text: str) -> list[DatePhrase]:
    """Join two dates of a window, such as "between July 17 and July 28": windows stay literal."""
    joined: list[DatePhrase] = []
    for phrase in found:
        if joined and phrase.span[0] < joined[-1].span[1]:
            continue
        between = text[joined[-1].span[1] : phrase.span[0]] if joined else ""
        opened = _OPENS.search(text[: joined[-1].span[0]]) if joined else None
        is_plain = phrase.style.startswith(("|", "through", "until"))
        if joined and is_plain and _JOINED.fullmatch(between or ("-" if opened else "x")):
            first = joined.pop()
            begin = opened.start() if opened else first.span[0]
            known = first.has_year or phrase.has_year
            window = DatePhrase(
                DateRole.WINDOW, "window|", (begin, phrase.span[1]), start=first.start, stop=phrase.stop, has_year=known
            )
            joined.append(window)
        else:
            joined.append(phrase)
    return joined
