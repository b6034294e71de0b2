"""The rules that bound what coherent forecasts of a component must lose, in the order in which they are tried.

A rule says whether it fits a component. One that fits gives a lower bound on the least objective under the Brier loss,
and on what the bound rests. A new rule needs its class and a line in one of the lists at the end.

Why relaxing bounds: coherent x are those in the hull C of the worlds' truths. Let D contain C, as does the set of all x
that are coherent within each pair, or within each cluster, of variables. Then

    min over D of sum N (x - q)^2  <=  min over C of sum N (x - q)^2,

and a dual of the left side is a bound at any point where its solver stops. Dropping laws makes C larger, so the bound
without them holds with them, too. Bounds of several rules are proofs of the same number: the highest counts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from coherently.errors import MethodError
from coherently.problem import FREE
from coherently.solve.facts import Proof
from coherently.solve.lower_bounds.semidefinite import SpectralBound
from coherently.solve.relaxed.pairs import fits, solve_pairwise
from coherently.solve.worlds.grounds import DENSE_VARIABLES

if TYPE_CHECKING:
    from coherently.solve.budget import Budget
    from coherently.solve.solution import ClusterForces
    from coherently.solve.worlds.grounds import Grounds


LARGE_DENSE = 40
"""Minimum number of variables of a dense component whose relaxation comes before the search."""


class LowerBound(NamedTuple):
    """A lower bound on what coherent forecasts of a component lose, on what it rests, and the forces that prove it."""

    value: float
    proof: Proof
    forces: ClusterForces | None = None


class BoundingRule(Protocol):
    """A way to bound a component's objective from below."""

    def fits(self, grounds: Grounds) -> bool:
        """Whether the rule applies and is worth its time."""

    def bound(self, grounds: Grounds, budget: Budget, objective: float) -> LowerBound:
        """The bound, given the objective of a known answer."""


class ByPairs:
    """The problem relaxed to pairs of variables, where that is quick; laws only raise the least objective."""

    def fits(self, grounds: Grounds) -> bool:
        """Whether events have at most two variables, and variables are few, or clusters too many.

        Where many variables are not all forecast by themselves, the relaxed problem takes too long.
        """
        part = replace(grounds.part, space=FREE)
        if part.n_variables > DENSE_VARIABLES:
            alone = int(np.count_nonzero(part.sizes() == 1))
            return alone == part.n_variables and fits(part, "pairs") and grounds.relaxation is None
        return fits(part, "pairs")

    def bound(self, grounds: Grounds, budget: Budget, objective: float) -> LowerBound:  # noqa: ARG002
        """The lower bound of the relaxed problem."""
        part = replace(grounds.part, space=FREE)
        return LowerBound(solve_pairwise(part, "pairs", 1e-9, auxiliary=True, budget=budget).lower_bound, Proof.PAIRS)


class ByClusters:
    """The problem relaxed to clusters of variables, where branch and bound does not help."""

    def fits(self, grounds: Grounds) -> bool:
        """Whether the component is not dense."""
        return not grounds.is_dense

    def bound(self, grounds: Grounds, budget: Budget, objective: float) -> LowerBound:  # noqa: ARG002
        """The lower bound of the relaxed problem."""
        try:
            return LowerBound(grounds.relaxation_within(budget).bound(budget), Proof.CLUSTERS)
        except MethodError:  # an event has too many variables, there are too many clusters, or the time is over
            return LowerBound(0.0, Proof.NOTHING)


class ByCycles:
    """The problem relaxed to clusters, and to more of them where the relaxed answer is not coherent on a cycle."""

    def fits(self, grounds: Grounds) -> bool:
        """Whether the component is not dense."""
        return not grounds.is_dense

    def bound(self, grounds: Grounds, budget: Budget, objective: float) -> LowerBound:
        """The lower bound of the relaxed problem, raised until it is near enough to the objective."""
        from coherently.solve.relaxed.cycles import bound_by_cycles  # with interior points, which few panels need

        kept: list[ClusterForces] = []
        try:
            bound = bound_by_cycles(grounds.part, budget, objective, kept)
            return LowerBound(bound, Proof.CLUSTERS, kept[-1] if kept else None)
        except MethodError:  # an event has too many variables, there are too many clusters, or the time is over
            return LowerBound(0.0, Proof.NOTHING)


class ByRelaxedSigns:
    """The semidefinite relaxation of a dense component, before the search for worlds that may take all the time."""

    def fits(self, grounds: Grounds) -> bool:
        """Whether the component is dense, and so large that search and proof take far longer than this."""
        return grounds.part.n_variables >= LARGE_DENSE and grounds.is_dense

    def bound(self, grounds: Grounds, budget: Budget, objective: float) -> LowerBound:  # noqa: ARG002
        """The bound of the relaxation."""
        return LowerBound(SpectralBound(grounds.part).begin(budget), Proof.SEMIDEFINITE)


class BySemidefinite:
    """The semidefinite relaxation of a dense component, raised by branching."""

    def fits(self, grounds: Grounds) -> bool:
        """Whether the component is dense."""
        return grounds.is_dense

    def bound(self, grounds: Grounds, budget: Budget, objective: float) -> LowerBound:
        """The best bound in the time that is left."""
        return LowerBound(SpectralBound(grounds.part).raise_within(budget, objective), Proof.SEMIDEFINITE)


BOUNDS: tuple[BoundingRule, ...] = (ByRelaxedSigns(), ByPairs(), ByCycles())
"""The rules that are tried before search."""
HASTY_BOUNDS: tuple[BoundingRule, ...] = (ByRelaxedSigns(), ByPairs(), ByClusters())
"""The same if a coarse proof is enough."""
COARSE_BOUNDS: tuple[BoundingRule, ...] = (ByCycles(),)
"""The rules for a coarse proof, if neither search nor the rules before it came near enough."""
LATE_BOUNDS: tuple[BoundingRule, ...] = (BySemidefinite(),)
"""The rules for the time that is left if search did not end within its share."""
