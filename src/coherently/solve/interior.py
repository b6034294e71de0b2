"""The relaxed problem by a primal-dual interior point method on the vertices of each group's hull."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.solve.bound import by_shape, relaxed_bound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.problem.groups import Groups

    Vector = NDArray[np.float64]
    Positions = NDArray[np.signedinteger[Any]]

# Proximal terms of coordinates, mixtures (times the squared width of the group) and forces, for weights up
# to 1. They bound what is eliminated, whatever is redundant in the groups, and vanish at the solution
# (Friedlander and Orban 2012). The product of the last two must stay well above the rounding error.
PROXIMAL_X, PROXIMAL_MIXTURE, PROXIMAL_FORCE = 1e-12, 1e-11, 1e-4
REFINEMENTS = 3
LEAST_BARRIER = 1e-24
PATIENCE = 10


@dataclass(frozen=True, slots=True, eq=False)
class Interior:
    """The least sum N (x - q)^2 over the groups' hulls, with its proof.

    `x` has an entry a coordinate, `forces` one a membership, which `relaxed_bound` turns into a bound; `gap`
    is the objective at x less that bound.
    """

    x: NDArray[np.float64]
    forces: NDArray[np.float64]
    iterations: int
    gap: float


def interior_point(
    weight: NDArray[np.float64],
    target: NDArray[np.float64],
    groups: Groups,
    *,
    tolerance: float = 1e-12,
    max_iterations: int = 100,
) -> Interior:
    """Minimise sum N (x - q)^2 with each group in the hull of its pattern, by Mehrotra's method.

    `tolerance` is for the violation and for the gap, relative to the objective. The iteration goes on past it
    while that still halves the error, and ends without it where rounding forbids more: see `gap`. Coordinates
    in no group stay at their target, at 1/2 where they have no weight.
    """
    scale = float(np.max(weight, initial=0.0)) or 1.0
    center = np.where(weight > 0, target, 0.5)
    if not len(groups):
        return Interior(np.clip(center, 0.0, 1.0), np.zeros(0), 0, 0.0)
    problem = _lift(weight / scale, center, groups)
    point = _start(problem)
    least = previous = np.inf
    for iteration in range(max_iterations + 1):
        x, violation = _feasible(problem, point)
        forces = scale * point.forces
        bound = relaxed_bound(weight, target, groups, forces)
        gap = float(np.sum(weight * (x - center) ** 2)) - bound
        error = max(violation, abs(gap) / max(min(1.0, scale), bound))
        if error < least:
            best, least = Interior(x, forces, iteration, gap), error
        if iteration - best.iterations > PATIENCE or (least <= tolerance and error > 0.5 * previous):
            break
        previous = error
        point = _advance(problem, point)
    return best


@dataclass(frozen=True, slots=True, eq=False)
class _Lifted:
    """The problem in mixtures of vertices: `transposed @ mixture` = x[members], with sums of 1.

    `blocks` has, for the groups whose patterns have the same shape, their vertices and the positions of their
    memberships and of their mixtures, an entry a group.
    """

    curvature: Vector
    center: Vector
    members: NDArray[np.int32]
    blocks: Sequence[tuple[Vector, Positions, Positions]]
    starts: Positions
    sizes: Positions
    proximal: Vector
    vertices: Any
    transposed: Any

    def total(self, mixture: Vector) -> Vector:
        return np.add.reduceat(mixture, self.starts)

    def spread(self, value: Vector) -> Vector:
        return np.repeat(value, self.sizes)

    def pull(self, forces: Vector) -> Vector:
        return np.bincount(self.members, forces, len(self.center)).astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """Coordinates, forces, mixtures with their slacks, the levels that fix the sums; or a step."""

    x: Vector
    forces: Vector
    mixture: Vector
    slack: Vector
    level: Vector

    def plus(self, step: _Point, length: float = 1.0) -> _Point:
        return _Point(*(getattr(self, name) + length * getattr(step, name) for name in self.__slots__))


def _lift(weight: Vector, center: Vector, groups: Groups) -> _Lifted:
    sizes = np.array([len(vertices) for vertices in groups.patterns], np.int64)[groups.pattern]
    starts = np.cumsum(sizes) - sizes
    blocks = [
        (vertices, slots, starts[found][:, None] + np.arange(vertices.shape[1]))
        for vertices, found, slots in by_shape(groups)
    ]
    parts = [(vertices, rows, slots) for vertices, slots, rows in blocks]
    vertices = _assemble(parts, int(sizes.sum()), len(groups.members))
    proximal = PROXIMAL_MIXTURE * np.repeat(np.diff(groups.starts), sizes) ** 2.0
    return _Lifted(
        2.0 * weight,
        center,
        groups.members,
        blocks,
        starts,
        sizes,
        proximal,
        vertices,
        vertices.T.tocsr(),
    )


def _assemble(parts: Sequence[tuple[Vector, Positions, Positions]], height: int, width: int) -> Any:
    """Add stacks of small matrices, each at its rows and columns, up to one sparse matrix."""
    from scipy import sparse

    values = np.concatenate([np.ravel(block) for block, _, _ in parts])
    rows = np.concatenate([np.repeat(i, j.shape[1], axis=1).ravel() for _, i, j in parts])
    columns = np.concatenate([np.tile(j, (1, i.shape[1])).ravel() for _, i, j in parts])
    return sparse.coo_array((values, (rows, columns)), shape=(height, width)).tocsr()


def _start(problem: _Lifted) -> _Point:
    mixture = 1.0 / problem.spread(problem.sizes.astype(np.float64))
    forces, level = np.zeros(len(problem.members)), np.ones(len(problem.sizes))
    return _Point(problem.center, forces, mixture, np.ones_like(mixture), level)


def _feasible(problem: _Lifted, point: _Point) -> tuple[Vector, float]:
    """Average each coordinate over what its groups' mixtures say of it; how far they differ."""
    mixture = point.mixture / problem.spread(problem.total(point.mixture))
    local = problem.transposed @ mixture
    count = np.bincount(problem.members, minlength=len(problem.center))
    x = np.divide(problem.pull(local), count, out=np.clip(problem.center, 0.0, 1.0), where=count > 0)
    return np.clip(x, 0.0, 1.0), float(np.max(np.abs(local - x[problem.members]), initial=0.0))


def _advance(problem: _Lifted, point: _Point) -> _Point:
    """Take a predictor and corrector step (Mehrotra 1992), the same in primal and dual."""
    system = _Newton(problem, point)
    product = point.mixture * point.slack
    barrier = float(np.mean(product))
    guess = system.step(-product)
    tried = point.plus(guess, _room(point, guess))
    centering = (float(np.mean(tried.mixture * tried.slack)) / barrier) ** 3
    aim = max(centering * barrier, LEAST_BARRIER)
    step = system.step(aim - product - guess.mixture * guess.slack)
    return point.plus(step, (1.0 - np.clip(barrier, 1e-6, 1e-2)) * _room(point, step))


def _room(point: _Point, step: _Point) -> float:
    """The longest step, up to 1, that keeps mixtures and slacks from changing sign."""
    value = np.concatenate([point.mixture, point.slack])
    change = np.concatenate([step.mixture, step.slack])
    shrinks = change < 0
    return float(np.min(value[shrinks] / -change[shrinks], initial=1.0))


class _Newton:
    """The linear system of a step, by elimination of mixtures, levels and forces, group by group.

    What remains is positive definite in the coordinates. With h the ratio of slack to mixture:

        curvature dx - pull(df) = ..,   vertices df + dlevel + h dmixture = ..,
        vertices^T dmixture - dx[members] = ..,   total(dmixture) = ..
    """

    def __init__(self, problem: _Lifted, point: _Point) -> None:
        from scipy.sparse import csc_array, diags_array
        from scipy.sparse.linalg import splu

        self.problem, self.point = problem, point
        self.curvature = problem.curvature + PROXIMAL_X
        self.stiffness = point.slack / point.mixture + problem.proximal
        self.give = 1.0 / self.stiffness
        self.total_give = problem.total(self.give)
        inverses = [_inverse(vertices, self.give[rows]) for vertices, _, rows in problem.blocks]
        slots = [at for _, at, _ in problem.blocks]
        at_forces = [(h, at, at) for h, at in zip(inverses, slots, strict=True)]
        at_x = [(h, problem.members[at], problem.members[at]) for h, at in zip(inverses, slots, strict=True)]
        self.inverse = _assemble(at_forces, len(problem.members), len(problem.members))
        schur = _assemble(at_x, len(point.x), len(point.x)) + diags_array(self.curvature)
        self.factor = splu(csc_array(schur), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def step(self, complementarity: Vector) -> _Point:
        """Solve for the residuals at the point, with mixture dslack + slack dmixture = complementarity."""
        problem, point = self.problem, self.point
        right = (
            problem.pull(point.forces) - problem.curvature * (point.x - problem.center),
            point.slack
            - problem.vertices @ point.forces
            - problem.spread(point.level)
            + complementarity / point.mixture,
            point.x[problem.members] - problem.transposed @ point.mixture,
            1.0 - problem.total(point.mixture),
        )
        step = self._solve(*right)
        for _ in range(REFINEMENTS):
            left = self._apply(step)
            step = step.plus(self._solve(*(b - a for a, b in zip(left, right, strict=True))))
        slack = (complementarity - point.slack * step.mixture) / point.mixture
        return _Point(step.x, step.forces, step.mixture, slack, step.level)

    def _apply(self, step: _Point) -> tuple[Vector, Vector, Vector, Vector]:
        problem = self.problem
        return (
            self.curvature * step.x - problem.pull(step.forces),
            problem.vertices @ step.forces + problem.spread(step.level) + self.stiffness * step.mixture,
            problem.transposed @ step.mixture - step.x[problem.members] - PROXIMAL_FORCE * step.forces,
            problem.total(step.mixture),
        )

    def _solve(self, at_x: Vector, at_mixture: Vector, at_member: Vector, at_total: Vector) -> _Point:
        problem = self.problem
        mixture, _ = self._mixture(at_mixture, at_total)
        local = problem.transposed @ mixture - at_member
        x = self.factor.solve(at_x + problem.pull(self.inverse @ local))
        forces = self.inverse @ (local - x[problem.members])
        mixture, level = self._mixture(at_mixture - problem.vertices @ forces, at_total)
        return _Point(x, forces, mixture, np.zeros_like(mixture), level)

    def _mixture(self, residual: Vector, at_total: Vector) -> tuple[Vector, Vector]:
        """Solve dlevel + h dmixture = residual, total(dmixture) = at_total."""
        level = (self.problem.total(self.give * residual) - at_total) / self.total_give
        return self.give * (residual - self.problem.spread(level)), level


def _inverse(vertices: Vector, give: Vector) -> Vector:
    """Invert each group's covariance of the vertices under the masses `give`, with the proximal term."""
    mean = give[:, None] @ vertices / give.sum(axis=1)[:, None, None]
    centered = vertices - mean
    covariance = (centered * give[:, :, None]).transpose(0, 2, 1) @ centered
    return np.linalg.inv(covariance + PROXIMAL_FORCE * np.eye(vertices.shape[2]))
