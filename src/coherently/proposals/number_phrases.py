"""Numbers in questions: which values of a quantity the words allow, with open and closed ends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final

from coherently.conversion.label_groups import ABOVE, BELOW, FROM, SCALES, SUFFIXES, UP_TO
from coherently.proposals.date_phrases import COUNTS

INFINITE: Final = Decimal("Infinity")


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The numbers from `low` to `high`; an end belongs to the range if it is closed."""

    low: Decimal = -INFINITE
    high: Decimal = INFINITE
    has_low: bool = False
    has_high: bool = False

    def is_within(self, other: ValueRange) -> bool:
        """Whether the other range has all of these numbers."""
        from_low = other.low < self.low or (other.low == self.low and (other.has_low or not self.has_low))
        to_high = self.high < other.high or (other.high == self.high and (other.has_high or not self.has_high))
        return from_low and to_high

    def is_nearly_within(self, other: ValueRange) -> bool:
        """Whether the other range has all of these numbers, but for an end that both share."""
        return self.is_within(other) or (other.low <= self.low < self.high <= other.high)

    def is_apart(self, other: ValueRange) -> bool:
        """Whether no number is in both."""
        first, second = (self, other) if (self.low, self.high) <= (other.low, other.high) else (other, self)
        return first.high < second.low or (first.high == second.low and not (first.has_high and second.has_low))

    def touches(self, other: ValueRange) -> bool:
        """Whether both share just one number, an end of each."""
        ends = (self.high == other.low and self.has_high and other.has_low) or (
            other.high == self.low and other.has_high and self.has_low
        )
        return ends and self != other and not self.is_within(other) and not other.is_within(self)

    @property
    def is_point(self) -> bool:
        """Whether it is one number."""
        return self.low == self.high

    @property
    def is_bounded(self) -> bool:
        """Whether it has both ends."""
        return self.low > -INFINITE and self.high < INFINITE

    def formula(self, name: str) -> str:
        """The range as an event about a declared variable."""
        low = f"{name} {'>=' if self.has_low else '>'} {written(self.low)}" if self.low > -INFINITE else ""
        high = f"{name} {'<=' if self.has_high else '<'} {written(self.high)}" if self.high < INFINITE else ""
        return " & ".join(part for part in (low, high) if part)


def written(value: Decimal) -> str:
    """A number without an exponent."""
    return f"{value.normalize():f}"


class NumberKind(StrEnum):
    """How sure the words are of the values they allow."""

    COMPARED = "compared"
    TOUCHED = "touched"
    LINE = "line"
    BARE = "bare"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class NumberPhrase:
    """A number, or two, with the words that compare them: the values that make the question true.

    Of kind `OUTSIDE`, the values are those that are not in the range.
    """

    span: tuple[int, int]
    kind: NumberKind
    values: ValueRange
    unit: str = ""


_ABOVE: Final = (
    *(word for word in ABOVE if word != ">"),
    *("exceeds", "exceed", "exceeding", "surpasses", "surpass", "larger than", "bigger than", "north of"),
    *("in excess of",),
)
_FROM: Final = (
    *(word for word in FROM if word not in (">=", "≥")),
    *("at or above", "a minimum of", "minimum of", "greater than or equal to", "more than or equal to"),
    *("equal to or greater than", "equal to or more than", "not less than", "not below", "no lower than"),
)
_BELOW: Final = (*(word for word in BELOW if word != "<"), "sub", "smaller than", "south of")
_UP_TO: Final = (
    *(word for word in UP_TO if word not in ("<=", "≤")),
    *("at or below", "a maximum of", "maximum of", "less than or equal to", "equal to or less than", "no higher than"),
    *("not exceeding", "not more than", "not above", "no greater than"),
)
_RISE: Final = ("reach", "reaches", "hit", "hits", "touch", "touches", "rise to", "rises to", "climb to", "climbs to")
_FALL: Final = ("dip to", "dips to", "fall to", "falls to", "drop to", "drops to", "sink to", "sinks to")
PREFIXES: Final = {
    **dict.fromkeys((*_ABOVE, ">"), (NumberKind.COMPARED, ">")),
    **dict.fromkeys((*_FROM, ">=", "≥"), (NumberKind.COMPARED, ">=")),
    **dict.fromkeys((*_BELOW, "<"), (NumberKind.COMPARED, "<")),
    **dict.fromkeys((*_UP_TO, "<=", "≤"), (NumberKind.COMPARED, "<=")),
    **dict.fromkeys(("exactly", "equal to", "precisely"), (NumberKind.COMPARED, "=")),
    **dict.fromkeys((*_RISE, "↑"), (NumberKind.TOUCHED, ">=")),
    **dict.fromkeys((*_FALL, "↓"), (NumberKind.TOUCHED, "<=")),
    **dict.fromkeys(("o/u", "over/under"), (NumberKind.LINE, ">")),
    "top": (NumberKind.COMPARED, "<="),
}
"""Words before a number, and what they make of it."""
_AFTER: Final = {**SUFFIXES, "or larger": ">=", "or over": ">=", "or under": "<=", "or older": ">="}

_WORDS: Final = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(PREFIXES, key=len, reverse=True))
_PREFIX: Final = re.compile(
    rf"(?:\b(?:be|is|are|was)\s+)?(?:(?<![\w-])|(?=[<>≥≤↑↓]))(?P<word>{_WORDS})(?:\s+(?:a|the|of)\b)?\s*$"
)
_SUFFIX: Final = re.compile("|".join(rf"\s*{re.escape(word)}(?!\w)" for word in sorted(_AFTER, key=len, reverse=True)))
_SCALE: Final = "|".join(sorted(SCALES, key=len, reverse=True))
_UNIT: Final = (
    r"%|percentage\s+points?|percent|per\s+cent|bps|basis\s+points?|°\s?[cf]|degrees?(?:\s+(?:celsius|fahrenheit))?"
)
_NUMBER: Final = re.compile(
    rf"(?P<currency>[$€£¥]\s?)?(?<![\w.])(?:(?<![a-z]-)|(?<=\d[kmbt]-)|(?<=\dbn-))(?P<digits>(?<!\d)-?\d[\d,]*(?:\.\d+)?|\.\d+)"
    rf"(?P<scale>\s?(?:{_SCALE})\b)?(?P<unit>\s?(?:{_UNIT})(?!\w))?(?![\w/]|\.\d|:\d)"
)
_LATE_UNIT: Final = re.compile(rf"\s?(?P<unit>{_UNIT})(?!\w)")
_COUNT: Final = re.compile(rf"\b(?P<digits>{'|'.join(COUNTS)})\b")
_BETWEEN: Final = re.compile(r"(?:\b(?:be|is|are|was)\s+)?\b(?:between|from)\s*$")
_AT: Final = re.compile(r"\bat\s+$")
_DASH, _TO, _AND = re.compile(r"\s?-\s?"), re.compile(r"\s+to\s+"), re.compile(r"\s+and\s+")
_BOTH: Final = re.compile(rf"\s*,?\s+(?:and|but)\s+(?:be\s+|is\s+)?(?P<word>{_WORDS})\s*")
_EITHER: Final = re.compile(rf"\s+or\s+(?:be\s+|is\s+)?(?P<word>{_WORDS})\s*")
_UNITS: Final = {"percent": "%", "per cent": "%", "bp": "bps", "basis point": "bps", "percentage point": "points"}


@dataclass(frozen=True, slots=True)
class _Digits:
    span: tuple[int, int]
    value: Decimal
    scale: int
    unit: str

    @property
    def amount(self) -> Decimal:
        return self.value * self.scale


def find_numbers(text: str) -> list[NumberPhrase]:
    """The numbers of a text in lower case, whose dates are blank, in their order.

    >>> [(str(found.values.low), found.unit) for found in find_numbers("btc above $70k")]
    [('70000', '$')]
    >>> [(str(found.values.low), str(found.values.high)) for found in find_numbers("cut $50-100b of spending")]
    [('50000000000', '100000000000')]
    """
    digits = _digits(text)
    found: list[NumberPhrase] = []
    position = 0
    while position < len(digits):
        phrase, used = _phrase(text, digits, position, found[-1].span[1] if found else 0)
        if phrase is not None:
            found.append(phrase)
        position += used
    return found


def _digits(text: str) -> list[_Digits]:
    found = []
    for match in _NUMBER.finditer(text):
        digits = match["digits"]
        if digits.startswith("-") and match.start("digits") and text[match.start("digits") - 1] not in " (":
            continue
        unit = (match["currency"] or "").strip() + _unit_name(match["unit"] or "")
        scale = SCALES[match["scale"].strip()] if match["scale"] else 1
        found.append(_Digits(match.span(), Decimal(digits.replace(",", "")), scale, unit))
    for match in _COUNT.finditer(text):
        before, after = _PREFIX.search(text[: match.start()]), _SUFFIX.match(text, match.end())
        if (before and before["word"] not in (*_RISE, *_FALL)) or after:
            found.append(_Digits(match.span(), Decimal(COUNTS[match["digits"]]), 1, ""))
    return sorted(found, key=lambda one: one.span)


def _unit_name(word: str) -> str:
    name = re.sub(r"\s+", " ", word.strip()).removesuffix("s")
    return _UNITS.get(name, name)


def _phrase(text: str, digits: list[_Digits], position: int, begin: int) -> tuple[NumberPhrase | None, int]:
    """The phrase that a number begins, and how many numbers it has."""
    one = digits[position]
    after = digits[position + 1] if position + 1 < len(digits) else None
    before = text[begin : one.span[0]]
    between = _BETWEEN.search(before)
    if after is not None:
        gap = text[one.span[1] : after.span[0]]
        if _DASH.fullmatch(gap) or _TO.fullmatch(gap) or (between and _AND.fullmatch(gap)):
            at = between or _AT.search(before)
            start = begin + at.start() if at else one.span[0]
            return _range(text, one, after, start), 2
    prefix = _PREFIX.search(before)
    if prefix is None:
        return _unprefixed(text, one, begin), 1
    kind, sign = PREFIXES[re.sub(r"\s+", " ", prefix["word"])]
    start = begin + prefix.start()
    if after is not None and (joined := _joined(text, one, after, sign)) is not None:
        return NumberPhrase((start, after.span[1]), *joined, _unit(one, after)), 2
    end = one.span[1]
    if suffix := _SUFFIX.match(text, end):  # "over 30 or more" says what "30 or more" says
        sign, end = _AFTER[suffix[0].strip()], suffix.end()
    return NumberPhrase((start, end), kind, _values(sign, one.amount), one.unit), 1


def _unprefixed(text: str, one: _Digits, begin: int) -> NumberPhrase:
    if suffix := _SUFFIX.match(text, one.span[1]):
        values, end, unit = _values(_AFTER[suffix[0].strip()], one.amount), suffix.end(), one.unit
        if late := _LATE_UNIT.match(text, end):  # "75+ bps"
            end, unit = late.end(), unit + _unit_name(late["unit"])
        at = _AT.search(text[begin : one.span[0]])
        return NumberPhrase((begin + at.start() if at else one.span[0], end), NumberKind.COMPARED, values, unit)
    return NumberPhrase(one.span, NumberKind.BARE, _values("=", one.amount), one.unit)


def _range(text: str, one: _Digits, after: _Digits, start: int) -> NumberPhrase | None:
    """Both ends, of which the first has the scale of the second unless it has its own."""
    low = one.value * (one.scale if one.scale > 1 else after.scale)
    if low > after.amount and one.scale == 1:
        low = one.value
    if low >= after.amount:
        return None
    end = after.span[1] + (1 if text[after.span[1] : after.span[1] + 1] == "-" else 0)
    values = ValueRange(low, after.amount, has_low=True, has_high=True)
    return NumberPhrase((start, end), NumberKind.COMPARED, values, _unit(one, after))


def _joined(text: str, one: _Digits, after: _Digits, sign: str) -> tuple[NumberKind, ValueRange] | None:
    """The values of "more than 2 and at most 4", or those that "at most 2 or more than 4" leaves out."""
    for pattern, kind in ((_BOTH, NumberKind.COMPARED), (_EITHER, NumberKind.OUTSIDE)):
        match = pattern.match(text, one.span[1])
        if match is None or match.end() != after.span[0]:
            continue
        second = PREFIXES[re.sub(r"\s+", " ", match["word"])][1]
        low, high = _values(sign, one.amount), _values(second, after.amount)
        if sign[0] == second[0] or "=" in (sign, second):
            return None
        if kind is NumberKind.OUTSIDE and sign[0] == "<" and low.high <= high.low:
            return kind, ValueRange(low.high, high.low, has_low=not low.has_high, has_high=not high.has_low)
        if kind is NumberKind.COMPARED and sign[0] == ">" and low.low < high.high:
            return kind, ValueRange(low.low, high.high, has_low=low.has_low, has_high=high.has_high)
    return None


def _values(sign: str, amount: Decimal) -> ValueRange:
    if sign == "=":
        return ValueRange(amount, amount, has_low=True, has_high=True)
    if sign[0] == ">":
        return ValueRange(low=amount, has_low=sign == ">=")
    return ValueRange(high=amount, has_high=sign == "<=")


def _unit(one: _Digits, after: _Digits) -> str:
    return after.unit if not one.unit or one.unit in after.unit else one.unit + after.unit.removeprefix(one.unit)
