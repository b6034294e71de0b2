"""Answers over clusters of variables to a large component with other numbers, where the first answer shows how.

A component without a way through all its worlds is solved by a search for worlds, which takes long, and by the problem
relaxed to clusters, which is quick and bounds it. Where both meet, the relaxed answer is the coherent one. With other
weights the relaxed problem over the same clusters is solved again, without a search: its answer is coherent
within every cluster, and no cycle of variables is broken. That it is coherent altogether is not proved then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.solve.relaxed.certificate import relaxed_bound
from coherently.solve.relaxed.cycles import broken_cycles, tighten
from coherently.solve.relaxed.interior import interior_point
from coherently.solve.worlds.grounds import Grounds
from coherently.values import Value

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.problem import Groups, Loss, Merged
    from coherently.solve.budget import Budget

LEAST_EVENTS = 200
"""Minimum number of events of a component that is not sooner solved as usual."""
MET = 1e-5
"""The relaxed answer is the coherent one if no probability differs by more than this."""


@dataclass(frozen=True, slots=True, eq=False)
class ClusterAnswers(Value):
    """The clusters of a component, and all coordinates that they share: `whole`, with the events first."""

    size: int
    groups: Groups
    whole: Merged

    def answer(self, weight: Vector, mean: Vector, budget: Budget) -> Vector | None:
        """The answer for other numbers; None if a cycle is broken, so that it is not coherent."""
        more = len(self.whole) - self.size
        weight = np.concatenate([weight, np.zeros(more)])
        target = np.where(weight > 0, np.concatenate([mean, np.zeros(more)]), 0.0)
        x = interior_point(weight, target, self.groups, budget).x
        return None if broken_cycles(self.whole, x) else x[: self.size]


def cluster_answers(part: Merged, loss: Loss, x: Vector, budget: Budget) -> ClusterAnswers | None:
    """The clusters of a large component whose answer x they prove; None for any other component."""
    if not loss.is_quadratic or len(part.terms) or len(part) < LEAST_EVENTS:
        return None
    grounds = Grounds(part)
    if grounds.is_eliminable or grounds.is_dense or grounds.reduced:
        return None
    known = part.weight > 0
    lost = float(np.sum(part.weight[known] * (x[known] - part.mean[known]) ** 2))
    found: list[ClusterAnswers] = []

    def solve(groups: Groups, whole: Merged) -> Vector | None:
        target = np.where(whole.weight > 0, whole.mean, 0.0)
        inner = interior_point(whole.weight, target, groups, budget)
        bound = relaxed_bound(whole.weight, target, groups, inner.forces)
        met = budget.is_enough(lost - bound, lost) and bool((np.abs(inner.x[: len(part)] - x)[known] <= MET).all())
        if met:
            found.append(ClusterAnswers(len(part), groups, whole))
        return None if met or budget.is_over() else inner.x

    try:
        tighten(part, solve, budget)
    except MethodError:  # an event has too many variables, there are too many clusters, or the time is over
        return None
    return found[0] if found else None
