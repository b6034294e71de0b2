"""The relaxed problem by a primal-dual interior point method on the vertices of each group's hull."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from coherently.solve.relaxed.certificate import relaxed_bound
from coherently.solve.relaxed.face import land
from coherently.solve.relaxed.lifted import TUNING, Point, System, bowl_of_squares, lift

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.problem.groups.simple import Groups
    from coherently.solve.budget import Budget
    from coherently.solve.relaxed.lifted import Bowl, Lifted


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Interior:
    """The least sum N (x - q)^2 over the groups' hulls, with its proof.

    `x` has one entry per coordinate, `forces` one per membership, which `relaxed_bound` turns into a bound, `mixture`
    one per row of each group, group after group; `gap` is the objective at x minus that bound.
    """

    x: Vector
    forces: Vector
    mixture: Vector
    iterations: int
    gap: float


def interior_point(
    weight: Vector,
    target: Vector,
    groups: Groups,
    budget: Budget | None = None,
    *,
    tolerance: float = 1e-12,
    max_iterations: int = 100,
) -> Interior:
    """Minimise sum N (x - q)^2 with each group in the hull of its pattern, by Mehrotra's method.

    `tolerance` is for the violation and for the gap, relative to the objective. An answer is finished on its face as
    soon as that is identified, because a gap g leaves errors of sqrt(g) in the coordinates. Until then the iteration
    continues, past the tolerance while each step still halves the error, and stops short of it if rounding prevents
    more: see `gap`. Coordinates in no group stay at their target, or at 1/2 if they have weight 0. If the budget is
    over, the answer is the best so far.
    """
    center = np.where(weight > 0, target, 0.5)
    if not len(groups):
        return Interior(x=np.clip(center, 0.0, 1.0), forces=np.zeros(0), mixture=np.zeros(0), iterations=0, gap=0.0)
    return minimise_relaxed(
        _SquaredDistance(weight, target, center, groups), groups, budget, tolerance, max_iterations=max_iterations
    )


class Relaxable(Protocol):
    """A convex function of the coordinates that can be minimised over the groups' hulls."""

    @property
    def scale(self) -> float:
        """What slopes are divided by, so that they are about 1."""

    @property
    def center(self) -> Vector:
        """The point to start at."""

    @property
    def is_quadratic(self) -> bool:
        """Whether the model is the function itself."""

    def bowl(self, x: Vector) -> Bowl:
        """A quadratic model, divided by the scale: its slope at x must be that of the function."""

    def gap(self, x: Vector, forces: Vector) -> tuple[float, float]:
        """The value at x minus the lower bound that forces prove, and that bound."""


def minimise_relaxed(
    task: Relaxable, groups: Groups, budget: Budget | None, tolerance: float, max_iterations: int = 100
) -> Interior:
    """Minimise a convex function with each group in the hull of its pattern; see `interior_point`.

    Each step is one of Mehrotra's method on the model of the function at the mean of the groups' mixtures, which lies
    inside all bounds. Near the answer, steps are those of Newton's method. Where they do not end at the tolerance, they
    are taken again `_with_care`, from where the error rose for the first time.
    """
    problem = lift(task.bowl(task.center), groups)
    point = before = _start(problem, task.center)
    least = previous = np.inf
    landing = TUNING.landing
    turn: tuple[Lifted, Point, float] | None = None
    for iteration in range(max_iterations + 1):
        found, error = _judge(task, problem, point, iteration)
        if turn is None and error > previous:
            turn = problem, before, previous
        problem = replace(problem, bowl=task.bowl(found.x))
        if error <= landing:
            landing = 0.5 * error
            landed = land(problem, point)
            if landed is not None and (ended := _judge(task, problem, landed, iteration))[1] <= tolerance:
                return ended[0]
        if error < least:
            best, least = found, error
        if iteration - best.iterations > TUNING.patience or (least <= tolerance and error > 0.5 * previous):
            break
        if budget is not None and budget.is_over():
            break
        previous, before = error, point
        point = _advance(problem, point)
    if least <= tolerance or task.is_quadratic or turn is None or (budget is not None and budget.is_over()):
        return best
    other, error = _with_care(
        task, turn, budget, tolerance, iterations=range(iteration + 1, iteration + max_iterations)
    )
    return other if error < least else best


def _with_care(
    task: Relaxable,
    turn: tuple[Lifted, Point, float],
    budget: Budget | None,
    tolerance: float,
    iterations: range,
) -> tuple[Interior, float]:
    """The answer by steps that lower the error, from a point and its error; the error of the answer.

    Where a condition vanishes, its term bends ever more, and a barrier that falls faster than the model can follow
    leaves the central path. A step that makes the error larger is taken back, and then again with a barrier that falls
    less; the last of these only centres, and is kept.
    """
    problem, before, previous = turn
    least, care = np.inf, 1
    for iteration in iterations:
        point = _advance(problem, before, TUNING.care[care])
        found, error = _judge(task, problem, point, iteration)
        if error < least or iteration == iterations.start:
            best, least = found, error
        if iteration - best.iterations > TUNING.patience or (budget is not None and budget.is_over()):
            break
        if error > previous and care + 1 < len(TUNING.care):
            care += 1
            continue
        if least <= tolerance and error > 0.5 * previous:
            break
        problem, before = replace(problem, bowl=task.bowl(found.x)), point
        previous, care = error, max(0, care - 1)
    return best, least


def _judge(task: Relaxable, problem: Lifted, point: Point, iterations: int) -> tuple[Interior, float]:
    """The answer at a point, and the larger of its violation and its relative gap."""
    x, violation = problem.feasible(point)
    forces = task.scale * point.forces
    gap, bound = task.gap(x, forces)
    return Interior(x=x, forces=forces, mixture=point.mixture, iterations=iterations, gap=gap), max(
        violation, abs(gap) / max(min(1.0, task.scale), bound)
    )


class _SquaredDistance:
    """The sum N (x - q)^2."""

    def __init__(self, weight: Vector, target: Vector, center: Vector, groups: Groups) -> None:
        self.weight, self.target, self.center, self.groups = weight, target, center, groups
        self.scale = float(np.max(weight, initial=0.0)) or 1.0
        self.is_quadratic = True
        self.only = bowl_of_squares(weight / self.scale, center)

    def bowl(self, x: Vector) -> Bowl:  # noqa: ARG002
        return self.only

    def gap(self, x: Vector, forces: Vector) -> tuple[float, float]:
        bound = relaxed_bound(self.weight, self.target, self.groups, forces)
        return float(np.sum(self.weight * (x - self.center) ** 2)) - bound, bound


def _start(problem: Lifted, center: Vector) -> Point:
    mixture = 1.0 / problem.spread(problem.sizes.astype(np.float64))
    forces, level = np.zeros(len(problem.members)), np.ones(len(problem.sizes))
    return Point(x=center, forces=forces, mixture=mixture, slack=np.ones_like(mixture), level=level)


# The conditions of `lifted` with m s = mu instead of 0 define the central path. Linearised at a point, the last one is
#
#     m ds + s dm = c,   c = mu - m s,   so that   ds = c / m - (s / m) dm,
#
# and the second equation V (f + df) + l + dl = s + ds becomes, with its residual r = s - V f - l,
#
#     V df + dl + (s / m) dm = r + c / m:
#
# the system of `lifted` with h = s / m, plus a proximal term. Mehrotra's predictor aims at mu = 0, that is c = -m s.
# The mean of m s that is left after its longest step, relative to the present one and cubed, is the centering factor of
# the next aim, unless more of the barrier is to be kept. The corrector also subtracts the product dm ds of the
# predictor, which the linearisation leaves out. Both use one factorisation. Any forces f prove a bound
# (`relaxed_bound`), so a step need not be exact for the gap to be valid.


def _advance(problem: Lifted, point: Point, kept: float = 0.0) -> Point:
    """Take a predictor and corrector step (Mehrotra 1992), the same in primal and dual.

    It aims at no less than the part `kept` of the barrier.
    """
    proximal = TUNING.proximal_mixture * problem.width**2.0
    system = System(problem, 1.0 / (point.slack / point.mixture + proximal))
    product = point.mixture * point.slack
    barrier = float(np.mean(product))
    guess = _step(system, point, -product)
    tried = point.plus(guess, _room(point, guess))
    centering = max(kept, (float(np.mean(tried.mixture * tried.slack)) / barrier) ** 3)
    aim = max(centering * barrier, TUNING.least_barrier)
    step = _step(system, point, aim - product - guess.mixture * guess.slack)
    return point.plus(step, (1.0 - np.clip(barrier, 1e-6, 1e-2)) * _room(point, step))


def _step(system: System, point: Point, complementarity: Vector) -> Point:
    """Solve for the residuals at the point, with mixture dslack + slack dmixture = complementarity."""
    at_x, at_mixture, *others = system.problem.residuals(point)
    right = (at_x, at_mixture + complementarity / point.mixture, *others)
    step = system.solve(*right)
    for _ in range(TUNING.refinements):
        left = system.apply(step)
        step = step.plus(system.solve(*(b - a for a, b in zip(left, right, strict=True))))
    slack = (complementarity - point.slack * step.mixture) / point.mixture
    return Point(x=step.x, forces=step.forces, mixture=step.mixture, slack=slack, level=step.level)


def _room(point: Point, step: Point) -> float:
    """The longest step, up to 1, that keeps mixtures and slacks from changing sign."""
    value = np.concatenate([point.mixture, point.slack])
    change = np.concatenate([step.mixture, step.slack])
    shrinks = change < 0
    return float(np.min(value[shrinks] / -change[shrinks], initial=1.0))
