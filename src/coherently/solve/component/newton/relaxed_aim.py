"""The objective over the clusters of a component: a bound for every coherent answer, and where Newton's method aims.

Clusters allow more than mixtures of worlds do, so their least objective is a bound. On most panels that people make, it
is that of coherent forecasts. Then one model, at the answer over clusters, is enough: its least value is known, and
search can end once it is reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.solve.component.newton.steps import step_length
from coherently.solve.component.objective import sides_at
from coherently.solve.component.planes import PlaneBelow, tangent
from coherently.solve.relaxed.certificate import balanced, least_sum
from coherently.solve.relaxed.cycles import tighten
from coherently.solve.relaxed.interior import minimise_relaxed
from coherently.solve.relaxed.lifted import Bowl
from coherently.solve.solution import ClusterForces
from coherently.solve.worlds.oracle import rounding_of

if TYPE_CHECKING:
    from coherently.arrays import Truth, Vector
    from coherently.problem import Merged
    from coherently.problem.groups.simple import Groups
    from coherently.solve.budget import Budget
    from coherently.solve.component.newton.support import Blend
    from coherently.solve.component.objective import Model, Objective
    from coherently.solve.worlds.oracle import Oracle

CLOSE = 1e-10
"""The gap, relative to the objective, to which the problem over clusters is solved."""
REACHED = 1e-10
"""The same for the mixture of worlds that comes near to that answer."""
EFFORT = 2
"""How often the length of searches for that mixture is doubled."""
NEAR = 1e-3
"""If search leaves a gap of at most this, relative to the objective, branching looks for the worlds that it missed."""
FALLEN = 0.5
"""The part of the distance to the goal that must be gone after such worlds were taken in."""
MOST_OF_IT = 0.98
"""Longest step towards that mixture."""
WIDE = 64.0
"""Rounding errors of sums over the members of a group, in those of single terms."""


class RelaxedAnswer(NamedTuple):
    """Where clusters lose least: coordinates, probabilities of sides, the plane below, its least sum over clusters.

    `forces` prove that sum; `clusters` say between what they act.
    """

    x: Vector
    sides: Vector
    plane: PlaneBelow
    least: float
    forces: Vector
    clusters: ClusterForces | None = None

    def bound(self) -> float:
        """A lower bound for every coherent answer."""
        return self.plane.bound(self.least)


class TermsOverGroups:
    """The objective as a function of the coordinates of groups: the events, then auxiliary ones."""

    def __init__(self, objective: Objective, groups: Groups) -> None:
        self.objective, self.groups = objective, groups
        self.scale = float(objective.weight.max(initial=0.0)) or 1.0
        self.center = np.full(objective.size + groups.auxiliary, 0.5)
        self.is_quadratic = objective.is_quadratic

    def sides(self, x: Vector) -> Vector:
        """The probabilities of sides at coordinates."""
        return sides_at(x[: self.objective.size])

    def bowl(self, x: Vector) -> Bowl:
        """The model of `Objective` at x, divided by the scale."""
        from scipy.sparse import csr_array, diags_array

        objective = self.objective
        planes = objective.planes(self.sides(x), 0.0)
        starts, coordinates, turned, factors, _ = objective.layout.sums(planes.bent, planes.ratio)
        signed = np.where(turned == 1, -factors, factors)
        rows = csr_array((signed, coordinates, starts), shape=(len(objective), len(x)))
        slope = np.zeros(len(x))
        slope[: objective.size] = objective.coefficients(planes.by_joint, planes.by_condition)[0]
        bend = rows.T @ diags_array(planes.curvature / self.scale) @ rows
        return Bowl(x, slope / self.scale, bend)

    def gap(self, x: Vector, forces: Vector) -> tuple[float, float]:
        """The objective at x minus the lower bound that forces prove, and that bound."""
        sides = self.sides(x)
        plane = tangent(self.objective, sides)
        bound = plane.bound(self.least(plane, forces))
        return self.objective.value(sides) - bound, bound

    def least(self, plane: PlaneBelow, forces: Vector) -> float:
        """A lower bound on the sum of the plane's coefficients in any world."""
        forces = self.balanced(plane, forces)
        return least_sum(self._coefficients(plane), self.groups, forces) - WIDE * rounding_of(
            plane.coefficients, forces
        )

    def balanced(self, plane: PlaneBelow, forces: Vector) -> Vector:
        """Forces near the given ones that prove no less of a plane's coefficients."""
        return balanced(self._coefficients(plane), self.groups, forces)

    def _coefficients(self, plane: PlaneBelow) -> Vector:
        return np.concatenate([plane.coefficients, np.zeros(self.groups.auxiliary)])

    def minimise(self, budget: Budget) -> RelaxedAnswer:
        """The answer over clusters."""
        inner = minimise_relaxed(self, self.groups, budget, CLOSE)
        sides = self.sides(inner.x)
        plane = tangent(self.objective, sides)
        forces = self.balanced(plane, inner.forces)
        return RelaxedAnswer(inner.x, sides, plane, self.least(plane, forces), forces=forces)


def relax(part: Merged, objective: Objective, budget: Budget) -> RelaxedAnswer:
    """Minimise the objective over clusters, and over more of them where the answer is not coherent on a cycle."""
    answers: list[RelaxedAnswer] = []

    def solve(groups: Groups, whole: Merged) -> Vector | None:
        answer = TermsOverGroups(objective, groups).minimise(budget)
        clusters = ClusterForces(groups=groups, whole=whole, x=answer.x, forces=answer.forces)
        answers.append(RelaxedAnswer(*answer[:5], clusters=clusters))
        return None if budget.is_over() else answers[-1].x

    tighten(part, solve, budget)
    return max(answers, key=RelaxedAnswer.bound)


@dataclass(frozen=True, slots=True, eq=False)
class RelaxedAim:
    """The model of the objective at the answer over clusters, and the value at which a mixture has reached that."""

    model: Model
    goal: float


def aim_at(objective: Objective, relaxed: RelaxedAnswer, scale: float) -> RelaxedAim:
    """Aim at the answer over clusters, to within a part of `scale`."""
    model = objective.model(objective.planes(relaxed.sides, 0.0), 0.0, tied=False)
    return RelaxedAim(model, model.value(relaxed.sides) + REACHED * scale)


def towards_aim(objective: Objective, start: Blend, aim: Blend) -> Blend:
    """Most of the way from the start to an aim, as far as the objective falls.

    A part of the start is kept: conditions that vanish have no slope, and steps would leave them so.
    """
    length = step_length(objective, start, aim, 0.0, mass=0.0, smooth=objective.value(start.sides))
    return start.towards(aim, MOST_OF_IT * length) if length > 0 else start


def missed_worlds(oracle: Oracle, gradient: Vector, level: float, budget: Budget) -> Truth:
    """The best world that search finds for the gradient of a model, and the best of all, more or less.

    `level` is the gradient's sum at the model's mixture: a world below it improves the mixture.
    """
    known, value = oracle.search(gradient, budget)
    least = oracle.least(gradient, budget, 0.5 * max(0.0, level - value), known)
    return np.vstack([known, least.world])
