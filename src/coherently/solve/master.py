"""The best mixture of given worlds under scores and limits, by an interior point method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.problem import Sides
from coherently.solve.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector: TypeAlias = "NDArray[np.float64]"
    Matrix: TypeAlias = "NDArray[np.float64]"

MOST_ITERATIONS = 80
CLOSE = 1e-16
"""The least complementarity, for scores of weights that sum to 1, that rounding allows."""
BACK = 0.995
"""The part of the way to the boundary that a step may go."""
LONG = 0.9
"""A step below which care is needed."""
NEAR = 0.5
"""How far off the central path, in terms of the complementarity, this may fall."""
BOLD, CAREFUL = 1e-3, 0.1
"""How far it may fall at once; scores of conditions that become impossible allow less."""
ROUND = 1e-9
"""An entry of a direction that is rounding."""
INNER = 0.1
"""What a limit is to have left at first, of the sizes of its terms."""
MIXED = 0.1
"""The part of the first shares that is spread evenly."""


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """Shares of worlds, and the prices of the limits: those that are at least 0, and those that are equations."""

    share: Vector
    prices: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Master:
    r"""Minimises scores over shares of worlds that satisfy limits.

    `joint` and `condition` tell which of the scored events hold in which worlds, a row a world; `limits` has a column a
    limit, whose mean under the shares is to be at least 0, or 0 where `equal`. The score of an interval [l, u] becomes
    two of points: it is the least of w h d(b / h, u) with b >= a and b >= u h, for which b = u h + r has
    a column r >= 0 of its own and a limit u h + r - a >= 0; and likewise below. Then everything is smooth, and the
    primal-dual method is that of Boyd and Vandenberghe (2004), Convex optimization, section 11.7.
    """

    scores: Scores
    joint: Matrix
    condition: Matrix
    limits: Matrix
    equal: NDArray[np.bool_]

    def solve(self, share: Vector, gap: float) -> Mixed:
        """Begin at some shares, and end where the scores are at most this gap above the least."""
        path = _Path(self)
        path.start(share)
        path.follow(max(CLOSE, gap / path.total / (len(path.s) + len(path.t))))
        return path.found()


class _Path:
    """The way of the interior point: columns are the worlds, then the excesses of intervals."""

    def __init__(self, master: Master) -> None:
        scores = master.scores
        self.total = float(scores.weight.sum()) or 1.0
        point = scores.is_point
        above, below = np.flatnonzero(~point & (scores.high < 1)), np.flatnonzero(~point & (scores.low > 0))
        rows = np.concatenate([np.flatnonzero(point), above, below])
        target = np.concatenate([scores.low[point], scores.high[above], scores.low[below]])
        self.worlds, self.excesses = len(master.joint), len(above) + len(below)
        sign = np.repeat([1.0, -1.0], [len(above), len(below)])
        first = len(rows) - self.excesses
        nothing = Sides(np.full(len(rows), -1, np.int32), np.zeros(len(rows), np.bool_))
        self.scores = Scores(
            scores.loss, nothing, nothing, scores.weight[rows] / self.total, target, target, scores.linear[rows]
        )
        edge = target[first:] * master.condition[:, rows[first:]]
        own = np.eye(self.excesses)
        self.joint = np.block(
            [
                [master.joint[:, rows[:first]], edge],
                [np.zeros((self.excesses, first)), own * sign],
            ]
        )
        self.condition = np.vstack([master.condition[:, rows], np.zeros((self.excesses, len(rows)))])
        excess = sign * (edge - master.joint[:, rows[first:]])
        free = np.zeros((self.excesses, len(master.equal)))
        limits = np.vstack([master.limits, free])
        self.equal = master.equal
        self.above = np.hstack([limits[:, ~master.equal], np.vstack([excess, own])])
        ones = np.concatenate([np.ones(self.worlds), np.zeros(self.excesses)])
        self.even = np.hstack([ones[:, None], limits[:, master.equal]])
        self.right = np.zeros(self.even.shape[1])
        self.right[0] = 1.0

    def start(self, share: Vector) -> None:
        even = (1.0 - MIXED) * share + MIXED / self.worlds
        self.s = np.concatenate([even, np.zeros(self.excesses)])
        first = len(self.scores) - self.excesses
        h, edge = (self.s @ self.condition)[first:], self.scores.low[first:]
        room = h * np.where(self.joint[self.worlds :, first:].diagonal() > 0, 1.0 - edge, edge)
        lacking = np.maximum(0.0, -(self.s @ self.above)[self.above.shape[1] - self.excesses :])
        self.s[self.worlds :] = 0.5 * (np.minimum(lacking, room) + room)
        self.t = np.maximum(self.s @ self.above, INNER * (self.s @ np.abs(self.above)))
        slope = self._slope(self.s)
        level = max(1e-6, float(self.s[: self.worlds] @ (slope - slope.min())[: self.worlds])) / len(self.s)
        self.z, self.price = level / self.s, level / self.t
        self.free = np.zeros(self.even.shape[1])
        self.free[0] = slope.min()
        self.level, self.careful = level, False

    def follow(self, close: float) -> None:
        self.close = close
        for _ in range(MOST_ITERATIONS):
            if self.level <= close and self._off() <= NEAR * self.level:
                return
            if not self._step():
                return

    def found(self) -> Mixed:
        share = self.s[: self.worlds] / self.s[: self.worlds].sum()
        prices = np.empty(len(self.equal))
        prices[~self.equal] = self.price[: int(np.count_nonzero(~self.equal))]
        prices[self.equal] = self.free[1:]
        return Mixed(share, self.total * prices)

    def _gap(self) -> float:
        return float(self.s @ self.z + self.t @ self.price) / (len(self.s) + len(self.t))

    def _value(self, s: Vector) -> float:
        return float(self.scores.value(s @ self.joint, s @ self.condition).sum())

    def _slope(self, s: Vector) -> Vector:
        slopes = self.scores.slopes(s @ self.joint, s @ self.condition)
        found: Vector = self.joint @ slopes.by_joint + self.condition @ slopes.by_condition
        return found

    def _residuals(self) -> tuple[Vector, Vector, Vector]:
        dual = self._slope(self.s) - self.z - self.above @ self.price - self.even @ self.free
        return dual, self.s @ self.even - self.right, self.s @ self.above - self.t

    def _step(self) -> bool:
        """One step of Newton's method towards a lesser complementarity; false where none is left."""
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        dual, even, above = self._residuals()
        slopes = self.scores.slopes(self.s @ self.joint, self.s @ self.condition)
        ways = (self.joint - slopes.ratio * self.condition) * np.sqrt(slopes.curvature)
        steep = self.above * np.sqrt(self.price / self.t)
        matrix = ways @ ways.T + steep @ steep.T
        matrix[np.diag_indices_from(matrix)] += self.z / self.s
        try:
            factor = cho_factor(matrix, lower=True, check_finite=False)
        except LinAlgError:
            return False
        inverse = cho_solve(factor, self.even, check_finite=False)
        small = self.even.T @ inverse

        def direction(level: float) -> tuple[Vector, Vector, Vector, Vector, Vector]:
            pull = self.price + (level - self.t * self.price - self.price * above) / self.t
            right = -(dual + self.z - level / self.s) - self.above @ (self.price - pull)
            plain = cho_solve(factor, right, check_finite=False)
            free = np.linalg.lstsq(small, -even - self.even.T @ plain, rcond=1e-14)[0]
            ds = plain + inverse @ free
            dt = ds @ self.above + above
            return (
                ds,
                dt,
                level / self.s - self.z - self.z / self.s * ds,
                level / self.t - self.price - self.price / self.t * dt,
                free,
            )

        if self._off() <= NEAR * self.level:
            gap, way = self._gap(), direction(0.0)
            after = self._complementarity(way, self._reach(way))
            self.level = gap * max(CAREFUL if self.careful else BOLD, min(0.5, (after / gap) ** 3))
            self.level = max(self.level, 0.9 * self.close)
        way = direction(self.level)
        return self._move(way, BACK * self._reach(way))

    def _complementarity(self, way: tuple[Vector, ...], length: float) -> float:
        ds, dt, dz, dp, _ = way
        s, t, z, p = self.s + length * ds, self.t + length * dt, self.z + length * dz, self.price + length * dp
        return float(s @ z + t @ p) / (len(s) + len(t))

    def _reach(self, way: tuple[Vector, ...]) -> float:
        pairs = zip((self.s, self.t, self.z, self.price), way[:4], strict=True)
        return min(1.0 / BACK, *(float(np.min(-v[d < 0] / d[d < 0], initial=2.0)) for v, d in pairs))

    def _move(self, way: tuple[Vector, ...], length: float) -> bool:
        """Go that way as far as the residuals get less."""
        before = (self.s, self.t, self.z, self.price, self.free)
        was = self._merit()
        for _ in range(40):
            self.s, self.t, self.z, self.price, self.free = (
                v + min(1.0, length) * d for v, d in zip(before, way, strict=True)
            )
            if math.isfinite(self._value(self.s)) and self._merit() <= was * (1.0 - 0.01 * length) + 1e-17:
                self.careful |= length < LONG
                return True
            length *= 0.8
        self.s, self.t, self.z, self.price, self.free = before
        return False

    def _merit(self) -> float:
        dual, even, above = self._residuals()
        parts = (self.s * dual, even, above, self.s * self.z - self.level, self.t * self.price - self.level)
        return math.sqrt(sum(float(part @ part) for part in parts))

    def _off(self) -> float:
        """How far the point is from the central path at its level."""
        dual = self._residuals()[0]
        parts = (self.s * dual, self.s * self.z - self.level, self.t * self.price - self.level)
        return max(float(np.abs(part).max(initial=0.0)) for part in parts)


def fewest(share: Vector, truth: Matrix) -> Vector:
    """Shares of no more worlds than there are events and one, with the same mixture (Caratheodory 1911).

    >>> fewest(np.full(4, 0.25), np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])).round(6).tolist()
    [0.5, 0.0, 0.0, 0.5]
    """
    from scipy.linalg import null_space

    share = share.copy()
    free = null_space(np.hstack([truth, np.ones((len(truth), 1))]).T)
    while free.shape[1]:
        way = free[:, 0]
        way = way if way.max() >= -way.min() else -way
        reach = np.where(way > ROUND, share / np.where(way > ROUND, way, 1.0), np.inf)
        leaving = int(np.argmin(reach))
        share = np.maximum(0.0, share - reach[leaving] * way)
        share[leaving] = 0.0
        free = free[:, 1:] - np.outer(free[:, 0] / free[leaving, 0], free[leaving, 1:])
        free[leaving] = 0.0
        free /= np.maximum(np.linalg.norm(free, axis=0), ROUND)
    total: Vector = share / share.sum()
    return total
