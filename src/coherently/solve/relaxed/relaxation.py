"""A component relaxed to clusters of variables, which bounds the nearest forecasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.problem import clusters, lawful_clusters
from coherently.solve.relaxed.certificate import relaxed_bound
from coherently.solve.relaxed.interior import interior_point

if TYPE_CHECKING:
    from coherently import _core
    from coherently.problem import Merged
    from coherently.solve.budget import Budget


class Relaxation:
    """The groups of a component's clusters; their mixtures need not come from one distribution over worlds.

    Bounds stay valid if no cluster covers a law; worlds are checked against the space.
    """

    def __init__(self, part: Merged, space: _core.Space | None) -> None:
        self.part, self.space = part, space
        self.groups = clusters(part) if space is None else lawful_clusters(part)

    def bound(self, budget: Budget) -> float:
        """A lower bound on the least objective of the relaxed problem."""
        none = np.zeros(self.groups.auxiliary)
        weight = np.concatenate([self.part.weight, none])
        target = np.concatenate([self.part.mean, none])
        inner = interior_point(weight, target, self.groups, budget)
        return relaxed_bound(weight, target, self.groups, inner.forces)
