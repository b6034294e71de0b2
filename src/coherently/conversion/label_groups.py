"""How the labels of a group's questions are related: as thresholds of one quantity, or as brackets of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from coherently.conversion.draft import choice, declaration, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

MONTH_NAMES: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
MONTHS: Final = {name[:length]: n for n, name in enumerate(MONTH_NAMES, 1) for length in (3, len(name))} | {"sept": 9}
SCALES: Final = {
    **dict.fromkeys(("k", "thousand"), 10**3),
    **dict.fromkeys(("m", "million"), 10**6),
    **dict.fromkeys(("b", "bn", "billion"), 10**9),
    **dict.fromkeys(("t", "trillion"), 10**12),
}
BELOW: Final = {"<": "<", "less than": "<", "fewer than": "<", "below": "<", "under": "<", "lower than": "<"}
UP_TO: Final = {"<=": "<=", "≤": "<=", "at most": "<=", "up to": "<=", "no more than": "<="}
ABOVE: Final = {">": ">", "more than": ">", "greater than": ">", "above": ">", "over": ">", "higher than": ">"}
FROM: Final = {">=": ">=", "≥": ">=", "at least": ">=", "no less than": ">=", "no fewer than": ">="}
PREFIXES: Final = {**BELOW, **UP_TO, **ABOVE, **FROM}
SUFFIXES: Final = {
    **dict.fromkeys(("or more", "or higher", "or above", "or greater", "+"), ">="),
    **dict.fromkeys(("or less", "or fewer", "or lower", "or below"), "<="),
}
BY: Final = {
    "before": "<",
    "prior to": "<",
    "by": "by",
    "on or before": "<=",
    "by the end of": "end",
    "by end of": "end",
}
ASKS_BY: Final = re.compile(r"\b(by|before)\b\W*(the following|these|each|which|\.\.\.|…|_{2,}|\?|\(|$)", re.IGNORECASE)
"""A title whose date is in the labels, such as "Will it happen before these dates?"."""

_NUMBER: Final = r"([$€£]?)\s*(-?\d[\d,]*(?:\.\d+)?|-?\.\d+)\s*(%|[a-z]*)"


@dataclass(frozen=True, slots=True)
class Grouping:
    """The events of a group's questions, in their order, and the law that relates them; `kind` is for messages.

    `complete` is false for brackets that leave values out.
    """

    kind: str
    events: tuple[str, ...]
    law: str
    complete: bool = True


@dataclass(frozen=True, slots=True)
class _Amount:
    value: Decimal
    unit: str


@dataclass(frozen=True, slots=True)
class _Range:
    """A range of a quantity; None means no bound, and a bound belongs to the range unless the range is open there."""

    low: Decimal | None
    high: Decimal | None
    open_low: bool = False
    open_high: bool = False


def recognise(name: str, labels: Sequence[str], title: str) -> Grouping | None:
    """Read the labels of a group as thresholds or brackets of one quantity; None if they are neither.

    >>> recognise("g7", ["Before 2030", "Before July 2031"], "Will it fly?").events
    ('g7 < 2030-01-01', 'g7 < 2031-07-01')
    >>> recognise("g8", ["≥ 5%", "≥ 7.5%"], "Rate?").events
    ('g8 >= 5', 'g8 >= 7.5')
    >>> recognise("g9", ["Less than 10", "10-19", "20 or more"], "How many?").law
    'variable g9: "Less than 10", "10-19", "20 or more"'
    >>> recognise("g9", ["< 10", "10-19", "> 20"], "How many?").law
    'variable g9: "< 10", "10-19", "> 20", ...'
    >>> recognise("g1", ["Spain", "Italy"], "Who wins?")
    """
    if len(set(map(_plain, labels))) < max(2, len(labels)):
        return None
    return _dates(name, labels, title) or _thresholds(name, labels) or _brackets(name, labels)


def declared(name: str, labels: Sequence[str], *, complete: bool) -> Grouping:
    """Make a group a partition because the user says so."""
    return Grouping(
        "partition", tuple(choice(name, label) for label in labels), declaration(name, labels, complete=complete)
    )


def _plain(label: str) -> str:
    r"""A label in lower case, with one kind of dash.

    >>> _plain("5\N{EN DASH}10 GW")
    '5-10 gw'
    """
    return one_line(re.sub("[\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}]", "-", label.lower()))


def _dates(name: str, labels: Sequence[str], title: str) -> Grouping | None:
    left_open = ASKS_BY.search(title)
    implied = BY[left_open[1].lower()] if left_open else None
    events = []
    for label in map(_plain, labels):
        word = next((word for word in sorted(BY, key=len, reverse=True) if label.startswith(f"{word} ")), "")
        how = BY.get(word) or implied
        moment = _date(label.removeprefix(word).strip())
        if how is None or moment is None:
            return None
        events.append(f"{name} {_by(how, *moment)}")
    if len(set(events)) < len(events):
        return None
    return Grouping("ladder of dates", tuple(events), f"variable {name}: date")


def _by(how: str, first: date, last: date) -> str:
    """The threshold of a date known to the day, or of the first and the last day of a month or year."""
    if how == "<" or (how == "by" and first != last):
        return f"< {first.isoformat()}"
    return f"<= {last.isoformat()}"


def _date(text: str) -> tuple[date, date] | None:
    """The first and the last day that a text names.

    >>> _date("july 4, 2031"), _date("2030")
    ((datetime.date(2031, 7, 4), datetime.date(2031, 7, 4)), (datetime.date(2030, 1, 1), datetime.date(2030, 12, 31)))
    """
    text = re.sub(r"(?<=\d)(st|nd|rd|th)\b", "", text.replace(",", " "))
    parts = text.split()
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            day = date.fromisoformat(text)
            return day, day
        if len(parts) == 1 and re.fullmatch(r"(19|20|21)\d\d", text):
            return date(int(text), 1, 1), date(int(text), 12, 31)
        if len(parts) == 2 and parts[0] in MONTHS and parts[1].isdigit():
            month, year = MONTHS[parts[0]], int(parts[1])
            following = date(year + month // 12, month % 12 + 1, 1)
            return date(year, month, 1), date.fromordinal(following.toordinal() - 1)
        if len(parts) == 3:
            word = parts[0] if parts[0] in MONTHS else parts[1]
            number = parts[1] if parts[0] in MONTHS else parts[0]
            day = date(int(parts[2]), MONTHS[word], int(number))
            return day, day
    except (ValueError, KeyError):
        return None
    return None


def _thresholds(name: str, labels: Sequence[str]) -> Grouping | None:
    found = [_threshold(_plain(label)) for label in labels]
    signs = [item for item in found if item is not None]
    if len(signs) < len(labels) or len({amount.unit for _, amount in signs}) != 1:
        return None
    ups = {sign[0] for sign, _ in signs}
    if len(ups) != 1:
        return None
    events = tuple(f"{name} {sign} {_write(amount.value)}" for sign, amount in signs)
    return Grouping("ladder of numbers", events, f"variable {name}: number")


def _threshold(label: str) -> tuple[str, _Amount] | None:
    for word in sorted(PREFIXES, key=len, reverse=True):
        if label.startswith(word) and (amount := _amount(label.removeprefix(word))) is not None:
            return PREFIXES[word], amount
    for word, sign in SUFFIXES.items():
        if label.endswith(word) and (amount := _amount(label.removesuffix(word))) is not None:
            return sign, amount
    return None


def _amount(text: str) -> _Amount | None:
    match = re.fullmatch(_NUMBER, text.strip())
    if match is None:
        return None
    currency, digits, word = match.groups()
    scale = SCALES.get(word, 1)
    unit = currency + ("" if word in SCALES else word)
    return _Amount(Decimal(digits.replace(",", "")) * scale, unit)


def _brackets(name: str, labels: Sequence[str]) -> Grouping | None:
    """Read ranges that do not overlap: a partition, complete if both ends are unbounded and there are no gaps."""
    found = [_bracket(_plain(label)) for label in labels]
    ranges = [item for item in found if item is not None]
    if len(ranges) < len(labels) or not any(item.low is not None and item.high is not None for item in ranges):
        return None
    lowest = Decimal("-Infinity")
    ordered = sorted(ranges, key=lambda item: lowest if item.low is None else item.low)
    step = _step(ranges)
    joined = []
    for left, right in pairwise(ordered):
        if left.high is None or right.low is None or left.high > right.low:
            return None
        joined.append(_meet(left, right, right.low - left.high, step))
    complete = ordered[0].low is None and ordered[-1].high is None and all(joined)
    events = tuple(choice(name, label) for label in labels)
    return Grouping("brackets", events, declaration(name, labels, complete=complete), complete)


def _meet(left: _Range, right: _Range, gap: Decimal, step: Decimal) -> bool:
    """Whether no value lies between two ranges: one includes the bound they share, or their bounds are a step apart.

    >>> ten, twenty = Decimal(10), Decimal(20)
    >>> _meet(_Range(None, ten, open_high=True), _Range(ten, None, open_low=True), Decimal(0), Decimal(1))
    False
    """
    if gap == 0:
        return not (left.open_high and right.open_low)
    return gap == step and not (left.open_high or right.open_low)


def _step(ranges: Sequence[_Range]) -> Decimal:
    """The unit of the last digit of any bound."""
    bounds = [bound for item in ranges for bound in (item.low, item.high) if bound is not None]
    exponents = [exponent for bound in bounds if isinstance(exponent := bound.as_tuple().exponent, int)]
    return Decimal(1).scaleb(min([0, *exponents]))


def _bracket(label: str) -> _Range | None:
    single = _threshold(label)
    if single is not None:
        sign, amount = single
        if sign[0] == "<":
            return _Range(None, amount.value, open_high=sign == "<")
        return _Range(amount.value, None, open_low=sign == ">")
    match = re.fullmatch(r"(?:between |from )?(≥|>=|>)?\s*(.+?)\s*(?:-| to | and )\s*(<=|<|≤)?\s*(\S+.*)", label)
    if match is None:
        return None
    low, high = _amount(match[2]), _amount(match[4])
    if low is None or high is None or not low.value < high.value or (low.unit and low.unit != high.unit):
        return None
    return _Range(low.value, high.value, open_low=match[1] == ">", open_high=match[3] == "<")


def _write(value: Decimal) -> str:
    """A number without an exponent."""
    return f"{value.normalize():f}"
