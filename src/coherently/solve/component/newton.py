"""Newton's method on mixtures of worlds: each step minimises a quadratic model by the compiled engine of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently import _core
from coherently.solve.component.answer import Answer, Ended
from coherently.solve.component.limits import InfeasiblePinsError, PinRows, pin_rows
from coherently.solve.component.objective import objective_of
from coherently.solve.examples import example_worlds
from coherently.solve.oracle import Oracle, rounding_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem import Loss, Merged
    from coherently.solve.component.budget import Budget
    from coherently.solve.component.objective import Model, Objective, Planes

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
CLOSER = 1e-6
"""How exactly a model is minimised, of the gap."""
FINISHED = 1e-11
"""The relative gap at which nothing is left to gain where the best world is known for certain."""
PATIENCE, FALLEN = 8, 1e-3
"""Steps that may halve neither a gap nor what the next may bring, nor bring this part of the objective."""
KEPT = 1e-9
"""What a probability may miss its limit by, summed over all limits."""
ROUGH = 0.03
"""How exactly early models are minimised, of what the last step brought."""
THOROUGH, EFFORT = 4, 8
"""How often the length of a search is doubled before giving up: before a proof is tried, and at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Blend:
    """Worlds with shares, and the probabilities of the sides of all events."""

    share: Vector
    worlds: Truth
    sides: Vector

    def towards(self, other: Blend, length: float) -> Blend:
        """A part of the way to another."""
        if length == 1:
            return other
        kept = self.share > 0
        return Blend(
            np.concatenate([(1.0 - length) * self.share[kept], length * other.share]),
            np.vstack([self.worlds[kept], other.worlds]),
            (1.0 - length) * self.sides + length * other.sides,
        )


class Newton:
    """The work on one component; `run` does it."""

    def __init__(self, part: Merged, objective: Objective, budget: Budget, seed: int, floor: float) -> None:
        self.part, self.budget, self.seed, self.floor = part, budget, seed, floor
        self.objective = objective
        self.pins = pin_rows(part.terms.limits, len(part))
        self.bound, self.proof, self.steps = -math.inf, "nothing", 0
        self.best: Blend | None = None
        self.least_value = math.inf

    # -- the engine ---------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        self.oracle = Oracle(self.part, self.seed)
        self.prices = np.zeros(len(self.pins))
        self.engine = self._make_engine(self.pins)
        self.total = float(self.objective.weight.sum()) or 1.0

    def _make_engine(self, pins: PinRows) -> _core.RowEngine:
        return _core.RowEngine(
            *self.part.functions, self.seed, self.oracle.space, pins.sums(), pins.equal.astype(np.uint8)
        )

    def _minimise(self, model: Model, enough: float, effort: int = EFFORT, worth: float = 0.0) -> Blend:
        """The best mixture for a model, as far as the time allows."""
        self.engine.set(*model)
        while not self.budget.is_over():
            seconds = self.budget.slice()
            if (
                self.engine.eliminate(seconds, enough)
                if self.oracle.is_exact
                else self.engine.search(seconds, effort, enough, worth)
            ):
                break
        return self._current()

    def _current(self) -> Blend:
        share, worlds = self.engine.worlds()
        return Blend(share, worlds, self.engine.sides())

    def _scale(self) -> float:
        return max(self.least_value, self.floor)

    # -- the beginning ------------------------------------------------------------------------------------------

    def _start(self, start: Truth | None) -> Blend:
        wide = self.objective.is_steep or bool(self.objective.called_off.any())
        examples = example_worlds(self.part, self.oracle) if wide else None
        if examples is not None:
            self._settle_terms(examples.worlds, examples.doubtful)
        if start is not None:
            self.engine.include(start)
        blend = self._minimise(self.objective.first_model(), 1e-3 * self.floor, 0, 1e-2 * self.floor)
        if not self.engine.is_feasible():
            self._find_contradiction()
            blend = self._current()
        if examples is not None and not len(self.pins):
            truth = _core.evaluate_worlds(*self.part.functions, examples.worlds).astype(np.float64)
            even = np.full(len(truth), 1.0 / len(truth))
            blend = blend.towards(Blend(even, examples.worlds, _sides(even, truth)), SPREAD)
        return blend

    def _settle_terms(self, worlds: Truth, doubtful: NDArray[np.bool_]) -> None:
        """Tell which ratios the possible worlds leave no choice."""
        objective = self.objective
        truth = _core.evaluate_worlds(*self.part.functions, worlds).astype(np.bool_)
        sides = np.hstack([truth, ~truth, np.ones((len(truth), 1), np.bool_)])
        u, h = sides[:, objective.joint], sides[:, objective.condition]
        never, always = ~u.any(axis=0), (u == h).all(axis=0)
        self.is_bounded = not bool((doubtful[objective.joint % max(1, objective.size)] & (never | always)).any())
        settled = np.where(never, 0.0, np.where(always, 1.0, np.nan))
        if not np.isnan(settled).all():
            self.objective = replace(objective, settled=np.where(objective.linear, np.nan, settled))

    def _find_contradiction(self) -> None:
        """Go on until the pins are kept; an error names as few as can be that no mixture keeps."""
        if self._reach(self.engine) or self.budget.is_over():
            return
        blamed = np.abs(self.engine.prices()) > KEPT
        pins = sorted(set(self.pins.pin[blamed].tolist())) or sorted(set(self.pins.pin.tolist()))
        worlds = self.engine.worlds()[1]
        for pin in list(pins):
            fewer = [other for other in pins if other != pin]
            if fewer:
                engine = self._make_engine(self.pins.of(fewer))
                engine.include(worlds)
                if not self._reach(engine):
                    pins = fewer
        raise InfeasiblePinsError(tuple(pins))

    def _reach(self, engine: _core.RowEngine) -> bool:
        """Whether the pins can be kept; true, too, where the time does not suffice to tell."""
        nothing = np.zeros(len(self.part))
        empty = (np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint8), np.empty(0), np.empty(0))
        engine.set(nothing, empty, np.empty(0))
        while not self.budget.is_over():
            seconds = self.budget.slice()
            done = engine.eliminate(seconds, 0.0) if self.oracle.is_exact else engine.search(seconds, 1, 0.0, 0.0)
            if engine.is_feasible():
                return True
            if not done:
                continue
            least = self.oracle.least(engine.gradient(), self.budget.left(), KEPT)
            if engine.missing() - (engine.level() - least.bound) > KEPT:
                return False
            if engine.level() - least.value <= KEPT * 1e-3:
                return engine.missing() <= KEPT
            engine.include(least.world[None])
        return True

    # -- the steps ----------------------------------------------------------------------------------------------

    def run(self, start: Truth | None = None) -> Answer:
        """Work until nothing is left to gain, or until the budget is spent."""
        ended = Ended.ROUNDING
        self.is_bounded = True
        try:
            self._prepare()
            blend = self._start(start)
            self._take(blend)
            self._iterate(blend)
        except KeyboardInterrupt:
            ended = Ended.INTERRUPTED
        if self._gap() <= self.budget.tolerance * self._scale():
            ended = Ended.PROVED
        elif ended is Ended.ROUNDING and self.budget.is_over():
            ended = Ended.TIME
        return self._answer(ended)

    def _gap(self) -> float:
        return self.least_value - self.bound

    def _iterate(self, blend: Blend) -> None:
        if self.oracle.is_exact:
            self._converge(blend)
        else:
            self._approach(blend)

    def _converge(self, blend: Blend) -> None:
        """Steps with the best world known for certain, each followed by a bound, until nothing is left to gain."""
        objective, budget = self.objective, self.budget
        eps = FIRST_MASS if objective.called_off.any() else 0.0
        idle, last, before = 0, (math.inf, math.inf, math.inf), math.inf
        steady = STEADY * self.total
        tied = bool((objective.low < objective.high).any())
        for self.steps in range(1, MOST_STEPS + 1):
            planes = objective.planes(blend.sides, eps)
            smooth = float(objective.values(blend.sides, eps).sum())
            gap = self._certify(planes, eps, smooth, 0.0)
            if self._gap() <= FINISHED * self._scale() or budget.is_over():
                return
            if eps > LEAST_MASS and gap <= 0.1 * max(self._gap(), FINISHED * self._scale()):
                eps *= SMALLER
                continue
            aim = self._minimise(objective.model(planes, eps, tied=tied), CLOSER * gap)
            fall = self._slope(blend, aim, planes)
            now = (gap, self._gap(), -fall)
            halved = any(new <= 0.5 * old and old > steady for new, old in zip(now, last, strict=True))
            last = (min(now[0], last[0]), min(now[1], last[1]), min(now[2], last[2])) if halved else last
            idle = 0 if halved or smooth < (1.0 - FALLEN) * before else idle + 1
            before = smooth
            length = self._length(blend, aim, fall, eps, smooth)
            if length == 0 or idle >= PATIENCE:
                if not tied:
                    return
                tied, idle = False, 0
                continue
            blend = blend.towards(aim, length)
            self._take(blend)

    def _approach(self, blend: Blend) -> None:
        """Steps with worlds that local search finds, as thorough as they deserve; a bound where they bring no more."""
        objective, budget = self.objective, self.budget
        eps = FIRST_MASS if objective.called_off.any() else 0.0
        tied = bool((objective.low < objective.high).any())
        fall, effort, failed = 0.1 * self.least_value, 0, 0
        for self.steps in range(1, MOST_STEPS + 1):
            if budget.is_over():
                return
            planes = objective.planes(blend.sides, eps)
            smooth = float(objective.values(blend.sides, eps).sum())
            goal = 0.1 * budget.tolerance * self._scale()
            worth = ROUGH * fall if effort < THOROUGH else 0.0
            aim = self._minimise(objective.model(planes, eps, tied=tied), goal, effort, worth)
            fall = -self._slope(blend, aim, planes)
            length = self._length(blend, aim, -fall, eps, smooth)
            blend = blend.towards(aim, length) if length > 0 else blend
            self._take(blend)
            if length > 0 and fall > goal:
                continue
            if effort < THOROUGH:
                effort = THOROUGH
                continue
            planes = objective.planes(blend.sides, eps)
            smooth = float(objective.values(blend.sides, eps).sum())
            before = self.bound
            gap = self._certify(planes, eps, smooth, 0.25 * budget.tolerance * self._scale())
            if self._gap() <= budget.tolerance * self._scale():
                return
            if gap <= 0.5 * budget.tolerance * self._scale():
                if eps > LEAST_MASS:
                    eps *= SMALLER
                    continue
            tied, effort = False, min(effort + 1, EFFORT)
            failed = 0 if self.bound > before else failed + 1
            if failed > PATIENCE:
                return

    def _slope(self, here: Blend, aim: Blend, planes: Planes) -> float:
        """By how much the terms fall at first, on the way to the aim."""
        objective, way = self.objective, aim.sides - here.sides
        return float(planes.by_joint @ way[objective.joint] + planes.by_condition @ way[objective.condition])

    def _length(self, here: Blend, aim: Blend, slope: float, eps: float, smooth: float) -> float:
        """The longest of 1, 1/2, 1/4 ... of the way at which the terms have fallen enough (Armijo 1966)."""
        objective = self.objective
        way = aim.sides - here.sides
        length = 1.0
        if objective.is_steep:
            u, v = aim.sides[objective.joint], here.sides[objective.joint]
            h, w = aim.sides[objective.condition], here.sides[objective.condition]
            free = np.isnan(objective.settled)
            if (free & ((u < 1e-3 * v) | (h - u < 1e-3 * (w - v)))).any():
                length = INSIDE
        slack = STEADY * self.total
        while length > SHORTEST:
            value = float(objective.values(here.sides + length * way, eps).sum())
            if value <= smooth + 1e-4 * length * min(0.0, slope) + slack:
                return length
            length *= 0.5
        return 0.0

    def _certify(self, planes: Planes, eps: float, smooth: float, allowed: float) -> float:
        """Bound the terms by the planes; how far the smoothed terms are above what the planes allow."""
        objective, pins = self.objective, self.pins
        coefficients, constant = objective.coefficients(planes.by_joint, planes.by_condition)
        constant += float(planes.constant.sum())
        rounding = rounding_of(coefficients) + rounding_of(planes.by_joint, planes.by_condition)
        if len(pins):
            self.prices = self.engine.prices()
            by_pins, fixed = pins.coefficients(self.prices)
            coefficients -= by_pins
            constant -= fixed
            rounding += rounding_of(self.prices)
        least = self._least(coefficients, allowed)
        bound = least + constant - rounding
        if self.is_bounded:
            self.bound = max(self.bound, bound)
        return max(0.0, smooth - (least + constant + objective.smoothing(planes, eps)))

    def _least(self, coefficients: Vector, allowed: float) -> float:
        """A bound on a sum over all worlds; a world that is better joins the engine's."""
        if self.oracle.is_exact:
            self.proof = "dynamic programming over all worlds"
            return self.engine.minimise(coefficients)[0]
        found = self.oracle.least(coefficients, self.budget.left(), allowed)
        self.proof = found.proof
        self.engine.include(found.world[None])
        return found.bound

    def _take(self, blend: Blend) -> None:
        """Keep an answer, and the same without conditions that hardly have a probability, where it is better."""
        value = self.objective.value(blend.sides)
        if value < self.least_value:
            self.best, self.least_value = blend, value
        h = blend.sides[self.objective.condition]
        for most in VANISHING:
            small = self.objective.called_off & (h < most) & (h > 0)
            if small.any():
                self._take_without(blend, small)

    def _take_without(self, blend: Blend, terms: NDArray[np.bool_]) -> None:
        truth = _core.evaluate_worlds(*self.part.functions, blend.worlds).astype(np.float64)
        sides = np.hstack([truth, 1.0 - truth])
        kept = ~(sides[:, self.objective.condition[terms]] > 0).any(axis=1) & (blend.share > 0)
        if not kept.any():
            return
        share = blend.share[kept] / blend.share[kept].sum()
        other = Blend(share, blend.worlds[kept], _sides(share, truth[kept]))
        if len(self.pins) and self.pins.violation(other.sides) > max(1e-13, self.pins.violation(blend.sides)):
            return
        value = self.objective.value(other.sides)
        if value < self.least_value:
            self.best, self.least_value = other, value

    def _answer(self, ended: Ended) -> Answer:
        if self.best is None:
            world = np.zeros((1, self.part.n_variables), np.uint8) if self.oracle.space is None else None
            if world is None:
                world = self.engine.worlds()[1][:1]
            truth = _core.evaluate_worlds(*self.part.functions, world).astype(np.float64)
            self.best = Blend(np.ones(1), world, _sides(np.ones(1), truth))
            self.least_value = self.objective.value(self.best.sides)
        share, worlds = _distinct(self.best)
        size = len(self.part)
        return Answer(
            share,
            worlds,
            np.clip(self.best.sides[:size], 0.0, 1.0),
            self.least_value,
            min(self.least_value, max(0.0, self.bound)),
            "Newton's method on worlds",
            self.proof,
            ended,
            self.pins.violation(self.best.sides) if len(self.pins) else 0.0,
            self.prices,
            self.steps,
        )


def _sides(share: Vector, truth: Vector) -> Vector:
    return np.concatenate([share @ truth, share @ (1.0 - truth), [1.0]])


def _distinct(blend: Blend) -> tuple[Vector, Truth]:
    kept = blend.share > 0
    worlds, same = np.unique(blend.worlds[kept], axis=0, return_inverse=True)
    share = np.bincount(same.ravel(), blend.share[kept], len(worlds)).astype(np.float64)
    return share / share.sum(), worlds


def solve_component(
    part: Merged,
    loss: Loss,
    budget: Budget,
    start: Truth | None = None,
    *,
    linearised: bool = False,
    seed: int = 0,
    floor: float = 1.0,
) -> Answer:
    """The best mixture of worlds for what a component's forecasts lose."""
    return Newton(part, objective_of(part, loss, linearised=linearised), budget, seed, floor).run(start)
