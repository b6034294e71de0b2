"""Weights in units: only their ratios matter, and no sum of them may be too large or too small."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem.problem import Merged

WIDEST = 33
"""Maximum binary orders of magnitude between a weight of a component and the next; beyond, they are drawn together.

The lighter one moves the event of the heavier one by at most 2^-33, 1e-10, either way; and a probability, of 53 binary
digits, keeps 20 digits of the lighter one's pull on that event: 1e-6 of it.
"""
FARTHEST = 900
"""Maximum binary orders of magnitude of a weight from the unit: beyond, sums and squares overflow or underflow."""


def unit_of(weight: NDArray[np.float64]) -> float:
    """The largest power of two that is at most the median of the positive weights; 1 if there are none.

    A power of two changes no digit, and a single heavy or light forecast does not change the median.

    >>> unit_of(np.array([0.0, 3.0, 5.0, 1e100])), unit_of(np.array([1e-320])), unit_of(np.ones(3))
    (4.0, 5.06e-321, 1.0)
    """
    if len(weight) and weight.min() >= 1 and weight.max() < 2:
        return 1.0
    known = weight[weight > 0]
    if not len(known):
        return 1.0
    middle = np.partition(known, (len(known) - 1) // 2)[(len(known) - 1) // 2]
    return float(np.ldexp(1.0, int(np.frexp(middle)[1]) - 1))


def in_units(weight: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    """The weights in units."""
    if unit == 1:
        return weight
    part, exponent = np.frexp(weight)
    order = np.clip(exponent - int(np.frexp(unit)[1]) + 1, -FARTHEST, FARTHEST)
    scaled: NDArray[np.float64] = np.ldexp(part, order)
    return scaled


def is_level(part: Merged) -> bool:
    """Whether no weight is so much heavier than another that doubles cannot tell them apart."""
    terms = part.terms
    every = part.weight
    if len(terms):
        every = np.concatenate([every, terms.conditionals.weight, terms.intervals.weight])
    return bool(every.max(initial=0.0) <= 2.0**WIDEST * every.min(initial=np.inf, where=every > 0))


def drawn_together(part: Merged) -> Merged:
    """A component whose weights differ so much that doubles cannot tell them apart, with heavy weights made lighter.

    From the lightest up, each is at most 2^33 times the one before: the answer is the same to about 1e-10, and since no
    weight has grown, what is proved of the least distance holds for the weights as they were too.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> panel = Panel.from_records([("A", "p", 0.9, 1e100), ("A", "q", 0.8, 1.0), ("A", "p & q", 0.2, 2.0)])
    >>> np.log2(drawn_together(pose(panel).merged).weight).round(6).tolist()
    [34.0, 0.0, 1.0]
    """
    if is_level(part):
        return part
    terms = part.terms
    groups = [part.weight, terms.conditionals.weight, terms.intervals.weight]
    every = np.concatenate(groups)
    known, place = np.unique(every, return_inverse=True)
    above = known > 0
    order = np.log2(known[above])
    excess = np.cumsum(np.maximum(0.0, np.diff(order, prepend=order[0]) - WIDEST))
    if excess[-1] == 0:
        return part
    known[above] *= np.exp2(-excess)
    weight, given, inner = np.split(known[place], np.cumsum([len(group) for group in groups])[:-1])
    return replace(
        part,
        weight=weight,
        terms=replace(
            terms,
            conditionals=replace(terms.conditionals, weight=given),
            intervals=replace(terms.intervals, weight=inner),
        ),
    )
