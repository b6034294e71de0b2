r"""What the probabilities of some events leave to two others together: a convex polygon, corner by corner.

The distributions that agree with an answer are a polytope, so the pairs (P(C), P(T)) that they give are a convex
polygon. Its corners are found by linear programs: the one farthest out in a direction is the least of
\(-d_1 P(C) - d_2 P(T)\), which `BoundSearch.least` finds and proves. Between two known corners, the direction at right
angles to their connection leads to another corner, or proves that the connection is an edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.implied.extremes import ENOUGH, bound_search
from coherently.solve.implied.share_programs import Form

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.implied.extremes import BoundSearch, KnownAnswer
    from coherently.solve.implied.share_programs import EventProgram

COMPASS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
"""Directions of the first corners, counterclockwise."""
FLAT = 1e-7
"""A corner that is less than this beyond a connection lies on it, and connections that are shorter are points."""


@dataclass(frozen=True, slots=True, eq=False)
class JointRange:
    """The pairs of probabilities that two events can have: `corners`, counterclockwise, one row each.

    Every edge is proved, to within 1e-7.
    """

    corners: Vector

    def low(self, axis: int) -> float:
        """The least probability of the first event (axis 0) or of the second."""
        return float(self.corners[:, axis].min())

    def high(self, axis: int) -> float:
        """The greatest."""
        return float(self.corners[:, axis].max())

    def width(self, axis: int) -> float:
        """The greatest less the least."""
        return self.high(axis) - self.low(axis)

    def area(self) -> float:
        r"""The area, \(\frac{1}{2} \sum_i (x_i y_{i+1} - x_{i+1} y_i)\) over the corners in their order."""
        x, y = (self.corners - self.corners.mean(axis=0)).T
        return max(0.0, 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)))

    def mean_width(self, given: int) -> float:
        """The mean width of the other event if the probability of this one is anywhere in its range, all alike.

        The width at one probability is the length of a section of the polygon, so that their integral is its area.
        """
        width = self.width(given)
        return self.area() / width if width > FLAT else self.width(1 - given)


def joint_range(part: Merged, answer: KnownAnswer, budget: Budget) -> JointRange | None:
    """The range of the last two coordinates of `part`, given the others in an answer; None if it was not proved."""
    search = bound_search(part, answer, 2, budget)
    if search is None:
        return None
    walk = _Walk(search, budget)
    first = [walk.corner(np.array(direction)) for direction in COMPASS]
    corners = [corner for a, b in zip(first, first[1:] + first[:1], strict=True) for corner in [a, *walk.between(a, b)]]
    return JointRange(np.clip(np.array(corners), 0.0, 1.0)) if walk.certified else None


class _Walk:
    """The way around the polygon."""

    def __init__(self, search: BoundSearch, budget: Budget) -> None:
        self._search, self._budget, self.certified = search, budget, True
        self._program: EventProgram = search.event(-1, turned=False)

    def corner(self, direction: Vector) -> Vector:
        """A point of the polygon that lies farthest in a direction."""
        coefficients = np.zeros(len(self._search.part))
        coefficients[-2:] = -direction
        self._program.aim_at(Form(coefficients), self._search.truth)
        bound, value = self._search.least(self._program, 1.0, self._budget)
        self.certified = self.certified and value - bound <= ENOUGH
        if not self.certified:
            return np.zeros(2)
        point: Vector = self._program.shares() @ np.array(self._search.truth, np.float64)[:, -2:]
        return point

    def between(self, a: Vector, b: Vector) -> list[Vector]:
        """The corners after a and before b, counterclockwise."""
        along = b - a
        length = float(np.hypot(*along))
        if length <= FLAT or not self.certified:
            return []
        outward = np.array([along[1], -along[0]]) / length
        found = self.corner(outward)
        if outward @ (found - a) <= FLAT:
            return []
        return [*self.between(a, found), found, *self.between(found, b)]
