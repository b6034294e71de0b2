"""Newton's method on mixtures of worlds: each step minimises a quadratic model by the compiled engine of rows.

The problem is min f(x) over the mixtures x of worlds that satisfy the pins G(x) = 0 or G(x) >= 0, with the convex
`Objective` f. A step minimises the model of f at x, with f's gradient and second derivative, over the same set (the
constrained Newton method of Levitin and Polyak 1966), and goes towards its minimum y as far as f falls enough. The
engine minimises the model over the mixtures of a few worlds and asks for a world that is below the plane of its
gradient until there is none (simplicial decomposition, von Hohenbalken 1977); its prices of the pins come with that.

The bound does not depend on the steps. With planes <a, x> + b <= f(x), and any prices p of the pins, at least 0 for
inequalities, every x that satisfies the pins has

    f(x) >= <a, x> + b - <p, G(x)> >= min over worlds v of (<a, v> + b - <p, G(v)>),

because the expression is linear in x, and x is a mixture of worlds. An oracle gives the minimum over worlds, or a lower
bound on it. At the optimum the planes of the gradient and the prices of the model make both sides equal.

Where conditions may vanish, the gradient may not exist. The steps then minimise f smoothed by a mass, which shrinks
once the gap of the smoothed problem is small beside that of f itself; it is least wherever no condition is near to
vanishing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.solve.component.answer import Answer, Ended, Hints
from coherently.solve.component.newton.feasible import make_engine, require_pins
from coherently.solve.component.newton.final_answer import FinishedWork, finish
from coherently.solve.component.newton.incumbent import Incumbent
from coherently.solve.component.newton.limits import pin_rows
from coherently.solve.component.newton.relaxed_aim import (
    EFFORT,
    FALLEN,
    NEAR,
    aim_at,
    missed_worlds,
    relax,
    towards_aim,
)
from coherently.solve.component.newton.settled_terms import settle_terms
from coherently.solve.component.newton.steps import HASTY, STEADY, SearchPlan, slope_towards, step_length
from coherently.solve.component.newton.support import Blend, blend_of
from coherently.solve.component.planes import plane_below
from coherently.solve.facts import Proof
from coherently.solve.worlds.examples import example_worlds
from coherently.solve.worlds.oracle import Oracle

if TYPE_CHECKING:
    from coherently.arrays import Truth, Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.objective import Model, Objective, Planes
    from coherently.solve.component.planes import PlaneBelow
    from coherently.solve.lazy_table import WorldRows
    from coherently.solve.solution import ClusterTree, SignTree


@dataclass(frozen=True, slots=True)
class NewtonTuning:
    """When steps end, how exact each one is, and how conditions that may vanish are smoothed."""

    most_steps: int = 200
    """Maximum number of steps; after that only rounding can be left."""
    spread: float = 0.02
    """The share, in the first mixture, of worlds that show every event true and false."""
    first_mass: float = 1e-7
    """The first mass that smooths conditionals."""
    least_mass: float = 1e-15
    """The mass below which none smaller is tried."""
    smaller: float = 0.01
    """The factor from one mass to the next."""
    likely: float = 1e-3
    """The probability from which on a condition is not near to vanishing."""
    closer: float = 1e-6
    """The gap to which a model is minimised, as a part of the gap of the answer."""
    rough: float = 0.03
    """The same if worlds are found by search, as a part of the gain of the last step."""
    first_worth: float = 1e-4
    """The gain, relative to the weights, below which search ends at the model at the forecasts."""
    finished: float = 1e-11
    """The relative gap at which nothing is left to gain if the best world is known for certain."""
    patience: int = 8
    """Maximum number of idle steps: they halve neither a gap nor the possible gain of the next step."""
    unproved: int = 20
    """The same as long as the gap is above the tolerance, if the best world is known for certain."""
    fallen: float = 1e-3
    """A step that reduces the objective by this part is not idle, either."""
    nearer: float = 0.9
    """The part of a gap that steps by search must fall below to go on."""
    thorough: int = 3
    """How often the length of searches is doubled before a proof is tried."""
    most_effort: int = 8
    """How often the length of searches is doubled at most."""
    whole: float = 1e-9
    """Maximum error of the sum of shares; beyond it, probabilities prove nothing and shares are scaled."""
    first_seconds: float = 1e-3
    """Minimum number of seconds for a first answer, whatever the budget."""
    kept_time: float = 0.15
    """The part of the time that is kept for a bound if worlds are found by search."""


TUNING = NewtonTuning()


class Newton:
    """The work on one component; `run` does it."""

    def __init__(self, part: Merged, objective: Objective, budget: Budget, seed: int) -> None:
        self.part, self.objective, self.budget, self.seed = part, objective, budget, seed
        self.pins = pin_rows(part.terms.limits, len(part))
        self.best = Incumbent(part, self.pins, budget.floor)
        self.first: Blend | None = None  # the answer before the first step
        self.bound, self.proof, self.steps, self.is_bounded = 0.0, Proof.NOTHING, 0, True
        self.prices = np.zeros(len(self.pins))
        self.proved = (np.zeros(len(part)), -math.inf)  # coefficients, and a lower bound on their sum in any world
        self.hints: Hints | None = None

    def run(self, start: WorldRows | None = None) -> Answer:
        """Work until nothing is left to gain, or until the budget is spent."""
        self._work(start)
        ended = Ended.ROUNDING
        if self.budget.is_over():
            ended = Ended.INTERRUPTED if self.budget.is_stopped else Ended.TIME
        if math.isfinite(self.best.value) and self.budget.is_enough(self.gap, self.best.value):
            ended = Ended.PROVED
        return finish(self._finished(), ended)

    def _finished(self) -> FinishedWork:
        return FinishedWork(
            part=self.part,
            objective=self.objective,
            pins=self.pins,
            oracle=self.oracle,
            engine=self.engine,
            budget=self.budget,
            seed=self.seed,
            blend=self.best.blend or self.first,
            bound=self.bound,
            proof=self.proof,
            steps=self.steps,
            proved=self.proved,
            hints=self.hints,
        )

    def _work(self, start: WorldRows | None) -> None:
        self.oracle = Oracle(self.part, self.seed)
        self.engine = make_engine(self.part, self.oracle, self.pins, self.seed)
        blend = self._start(start)
        self.best.take(self.objective, blend)
        if self.oracle.is_exact:
            self._converge(blend)
        else:
            self._approach(blend)

    @property
    def gap(self) -> float:
        """How much the best answer loses at most beyond the least."""
        return self.best.value - self.bound

    def _minimise(self, model: Model, budget: Budget, enough: float, search: SearchPlan = HASTY) -> Blend:
        """The best mixture for a model that the time allows."""
        engine = self.engine
        engine.set(*model)
        done, seconds = False, TUNING.first_seconds if self.first is None else 0.0
        while not done and (seconds := max(seconds, budget.slice())) > 0:
            exact = self.oracle.is_exact
            done = engine.eliminate(seconds, enough) if exact else engine.search(seconds, enough, *search)
            seconds = 0.0
        share, worlds = engine.worlds()
        if abs(share.sum() - 1.0) > TUNING.whole:
            return blend_of(self.part, share / share.sum(), worlds)
        return Blend(share, worlds, engine.sides())

    def _start(self, start: WorldRows | None) -> Blend:
        """The best mixture for the model at the forecasts, with a small share of worlds that show every event."""
        objective, floor = self.objective, self.budget.floor
        search = SearchPlan(0, TUNING.first_worth * self.objective.total)
        if start is not None:
            self.engine.include(np.ascontiguousarray(start, np.uint8))
        blend = self._minimise(objective.first_model(), self.budget, 1e-3 * floor, search)
        if not self.engine.is_feasible():
            # Pins must be satisfied whatever the time: only a stop ends this.
            require_pins(self.engine, self.part, self.oracle, self.pins, budget=replace(self.budget, deadline=math.inf))
            blend = self._minimise(objective.first_model(), self.budget, 1e-3 * floor, search)
        self.first = blend  # its conditions may be impossible without need
        if not objective.is_steep and _are_likely(objective, blend):
            return blend
        examples = example_worlds(self.part, self.oracle, self.budget)
        worlds = examples.worlds
        if objective.is_steep:
            self.objective, worlds, self.is_bounded = settle_terms(
                self.part, objective, self.engine, examples, is_exact=self.oracle.is_exact
            )
        if len(self.pins):
            return blend.towards(self._minimise(objective.even_model(), self.budget, 1e-3), TUNING.spread)
        return blend.towards(blend_of(self.part, np.full(len(worlds), 1.0 / len(worlds)), worlds), TUNING.spread)

    def _converge(self, blend: Blend) -> None:
        """Steps with the best world known for certain, each followed by a bound, until nothing is left to gain."""
        objective, budget = self.objective, self.budget
        most_mass = TUNING.first_mass
        idle, last, before = 0, (math.inf, math.inf, math.inf), math.inf
        tied, steady = len(objective.wide) > 0, STEADY * objective.total
        for self.steps in range(1, TUNING.most_steps + 1):
            if budget.is_over():
                return
            mass = _smoothing_mass(objective, blend, most_mass)
            planes, smooth = objective.planes(blend.sides, mass), objective.smoothed_value(blend.sides, mass)
            gap = self._certify(blend.sides, planes, mass, smooth)
            goal = TUNING.finished * self.best.scale
            if self.gap <= goal:
                self._polish(blend, planes, mass, smooth)
                return
            if mass > TUNING.least_mass and gap <= 0.1 * max(self.gap, goal):
                most_mass *= TUNING.smaller
                continue
            aim = self._minimise(objective.model(planes, mass, tied=tied), budget, TUNING.closer * gap)
            slope = slope_towards(objective, blend, aim, planes)
            now = (gap, self.gap, -slope)
            halved = any(new <= 0.5 * old and old > steady for new, old in zip(now, last, strict=True))
            last = (min(now[0], last[0]), min(now[1], last[1]), min(now[2], last[2])) if halved else last
            idle = 0 if halved or smooth < (1.0 - TUNING.fallen) * before else idle + 1
            before = smooth
            length = step_length(objective, blend, aim, slope, mass=mass, smooth=smooth)
            proved = budget.is_enough(self.gap, self.best.value)
            if length == 0 or idle >= (1 if tied else TUNING.patience if proved else TUNING.unproved):
                if not tied:
                    return
                tied, idle = False, 0
                continue
            blend = blend.towards(aim, length)
            self.best.take(objective, blend)

    def _polish(self, blend: Blend, planes: Planes, mass: float, smooth: float) -> None:
        """Take one more step: a gap g leaves errors of sqrt(g) in probabilities, which the step squares."""
        objective = self.objective
        aim = self._minimise(objective.model(planes, mass, tied=False), self.budget, 0.0)
        if step_length(objective, blend, aim, 0.0, mass=mass, smooth=smooth) == 1:
            self.best.take(objective, aim, STEADY * objective.total)
            planes, smooth = objective.planes(aim.sides, mass), objective.smoothed_value(aim.sides, mass)
            self._certify(aim.sides, planes, mass, smooth)

    def _approach(self, blend: Blend) -> None:
        """Steps with worlds from local search, of rising effort; a bound once they gain no more."""
        objective, budget, steps = self.objective, self.budget, self.budget.share(1.0 - TUNING.kept_time)
        blend = self._reach(blend, steps)
        if budget.is_enough(self.gap, self.best.value):
            return
        most_mass, tied = TUNING.first_mass, len(objective.wide) > 0
        fall, effort, failed, before = min(0.1 * self.best.value, self.gap), 0, 0, math.inf
        for self.steps in range(1, TUNING.most_steps + 1):
            if steps.is_over():
                break
            mass = _smoothing_mass(objective, blend, most_mass)
            planes = objective.planes(blend.sides, mass)
            goal = 0.1 * budget.tolerance * self.best.scale
            worth = TUNING.rough * fall
            aim = self._minimise(objective.model(planes, mass, tied=tied), steps, goal, SearchPlan(effort, worth))
            slope, smooth = slope_towards(objective, blend, aim, planes), objective.smoothed_value(blend.sides, mass)
            fall, length = -slope, step_length(objective, blend, aim, slope, mass=mass, smooth=smooth)
            blend = blend.towards(aim, length) if length > 0 else blend
            self.best.take(objective, blend)
            if length > 0 and fall > goal:
                continue
            if worth > 0:  # the search may have ended too soon
                fall, effort = goal if effort < TUNING.thorough else 0.0, max(effort, TUNING.thorough)
                continue
            if not budget.is_enough(self.gap, self.best.value):
                gap = self._certify_at(blend, most_mass, surely=False)
            if budget.is_enough(self.gap, self.best.value):
                return
            if mass > TUNING.least_mass and gap <= 0.5 * budget.tolerance * self.best.scale:
                most_mass *= TUNING.smaller
                continue
            tied, fall, effort = False, 0.0, min(effort + 1, TUNING.most_effort)
            failed = 0 if gap < TUNING.nearer * before else failed + 1
            before = min(gap, before)
            if failed > TUNING.patience:
                break
        if not budget.is_over():
            self._certify_at(blend, most_mass)

    def _reach(self, start: Blend, budget: Budget) -> Blend:
        """Come near to the answer over clusters, if there are clusters and no pins; its bound is proved then."""
        if len(self.pins) or self.oracle.grounds.is_dense:
            return start
        try:
            relaxed = relax(self.part, self.objective, budget)
        except MethodError:  # an event has too many variables, there are too many clusters, or the time is over
            return start
        self.steps = 1
        at = relaxed.sides[: len(self.part)]
        self._prove(relaxed.plane, relaxed.least, Proof.CLUSTERS, Hints(x=at, forces=relaxed.clusters))
        target = aim_at(self.objective, relaxed, self.best.scale)
        aim, before, left = start, math.inf, math.inf
        while 0.0 < left <= FALLEN * before and not budget.is_over():
            if math.isfinite(left):
                missed = missed_worlds(self.oracle, self.engine.gradient(), self.engine.level(), budget)
                self.engine.include(missed)
            aim = self._minimise(target.model, budget, 0.0, SearchPlan(EFFORT, goal=target.goal))
            self.best.take(self.objective, aim)
            before, left = left, self.engine.objective() - target.goal
            if budget.is_enough(self.gap, self.best.value) or self.gap > NEAR * self.best.scale:
                break
        return towards_aim(self.objective, start, aim)

    def _certify_at(self, blend: Blend, most_mass: float, *, surely: bool = True) -> float:
        objective, sides, mass = self.objective, blend.sides, _smoothing_mass(self.objective, blend, most_mass)
        smooth = objective.smoothed_value(sides, mass)
        return self._certify(sides, objective.planes(sides, mass), mass, smooth, surely=surely)

    def _certify(self, sides: Vector, planes: Planes, mass: float, smooth: float, *, surely: bool = True) -> float:
        """Bound the terms by planes at some sides; returns the gap between the smoothed terms and their own bound.

        Unless `surely`, nothing is proved if local search shows a world that makes the bound useless: proofs take long.
        """
        if len(self.pins):
            self.prices = self.engine.prices()
        plane = plane_below(self.objective, planes, self.pins, self.prices)
        known, least = None, math.inf
        if not surely:
            known, least = self.oracle.search(plane.coefficients, self.budget)
            self.engine.include(known[None])
        if self.budget.is_enough(self.best.value - plane.bound(least), self.best.value):
            least, proof, tree = self._least(plane.coefficients, known)
            self._prove(plane, least, proof, Hints(x=sides[: len(self.part)], mass=mass, price=self.prices, tree=tree))
        return max(0.0, smooth - (least + plane.constant + self.objective.smoothing(planes, mass)))

    def _prove(self, plane: PlaneBelow, least: float, proof: Proof, hints: Hints) -> None:
        """Keep a plane below the objective, and that no world's sum of its coefficients is below `least`."""
        self.proved = plane.coefficients, least
        if self.is_bounded and (plane.bound(least) > self.bound or self.proof is Proof.NOTHING):
            self.bound, self.proof = max(self.bound, plane.bound(least)), proof
            self.hints = hints

    def _least(self, coefficients: Vector, known: Truth | None) -> tuple[float, Proof, SignTree | ClusterTree | None]:
        """A lower bound on a sum over all worlds; if it is not exact, the best world found joins the engine's."""
        if self.oracle.is_exact:
            return self.engine.minimise(coefficients)[0], Proof.ALL_WORLDS, None
        allowed = 0.25 * self.budget.tolerance * self.best.scale
        found = self.oracle.least(coefficients, self.budget, allowed, known)
        self.engine.include(found.world[None])
        return found.bound, found.proof, found.tree


def _smoothing_mass(objective: Objective, blend: Blend, most: float) -> float:
    """The most, or the least if no condition is near to vanishing, or none without conditions."""
    if not objective.called_off.any():
        return 0.0
    return TUNING.least_mass if _are_likely(objective, blend) else most


def _are_likely(objective: Objective, blend: Blend) -> bool:
    """Whether no condition is near to vanishing."""
    return bool(blend.sides[objective.condition[objective.called_off]].min(initial=1.0) >= TUNING.likely)
