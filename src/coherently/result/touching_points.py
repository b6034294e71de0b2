"""Where planes touch the losses: at the answer, or where the last bound was proved. Both are hints for the checker."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np

from coherently.proofcheck.language import normal
from coherently.proofcheck.loss_planes import IntervalCost, LinearCost, LinearisedCost, LossRule, MergedCost
from coherently.proofcheck.proof_records import RATIO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.proofcheck.claimed_mixture import WorldMixture
    from coherently.proofcheck.posed_panel import PosedPin, PosedTerm
    from coherently.result.result import Result
    from coherently.solve.solution import BoundHints


class TouchingPoints(Protocol):
    """Where planes touch the losses."""

    def at(self, term: PosedTerm) -> tuple[float | Fraction, float | Fraction, float | Fraction]:
        """P(E & H), P(H), and the ratio of the two, for the side of the term."""

    def price(self, pin: int) -> float:
        """The price of a pin, by its number."""

    def is_other_side(self, term: PosedTerm) -> bool:
        """Whether the solver has ~E & H where the checker has E & H."""


class AnswerPoints:
    """Planes touch at the answer itself."""

    def __init__(self, mixture: WorldMixture) -> None:
        self.mixture = mixture

    def at(self, term: PosedTerm) -> tuple[Fraction, Fraction, Fraction]:
        """P(E & H), P(H), and the ratio of the two; one half if the condition is impossible."""
        u, h = self.mixture.probability(term.joint), self.mixture.probability(term.condition)
        return u, h, u / h if h else Fraction(1, 2)

    def price(self, pin: int) -> float:  # noqa: ARG002
        """No prices are known."""
        return 0.0

    def is_other_side(self, term: PosedTerm) -> bool:  # noqa: ARG002
        """Without forces it does not matter."""
        return False


class HintedPoints:
    """Planes touch where the last bound of each component was proved."""

    def __init__(self, result: Result, hints: BoundHints, pins: Sequence[PosedPin] = ()) -> None:
        problem = result.problem
        given = problem.merged.terms.conditionals
        self.unit = {normal(text): i for i, text in enumerate(result.panel.written.text)}
        self.place, self.x = problem.coordinate.tolist(), hints.x.tolist()
        self.complemented, self.conditional = problem.complemented.tolist(), problem.conditional.tolist()
        self.mean = given.mean.tolist()
        self.joint, self.condition = (side.probability(hints.x).tolist() for side in (given.joint, given.condition))
        self.mass = np.append(hints.mass, 0.0)[given.joint.coordinate].tolist()
        texts, first = result.panel.laws.pins.text, {one.text: i for i, one in reversed(list(enumerate(pins)))}
        self.prices = dict[int, float]()
        for pin, price in hints.price.items():  # a pin that is stated twice has its price once
            place = first[normal(texts[pin])]
            self.prices[place] = self.prices.get(place, 0.0) + price * hints.unit

    def at(self, term: PosedTerm) -> tuple[float, float, float]:
        """P(E & H), P(H), and their ratio, smoothed by the mass as the bound was (see `Objective`)."""
        unit = self.unit[term.text]
        i, turned = self.place[unit], self.complemented[unit] != term.turned
        if not self.conditional[unit]:
            x = 1.0 - self.x[i] if turned else self.x[i]
            return x, 1.0, x
        u, h, mass, middle = self.joint[i], self.condition[i], self.mass[i], self.mean[i]
        if turned:
            u, middle = h - u, 1.0 - middle
        if isinstance(term.cost, IntervalCost):
            middle = float(term.cost.low + term.cost.high) / 2
        return u, h, (u + mass * middle) / (h + mass) if h + mass > 0 else middle

    def price(self, pin: int) -> float:
        """The price of a pin in the last bound of its component."""
        return self.prices.get(pin, 0.0)

    def is_other_side(self, term: PosedTerm) -> bool:
        """Whether a conditional is turned."""
        unit = self.unit[term.text]
        return bool(self.conditional[unit] and self.complemented[unit] != term.turned)


class LateLoss(LossRule):
    """A loss whose forecasts are merged when somebody asks for a plane, which few components need."""

    def merged(self, forecasts: list[tuple[Fraction, Fraction]]) -> MergedCost:
        """Forecasts, each with its weight, as one."""
        return LateCost(self, forecasts)  # type: ignore[return-value]


@dataclass(slots=True)
class LateCost:
    """Forecasts that are not merged yet."""

    loss: LossRule
    forecasts: list[tuple[Fraction, Fraction]]

    def plane(self, r: Fraction) -> tuple[Fraction, Fraction]:
        """Numbers below a and c of the plane at r."""
        return LossRule.merged(self.loss, self.forecasts).plane(r)


@dataclass(slots=True)
class SolvedCost:
    """What the solver has merged: a weight, and the mean of forecasts of it."""

    name: str
    mean: float
    weight: float

    def slope(self, hinted: int) -> float:
        """About a of the plane at a ratio in units of 2^-60."""
        x, rest = hinted / 2**RATIO, (2**RATIO - hinted) / 2**RATIO
        return self.weight * (_dual(self.name, x, rest) - _dual(self.name, self.mean, 1 - self.mean))


def _dual(name: str, x: float, rest: float) -> float:
    """The slope of a loss at x, of which `rest` is 1 - x."""
    if name == "brier":
        return 2 * x
    if name == "log":
        return math.log(max(x, 2.0**-RATIO)) - math.log(max(rest, 2.0**-RATIO))
    return (x - rest) / math.hypot(x, rest)


def hint(term: PosedTerm, points: TouchingPoints, bits: int) -> int:
    """The ratio in units of 2^-60; of a linearised conditional the slope in units of 2^-bits."""
    if isinstance(term.cost, LinearCost):
        return 0
    u, h, ratio = points.at(term)
    if isinstance(term.cost, LinearisedCost):
        low, high, weight = (Fraction(one) for one in (term.cost.low, term.cost.high, term.cost.weight))
        away = min(Fraction(u) - low * Fraction(h), Fraction(0)) + max(Fraction(u) - high * Fraction(h), Fraction(0))
        return int(2 * weight * away * (1 << bits))
    return min(max(int(ratio * (1 << RATIO)), 0), 1 << RATIO)


def slope(term: PosedTerm, hinted: int, bits: int) -> int:
    """The coefficient of a term's event that the checker will use, on its grid."""
    if isinstance(term.cost, SolvedCost):
        return math.floor(term.cost.slope(hinted) * (1 << bits))
    scale = bits if isinstance(term.cost, LinearisedCost) else RATIO
    return math.floor(term.cost.plane(Fraction(hinted, 1 << scale))[0] * (1 << bits))
