"""The world of the least sum of coefficients over the events that hold: what proofs about all worlds rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.solve.facts import Proof
from coherently.solve.solution import ClusterTree, SignTree
from coherently.solve.worlds.branches import lowest_worlds
from coherently.solve.worlds.grounds import Grounds

if TYPE_CHECKING:
    from coherently.arrays import Truth, Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget

ATTEMPTS = 20
"""Number of local searches for a world, each from another start."""


def rounding_of(*terms: Vector) -> float:
    """A bound on the rounding error of a sum of such terms, each times a probability, and of the same sum in a world.

    Pairwise sums of n terms are off by at most log2(n) + 1 halves of a unit in the last place of the sum of their
    absolute values: 16 of these, 2^-49, are enough for two sums of up to 2^14 terms.
    """
    return 2.0**-49 * sum(float(np.abs(term).sum()) for term in terms)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Least:
    """A world, its sum, and a lower bound for all worlds; `exact` if dynamic programming covered all of them.

    `tree` proves the bound, if that was by branching and is to be written down.
    """

    world: Truth
    value: float
    bound: float
    exact: bool
    proof: Proof
    tree: SignTree | ClusterTree | None = None


def kept_tree(
    core: _core.NearestMixture | _core.WorldOracle, part: Merged, coefficients: Vector, scale: float
) -> SignTree | None:
    """The tree of the last proof, if it was kept and came to its end; an energy of 1 is a loss of `scale`."""
    kept = core.kept_tree()
    if kept is None:
        return None
    tree, places, fixed, y = kept
    return SignTree(
        tree=tree,
        places=places,
        fixed=fixed,
        y=y,
        fines=tuple(core.fines()),
        origin=part.origin,
        scale=scale,
        size=float(np.abs(coefficients).sum()),
    )


class Oracle:
    """Minimises sums of coefficients over the possible worlds of a component, or of several."""

    def __init__(self, part: Merged, seed: int = 0) -> None:
        self.part, self.grounds = part, Grounds(part)
        self.space, self.is_exact = self.grounds.space, self.grounds.is_eliminable
        self._core = _core.WorldOracle(part.handle, seed, self.space)

    def least(self, coefficients: Vector, budget: Budget, tolerance: float = 0.0, known: Truth | None = None) -> Least:
        """The best world; without dynamic programming the bound may be lower by the tolerance, or more at the end.

        `known` is a good world, which is looked for otherwise.
        """
        core = self._core
        core.set(np.ascontiguousarray(coefficients, np.float64))
        if self.is_exact:
            world = core.eliminate()
            value = core.value(world)
            return Least(world=world, value=value, bound=value, exact=True, proof=Proof.ALL_WORLDS)
        world = core.search(ATTEMPTS, budget.left()) if known is None else known
        if not budget.is_over() and self.grounds.proof is Proof.SEMIDEFINITE:
            return self._branch(coefficients, world, budget, tolerance)
        if budget.is_over():
            lowest = float(np.minimum(coefficients, 0.0).sum())
            return Least(world=world, value=core.value(world), bound=lowest, exact=False, proof=Proof.NOTHING)
        found = lowest_worlds(self.grounds, coefficients, world, tolerance, budget)
        for better in found.better:
            world = better if core.value(better) < core.value(world) else world
        value = core.value(world)
        return Least(
            world=world,
            value=value,
            bound=min(found.bound, value),
            exact=False,
            proof=Proof.BRANCHES,
            tree=found.tree,
        )

    def search(self, coefficients: Vector, budget: Budget) -> tuple[Truth, float]:
        """A good world and its sum, by local search only."""
        self._core.set(np.ascontiguousarray(coefficients, np.float64))
        world = self._core.search(ATTEMPTS, budget.left())
        return world, self._core.value(world)

    def _best(self, world: Truth, better: Truth) -> Truth:
        """The best of some worlds; the present one if all of them break laws, whose penalties then rise."""
        if self.space is not None:
            better = better[self.space.allows(better).astype(np.bool_)]
            if not len(better):
                self._core.raise_fines()
                return world
        return min(better, key=self._core.value)

    def _branch(self, coefficients: Vector, world: Truth, budget: Budget, tolerance: float) -> Least:
        core, outcome = self._core, "better"
        while outcome == "better":
            core.start_proof(core.value(world) - tolerance, keep=budget.hints)
            outcome = "unfinished"
            while outcome == "unfinished" and (seconds := budget.slice()) > 0:
                outcome = core.prove(seconds)
            if outcome == "better":
                world = self._best(world, core.better())
        return Least(
            world=world,
            value=core.value(world),
            bound=core.bound(),
            exact=False,
            proof=Proof.SEMIDEFINITE,
            tree=kept_tree(core, self.part, coefficients, scale=1.0),
        )
