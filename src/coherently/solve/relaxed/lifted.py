"""The relaxed problem in mixtures of the truth vectors of each group, and the linear systems of its solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from coherently.solve.relaxed.certificate import by_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Vector
    from coherently.problem.groups.simple import Groups

Positions: TypeAlias = "NDArray[np.signedinteger[Any]]"
Residuals: TypeAlias = "tuple[Vector, Vector, Vector, Vector]"

# Let V be the vertices of all groups, one row each, P x = x[members], and S sum the mixture m of each group. The
# problem is
#
#     min <g, x - q> + 1/2 (x - q)' K (x - q)   subject to   V' m = P x,   S m = 1,   m >= 0,
#
# with q, g and K the point, slope and bend of a `Bowl`: for sum N (x - q)^2, g = 0 and K = diag(2 N). With forces f
# and levels l for the equations and slacks s for m >= 0,
#
#     L = <g, x - q> + 1/2 (x - q)' K (x - q) + <f, V' m - P x> + <l, S m - 1> - <s, m>,
#
# and the conditions of Karush, Kuhn and Tucker are
#
#     g + K (x - q) = P' f,   V f + S' l = s,   V' m = P x,   S m = 1,   m, s >= 0,   m s = 0.
#
# `Lifted.residuals` has the four equations. Both solvers (`interior`, `face`) linearise them and differ only in what
# they put for ds = -h dm + ..., so `System` serves both.
#
# Proximal terms, for weights up to 1, in the sense of the proximal method of multipliers, keep every eliminated matrix
# invertible, however redundant the groups are. As they weigh the step and right sides are the true residuals, they
# vanish at the solution (Friedlander and Orban 2012).


@dataclass(frozen=True, slots=True)
class InteriorTuning:
    """Proximal terms and limits of the interior point method, and of its landing on a face."""

    proximal_x: float = 1e-12
    """The proximal term of coordinates."""
    proximal_force: float = 1e-4
    """The proximal term of forces."""
    proximal_mixture: float = 1e-11
    """That of mixtures, times the squared width of the group; times that of forces it must exceed rounding errors."""
    refinements: int = 3
    """The number of iterative refinements of each step."""
    least_barrier: float = 1e-24
    """The smallest mean of mixture times slack that a step aims at."""
    patience: int = 10
    """The number of iterations without a better answer after which the iteration ends."""
    care: tuple[float, ...] = (0.0, 0.3, 0.6, 0.8, 1.0)
    """The part of the barrier that a careful step keeps: one more for each step in a row that is taken back."""
    landing: float = 1e-6
    """The error at which the face of the optimum is first tried; it is tried again whenever the error has halved."""
    proximal_face: float = 1e-7
    """The proximal term of mixtures on a face, times the squared width of the group: it makes the solution unique."""
    corrections: int = 12
    """Maximum number of corrections on one face: each leaves about a thousandth of the residuals."""
    settling: int = 2
    """The residual may grow during the first corrections, up to this one: forces have to move."""
    rounds: int = 3
    """Maximum number of faces to try."""
    negligible: float = 1e-12
    """Feasibility tolerance for mixtures, slacks and equations on a face (weights scaled to at most 1)."""


TUNING = InteriorTuning()


class Bowl(NamedTuple):
    """A convex quadratic function of the coordinates: the slope at a point, and how it bends (a sparse matrix)."""

    point: Vector
    slope: Vector
    bend: Any

    def slope_at(self, x: Vector) -> Vector:
        """The slope at another point."""
        found: Vector = self.slope + self.bend @ (x - self.point)
        return found


def bowl_of_squares(weight: Vector, center: Vector) -> Bowl:
    """The sum N (x - q)^2."""
    from scipy.sparse import diags_array

    return Bowl(center, np.zeros_like(center), diags_array(2.0 * weight))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lifted:
    """The problem in mixtures of vertices: `transposed @ mixture` = x[members], with sums of 1.

    `blocks` has, for the groups whose patterns have the same shape, their vertices and the positions of their
    memberships and of their mixtures, one entry per group. `width` has the number of members for each mixture.
    """

    bowl: Bowl
    members: NDArray[np.int32]
    blocks: Sequence[tuple[Vector, Positions, Positions]]
    starts: Positions
    sizes: Positions
    width: Positions
    vertices: Any
    transposed: Any

    def total(self, mixture: Vector) -> Vector:
        """The sum of each group's mixture."""
        return np.add.reduceat(mixture, self.starts)

    def spread(self, value: Vector) -> Vector:
        """Give the value of a group to each of its vertices."""
        return np.repeat(value, self.sizes)

    def pull(self, forces: Vector) -> Vector:
        """The sum of the forces on each coordinate."""
        return np.bincount(self.members, forces, len(self.bowl.point)).astype(np.float64, copy=False)

    def residuals(self, point: Point) -> Residuals:
        """The residuals of the equations that `System` solves; the second one includes the slacks."""
        return (
            self.pull(point.forces) - self.bowl.slope_at(point.x),
            point.slack - self.vertices @ point.forces - self.spread(point.level),
            point.x[self.members] - self.transposed @ point.mixture,
            1.0 - self.total(point.mixture),
        )

    def feasible(self, point: Point) -> tuple[Vector, float]:
        """Average each coordinate over the mixtures of its groups; returns how far these differ, too."""
        mixture = np.maximum(point.mixture, 0.0)
        local = self.transposed @ (mixture / self.spread(self.total(mixture)))
        apart = self.bowl.point  # of coordinates in no group
        count = np.bincount(self.members, minlength=len(apart))
        x = np.divide(self.pull(local), count, out=np.clip(apart, 0.0, 1.0), where=count > 0)
        return np.clip(x, 0.0, 1.0), float(np.max(np.abs(local - x[self.members]), initial=0.0))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Point:
    """Coordinates, forces, mixtures with their slacks, the levels that fix the sums; or a step.

    The slack of a vertex is the product of its group's forces with it, and the group's level.
    """

    x: Vector
    forces: Vector
    mixture: Vector
    slack: Vector
    level: Vector

    def plus(self, step: Point, length: float = 1.0) -> Point:
        """The point after a step."""
        return Point(**{name: getattr(self, name) + length * getattr(step, name) for name in self.__slots__})


def lift(bowl: Bowl, groups: Groups) -> Lifted:
    """Pose the problem in mixtures."""
    sizes = np.array([len(vertices) for vertices in groups.patterns], np.int64)[groups.pattern]
    starts = np.cumsum(sizes) - sizes
    blocks = [
        (vertices, slots, starts[found][:, None] + np.arange(vertices.shape[1]))
        for vertices, found, slots in by_shape(groups)
    ]
    parts = [(vertices, rows, slots) for vertices, slots, rows in blocks]
    vertices = _assemble(parts, int(sizes.sum()), len(groups.members))
    return Lifted(
        bowl=bowl,
        members=groups.members,
        blocks=blocks,
        starts=starts,
        sizes=sizes,
        width=np.repeat(np.diff(groups.starts), sizes),
        vertices=vertices,
        transposed=vertices.T.tocsr(),
    )


def _assemble(parts: Sequence[tuple[Vector, Positions, Positions]], height: int, width: int) -> Any:
    """Add stacks of small matrices, each at its rows and columns, up to one sparse matrix."""
    from scipy import sparse

    values = np.concatenate([np.ravel(block) for block, _, _ in parts])
    rows = np.concatenate([np.repeat(i, j.shape[1], axis=1).ravel() for _, i, j in parts])
    columns = np.concatenate([np.tile(j, (1, i.shape[1])).ravel() for _, i, j in parts])
    return sparse.coo_array((values, (rows, columns)), shape=(height, width)).tocsr()


class System:
    """A linear system in a step, by elimination of mixtures, levels and forces, group by group.

    What remains is positive definite in the coordinates. With h = 1 / give, up to proximal terms:

        bend dx - pull(df) = ..,   vertices df + dlevel + h dmixture = ..,
        vertices^T dmixture - dx[members] = ..,   total(dmixture) = ..

    Where `give` is 0 the mixture stays as it is and the equation of its vertex is left out.
    """

    # In one group, with G = diag(give), right sides a, b, c, d and the proximal term e of forces:
    #
    #     second:  dm = G (b - V df - dl 1),   and by the fourth   dl = (1' G (b - V df) - d) / 1' G 1;
    #     together dm = m0 - (G - G 1 1' G / 1' G 1) V df,   m0 being the solution for df = 0;
    #     third:   V' m0 - C df - e df - dx = c,   C = V' (G - G 1 1' G / 1' G 1) V,
    #              which is the covariance of the vertices under the masses G;
    #     so       df = (C + e)^-1 (V' m0 - c - dx),
    #     first:   (K + sum over groups of P' (C + e)^-1 P) dx = a + P' (C + e)^-1 (V' m0 - c).
    #
    # The last matrix, `schur`, is as sparse as coordinates share groups. dx gives df, and df gives dm and dl.

    def __init__(self, problem: Lifted, give: Vector) -> None:
        from scipy.sparse import csc_array, diags_array
        from scipy.sparse.linalg import splu

        self.problem, self.give = problem, give
        count, members = len(problem.bowl.point), len(problem.members)
        self.bend = problem.bowl.bend + diags_array(np.full(count, TUNING.proximal_x))
        self.total_give = problem.total(give)
        inverses = [_inverse(vertices, give[rows]) for vertices, _, rows in problem.blocks]
        slots = [at for _, at, _ in problem.blocks]
        at_forces = [(h, at, at) for h, at in zip(inverses, slots, strict=True)]
        at_x = [(h, problem.members[at], problem.members[at]) for h, at in zip(inverses, slots, strict=True)]
        self.inverse = _assemble(at_forces, members, members)
        schur = _assemble(at_x, count, count) + self.bend
        self.factor = splu(csc_array(schur), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def apply(self, step: Point) -> Residuals:
        """The left sides, where every `give` is positive."""
        problem = self.problem
        return (
            self.bend @ step.x - problem.pull(step.forces),
            problem.vertices @ step.forces + problem.spread(step.level) + step.mixture / self.give,
            problem.transposed @ step.mixture - step.x[problem.members] - TUNING.proximal_force * step.forces,
            problem.total(step.mixture),
        )

    def solve(self, at_x: Vector, at_mixture: Vector, at_member: Vector, at_total: Vector) -> Point:
        """The step for right sides; its slacks are 0."""
        problem = self.problem
        mixture, _ = self._mixture(at_mixture, at_total)
        local = problem.transposed @ mixture - at_member
        x = self.factor.solve(at_x + problem.pull(self.inverse @ local))
        forces = self.inverse @ (local - x[problem.members])
        mixture, level = self._mixture(at_mixture - problem.vertices @ forces, at_total)
        return Point(x=x, forces=forces, mixture=mixture, slack=np.zeros_like(mixture), level=level)

    def _mixture(self, residual: Vector, at_total: Vector) -> tuple[Vector, Vector]:
        """Solve dlevel + h dmixture = residual, total(dmixture) = at_total."""
        level = (self.problem.total(self.give * residual) - at_total) / self.total_give
        return self.give * (residual - self.problem.spread(level)), level


def _inverse(vertices: Vector, give: Vector) -> Vector:
    """Invert each group's covariance of the vertices under the masses `give`, with the proximal term."""
    mean = give[:, None] @ vertices / give.sum(axis=1)[:, None, None]
    centered = vertices - mean
    covariance = (centered * give[:, :, None]).transpose(0, 2, 1) @ centered
    return np.linalg.inv(covariance + TUNING.proximal_force * np.eye(vertices.shape[2]))
