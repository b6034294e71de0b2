"""R1: planes below the losses of forecasts; and what a mixture loses.

A term loses T(u, h) = N h d(u / h) with u = P(E & H) and h = P(H); h is 1 without a condition. The loss d is convex, so
for any ratio r in [0, 1] its tangent at r, times h, lies below it:

    T(u, h) >= a u + c h   with   a = N d'(r),   c = N (d(r) - r d'(r)).

Numbers below a and c keep the inequality, as u >= 0 and h >= 0. Forecasts p of weights w are merged: with N the sum of
w, and D the sum of w phi'(p) over them, N d(x) = N phi(x) - D x + a constant that makes its least value 0:

    loss       phi(x)                   phi'(r)             c, beside a = N phi'(r) - D
    brier      x^2                      2 r                 N (q^2 - r^2), q = D / 2N
    log        x ln x + (1-x) ln(1-x)   logit r             N ln(1-r) + N softplus(D / N)
    spherical  sqrt(x^2 + (1-x)^2)      (2 r - 1) / phi(r)  N (1-r) / phi(r) - N v(D / N), 2 v(g) = sqrt(2 - g^2) - g

An interval [low, high] loses nothing inside, and outside as a forecast of its nearer end does. A linearised conditional
loses N (u - p h)^2, which is at least a (u - p h) - a^2 / 4N for any a, by (2N (u - p h) - a)^2 >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from .check_errors import BadInputError
from .numbers import ln, logit, root, softplus_above, softplus_below

Bounds = tuple[Fraction, Fraction]
Weighted = list[tuple[Fraction, Fraction]]
"""Forecasts, each with its weight."""
EDGE = Fraction(1, 2**60)
"""Ratios of the log loss, which is infinitely steep at 0 and 1, stay this far away from them."""
ZERO = Fraction(0)
KNOWN_LOSSES = ("brier", "log", "spherical")
"""The losses whose planes the checker knows; the package's registry is not asked, since the checker trusts nobody."""


@lru_cache(maxsize=1 << 16)
def dual(loss: str, p: Fraction) -> Bounds:
    """Bounds of phi'(p)."""
    if loss == "brier":
        return 2 * p, 2 * p
    if loss == "log":
        return logit(p)
    norm = root(p * p + (1 - p) * (1 - p))
    ends = Fraction(2 * p - 1, norm[0]), Fraction(2 * p - 1, norm[1])
    return min(ends), max(ends)


@dataclass(frozen=True)
class LossRule:
    """A loss by its name; `clip` is that of the log loss, `linearised` says how conditionals count."""

    name: str
    clip: Fraction = ZERO
    linearised: bool = False

    def cost(self, forecasts: Weighted, ends: Bounds | None, *, conditional: bool) -> Cost:
        """What the forecasts of one term lose; `ends` are those of intervals."""
        weight = sum((w for _, w in forecasts), ZERO)
        if self.linearised and conditional:
            mean = Fraction(sum((p * w for p, w in forecasts), ZERO), weight)
            return LinearisedCost(weight, *(ends or (mean, mean)))
        return self.merged(forecasts) if ends is None else self.interval(*ends, weight)

    def merged(self, forecasts: Weighted) -> MergedCost:
        """Forecasts as one."""
        return self._merged([(min(max(p, self.clip), 1 - self.clip), w) for p, w in forecasts])

    def _merged(self, forecasts: Weighted) -> MergedCost:
        weight = low = high = ZERO
        for p, w in forecasts:
            slope = dual(self.name, p)
            weight, low, high = weight + w, low + w * slope[0], high + w * slope[1]
        return MergedCost(self.name, weight, low, high)

    def interval(self, low: Fraction, high: Fraction, weight: Fraction) -> IntervalCost:
        """Forecasts of an interval; each of its ends is a forecast that is not clipped."""
        low, high, is_log = min(low, 1 - self.clip), max(high, self.clip), self.name == "log"
        if is_log and any(0 < end < EDGE or 1 - EDGE < end < 1 for end in (low, high)):
            raise BadInputError("an end of an interval is too near to 0 or 1 for the log loss")
        ends = [None if is_log and end in (0, 1) else self._merged([(end, weight)]) for end in (low, high)]
        return IntervalCost(low, high, *ends)


@dataclass(frozen=True)
class MergedCost:
    """Merged forecasts: the sum of weights, and bounds of the sum of weighted duals."""

    name: str
    weight: Fraction
    low: Fraction
    high: Fraction

    def plane(self, r: Fraction) -> Bounds:
        """Numbers below a and c of the plane at r."""
        n, r = self.weight, min(max(r, EDGE), 1 - EDGE) if self.name == "log" else r
        a = n * dual(self.name, r)[0] - self.high
        if self.name == "brier":
            return a, Fraction(self.low * self.low, 4 * n) - n * r * r
        if self.name == "log":
            return a, n * ln(1 - r)[0] + n * softplus_below(Fraction(self.low, n))
        norm = root(r * r + (1 - r) * (1 - r))
        return a, n * Fraction(1 - r, norm[1]) - n * self._other()[1]

    def _other(self) -> Bounds:
        """Bounds of v(g), which falls as g grows from -1 to 1."""
        ends = [min(max(Fraction(end, self.weight), Fraction(-1)), Fraction(1)) for end in (self.high, self.low)]
        return Fraction(root(2 - ends[0] ** 2)[0] - ends[0], 2), Fraction(root(2 - ends[1] ** 2)[1] - ends[1], 2)

    def above(self, u: Fraction, h: Fraction) -> Fraction:
        """A number above the loss at (u, h)."""
        n = self.weight
        if h == 0:
            return ZERO
        if self.name == "brier":
            q = Fraction(self.low, 2 * n)
            return n * Fraction((u - q * h) ** 2, h)
        if self.name == "log":
            entropy = ZERO
            for part in (u, h - u):
                entropy += part * ln(Fraction(part, h))[1] if part > 0 else ZERO
            return max(ZERO, n * entropy - self.low * u + n * h * softplus_above(Fraction(self.high, n)))
        norm = root(u * u + (h - u) ** 2)[1]
        return max(ZERO, n * norm - self.low * u - n * h * self._other()[0])

    def settled(self, truth: bool) -> Fraction:
        """A number below the loss of a constant: a, or nothing, and c, at the ratio that is certain."""
        if self.name != "log":
            a, c = self.plane(Fraction(truth))
            return max(ZERO, a + c if truth else c)
        # phi is 0 at 0 and at 1.
        return max(ZERO, self.weight * softplus_below(Fraction(self.low, self.weight)) - (self.high if truth else 0))


@dataclass(frozen=True)
class IntervalCost:
    """Forecasts of one interval, and those of its ends; None of an end at 0 or 1 that nothing can be beyond."""

    low: Fraction
    high: Fraction
    at_low: MergedCost | None
    at_high: MergedCost | None

    def _end(self, below: bool) -> MergedCost:
        found = self.at_low if below else self.at_high
        assert found is not None
        return found

    def plane(self, r: Fraction) -> Bounds:
        """Numbers below a and c of the plane at r."""
        if self.low <= r <= self.high:
            return ZERO, ZERO
        return self._end(r < self.low).plane(r)

    def above(self, u: Fraction, h: Fraction) -> Fraction:
        """A number above the loss at (u, h)."""
        if self.low * h <= u <= self.high * h:
            return ZERO
        return self._end(u < self.low * h).above(u, h)

    def settled(self, truth: bool) -> Fraction:
        """A number below the loss of a constant."""
        if self.low <= truth <= self.high:
            return ZERO
        return self._end(not truth).settled(truth)


@dataclass(frozen=True)
class LinearisedCost:
    """The squares N (u - p h)^2 of a conditional, p the point of [low, high] nearest to u / h."""

    weight: Fraction
    low: Fraction
    high: Fraction

    def plane(self, a: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        """Numbers of u, of h, and a constant.

        With an interval, a <= 0 goes with its low end, a >= 0 with its high end: where that end does not count, the
        plane is at most 0.
        """
        end = self.low if a < 0 else self.high
        return a, -end * a, -Fraction(a * a, 4 * self.weight)

    def above(self, u: Fraction, h: Fraction) -> Fraction:
        """The loss at (u, h)."""
        away = min(u - self.low * h, ZERO) + max(u - self.high * h, ZERO)
        return self.weight * away * away


@dataclass(frozen=True)
class LinearCost:
    """The function a u + c h itself, which is its own plane."""

    a: Fraction
    c: Fraction

    def plane(self, _: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        """Numbers of u, of h, and a constant."""
        return self.a, self.c, ZERO

    def above(self, u: Fraction, h: Fraction) -> Fraction:
        """The function at (u, h)."""
        return self.a * u + self.c * h


Cost = MergedCost | IntervalCost | LinearisedCost | LinearCost
