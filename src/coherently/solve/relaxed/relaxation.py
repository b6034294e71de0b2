"""A component relaxed to clusters of variables, which bounds the nearest forecasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.problem import LARGEST_TABLE, clusters, lawful_clusters
from coherently.problem.groups.shared import never
from coherently.solve.relaxed.certificate import relaxed_bound
from coherently.solve.relaxed.interior import interior_point

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently import _core
    from coherently.problem import Merged
    from coherently.solve.budget import Budget


class Relaxation:
    """The groups of a component's clusters; their mixtures need not come from one distribution over worlds.

    Bounds stay valid if no cluster covers a law; worlds are checked against the space. Nor does a cluster cover counts
    of many variables: `part` is the component without them, and with every single variable if there are any; `whole` is
    the component, of which `kept` are the events that `part` begins with.
    """

    def __init__(self, part: Merged, space: _core.Space | None, is_over: Callable[[], bool] = never) -> None:
        self.whole, self.space = part, space
        self.kept = part.sizes() <= LARGEST_TABLE
        self.part = part if self.kept.all() else _with_singles(part.keep(self.kept))
        self.groups = (clusters if space is None else lawful_clusters)(self.part, is_over)

    def bound(self, budget: Budget) -> float:
        """A lower bound on the least objective of the relaxed problem."""
        none = np.zeros(self.groups.auxiliary)
        weight = np.concatenate([self.part.weight, none])
        target = np.concatenate([np.where(self.part.weight > 0, self.part.mean, 0.0), none])
        inner = interior_point(weight, target, self.groups, budget)
        return relaxed_bound(weight, target, self.groups, inner.forces)


def _with_singles(part: Merged) -> Merged:
    """The part with every single variable as an event, those that were not of weight 0."""
    told = set(part.functions.variable_sets())
    missing = [(v,) for v in range(part.n_variables) if (v,) not in told]
    return part.extend(missing, [np.array([2], np.uint64)] * len(missing))
