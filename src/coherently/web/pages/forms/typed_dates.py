"""Days as people type them: 2027-03-31, 31.3.2027, 31/03/2027, 31 March 2027; who could mean two of them is asked."""

from __future__ import annotations

import re
from datetime import date

from coherently.conversion.label_groups import MONTHS
from coherently.web.catalogue import plain
from coherently.web.refusals import RefusedError

_YEAR_FIRST = re.compile(r"([0-9]{4})([-./])([0-9]{1,2})\2([0-9]{1,2})")
_YEAR_LAST = re.compile(r"([0-9]{1,2})(?:\.\s?([0-9]{1,2})\.\s?|([-/])([0-9]{1,2})\3)([0-9]{4})")
_DAY_MONTH = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?([a-z]+)\.?,?\s+([0-9]{4})")
_MONTH_DAY = re.compile(r"([a-z]+)\.?\s+([0-9]{1,2})(?:st|nd|rd|th)?,?\s+([0-9]{4})")


def read_days(typed: str) -> list[date]:
    """The days that a text can mean: none if it is no date, two if it does not say which number is the month.

    >>> texts = ("2027-3-31", "31.3.2027", "3/31/2027", "March 31, 2027")
    >>> [day.isoformat() for text in texts for day in read_days(text)]
    ['2027-03-31', '2027-03-31', '2027-03-31', '2027-03-31']
    >>> [day.isoformat() for day in read_days("3/4/2027")], read_days("2027-02-30"), read_days("soon")
    (['2027-04-03', '2027-03-04'], [], [])
    """
    text = " ".join(typed.lower().split())
    parts: list[tuple[int, int, int]] = []
    if found := _YEAR_FIRST.fullmatch(text):
        parts = [(int(found[1]), int(found[3]), int(found[4]))]
    elif found := _YEAR_LAST.fullmatch(text):
        first, second, year = int(found[1]), int(found[2] or found[4]), int(found[5])
        parts = [(year, second, first)]  # the day first; between points it always is
        parts += [(year, first, second)] if found[3] and first != second else []
    elif found := _DAY_MONTH.fullmatch(text):
        parts = [(int(found[3]), MONTHS.get(found[2], 0), int(found[1]))]
    elif found := _MONTH_DAY.fullmatch(text):
        parts = [(int(found[3]), MONTHS.get(found[1], 0), int(found[2]))]
    return [day for each in parts if (day := _day(*each)) is not None]


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def one_day(typed: str) -> date | None:
    """The day that a text means, None if it is no date; one that could be two days is refused with both."""
    found = read_days(typed)
    if len(found) > 1:
        first, second = (f"{day.day} {day:%B} {day.year}" for day in found)
        words = plain("date.two", typed=typed.strip(), first=first, second=second)
        remedy = plain("date.two.remedy", first=found[0].isoformat(), second=found[1].isoformat())
        raise RefusedError(422, "two-readings", words, where="lines", remedy=remedy)
    return found[0] if found else None
