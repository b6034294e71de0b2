"""One connected component: the nearest mixture of worlds, and a proof of how near it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.errors import MethodError
from coherently.solve.component.answer import Hints
from coherently.solve.facts import Proof, Route
from coherently.solve.lower_bounds.bound_rules import BOUNDS, COARSE_BOUNDS, HASTY_BOUNDS, LATE_BOUNDS
from coherently.solve.worlds.branches import lowest_worlds
from coherently.solve.worlds.grounds import EAGER_STATES, Grounds
from coherently.solve.worlds.oracle import kept_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.lower_bounds.bound_rules import BoundingRule
    from coherently.solve.solution import ClusterForces


@dataclass(frozen=True, slots=True)
class NearestTuning:
    """How long searches and proofs of a component go on."""

    few_nodes: int = 100_000
    """Number of nodes of branch and bound after which a coarser proof comes first; twice as many if they are kept.

    Kept trees have fewer diagonals and more nodes, which take less time each.
    """
    many_nodes: int = 2**62
    """No limit of nodes."""
    coarse: float = 1e-2
    """Relative gap of the coarse proof."""
    bound_share: float = 0.5
    """The part of the time that bounds may take before there is a search."""
    search_share: float = 0.8
    """The part of the time that search may take before the rest goes to the bound."""
    finished: float = 1e-12
    """The relative gap at which nothing is left to gain: a gap g leaves errors of sqrt(g) in probabilities."""
    thorough: tuple[tuple[int, float], ...] = ((8, 0.0),)
    """Effort of a thorough search, and the relative improvement at which it ends."""
    hasty: tuple[tuple[int, float], ...] = ((0, 1e-3), (1, 1e-4), (2, 1e-4), (3, 1e-5))
    """Efforts of a hasty search, and the relative improvement at which each ends; the gap is checked after each."""
    hasty_before_all: tuple[tuple[int, float], ...] = ((2, 0.0),)
    """The same before elimination, which proves the gap and finds the missing worlds."""
    safety: float = 0.98
    """Proofs aim at this part of the gap, so that rounding cannot spoil them."""


TUNING = NearestTuning()


class Nearest:
    """A component's answer so far; `bound` is proved, `route` says how it was found and `proof` on what it rests.

    Tolerances are relative to the objective, or to `floor` where the objective is less; an objective of at
    most `noise` is rounding.
    """

    def __init__(self, part: Merged, seed: int, floor: float, noise: float = 0.0) -> None:
        self.part, self.floor, self.noise = part, floor, noise
        self.grounds = Grounds(part)
        self.space = self.grounds.space
        target = np.where(part.weight > 0, part.mean, 0.0)
        self.core = _core.NearestMixture(part.handle, part.weight, target, seed, space=self.space)
        self.route, self.proof = Route.COLUMNS, Proof.NOTHING
        self.relaxed, self.timed_out, self.eliminated = 0.0, True, False
        self.forces: ClusterForces | None = None
        self.branched: Hints | None = None

    @property
    def hints(self) -> Hints | None:
        """Where the bound was proved, if that is not at x alone."""
        if self.branched is not None or self.forces is None:
            return self.branched
        return Hints(x=self.x, forces=self.forces)

    @property
    def objective(self) -> float:
        """The weighted squared distance from the merged forecasts."""
        return self.core.objective()

    @property
    def x(self) -> NDArray[np.float64]:
        """The probabilities of the events."""
        return np.clip(self.core.x(), 0.0, 1.0)

    @property
    def shortfall(self) -> float:
        """The most by which a world may lie below the hyperplane of x: g in the bound."""
        return self.core.shortfall()

    def mixture(self) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        """The worlds' shares and truth values."""
        return self.core.worlds()

    @property
    def bound(self) -> float:
        """A lower bound on the least objective."""
        return min(self.objective, max(self.core.lower_bound(), self.relaxed))

    @property
    def scale(self) -> float:
        """What tolerances are relative to."""
        return max(self.objective, self.floor)

    @property
    def is_eliminable(self) -> bool:
        """Whether the best world of all can be found by dynamic programming."""
        return self.grounds.is_eliminable

    def is_done(self, tolerance: float) -> bool:
        """Whether the gap is at most the tolerance."""
        return self.objective - self.bound <= tolerance * self.scale

    def reached(self, tolerance: float) -> float:
        """The objective at which, by the present bound, the gap is at most the tolerance."""
        return max(self.bound / (1.0 - tolerance), self.bound + tolerance * self.floor, self.noise)

    def improve(self, budget: Budget, *, hasty: bool = False) -> None:
        """Work until the gap is at most the tolerance or the budget is over; if `hasty`, no closer than needed."""
        run = _Run(self, budget, hasty=hasty)
        if self.grounds.cost <= EAGER_STATES or self.grounds.reduced or self.grounds.is_counted:
            run.eliminate()
        elif self.is_eliminable:
            run.ladder = TUNING.hasty_before_all if hasty else run.ladder
            if run.search():
                run.eliminate()
        else:
            run.apply(HASTY_BOUNDS if hasty else BOUNDS, TUNING.bound_share)
            if self.grounds.is_dense:
                run.branch()
            else:
                run.relax()
        self.timed_out = not self.eliminated and (run.cut or budget.is_over())


class _Run:
    """The work on a component, in slices between which it can be stopped."""

    def __init__(self, nearest: Nearest, budget: Budget, *, hasty: bool) -> None:
        self.nearest, self.core, self.budget = nearest, nearest.core, budget
        self.tolerance, self.hasty = (tolerance := budget.tolerance), hasty
        self.finished = tolerance if hasty else TUNING.finished
        self.ladder: Sequence[tuple[int, float]] = TUNING.hasty if hasty else TUNING.thorough
        self.cut = False  # whether a search ran out of its share of the time

    def search(self, share: float = 1.0) -> bool:
        """Search until nothing is found or nothing is left to gain; false when its share of the time is over."""
        budget = self.budget.share(share)
        goal = self.nearest.reached(TUNING.finished)
        for effort, enough in self.ladder:
            over = False
            while not over:
                if (seconds := budget.slice()) <= 0:
                    self.cut = True
                    return False
                over = self.core.search(seconds, effort, enough, goal=goal)
            if self.nearest.is_done(self.finished):
                return True
        return True

    def eliminate(self) -> None:
        """Take in the best of all worlds until none improves."""
        few = self.nearest.part.n_variables <= math.log2(EAGER_STATES)
        self.nearest.route = Route.ENUMERATION if few else Route.JUNCTION_TREE
        self.nearest.proof = Proof.ALL_WORLDS
        while (seconds := self.budget.slice()) > 0:
            if self.core.eliminate(seconds, self.nearest.noise):
                self.nearest.eliminated = True
                return

    def apply(self, rules: Sequence[BoundingRule], share: float = 1.0) -> None:
        """Bound by the rules that fit, within a share of the time."""
        nearest, budget = self.nearest, self.budget.share(share)
        for rule in rules:
            if not budget.is_over() and rule.fits(nearest.grounds):
                found = rule.bound(nearest.grounds, budget, self.core.objective())
                nearest.forces = nearest.forces if found.forces is None else found.forces
                if found.value > nearest.relaxed or nearest.proof is Proof.NOTHING:
                    nearest.relaxed, nearest.proof = max(nearest.relaxed, found.value), found.proof

    def branch(self) -> None:
        """Prove the gap by branch and bound; take in better worlds that it finds."""
        self.nearest.proof = Proof.SEMIDEFINITE
        if not self.search(TUNING.search_share):
            self.apply(LATE_BOUNDS)
            return
        for gap, nodes in (
            (self.tolerance, TUNING.few_nodes * (1 + self.budget.hints)),
            (max(TUNING.coarse, self.tolerance), TUNING.many_nodes),
            (self.tolerance, TUNING.many_nodes),
        ):
            while not self.budget.is_over() and not self.nearest.is_done(gap):
                if not self._branch(0.5 * TUNING.safety * gap * self.nearest.scale, nodes):
                    break

    def _branch(self, shortfall: float, nodes: int) -> bool:
        """Prove that no world is `shortfall` below the level, or take in one that is; false past budget or `nodes`."""
        core = self.core
        core.start_proof(core.level() - shortfall, keep=self.budget.hints)
        core.certify(core.bound())
        while core.nodes() < nodes and (seconds := self.budget.slice()) > 0:
            outcome = core.prove(seconds, nodes)
            core.certify(core.bound())
            if outcome == "proved":
                if (tree := kept_tree(core, self.nearest.part, core.gradient(), scale=2.0)) is not None:
                    self.nearest.branched = Hints(x=self.nearest.x, tree=tree)
                return True
            if outcome == "better":
                return self._take(core.better()) and self.search()
        return False

    def _take(self, worlds: NDArray[np.uint8]) -> bool:
        """Take in worlds; false if none improves. If all break laws, the penalties for that rise."""
        if self.nearest.space is not None:
            worlds = worlds[self.nearest.space.allows(worlds).astype(np.bool_)]
            if not len(worlds):
                self.core.raise_fines()
                return True
        return sum(self.core.offer(world) for world in sorted(worlds, key=self.core.energy)) > 0

    def relax(self) -> None:
        """Search; where that does not reach the bound, prove the gap by branching over clusters.

        Where a coarse proof is enough, a better bound is often found sooner. Better worlds are taken in. Events that
        are too large for clusters are left unproved, as branching would only use the time up.
        """
        nearest = self.nearest
        if self.hasty and self.search() and not nearest.is_done(self.tolerance):
            self.apply(COARSE_BOUNDS)
        while self.search() and not self.budget.is_over() and not nearest.is_done(self.tolerance):
            try:
                nearest.grounds.relaxation_within(self.budget)
            except MethodError:  # an event has too many variables, there are too many clusters, or the time is over
                return
            if not self._branch_over_clusters(0.5 * TUNING.safety * self.tolerance * nearest.scale):
                return

    def _branch_over_clusters(self, shortfall: float) -> bool:
        """Prove that no world is `shortfall` below the level, within the budget; true if a world was taken in."""
        nearest, core = self.nearest, self.core
        nearest.proof = Proof.BRANCHES
        known = min(nearest.mixture()[1], key=core.energy)
        slack = shortfall - (core.level() - core.energy(known))
        found = lowest_worlds(
            nearest.grounds, core.gradient(), known, slack=slack, budget=self.budget, scale=2.0, hasty=True
        )
        core.certify(found.bound)
        if nearest.is_done(self.tolerance) and found.tree is not None:
            nearest.branched = Hints(x=nearest.x, tree=found.tree)
        return len(found.better) > 0 and self._take(found.better)
