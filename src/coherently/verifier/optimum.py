"""The least loss of a small convex program, between two numbers that evaluation proves: the verifier's own solver.

What is minimised is a sum of costs of u = <joint, z> and h = <given, z>, over shares z >= 0 that sum to 1 in each
simplex and obey limits <G, z> >= 0, or = 0. Whatever point z and prices y (of inequalities not negative) the search
finds, convexity proves that no loss is below

    F(z) - <c, z> + the sum over simplices of the least (c - G'y)_i,  c the slopes of F at z,

and F(z) itself is reached if z obeys the limits. So a poor search gives a wide bracket, never a wrong one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.verifier.stop_signal import stop_if_asked

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.arrays import Indices, Mask, Vector
    from coherently.verifier.costs import Costs

STEPS = 120
"""Maximum number of Newton steps; 20 to 40 are usual."""
TIGHT = 1e-12
"""The width, relative to the largest weight or the objective, at which a bracket is done."""
KEPT = 1e-11
"""Maximum violation of a limit at which the objective counts as reached."""
CENTRED, INSIDE = 0.1, 0.995
"""The part of the products of shares and reduced costs that a step leaves, and its part of the way to the boundary."""
WORK = 2**28
"""Maximum number of columns times the square of terms for using all columns at once."""
MANY, SPARSE = 200, 0.05
"""Number of terms from which on, and share of entries other than 0 up to which, equations are solved as sparse ones."""
ROUNDS, FEWEST = 40, 256
"""Maximum number of rounds in which columns join, if there are more, and the number of first columns."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ConvexProgram:
    """One row per column z_i: what it adds to each u and h, to each limit, and its simplex (all are used, from 0)."""

    costs: Costs
    joint: Vector
    given: Vector
    limits: Vector
    equal: Mask
    simplex: Indices

    @property
    def unit(self) -> float:
        """What losses are relative to: the largest weight."""
        return float(self.costs.weight.max(initial=0.0)) or 1.0

    @property
    def certain(self) -> Mask:
        """Which terms have no condition: h = 1 whatever the shares are."""
        if self.simplex.any():
            return np.zeros(self.joint.shape[1], np.bool_)
        everywhere: Mask = (self.given == 1.0).all(axis=0)
        return everywhere

    @property
    def is_sparse(self) -> bool:
        """Whether few columns change each term, so that steps over all columns stay cheap."""
        count, terms = self.joint.shape
        return terms >= MANY and bool(self.certain.all()) and np.count_nonzero(self.joint) <= SPARSE * count * terms

    def take(self, rows: Indices) -> ConvexProgram:
        """Only some of the columns."""
        return ConvexProgram(
            costs=self.costs,
            joint=self.joint[rows],
            given=self.given[rows],
            limits=self.limits[rows],
            equal=self.equal,
            simplex=self.simplex[rows],
        )

    def events(self, z: Vector) -> tuple[Vector, Vector]:
        """The u and h of shares."""
        h = np.clip(z @ self.given, 0.0, 1.0)
        return np.clip(z @ self.joint, 0.0, h), h

    def value(self, z: Vector) -> float:
        """The loss of shares."""
        return float(self.costs.value(*self.events(z)).sum())

    def missed(self, z: Vector) -> float:
        """The largest amount by which a limit is missed."""
        rest = z @ self.limits
        return float(np.max(np.where(self.equal, np.abs(rest), -rest), initial=0.0))

    def proved(self, u: Vector, h: Vector, prices: Vector) -> tuple[float, Vector]:
        """The lower bound that the slopes at u and h prove with prices, and the reduced cost of each column."""
        steep, flat = self.costs.slopes(u, h)
        y = np.where(self.equal, prices, np.maximum(0.0, prices))
        reduced = self.joint @ steep + self.given @ flat - self.limits @ y
        least = np.full(int(self.simplex.max()) + 1, np.inf)
        np.minimum.at(least, self.simplex, reduced)
        level = float(self.costs.value(u, h).sum() - steep @ u - flat @ h)
        return level + float(least.sum()), reduced - least[self.simplex]


@dataclass(frozen=True, slots=True, eq=False)
class Bracket:
    """No loss is below `low`, and `high` is reached (infinite where nothing is known to be)."""

    low: float = 0.0
    high: float = math.inf

    def is_tight(self, unit: float, within: float) -> bool:
        """Whether the two are as close as `within`, relative to the objective or the unit."""
        return self.high < math.inf and self.high - self.low <= within * max(unit, self.high)


def bracket(program: ConvexProgram) -> Bracket:
    """Bound the least loss from both sides.

    >>> from coherently.verifier.costs import Costs
    >>> from coherently.problem import BRIER
    >>> point, worlds = np.array([0.8, 0.9, 0.4]), np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 1, 1.0]])
    >>> costs = Costs(loss=BRIER, weight=np.ones(3), low=point, high=point, linear=np.zeros(3, bool))
    >>> without = {"limits": np.empty((4, 0)), "equal": np.empty(0, bool), "simplex": np.zeros(4, np.int64)}
    >>> found = bracket(ConvexProgram(costs=costs, joint=worlds, given=np.ones((4, 3)), **without))
    >>> round(found.low, 9), round(found.high, 9)
    (0.125, 0.125)
    """
    count, terms = program.joint.shape
    if count * (terms + program.limits.shape[1] + 1) ** 2 <= WORK or program.simplex.any() or program.is_sparse:
        return _search(program).bracket
    rows = np.unique(np.linspace(0, count - 1, FEWEST).astype(np.int64))
    rows = np.unique(np.concatenate([rows, *(np.flatnonzero(column)[:1] for column in program.joint.T)]))
    best = Bracket()
    for _ in range(ROUNDS):
        found = _search(program.take(rows))
        low, reduced = program.proved(*found.events, found.prices)
        best = Bracket(max(best.low, low), min(best.high, found.bracket.high))
        if best.is_tight(program.unit, TIGHT):
            break
        reduced[rows] = np.inf
        worst = np.argsort(reduced)[: len(rows)]
        joined = np.union1d(rows, worst[reduced[worst] < np.inf])
        if len(joined) == len(rows):
            break
        rows = joined
    return best


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    bracket: Bracket
    events: tuple[Vector, Vector]
    prices: Vector


class _Iterate:
    """An iterate: shares, slacks of inequalities, prices of all rows, and reduced costs."""

    def __init__(self, program: ConvexProgram) -> None:
        self.program = program
        count, free = len(program.joint), np.flatnonzero(~program.equal)
        sizes = np.bincount(program.simplex)
        rows = (program.simplex[:, None] == np.arange(len(sizes))).astype(np.float64)
        slack = np.zeros((len(free), len(sizes) + len(program.equal)))
        slack[np.arange(len(free)), len(sizes) + free] = -1.0
        self.rows = np.vstack([np.hstack([rows, program.limits]), slack])
        self.goal = np.concatenate([np.ones(len(sizes)), np.zeros(len(program.equal))])
        self.z = np.concatenate([1.0 / sizes[program.simplex], np.full(len(free), 0.1)])
        self.s, self.y = np.full(count + len(free), program.unit), np.zeros(self.rows.shape[1])

    @property
    def prices(self) -> Vector:
        return self.y[len(self.y) - len(self.program.equal) :]

    def shares(self) -> Vector:
        return self.z[: len(self.program.joint)]

    def residual(self, z: Vector, s: Vector, y: Vector, mu: float) -> Vector:
        """The residuals of the conditions (Karush, Kuhn and Tucker) of a point on the central path."""
        program, count = self.program, len(self.program.joint)
        steep, flat = program.costs.slopes(*program.events(z[:count]))
        slope = np.zeros(len(z))
        slope[:count] = program.joint @ steep + program.given @ flat
        return np.concatenate([slope - self.rows @ y - s, program.unit * (z @ self.rows - self.goal), z * s - mu])

    def step(self, mu: float) -> tuple[Vector, Vector, Vector]:
        """Newton's step: with E = z / s and A the square root of the curvature, M = 1/E + A A'.

        M dz - B dy = -(slope - B y - mu / z) and B' dz = goal - B' z; M is inverted by way of 1 + A' E A.
        Where there is no condition, the column of A is sqrt(k) (joint - c), and as the shares of a step sum to 0 the
        constant c only adds -<c k, joint' dz> to the price of the simplex. It is added at the end, so that A is as
        sparse as the truth of events.
        """
        program, count = self.program, len(self.program.joint)
        k, c = program.costs.curvature(*program.events(self.shares()))
        e = self.z / self.s
        constant = np.where(program.certain, c, 0.0)
        solved = _inverse(e, (program.joint - (c - constant) * program.given) * np.sqrt(k))

        lacking = self.residual(self.z, self.s, self.y, 0.0)[: len(self.z)] + self.s - mu / self.z
        both = solved(np.column_stack([self.rows, lacking]))
        schur = self.rows.T @ both[:, :-1]
        dy = np.linalg.lstsq(schur, self.goal - self.z @ self.rows + self.rows.T @ both[:, -1], rcond=1e-15)[0]
        dz = both[:, :-1] @ dy - both[:, -1]
        dy[0] -= (constant * k) @ (dz[:count] @ program.joint)
        return dz, (mu - self.z * self.s - self.s * dz) / self.z, dy


def _inverse(e: Vector, bent: Vector) -> Callable[[Vector], Vector]:
    """What multiplies by the inverse of 1/E + A A', with A zero in the rows of slacks: E - E A (1 + A' E A)^-1 A' E.

    A partition of thousands of values has one event per world: there A is sparse, and so is what is factorised.
    """
    count, terms = bent.shape
    if terms < MANY or np.count_nonzero(bent) > SPARSE * bent.size:
        system = np.eye(terms) + bent.T @ (e[:count, None] * bent)
        return lambda right: _reduced(e, bent, right, np.linalg.solve(system, bent.T @ (e[:, None] * right)[:count]))
    from scipy.sparse import csc_array, diags_array, eye_array
    from scipy.sparse.linalg import splu

    sparse = csc_array(bent)
    factor = splu(csc_array(eye_array(terms) + sparse.T @ (diags_array(e[:count]) @ sparse)))
    return lambda right: _reduced(e, sparse, right, factor.solve(np.asarray(sparse.T @ (e[:, None] * right)[:count])))


def _reduced(e: Vector, bent: Any, right: Vector, inner: Any) -> Vector:
    found = right.copy()
    found[: bent.shape[0]] -= bent @ inner
    return e[:, None] * found


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # a step that is not a number ends the search
def _search(program: ConvexProgram) -> _Found:
    """Follow the central path (a primal-dual interior point method); returns the best bounds found."""
    point, best = _Iterate(program), Bracket()
    events, prices = program.events(point.shares()), point.prices
    sigma = CENTRED
    for _ in range(STEPS):
        stop_if_asked()
        z = point.shares()
        z = z / np.bincount(program.simplex, z)[program.simplex]
        at = program.events(z)
        low, _ = program.proved(*at, point.prices)
        if low > best.low:
            events, prices = at, point.prices.copy()
        high = program.value(z) if program.missed(z) <= KEPT else math.inf
        best = Bracket(max(best.low, low), min(best.high, high))
        if best.is_tight(program.unit, TIGHT):
            break
        mu = sigma * float(point.z @ point.s) / len(point.z)
        try:
            length = _advance(point, mu)
        except np.linalg.LinAlgError:
            break
        if length == 0.0:
            break
        sigma = CENTRED if length > 0.5 else 0.5
    return _Found(best, events, prices)


def _advance(point: _Iterate, mu: float) -> float:
    """Take the longest step that keeps everything positive and reduces the residual; returns its length."""
    dz, ds, dy = point.step(mu)
    if not (np.isfinite(dz).all() and np.isfinite(ds).all() and np.isfinite(dy).all()):
        return 0.0
    length = 1.0
    for now, way in ((point.z, dz), (point.s, ds)):
        length = min(length, INSIDE * float(np.min(-now[way < 0] / way[way < 0], initial=1.0 / INSIDE)))
    here = float(np.linalg.norm(point.residual(point.z, point.s, point.y, mu)))
    while length > 1e-8:
        z, s, y = point.z + length * dz, point.s + length * ds, point.y + length * dy
        if float(np.linalg.norm(point.residual(z, s, y, mu))) <= (1.0 - 0.01 * length) * here:
            point.z, point.s, point.y = z, s, y
            return length
        length *= 0.5
    return 0.0
