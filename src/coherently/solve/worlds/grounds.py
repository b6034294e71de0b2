"""What proofs about a component can rest on: which methods find its best world, or bound it."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.errors import MethodError
from coherently.solve.budget import Budget
from coherently.solve.facts import Proof
from coherently.solve.worlds.lawful import MOST_STATES, core_space

if TYPE_CHECKING:
    from coherently.problem import Merged
    from coherently.solve.relaxed.relaxation import Relaxation

DENSE_VARIABLES = 300
"""Maximum number of variables for branch and bound."""
DENSE_DEGREE = 12
"""Average number of events per variable above which the semidefinite bound usually wins over clusters."""

EAGER_STATES = 2**14
"""With at most this many states of a junction tree, the best of all worlds is found each time."""


class Grounds:
    """A component with its possible worlds; costly facts are computed once, when they are needed."""

    def __init__(self, part: Merged) -> None:
        self.part = part
        self.space, self.reduced = core_space(part)
        self._relaxation: Relaxation | None = None

    @property
    def cost(self) -> float:
        """The number of states of dynamic programming over all worlds; infinite if they are too many."""
        return self._elimination[0]

    @property
    def is_counted(self) -> bool:
        """Whether dynamic programming counts true literals: search, which turns a few variables, is of little use."""
        return self._elimination[1]

    @cached_property
    def _elimination(self) -> tuple[float, bool]:
        return _core.elimination_cost(self.part.handle, MOST_STATES, self.space)

    @property
    def is_eliminable(self) -> bool:
        """Whether the best world of all can be found by dynamic programming."""
        return math.isfinite(self.cost)

    @cached_property
    def is_branchable(self) -> bool:
        """Whether branch and bound proves the best world: two variables per event, and laws that have prices."""
        part = self.part
        if part.n_variables > DENSE_VARIABLES or int(part.sizes().max(initial=0)) > 2:
            return False
        return self.space is None or _core.WorldOracle(part.handle, 0, self.space).can_prove()

    @cached_property
    def is_dense(self) -> bool:
        """Whether branch and bound applies and most variables are linked."""
        linked = int(np.count_nonzero(self.part.sizes() == 2))
        return linked > DENSE_DEGREE / 2 * self.part.n_variables and self.is_branchable

    @cached_property
    def relaxation(self) -> Relaxation | None:
        """The clusters; None if an event has too many variables, or there are too many clusters."""
        with suppress(MethodError):
            return self.relaxation_within(Budget())
        return None

    def relaxation_within(self, budget: Budget) -> Relaxation:
        """The clusters, which are made once; an error says why there are none, or that the time was over before."""
        if self._relaxation is None:
            from coherently.solve.relaxed.relaxation import Relaxation  # not for those who never ask

            self._relaxation = Relaxation(self.part, self.space, budget.is_over)
        return self._relaxation

    @cached_property
    def branches(self) -> _core.ClusterProof:
        """Branch and bound over clusters of variables."""
        return _core.ClusterProof(self.part.handle, self.space)

    @property
    def proof(self) -> Proof:
        """The proof that no world is better, for any sum of events."""
        if self.is_eliminable:
            return Proof.ALL_WORLDS
        return Proof.SEMIDEFINITE if self.is_branchable else Proof.BRANCHES
