"""A bound on dense components: the distance from the semidefinite relaxation, raised by branching."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from coherently.problem import Merged

    Vector = NDArray[np.float64]

PROJECTING = 0.9
"""The part of the time that goes to the projection, before branching."""
MOST_POINTS = 90
"""Points that the projection is a mixture of; those of the least share leave when there are more."""
AMBITION = 0.6
"""How far branching is to raise the bound, of the most that the known answer allows."""
SLICE = 0.05


class SpectralBound:
    """Projects the forecasts on the relaxed set, which contains every coherent point.

    For any direction c that no world has less than b of, the coherent points lie beyond a hyperplane, whose distance
    from the forecasts is a bound. The semidefinite relaxation gives such a b, and the point of the relaxed set
    that is furthest that way: the nearest mixture of such points gives the next direction (Wolfe 1976). Laws are not
    looked at: the set of all truth assignments contains that of possible worlds.
    """

    def __init__(self, part: Merged, x: Vector) -> None:
        self.part = part
        self.target = np.nan_to_num(part.mean)
        self.root = np.sqrt(part.weight)
        self.oracle = _core.WorldOracle(*part.functions, 0)
        self.points = np.empty((MOST_POINTS + 1, len(x)))
        self.away = np.empty_like(self.points)
        self.gram = np.empty((0, 0))
        self._add(x)
        self.bound, self.direction = 0.0, x

    def raise_until(self, deadline: float, objective: float, tell: Callable[[], None]) -> float:
        """The best bound that can be had in the time, given the objective of a known answer."""
        end = time.monotonic() + PROJECTING * (deadline - time.monotonic())
        x = self.points[0].copy()
        while time.monotonic() < end:
            tell()
            self._look(x, 0.0)
            x = self._nearer()
        self._branch(deadline, objective, tell)
        return self.bound

    def _look(self, x: Vector, raised: float) -> None:
        """Bound by the direction from the forecasts to x, with proofs that aim at its level and so much more."""
        gradient = self.part.weight * (x - self.target)
        square, level = float(gradient @ (x - self.target)), float(gradient @ x)
        self.oracle.set(gradient)
        self.oracle.start_proof(level + raised)
        self._note(x, square, level)

    def _note(self, x: Vector, square: float, level: float) -> None:
        reach = square + self.oracle.bound() - level
        if reach > 0 and reach**2 / square > self.bound:
            self.bound, self.direction = reach**2 / square, x

    def _nearer(self) -> Vector:
        """Take in the point of the relaxation, and give the nearest mixture of all of them."""
        self._add(self.oracle.relaxed())
        share = nearest_shares(self.gram)
        count = len(share)
        x: Vector = share @ self.points[:count]
        if count > MOST_POINTS:
            self._drop(share <= share.min())
        return x

    def _add(self, point: Vector) -> None:
        count = len(self.gram)
        self.points[count] = point
        self.away[count] = self.root * (point - self.target)
        along = self.away[: count + 1] @ self.away[count]
        self.gram = np.block([[self.gram, along[:count, None]], [along[None]]])

    def _drop(self, leaving: NDArray[np.bool_]) -> None:
        """Leave out the points of the least shares: they can come again."""
        kept = np.flatnonzero(~leaving)
        self.points[: len(kept)], self.away[: len(kept)] = self.points[kept], self.away[kept]
        self.gram = self.gram[np.ix_(kept, kept)]

    def _branch(self, deadline: float, objective: float, tell: Callable[[], None]) -> None:
        x = self.direction
        gradient = self.part.weight * (x - self.target)
        square, level = float(gradient @ (x - self.target)), float(gradient @ x)
        self._look(x, AMBITION * max(0.0, math.sqrt(objective * square) - square))
        while (left := deadline - time.monotonic()) > 0:
            tell()
            outcome = self.oracle.prove(min(SLICE, left))
            self._note(x, square, level)
            if outcome != "unfinished":
                return


def nearest_shares(gram: Vector) -> Vector:
    """The shares of the points of a Gram matrix whose mixture is nearest to the origin.

    >>> nearest_shares(np.array([[4.0, 0.0], [0.0, 4.0]])).round(6).tolist()
    [0.5, 0.5]
    """
    from scipy.optimize import nnls

    count = len(gram)
    scale = float(np.trace(gram)) / count or 1.0
    factor = np.linalg.cholesky(gram + scale * (1.0 + 1e-13 * np.eye(count))).T
    share, _ = nnls(factor, np.linalg.solve(factor.T, np.full(count, scale)))
    total: Vector = share / share.sum()
    return total
