"""Newton's method on mixtures of worlds: each step minimises a quadratic model by the compiled engine of rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently import _core
from coherently.errors import MethodError
from coherently.solve.component.answer import Answer, Ended
from coherently.solve.component.budget import SLICE
from coherently.solve.component.feasible import make_engine, require_pins
from coherently.solve.component.limits import pin_rows
from coherently.solve.component.objective import Model
from coherently.solve.component.proving import find_degenerate, plane_below, savings
from coherently.solve.component.support import Blend, blend_of, fewest
from coherently.solve.examples import example_worlds
from coherently.solve.facts import Proof, Route
from coherently.solve.oracle import Oracle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem import Merged
    from coherently.solve.component.budget import Budget
    from coherently.solve.component.objective import Objective, Planes

    Vector: TypeAlias = "NDArray[np.float64]"
    Truth: TypeAlias = "NDArray[np.uint8]"

MOST_STEPS = 200
SPREAD = 0.02
"""The part of the first mixture that shows every event true and false."""
FIRST_MASS, LEAST_MASS, SMALLER = 1e-7, 1e-15, 0.01
"""The masses that smooth conditionals: the first, the last, and the factor from one to the next."""
VANISHING = (1e-4, 1e-7)
"""Probabilities below which an answer is tried without the condition."""
INSIDE = 0.999
"""The longest step towards a point at which the loss is infinitely steep."""
SHORTEST = 1e-10
STEADY = 1e-15
"""An increase, relative to the weights, that is only rounding."""
CLOSER, ROUGH = 1e-6, 0.03
"""How exactly a model is minimised: of the gap, and by search of what the last step brought."""
FINISHED = 1e-11
"""The relative gap at which nothing is left to gain where the best world is known for certain."""
PATIENCE, FALLEN = 8, 1e-3
"""Steps that may halve neither a gap nor what the next may bring, nor bring this part of the objective."""
THOROUGH, EFFORT = 4, 8
"""How often the length of searches is doubled before giving up: before a proof is tried, and at most."""
FIRST = 1e-3
"""Seconds for a first answer, whatever the budget."""
LAST = 0.15
"""The part of the time that is kept for a bound where search finds the worlds."""


class Newton:
    """The work on one component; `run` does it."""

    def __init__(self, part: Merged, objective: Objective, budget: Budget, seed: int) -> None:
        self.part, self.objective, self.budget, self.seed = part, objective, budget, seed
        self.pins = pin_rows(part.terms.limits, len(part))
        self.bound, self.proof, self.steps = 0.0, Proof.NOTHING, 0
        self.is_bounded, self.value = True, math.inf
        self.best: Blend | None = None
        self.varies: NDArray[np.bool_] | None = None
        self.total = float(objective.weight.sum()) or 1.0
        self.prices = np.zeros(len(self.pins))
        self.proved = (np.zeros(len(part)), -math.inf)  # coefficients, and what no world has less of

    def run(self, start: Truth | None = None) -> Answer:
        """Work until nothing is left to gain, or until the budget is spent."""
        ended = Ended.ROUNDING
        try:
            self.oracle = Oracle(self.part, self.seed)
            self.engine = make_engine(self.part, self.oracle, self.pins, self.seed)
            blend = self._start(start)
            self._take(blend)
            if self.oracle.is_exact:
                self._converge(blend)
            else:
                self._approach(blend)
        except KeyboardInterrupt:
            ended = Ended.INTERRUPTED
        if self.budget.is_enough(self._gap(), self.value):
            ended = Ended.PROVED
        elif ended is Ended.ROUNDING and self.budget.is_over():
            ended = Ended.TIME
        return self._answer(ended)

    def _gap(self) -> float:
        return self.value - self.bound

    def _scale(self) -> float:
        return max(self.value, self.budget.floor)

    def _minimise(self, model: Model, budget: Budget, enough: float, effort: int = 0, worth: float = 0.0) -> Blend:
        """The best mixture for a model, as far as the time allows."""
        engine = self.engine
        engine.set(*model)
        done, seconds = False, FIRST if self.best is None else 0.0
        while not done and (seconds := max(seconds, min(SLICE, budget.left()))) > 0:
            done = (
                engine.eliminate(seconds, enough)
                if self.oracle.is_exact
                else engine.search(seconds, effort, enough, worth)
            )
            seconds = 0.0
        return self._current()

    def _current(self) -> Blend:
        share, worlds = self.engine.worlds()
        return Blend(share, worlds, self.engine.sides())

    def _start(self, start: Truth | None) -> Blend:
        """The best mixture for the model at the forecasts, with a little of worlds that show every event."""
        objective, floor = self.objective, self.budget.floor
        if start is not None:
            self.engine.include(np.ascontiguousarray(start, np.uint8))
        blend = self._minimise(objective.first_model(), self.budget, 1e-3 * floor, 0, 1e-2 * floor)
        if not self.engine.is_feasible():
            require_pins(self.engine, self.part, self.oracle, self.pins, self.budget)
            blend = self._minimise(objective.first_model(), self.budget, 1e-3 * floor, 0, 1e-2 * floor)
        if not objective.is_steep and objective.certain.all():
            return blend
        self.best = blend  # should this be interrupted; its conditions may be impossible for no reason
        examples = example_worlds(self.part, self.oracle)
        worlds = examples.worlds
        shown = _core.evaluate_worlds(*self.part.functions, worlds).astype(np.bool_)
        self.varies = np.asarray(shown.any(axis=0) & ~shown.all(axis=0))
        if objective.is_steep:
            worlds = self._settle_terms(worlds, examples.doubtful)
        if len(self.pins):
            return blend.towards(self._even(), SPREAD)
        return blend.towards(blend_of(self.part, np.full(len(worlds), 1.0 / len(worlds)), worlds), SPREAD)

    def _even(self) -> Blend:
        """The mixture that makes every event as likely as not, as nearly as the pins allow."""
        objective, half = self.objective, np.full(len(self.objective), 0.5)
        rows = objective.layout.sums(half, -half * objective.certain)
        model = Model(np.zeros(objective.size), rows, np.ones(len(half)))
        return self._minimise(model, self.budget, 1e-3)

    def _settle_terms(self, worlds: Truth, doubtful: NDArray[np.bool_]) -> Truth:
        """Tell which ratios the possible worlds leave no choice; where that is not proved, there is no bound.

        The worlds show every event, but not every event with its condition: those that do so are added.
        """
        objective = self.objective
        never, always = self._unseen(worlds)
        for i in np.flatnonzero(always & ~never & ~objective.certain).tolist():
            coefficients, _ = objective.coefficients(*np.outer([1.0, -1.0], np.arange(len(objective)) == i))
            least, world = self.engine.minimise(coefficients) if self.oracle.is_exact else (0.0, worlds[0])
            always[i] = self.oracle.is_exact and least > -0.5
            worlds = worlds if always[i] else np.vstack([worlds, world])
        if doubtful.any():
            some = np.concatenate([doubtful, doubtful, [False]])
            self.is_bounded = not bool((some[objective.joint] | some[objective.condition]).any())
        self.objective = objective.with_settled(np.where(never, 0.0, np.where(always, 1.0, np.nan)))
        return worlds

    def _unseen(self, worlds: Truth) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The terms whose event never holds in some worlds, and those whose event holds wherever its condition does."""
        truth = _core.evaluate_worlds(*self.part.functions, worlds).astype(np.bool_)
        sides = np.hstack([truth, ~truth, np.ones((len(truth), 1), np.bool_)])
        u, h = sides[:, self.objective.joint], sides[:, self.objective.condition]
        return np.asarray(~u.any(axis=0)), np.asarray((u == h).all(axis=0))

    def _converge(self, blend: Blend) -> None:
        """Steps with the best world known for certain, each followed by a bound, until nothing is left to gain."""
        objective, budget = self.objective, self.budget
        mass = FIRST_MASS if objective.called_off.any() else 0.0
        idle, last, before = 0, (math.inf, math.inf, math.inf), math.inf
        tied, steady = len(objective.wide) > 0, STEADY * self.total
        for self.steps in range(1, MOST_STEPS + 1):
            if budget.is_over():
                return
            planes, smooth = objective.planes(blend.sides, mass), objective.smoothed_value(blend.sides, mass)
            gap = self._certify(planes, mass, smooth)
            goal = FINISHED * self._scale()
            if self._gap() <= goal:
                self._polish(blend, planes, mass)
                return
            if mass > LEAST_MASS and gap <= 0.1 * max(self._gap(), goal):
                mass *= SMALLER
                continue
            aim = self._minimise(objective.model(planes, mass, tied=tied), budget, CLOSER * gap)
            slope = self._slope(blend, aim, planes)
            now = (gap, self._gap(), -slope)
            halved = any(new <= 0.5 * old and old > steady for new, old in zip(now, last, strict=True))
            last = (min(now[0], last[0]), min(now[1], last[1]), min(now[2], last[2])) if halved else last
            idle = 0 if halved or smooth < (1.0 - FALLEN) * before else idle + 1
            before = smooth
            length = self._length(blend, aim, slope, mass, smooth)
            if length == 0 or idle >= (1 if tied else PATIENCE):
                if not tied:
                    return
                tied, idle = False, 0
                continue
            blend = blend.towards(aim, length)
            self._take(blend)

    def _polish(self, blend: Blend, planes: Planes, mass: float) -> None:
        """One step more: at the least objective probabilities are off by the root of the gap, which it squares."""
        aim = self._minimise(self.objective.model(planes, mass, tied=False), self.budget, 0.0)
        slack = STEADY * self.total
        smooth = self.objective.smoothed_value(blend.sides, mass)
        if self._length(blend, aim, 0.0, mass, smooth) == 1:
            self._take(aim, slack)
            planes = self.objective.planes(aim.sides, mass)
            self._certify(planes, mass, smooth)

    def _approach(self, blend: Blend) -> None:
        """Steps with worlds that local search finds, as thorough as they deserve; a bound where they bring no more."""
        objective, budget, steps = self.objective, self.budget, self.budget.share(1.0 - LAST)
        mass = FIRST_MASS if objective.called_off.any() else 0.0
        tied = len(objective.wide) > 0
        fall, effort, failed = 0.1 * self.value, 0, 0
        for self.steps in range(1, MOST_STEPS + 1):
            if steps.is_over():
                break
            planes, smooth = objective.planes(blend.sides, mass), objective.smoothed_value(blend.sides, mass)
            goal = 0.1 * budget.tolerance * self._scale()
            worth = ROUGH * fall if effort < THOROUGH else 0.0
            aim = self._minimise(objective.model(planes, mass, tied=tied), steps, goal, effort, worth)
            slope = self._slope(blend, aim, planes)
            fall, length = -slope, self._length(blend, aim, slope, mass, smooth)
            blend = blend.towards(aim, length) if length > 0 else blend
            self._take(blend)
            if length > 0 and fall > goal:
                continue
            if effort < THOROUGH:
                effort = THOROUGH
                continue
            before = self.bound
            planes, smooth = objective.planes(blend.sides, mass), objective.smoothed_value(blend.sides, mass)
            gap = self._certify(planes, mass, smooth)
            if budget.is_enough(self._gap(), self.value):
                return
            if mass > LEAST_MASS and gap <= 0.5 * budget.tolerance * self._scale():
                mass *= SMALLER
                continue
            tied, effort = False, min(effort + 1, EFFORT)
            failed = 0 if self.bound > before else failed + 1
            if failed > PATIENCE:
                return
        if not budget.is_over():
            planes = objective.planes(blend.sides, mass)
            self._certify(planes, mass, objective.smoothed_value(blend.sides, mass))

    def _slope(self, here: Blend, aim: Blend, planes: Planes) -> float:
        """How the terms change at first on the way to the aim."""
        objective, way = self.objective, aim.sides - here.sides
        return float(planes.by_joint @ way[objective.joint] + planes.by_condition @ way[objective.condition])

    def _length(self, here: Blend, aim: Blend, slope: float, mass: float, smooth: float) -> float:
        """The longest of 1, 1/2, 1/4 ... of the way at which the terms have fallen enough (Armijo 1966)."""
        objective, length = self.objective, 1.0
        if objective.is_steep:
            u, v = aim.sides[objective.joint], here.sides[objective.joint]
            h, w = aim.sides[objective.condition], here.sides[objective.condition]
            if (objective.free & ((u < (1.0 - INSIDE) * v) | (h - u < (1.0 - INSIDE) * (w - v)))).any():
                length = INSIDE
        way, slack = aim.sides - here.sides, STEADY * self.total
        while length > SHORTEST:
            value = objective.smoothed_value(aim.sides if length == 1 else here.sides + length * way, mass)
            if value <= smooth + 1e-4 * length * min(0.0, slope) + slack:
                return length
            length *= 0.5
        return 0.0

    def _certify(self, planes: Planes, mass: float, smooth: float) -> float:
        """Bound the terms by planes; how far the smoothed terms are above what the planes allow."""
        if len(self.pins):
            self.prices = self.engine.prices()
        plane = plane_below(self.objective, planes, self.pins, self.prices)
        least = self._least(plane.coefficients)
        self.proved = plane.coefficients, least
        if self.is_bounded:
            self.bound = max(self.bound, plane.bound(least))
        return max(0.0, smooth - (least + plane.constant + self.objective.smoothing(planes, mass)))

    def _least(self, coefficients: Vector) -> float:
        """A bound on a sum over all worlds; where it is not exact, the best world found joins the engine's."""
        if self.oracle.is_exact:
            self.proof = Proof.ALL_WORLDS
            return self.engine.minimise(coefficients)[0]
        allowed = 0.25 * self.budget.tolerance * self._scale()
        try:
            found = self.oracle.least(coefficients, self.budget.left(), allowed)
        except MethodError:  # an event is about too many variables, or there are too many clusters
            return -math.inf
        self.proof = found.proof
        self.engine.include(found.world[None])
        return found.bound

    def _take(self, blend: Blend, slack: float = 0.0) -> None:
        """Keep an answer that loses less, or no more than a slack, and try it without conditions that hardly hold."""
        objective = self.objective
        value = objective.value(blend.sides)
        if value < self.value + slack:
            self.best, self.value = blend, value
        h = blend.sides[objective.condition]
        for most in VANISHING:
            small = objective.called_off & (h < most) & (h > 0)
            if small.any():
                self._take_without(blend, small, slack)

    def _take_without(self, blend: Blend, terms: NDArray[np.bool_], slack: float) -> None:
        truth = _core.evaluate_worlds(*self.part.functions, blend.worlds).astype(np.bool_)
        sides = np.hstack([truth, ~truth])
        kept = ~sides[:, self.objective.condition[terms]].any(axis=1) & (blend.share > 0)
        if not kept.any():
            return
        share = blend.share[kept] / blend.share[kept].sum()
        other = blend_of(self.part, share, blend.worlds[kept])
        if len(self.pins) and self.pins.violation(other.sides) > max(1e-13, self.pins.violation(blend.sides)):
            return
        value = self.objective.value(other.sides)
        if value < self.value - (0.1 * FINISHED * self._scale() if slack == 0 else -slack):
            self.best, self.value = other, value

    def _answer(self, ended: Ended) -> Answer:
        best = self.best
        if best is None:
            world = Oracle(self.part, self.seed).search(np.zeros(len(self.part)), 0.0)[0]
            best = blend_of(self.part, np.ones(1), world[None])
        share, worlds = best.distinct()
        if len(share) > len(self.part) + 1:
            truth = _core.evaluate_worlds(*self.part.functions, worlds).astype(np.float64)
            share = fewest(share, truth)
            share, worlds = share[share > 0], worlds[share > 0]
        best = blend_of(self.part, share, worlds)
        value, x = self.objective.value(best.sides), np.clip(best.sides[: len(self.part)], 0.0, 1.0)
        return Answer(
            share,
            worlds,
            x,
            value,
            min(value, self.bound),
            Route.NEWTON,
            self.proof,
            ended,
            self.pins.violation(best.sides),
            self._saved(best.sides) if self.objective.loss.is_quadratic and self.steps else -math.inf,
            math.nan,
            np.empty(0, np.int64) if self.varies is None else find_degenerate(self.part, self.varies, x),
            self.steps,
        )

    def _saved(self, sides: Vector) -> float:
        """The Brier penalty that the answer saves in every world.

        Its coefficients are those of the last proof, but for the little that the answer has moved since.
        """
        plane = savings(self.objective, sides)
        if self.oracle.is_exact:
            return plane.constant + self.engine.minimise(plane.coefficients)[0]
        known, least = self.proved
        return plane.constant + least - float(np.abs(plane.coefficients - known).sum())
