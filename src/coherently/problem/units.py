"""Weights in units: only their ratios matter, and no sum of them may be too large or too small."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem.problem import Merged

WIDEST = 33
"""Maximum binary orders of magnitude between a weight of a component and the next that are solved together.

The lighter one moves the event of the heavier one by at most 2^-33, 1e-10, either way; and a probability, of 53 binary
digits, keeps 20 digits of the lighter one's pull on that event: 1e-6 of it.
"""
SAME, EDGE = 1e-9, 1e-12
"""Differences of probabilities that are rounding; how near to 0 and 1 a forecast may be that stands for an answer."""


def unit_of(weight: NDArray[np.float64]) -> float:
    """The largest power of two that is at most the median of the positive weights; 1 if there are none.

    A power of two changes no digit, and a single heavy or light forecast does not change the median.

    >>> unit_of(np.array([0.0, 3.0, 5.0, 1e50])), unit_of(np.array([0.3])), unit_of(np.ones(3))
    (4.0, 0.25, 1.0)
    """
    if len(weight) and weight.min() >= 1 and weight.max() < 2:
        return 1.0
    known = weight[weight > 0]
    if not len(known):
        return 1.0
    middle = np.partition(known, (len(known) - 1) // 2)[(len(known) - 1) // 2]
    return float(np.ldexp(1.0, int(np.frexp(middle)[1]) - 1))


def in_units(weight: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    """The weights in units, a power of two: no digit changes, as weights above 0 lie between 1e-50 and 1e50."""
    return weight if unit == 1 else weight / unit


def is_level(part: Merged) -> bool:
    """Whether no weight is so much heavier than another that doubles cannot tell them apart."""
    every = part.weights()
    lightest = every.min(initial=np.inf)
    if not lightest > 0:
        lightest = every.min(initial=np.inf, where=every > 0)
    return bool(every.max(initial=0.0) <= 2.0**WIDEST * lightest)


def layers_of(part: Merged) -> list[Layer]:
    """The weights of a component in layers, the heaviest first, with more than 2^33 between one and the next.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> rows = [("A", "p", 0.9, 1.0), ("A", "q", 0.8, 1e-30), ("A", "r", 0.8, 1e-45), ("A", "p & q", 0.2, 2.0)]
    >>> [(layer.least, layer.most) for layer in layers_of(pose(Panel.from_records(rows)).merged)]
    [(1.0, 2.0), (1e-30, 1e-30), (1e-45, 1e-45)]
    """
    every = part.weights()
    known = np.unique(every[every > 0])
    begins = np.flatnonzero(np.append(True, known[1:] > 2.0**WIDEST * known[:-1]))
    ends = np.append(begins[1:], len(known)) - 1
    return [Layer(*pair) for pair in zip(known[begins].tolist(), known[ends].tolist(), strict=True)][::-1]


class Layer(NamedTuple):
    """Weights from `least` to `most` that doubles can tell apart; heavier ones count as `cap`, lighter ones not."""

    least: float
    most: float

    @property
    def cap(self) -> float:
        """What moves by at most 2^-33, 1e-10, for the sake of this layer."""
        return self.most * 2.0**WIDEST

    def drawn(self, part: Merged) -> Merged:
        """The component without lighter forecasts, and with heavier ones at the cap.

        No loss is below 0 and no weight has grown: what is proved of the least distance holds for the component too.
        """
        every = part.weights()
        return _with_weights(part, np.where(every >= self.least, np.minimum(every, self.cap), 0.0))

    def anchored(self, part: Merged, x: NDArray[np.float64]) -> Merged:
        """The same with what heavier forecasts have settled as a forecast: x, nearest to them and coherent.

        A heavier forecast that loses nothing at x stays as it is. One that loses something holds its events where they
        are: of a conditional, both E & H and H, as its loss is in proportion to P(H).
        """
        drawn, count = self.drawn(part), len(part)
        given, inner = drawn.terms.conditionals, drawn.terms.intervals
        plain, heavy_given, heavy_inner = np.split(part.weights() > self.cap, np.cumsum([count, len(given)]))
        ratio = given.ratio(x)
        lossy = heavy_given & (np.abs(ratio - given.mean) > SAME)
        at = np.append(x, ratio)[inner.about + count * inner.conditional]
        outside = heavy_inner & ((at < inner.low - SAME) | (at > inner.high + SAME))
        held = np.append(plain, False)  # the last place is for the certain event, whose coordinate is -1
        for sides in (given.joint, given.condition):
            held[sides.coordinate[lossy]] = True
        for sides in drawn.terms.of_intervals():
            held[sides.coordinate[outside]] = True
        held = held[:-1]
        terms = replace(
            drawn.terms,
            conditionals=replace(given, weight=np.where(lossy, 0.0, given.weight)),
            intervals=replace(inner, weight=np.where(outside, 0.0, inner.weight)),
        )
        mean = np.where(held, np.clip(x, EDGE, 1.0 - EDGE), drawn.mean)
        return replace(drawn, weight=np.where(held, self.cap, drawn.weight), mean=mean, terms=terms)


def _with_weights(part: Merged, every: NDArray[np.float64]) -> Merged:
    """The same with other weights, in the order of `Merged.weights`; where one is 0 now, there is no mean."""
    terms = part.terms
    if not len(terms):
        return replace(part, weight=every, mean=np.where(every > 0, part.mean, np.nan))
    given, inner = terms.conditionals, terms.intervals
    weight, of_given, of_inner = np.split(every, np.cumsum([len(part), len(given)]))
    given = replace(given, weight=of_given, mean=np.where(of_given > 0, given.mean, np.nan))
    return replace(
        part,
        weight=weight,
        mean=np.where(weight > 0, part.mean, np.nan),
        terms=replace(terms, conditionals=given, intervals=replace(inner, weight=of_inner)),
    )
