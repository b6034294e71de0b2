"""The best mixture of given worlds under scores and limits, by an interior point method."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from coherently import _core
from coherently.problem import Sides
from coherently.solve.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector: TypeAlias = "NDArray[np.float64]"
    Matrix: TypeAlias = "NDArray[np.float64]"

MOST_ITERATIONS = 150
CLOSE = 1e-16
"""The least complementarity, for scores of weights that sum to 1, that rounding allows."""
BACK = 0.99
"""The part of the way to the boundary that a step may go."""
LONG = 0.9
"""A step below which care is needed."""
NEAR = 0.25
"""The decrement, in terms of the complementarity, at which the point is near the central path."""
BOLD, CAREFUL = 1e-3, 0.03
"""How far the complementarity may fall at once; scores of conditions that become impossible allow less."""
STRAY = 1e4
"""How far a product of a share and its price may be from the complementarity."""
MIXED = 0.1
"""The part of the first shares that is spread evenly, or inside all limits."""
REFINEMENTS = 2
"""Solutions of a linear system, each of what the last has left."""
ROUND = 1e-9
"""An entry of a direction that is rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """Shares of worlds, and the prices of the limits."""

    share: Vector
    prices: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Master:
    r"""Minimises scores over shares of worlds that satisfy limits.

    `joint` and `condition` tell which of the scored events hold in which worlds, a row a world; `limits` has a column a
    limit, whose mean under the shares is to be at least 0, or 0 where `equal`. The score of an interval [l, u] becomes
    two of points: it is the least of w h d(b / h, u) with b >= a and b >= u h, for which b = u h + r has
    a column r >= 0 of its own and the limits a <= u h + r <= h; and likewise below. Then everything is smooth, and
    Newton's method follows the central path (Boyd and Vandenberghe 2004, Convex optimization, chapter 11), with prices
    as variables of their own for the curvature.
    """

    scores: Scores
    joint: Matrix
    condition: Matrix
    limits: Matrix
    equal: NDArray[np.bool_]

    def solve(self, share: Vector, gap: float, deadline: float = math.inf) -> Mixed:
        """Begin at shares that keep the limits; end where the scores are at most this gap above the least, or so."""
        if not self.limits.shape[1]:
            return self._follow(share, gap, deadline)
        inner = inside(self.limits, self.equal)
        kept, fixed = inner.share > 0, ~inner.loose
        part = Master(self.scores, self.joint[kept], self.condition[kept], self.limits[kept], fixed)
        begin = (1.0 - MIXED) * np.where(kept, share, 0.0) + MIXED * inner.share
        found = part._follow(begin[kept] / begin.sum(), gap, deadline)
        whole = np.zeros(len(share))
        whole[kept] = found.share
        prices = found.prices + self._exclusion(whole, found.prices, inner)
        return Mixed(whole, np.where(self.equal, prices, np.maximum(0.0, prices)))

    def _follow(self, share: Vector, gap: float, deadline: float) -> Mixed:
        path = _Path(self, share, mixed=0.0 if self.limits.shape[1] else MIXED)
        path.follow(max(CLOSE, gap / path.total / (len(path.s) + len(path.t))), deadline)
        return path.found()

    def _exclusion(self, share: Vector, prices: Vector, inner: Inside) -> Vector:
        """Prices that make the worlds that no mixture may have as dear as need be."""
        slopes = self.scores.slopes(share @ self.joint, share @ self.condition)
        cost = self.joint @ slopes.by_joint + self.condition @ slopes.by_condition - self.limits @ prices
        low = share @ cost - cost[inner.share == 0]
        tight = ~inner.loose & ~self.equal
        factor = max(2.0 * float(np.max(low, initial=0.0)), float(np.max(-prices[tight], initial=0.0)), 0.0)
        found: Vector = factor * inner.prices
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Inside:
    """Shares that are positive wherever limits allow, with the limits that are `loose`: more than 0 at these shares.

    `prices` of the limits are at most -1 in sum for worlds without a share, and 0 for the others; they are at least 1
    for limits that are neither loose nor equations.
    """

    share: Vector
    loose: NDArray[np.bool_]
    prices: Vector


def inside(limits: Matrix, equal: NDArray[np.bool_]) -> Inside:
    """Find a point inside all shares that keep the limits, by a linear program in unnormalised shares.

    >>> point = inside(np.array([[1.0], [0.0], [0.0]]), np.array([True]))
    >>> point.share.tolist(), point.prices.tolist()
    ([0.0, 0.5, 0.5], [-1.0])
    """
    from scipy.optimize import linprog

    worlds, count = limits.shape
    free = np.flatnonzero(~equal)
    nothing = np.zeros((worlds, len(free)))
    answer = linprog(
        np.concatenate([np.zeros(worlds), -np.ones(worlds + len(free))]),
        A_ub=np.block([[-np.eye(worlds), np.eye(worlds), nothing], [-limits.T[free], nothing.T, np.eye(len(free))]]),
        b_ub=np.zeros(worlds + len(free)),
        A_eq=np.hstack([limits.T[equal], np.zeros((count - len(free), worlds + len(free)))]) if equal.any() else None,
        b_eq=np.zeros(count - len(free)) if equal.any() else None,
        bounds=[(0, None)] * worlds + [(0, 1)] * (worlds + len(free)),
        method="highs",
    )
    share = np.where(answer.x[worlds : 2 * worlds] > 0.5, answer.x[:worlds], 0.0)
    loose, prices = np.zeros(count, np.bool_), np.zeros(count)
    loose[free] = answer.x[2 * worlds :] > 0.5
    prices[free] = np.where(loose[free], 0.0, -answer.ineqlin.marginals[worlds:])
    if equal.any():
        prices[equal] = answer.eqlin.marginals
    return Inside(share / share.sum(), loose, prices)


class _Slope(NamedTuple):
    """The gradient of the scores by the columns, and the ways in which they bend, a row each, by its root."""

    by_column: Vector
    ways: Matrix


class _Path:
    """The way of the interior point: columns are the worlds, then the excesses of intervals."""

    def __init__(self, master: Master, share: Vector, *, mixed: float) -> None:
        scores = master.scores
        self.total = float(scores.weight.sum()) or 1.0
        self.worlds, self.equal = len(share), master.equal
        low, high = _forced(master)
        point = low == high
        above, below = np.flatnonzero(~point & (high < 1)), np.flatnonzero(~point & (low > 0))
        rows = np.concatenate([np.flatnonzero(point), above, below])
        target = np.concatenate([low[point], high[above], low[below]])
        self.sign = np.repeat([1.0, -1.0], [len(above), len(below)])
        nothing = Sides(np.full(len(rows), -1, np.int32), np.zeros(len(rows), np.bool_))
        self.scores = Scores(
            scores.loss, nothing, nothing, scores.weight[rows] / self.total, target, target, scores.linear[rows]
        )
        self._set_columns(master, rows)
        self._start(share, mixed)

    def _set_columns(self, master: Master, rows: NDArray[np.int64]) -> None:
        count = len(self.sign)
        first = len(rows) - count
        edge = self.scores.low[first:] * master.condition[:, rows[first:]]
        own = np.eye(count)
        self.joint = np.block(
            [[master.joint[:, rows[:first]], edge], [np.zeros((count, first)), own * self.sign]],
        )
        self.condition = np.vstack([master.condition[:, rows], np.zeros((count, len(rows)))])
        excess = self.sign * (edge - master.joint[:, rows[first:]])
        loose, fixed = master.limits[:, ~master.equal], master.limits[:, master.equal]
        self.limits = loose.shape[1]
        edge = self.scores.low[first:]
        room = np.where(self.sign > 0, 1.0 - edge, edge) * master.condition[:, rows[first:]]
        self.above = np.block([[loose, excess, room], [np.zeros((count, self.limits)), own, -own]])
        ones = np.concatenate([np.ones(self.worlds), np.zeros(count)])
        self.even = np.hstack([ones[:, None], np.vstack([fixed, np.zeros((count, fixed.shape[1]))])])
        self.free = np.zeros(self.even.shape[1])

    def _start(self, share: Vector, mixed: float) -> None:
        """Inside: with a part of the shares spread evenly, and excesses half-way to certainty."""
        count = len(self.sign)
        self.s = np.concatenate([(1.0 - mixed) * share + mixed / self.worlds, np.zeros(count)])
        h, edge = (self.s @ self.condition)[-count:], self.scores.low[-count:]
        lacking = np.maximum(0.0, -(self.s @ self.above)[self.limits : self.limits + count])
        if count:
            self.s[self.worlds :] = 0.5 * (lacking + h * np.where(self.sign > 0, 1.0 - edge, edge))
        self.t = self.s @ self.above
        slope = self._slope(self.s).by_column[: self.worlds]
        self.level = max(1e-6, float(self.s[: self.worlds] @ (slope - slope.min()))) / len(self.s)
        self.z, self.price, self.careful = self.level / self.s, self.level / self.t, False

    def follow(self, close: float, deadline: float) -> None:
        """Take steps until the complementarity is as small, or until the deadline."""
        for _ in range(MOST_ITERATIONS):
            if time.monotonic() >= deadline:
                return
            near = self._step()
            if near is None or (near and self.level <= close):
                return
            if near:
                self.level = max(0.9 * close, self.level * (CAREFUL if self.careful else BOLD))

    def found(self) -> Mixed:
        share = self.s[: self.worlds] / self.s[: self.worlds].sum()
        prices = np.empty(len(self.equal))
        prices[~self.equal], prices[self.equal] = self.price[: self.limits], self.free[1:]
        return Mixed(share, self.total * prices)

    def _slope(self, s: Vector) -> _Slope:
        slopes = self.scores.slopes(s @ self.joint, s @ self.condition)
        return _Slope(
            self.joint @ slopes.by_joint + self.condition @ slopes.by_condition,
            ((self.joint - slopes.ratio * self.condition) * np.sqrt(slopes.curvature)).T,
        )

    def _barrier(self, s: Vector, t: Vector) -> float:
        if min(s.min(), t.min(initial=1.0)) <= 0:
            return np.inf
        value = float(self.scores.value(s @ self.joint, s @ self.condition).sum())
        return value - self.level * float(np.log(s).sum() + np.log(t).sum())

    def _step(self) -> bool | None:
        """One step of Newton's method towards the central path; whether it was near, and None where none is left."""
        slope = self._slope(self.s)
        downhill = self.level / self.s + self.above @ (self.level / self.t) - slope.by_column
        steep = (self.above * np.sqrt(self.price / self.t)).T
        system = _core.NormalSystem(np.ascontiguousarray(np.vstack([slope.ways, steep])), self.z / self.s)
        if not system.is_definite():
            return None
        along = np.stack([system.solve(column) for column in self.even.T.copy()], axis=1)
        small = _inverse(self.even.T @ along)
        missing = (np.arange(len(small)) == 0) - self.even.T @ self.s
        ds, self.free = np.zeros_like(downhill), np.zeros(len(small))
        for _ in range(REFINEMENTS):
            plain = ds + system.solve(downhill + self.even @ self.free - system.multiply(ds))
            more = small @ (missing - self.even.T @ plain)
            ds, self.free = plain + along @ more, self.free + more
        decrement = float(downhill @ ds)
        if not decrement > 0:  # on the path, as where the limits leave no choice: only prices are left to find
            self.z, self.price = self.level / self.s, self.level / self.t
            return True
        moved = self._move(ds, decrement)
        return decrement <= NEAR * self.level if moved or decrement <= NEAR * self.level else None

    def _move(self, ds: Vector, decrement: float) -> bool:
        """Go that way as far as the barrier function falls; false where it does not."""
        dt = ds @ self.above
        dz = self.level / self.s - self.z - self.z / self.s * ds
        dp = self.level / self.t - self.price - self.price / self.t * dt
        longest = min(1.0, BACK * _reach(self.s, ds), BACK * _reach(self.t, dt))
        length, here = longest, self._barrier(self.s, self.t)
        slack = 1e-14 * (abs(here) + self.level * len(self.s))
        while self._barrier(self.s + length * ds, self.t + length * dt) > here - 0.1 * length * decrement + slack:
            length *= 0.7
            if length < 1e-6:
                return False
        self.careful |= length < LONG
        self.s, self.t = self.s + length * ds, (self.s + length * ds) @ self.above
        other = min(1.0, BACK * _reach(self.z, dz), BACK * _reach(self.price, dp))
        self.z = _within(self.z + other * dz, self.level / self.s)
        self.price = _within(self.price + other * dp, self.level / self.t)
        return True


def _forced(master: Master) -> tuple[Vector, Vector]:
    """The intervals; where a ratio is 0 in all worlds, or 1 in all, only the end that is nearest to it."""
    scores = master.scores
    never, always = ~master.joint.any(axis=0), (master.joint == master.condition).all(axis=0)
    return np.where(always & ~never, scores.high, scores.low), np.where(never, scores.low, scores.high)


def _inverse(matrix: Matrix) -> Matrix:
    """The pseudoinverse of a semidefinite matrix, scaled: its entries may be of very different sizes."""
    if len(matrix) == 1:
        return 1.0 / matrix
    size = np.sqrt(np.maximum(matrix.diagonal(), 1e-300))
    found: Matrix = np.linalg.pinv(matrix / np.outer(size, size), rcond=1e-12, hermitian=True) / np.outer(size, size)
    return found


def _reach(value: Vector, way: Vector) -> float:
    """How far the way leads before a value becomes 0."""
    falling = way < 0
    return float(np.min(-value[falling] / way[falling], initial=np.inf))


def _within(price: Vector, central: Vector) -> Vector:
    return np.clip(price, central / STRAY, central * STRAY)


def fewest(share: Vector, truth: Matrix) -> Vector:
    """Shares of no more worlds than there are events and one, with the same mixture (Caratheodory 1911).

    >>> np.sort(fewest(np.full(4, 0.25), np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))).round(6).tolist()
    [0.0, 0.0, 0.5, 0.5]
    """
    from scipy.linalg import qr

    share = share.copy()
    kept = np.hstack([truth, np.ones((len(truth), 1))])
    basis, triangle, _ = qr(kept, pivoting=True)
    size = np.abs(triangle.diagonal())
    free = basis[:, np.count_nonzero(size > np.finfo(np.float64).eps * max(kept.shape) * size[0]) :]
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
