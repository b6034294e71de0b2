"""Decimals as fractions, and logarithms and square roots with stated errors."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from .check_errors import BadInputError
from .doubles import sigmoid_hint

DECIMAL = re.compile(r"[+-]?(?=\.?\d)(\d{0,400})(\.\d{0,400})?([eE][+-]?\d{1,3})?")
LARGEST_EXPONENT = 400
FIXED = 144
"""Binary digits of the fixed point in which logarithms are summed."""
ERROR = Fraction(1, 2**110)
"""No logarithm is wrong by more: the series below has at most 40 terms and 4 roundings of 2^-144 each, ln 2 is
multiplied by an exponent below 2^14, and 2^14 x 200 x 2^-144 < 2^-120."""
ROOT = 128
"""Binary digits after the point of square roots."""
GRID = 1 << 200
"""Sums are kept on this grid, rounded to the safe side, so that fractions do not grow."""


def rounded_down(x: Fraction) -> Fraction:
    """The next number of the grid below."""
    return Fraction(x.numerator * GRID // x.denominator, GRID)


def rounded_up(x: Fraction) -> Fraction:
    """The next number of the grid above."""
    return -rounded_down(-x)


@lru_cache(maxsize=1 << 16)
def decimal(text: str) -> Fraction:
    """A decimal number as a fraction; numbers that only exhaust memory are refused."""
    found = DECIMAL.fullmatch(text.strip())
    if found is None or abs(int((found[3] or "e0")[1:])) > LARGEST_EXPONENT:
        raise BadInputError(f"{text[:60]!r} is not a decimal number of ordinary size")
    return Fraction(text.strip())


def _atanh(top: int, bottom: int) -> int:
    """2 atanh(top / bottom) in fixed point, for |top / bottom| <= 1/3."""
    z = (top << FIXED) // bottom
    square, power, total, odd = (z * z) >> FIXED, z, 0, 1
    while power and odd < 200:
        total += power // odd
        power, odd = (power * square) >> FIXED, odd + 2
        if power == -1:  # shifts round down, and -1 would stay
            break
    return 2 * total


LN2 = _atanh(1, 3)


@lru_cache(maxsize=1 << 16)
def ln(x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of the natural logarithm, at most 2^-109 apart.

    x = m 2^k with m in (2/3, 4/3], and ln m = 2 atanh((m - 1) / (m + 1)), whose argument is at most 1/5.
    """
    top, bottom = x.numerator, x.denominator
    if top <= 0:
        raise ValueError("a logarithm of a number that is not positive")
    k = top.bit_length() - bottom.bit_length()
    top, bottom = (top, bottom << k) if k >= 0 else (top << -k, bottom)
    while 3 * top > 4 * bottom:
        bottom, k = bottom * 2, k + 1
    while 3 * top <= 2 * bottom:
        top, k = top * 2, k - 1
    value = Fraction(_atanh(top - bottom, top + bottom) + k * LN2, 1 << FIXED)
    return value - ERROR, value + ERROR


def logit(x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of ln x - ln(1 - x)."""
    below, above = ln(x), ln(1 - x)
    return below[0] - above[1], below[1] - above[0]


def softplus_below(z: Fraction) -> Fraction:
    """A number below ln(1 + e^z): it is convex, so its tangent at logit t lies below it, for any t in (0, 1)."""
    t = sigmoid_hint(z)
    low, high = logit(t)
    return -ln(1 - t)[1] + t * (z - high) if low <= high else Fraction(0)


def softplus_above(z: Fraction) -> Fraction:
    """A number above ln(1 + e^z): the tangent, and an eighth of the squared distance, as its curvature is below 1/4."""
    t = sigmoid_hint(z)
    low, high = logit(t)
    away = max(abs(z - low), abs(z - high))
    return -ln(1 - t)[0] + t * (z - low) + Fraction(away * away, 8)


def root(x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of the square root, 2^-128 apart."""
    floor = isqrt((x.numerator << (2 * ROOT)) // x.denominator)
    return Fraction(floor, 1 << ROOT), Fraction(floor + 1, 1 << ROOT)
