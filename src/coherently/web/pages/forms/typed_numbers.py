"""Numbers as people type them, with points, commas, spaces or apostrophes; who could mean two of them is asked."""

from __future__ import annotations

import re
from typing import NamedTuple

from coherently.web.catalogue import plain
from coherently.web.refusals import RefusedError

GROUPING = "\u00a0\u202f\u2009 '\u2019_"
"""Signs that stand between groups of three digits, and are never a decimal point."""
GROUPED = re.compile(rf"[1-9][0-9]{{0,2}}(?:[{GROUPING}][0-9]{{3}})+")
POINTED = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+|[1-9][0-9]{0,2}(?:,[0-9]{3})+")
PLAIN = re.compile(r"[0-9]{1,15}")
DIGITS = re.compile(r"[0-9]{1,15}")


class TypedNumber(NamedTuple):
    """A number as formulas take it, and, if it can be read in another way as well, that one."""

    text: str
    other: str | None = None


def read_number(typed: str) -> TypedNumber | None:
    """A number in the digits of formulas; None if it is none.

    >>> [read_number(typed).text for typed in ("1.234,5", "40 000", "0,35", "-2.50")]
    ['1234.5', '40000', '0.35', '-2.50']
    >>> read_number("40,000"), read_number("1 2"), read_number("1.2.3")
    (TypedNumber(text='40', other='40000'), None, None)
    """
    clean = typed.strip().replace("\u2212", "-")
    sign, body = ("-", clean[1:]) if clean.startswith("-") else ("", clean.removeprefix("+"))
    whole, point, rest = _split(body)
    if point and not DIGITS.fullmatch(rest):
        return None
    if not point:
        digits = _whole(whole)
        return None if digits is None else TypedNumber(sign + digits)
    if len(rest) == 3 and re.fullmatch(r"[1-9][0-9]{0,2}", whole):
        return TypedNumber(sign + _short(whole, rest), f"{sign}{whole}{rest}")
    digits = _whole(whole, besides=point)
    return None if digits is None else TypedNumber(f"{sign}{digits}.{rest}")


def _split(body: str) -> tuple[str, str, str]:
    """What stands before the decimal point, the sign that is one, and what stands after it."""
    last = max(body.rfind("."), body.rfind(","))
    if last < 0 or (body.count(body[last]) > 1 and POINTED.fullmatch(body)):
        return body, "", ""
    return body[:last], body[last], body[last + 1 :]


def _whole(text: str, besides: str = "") -> str | None:
    """A whole number with or without groups; the sign of the decimal point cannot part groups as well."""
    parted = GROUPED.fullmatch(text) or (POINTED.fullmatch(text) and (not besides or besides not in text))
    if not parted and not PLAIN.fullmatch(text):
        return None
    return re.sub(r"[^0-9]", "", text)


def _short(whole: str, rest: str) -> str:
    """A decimal number without needless zeros."""
    return f"{whole}.{rest}".rstrip("0").removesuffix(".")


def one_number(typed: str) -> TypedNumber | None:
    """The same, for a number of any size: one that could be thousands or a fraction is refused with both readings."""
    found = read_number(typed)
    if found is not None and found.other is not None:
        small = f"{found.text}0" if re.search(r"\.[0-9]{3}$", found.text) else found.text
        words = plain("number.two", typed=typed.strip(), small=found.text, large=found.other)
        remedy = plain("number.two.remedy", small=small, large=found.other)
        raise RefusedError(422, "two-readings", words, where="lines", remedy=remedy)
    return found
