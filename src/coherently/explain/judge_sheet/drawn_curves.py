"""Distributions that judges draw for a number or a date: what they mean at thresholds, and back.

All of it is about the distribution function F of one declared variable. A question about that variable has events such
as `sales < 40000`: its thresholds cut the axis into cells, and each event is a union of cells, so that the probability
of an event is a sum of differences of F at thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from coherently.errors import PanelError
from coherently.events import Events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DIGITS = 3
"""Decimals of F at thresholds: answers are kept in tenths of a per cent, so that they add up as they are shown."""


@dataclass(frozen=True, slots=True, eq=False)
class AnswerAxis:
    """A number or date that a question is about: `cuts` in ascending order, and in which cells each event is true.

    `cells` has one row per event and one column per cell: below the first cut, between two, beyond the last. Dates are
    days since 1970.
    """

    name: str
    kind: Literal["number", "date"]
    cuts: tuple[float, ...]
    cells: NDArray[np.bool_]

    def probabilities(self, shares: Sequence[float]) -> list[float]:
        """The probability of each event, by F at the cuts."""
        whole = [0.0, *(round(share, DIGITS) for share in shares), 1.0]
        mass = np.array([high - low for low, high in pairwise(whole)])
        return [round(float(value), DIGITS) for value in self.cells @ mass]

    def masses(self, probabilities: Sequence[float]) -> list[float] | None:
        """The probability of each cell, by those of the events; None if these do not say it."""
        rows = np.vstack([self.cells.astype(np.float64), np.ones(self.cells.shape[1])])
        if np.linalg.matrix_rank(rows) < rows.shape[1]:
            return None
        found, *_ = np.linalg.lstsq(rows, np.array([*probabilities, 1.0]), rcond=None)
        return [float(value) for value in found]


def read_axis(events: Sequence[str], declarations: Sequence[str]) -> AnswerAxis | None:
    """The axis of a question, or None if its events are not all about one declared number or date.

    >>> axis = read_axis(["sales < 20", "sales >= 20 & sales < 40", "sales >= 40"], ["variable sales: number"])
    >>> axis.cuts, axis.cells.astype(int).tolist()
    ((20.0, 40.0), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> read_axis(["rain"], []) is None
    True
    """
    table = Events()
    if table.declare(list(declarations)):
        return None
    reading = table.add(list(events))
    choices = [choice for choice in table.choices() if choice.ordered]
    if reading.faults or len(choices) != 1 or table.n_variables != len(choices[0].atoms):
        return None
    if (reading.sides[:, 1] != 1).any():  # a condition: side 1 is certain
        return None
    (choice,) = choices
    count = len(choice.atoms)
    # Each atom says "less than a threshold" in ascending order, so that in cell j exactly the atoms from j on are true.
    worlds = np.zeros((count + 1, table.n_variables), np.bool_)
    for cell in range(count + 1):
        worlds[cell, choice.atoms[cell:]] = True
    cells = table.evaluate(reading.event, worlds).T
    kind: Literal["number", "date"] = "date" if choice.kind == "date" else "number"
    cuts = tuple(float(at) for at in choice.at)
    return AnswerAxis(choice.name, kind, cuts, cells) if len(set(cuts)) == len(cuts) else None


@dataclass(frozen=True, slots=True)
class DrawnCurve:
    """What somebody drew: `knots` are pairs of a value and of F there, in ascending order.

    F is linear between knots. Beyond the outermost ones the last segment goes on until F is 0 or 1.
    """

    knots: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if len(self.knots) < 2:
            raise PanelError("a distribution needs two or more knots", code="few-knots", remedy="Add a knot.")
        for (low, before), (high, after) in pairwise(self.knots):
            if not (low < high and before <= after):
                raise PanelError(
                    f"the knots of a distribution must rise; {high:g} with {after:g} follows {low:g} with {before:g}",
                    code="falling-knots",
                    remedy="Give values in ascending order, none of them twice.",
                )
        if self.knots[0][1] == self.knots[-1][1]:
            raise PanelError("the distribution says nothing: all its knots are equally likely", code="flat-knots")

    def at_most(self, value: float) -> float:
        """F at a value.

        >>> curve = DrawnCurve(((10.0, 0.1), (20.0, 0.5), (40.0, 0.9)))
        >>> [round(curve.at_most(value), 3) for value in (0, 5, 10, 30, 45, 60)]
        [0.0, 0.0, 0.1, 0.7, 1.0, 1.0]
        """
        (x0, y0), (x1, y1) = self.knots[:2]
        if value < x0:
            return max(0.0, y0 - (x0 - value) * (y1 - y0) / (x1 - x0)) if y0 > 0 else 0.0
        (x0, y0), (x1, y1) = self.knots[-2:]
        if value > x1:
            return min(1.0, y1 + (value - x1) * (y1 - y0) / (x1 - x0)) if y1 < 1 else 1.0
        return float(np.interp(value, [x for x, _ in self.knots], [y for _, y in self.knots]))


def bins_curve(low: float, high: float, heights: Sequence[float]) -> DrawnCurve:
    """The curve of a histogram whose bins are equally wide; heights count relative to each other.

    >>> bins_curve(0, 30, [1, 2, 1]).knots
    ((0.0, 0.0), (10.0, 0.25), (20.0, 0.75), (30.0, 1.0))
    """
    total = sum(heights)
    if not low < high:
        raise PanelError(
            f"the histogram goes from {low:g} to {high:g}", code="empty-range", remedy="Swap the two ends."
        )
    if min(heights, default=0.0) < 0 or total <= 0:
        raise PanelError("the histogram is empty", code="empty-histogram", remedy="Give one bin or more a height.")
    step, sums = (high - low) / len(heights), np.cumsum([0.0, *heights]) / total
    return DrawnCurve(tuple((low + step * i, float(share)) for i, share in enumerate(sums)))


def curve_answers(axis: AnswerAxis, curve: DrawnCurve) -> list[float]:
    """What a curve says about each event of a question."""
    return axis.probabilities([curve.at_most(cut) for cut in axis.cuts])


def quantile(axis: AnswerAxis, masses: Sequence[float], level: float) -> float | None:
    """Where F reaches a level, by the probabilities of cells; None if that is beyond the outermost cuts.

    >>> axis = read_axis(["x <= 10", "x <= 20"], ["variable x: number"])
    >>> [quantile(axis, [0.2, 0.6, 0.2], level) for level in (0.1, 0.5, 0.9)]
    [None, 15.0, None]
    """
    sums = np.cumsum(masses)[:-1]
    if not len(sums) or level < sums[0] or level > sums[-1]:
        return None
    place = int(np.searchsorted(sums, level))
    if place == 0 or sums[place] == sums[place - 1]:
        return axis.cuts[place]
    share = (level - sums[place - 1]) / (sums[place] - sums[place - 1])
    return float(axis.cuts[place - 1] + share * (axis.cuts[place] - axis.cuts[place - 1]))
