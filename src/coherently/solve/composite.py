"""One connected component with conditionals, intervals or pins: a mixture of worlds, and a proof of how near it is."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently import _core
from coherently.problem import ABSENT
from coherently.solve.examples import example_worlds
from coherently.solve.facts import Proof, Route
from coherently.solve.master import Master, fewest
from coherently.solve.oracle import SLICE, Oracle, rounding_of
from coherently.solve.pins import KEPT, bounds_of, feasible_mixture, in_worlds
from coherently.solve.scores import Affine, Objective, scores_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from coherently.problem import Loss, Merged
    from coherently.solve.scores import Squares

    Vector: TypeAlias = "NDArray[np.float64]"
    Truth: TypeAlias = "NDArray[np.uint8]"
    Search: TypeAlias = "tuple[int, float] | tuple[int, float, float]"

MOST_STEPS = 40
ENOUGH = 1e-4
"""A decrease, relative to the objective, after which steps with a quadratic model give way to the exact best shares."""
CLOSE = 1e-5
"""A decrease, relative to the objective, after which the quadratic model is worth its best mixture."""
STEADY = 1e-12
"""An increase, relative to the objective, that is only rounding."""
FIRST_AIM, CLOSER, ACCURACY = 1e-3, 0.01, 0.1
"""The relative gap to which shares are settled at first, how much closer each time, and of what is to be proved."""
FINISHED = 1e-11
"""The relative gap at which a component is done whose best world is known for certain."""
POLISHING = 0.5
"""Seconds that a component is worked on beyond the tolerance."""
LAST = 0.15
"""The part of the time that is kept for a bound."""
BRIEF, ROUGH, THOROUGH = (1, 1e-4), (0, 0.0, 0.1), (3, 0.0)
"""How often the length of local searches is doubled, and what they must bring: at first, on the way, at its end."""
BEGINNING = 10.0
"""Seconds for the first mixture."""
SPREAD = 0.01
"""The part of the first mixture that keeps every event possible and avoidable."""
NEGLIGIBLE, UNSEEN = 1e-12, 1e-9
"""Shares that worlds leave the answer with: with limits, which must be kept, and without."""
INSIDE, LEAST = 0.99, 1e-9
"""The longest step, which leaves every condition as possible as it was, and the shortest."""
FORGOTTEN = 1e-5
"""Shares of worlds that leave on the way."""
STEEPEST = 1e4
"""The highest price of a limit that a proof uses, relative to the slopes: one that leaves no choice has no highest."""
FEW, PART, TINY = 300, 1e-2, 1e-300
"""Worlds up to which none is left out, and what a part of a condition's probability counts for."""


class CompositeNearest:
    """A component's answer so far: worlds with their shares, and a bound on the least sum of scores.

    A quadratic model of the scores is what the column generation of the Brier loss can minimise; its worlds join the
    mixture, whose best shares an interior point method finds. The scores f are convex: with prices y of the limits
    G >= 0, L = f - <y, G>, and g the greatest <gradient of L, x - s> over worlds s, the least one that keeps the limits
    is at least L(x) - g, at any x.
    """

    def __init__(
        self,
        part: Merged,
        loss: Loss,
        seed: int,
        floor: float,
        *,
        linearised: bool,
        deadline: float = math.inf,
    ) -> None:
        self.part, self.loss, self.seed, self.floor = part, loss, seed, floor
        self.oracle = Oracle(part, seed)
        self.scores = scores_of(part, loss, linearised=linearised)
        self.sum = Objective(self.scores, len(part))
        self.limits = bounds_of(part.terms.limits)
        self.prices = np.zeros(len(self.limits))
        self.route, self.proof, self.bound = Route.NEWTON, Proof.NOTHING, 0.0
        self.timed_out = True
        self.worlds: Truth
        self.share: Vector
        self.truth: Vector
        self.short = np.inf  # how far the best world known lies below the level, at the last look
        self.slope = np.zeros(len(part))  # the last one of which a least sum over all worlds was proved, and that
        self.least = -np.inf
        self._start(min(deadline, time.monotonic() + BEGINNING))

    @property
    def objective(self) -> float:
        """The sum of the scores."""
        return self.sum.value(self.x)

    @property
    def x(self) -> Vector:
        """The probabilities of the events."""
        return np.clip(self.share @ self.truth, 0.0, 1.0)

    def saved(self) -> float:
        """The Brier penalty that the answer saves in every world, conditionals counting where their condition holds.

        In a world v a forecast p saves (v - p)^2 - (v - x)^2, which is linear in v: one best world tells the least. The
        coefficients are those of the proof, but for the little that x has moved since.
        """
        part, given = self.part, self.part.terms.conditionals
        x = self.x
        known, mean = part.weight > 0, np.nan_to_num(part.mean)
        value, forecast = given.value(x), np.nan_to_num(given.mean)
        coefficients = np.where(known, -2.0 * part.weight * (mean - x), 0.0)
        by_joint, by_condition = -2.0 * given.weight * (forecast - value), given.weight * (forecast**2 - value**2)
        joint, condition = Affine(given.joint), Affine(given.condition)
        coefficients += joint.pull(by_joint, len(x)) + condition.pull(by_condition, len(x))
        fixed = np.where(known, part.weight * (mean**2 - x**2), 0.0).sum()
        fixed += by_joint @ joint.offset + by_condition @ condition.offset
        if self.oracle.is_exact:
            return float(fixed) + self.oracle.least(coefficients, 0.0).bound
        return float(fixed) + self.least - float(np.abs(coefficients - self.slope).sum())

    @property
    def violation(self) -> float:
        """The largest amount by which a pin is missed."""
        return self.limits.violation(self.x)

    @property
    def scale(self) -> float:
        """What tolerances are relative to."""
        return max(self.objective, self.floor)

    def is_done(self, tolerance: float) -> bool:
        """Whether the gap is at most the tolerance."""
        return self.objective - self.bound <= tolerance * self.scale

    def mixture(self) -> tuple[Vector, Truth]:
        """The worlds' shares and truth values."""
        kept = self.share > NEGLIGIBLE
        worlds, same = np.unique(self.worlds[kept], axis=0, return_inverse=True)
        return np.bincount(same.ravel(), self.share[kept], len(worlds)).astype(np.float64), worlds

    def improve(self, tolerance: float, deadline: float, tell: Callable[[], None]) -> None:
        """Take steps until the scores fall little, then prove that, with better worlds as they turn up.

        Where the time does not suffice, the last part of it goes to a bound for the answer so far.
        """
        last = deadline if self.oracle.is_exact else deadline - LAST * max(0.0, deadline - time.monotonic())
        for _ in range(MOST_STEPS):
            tell()
            before = self.objective
            if time.monotonic() >= last:
                break
            self._step(last, tell)
            if before - self.objective <= ENOUGH * max(before, self.floor):
                break
        self._prove(tolerance, last, tell)
        self.timed_out = time.monotonic() >= last
        if not self.is_done(tolerance) and time.monotonic() < deadline:
            self._certify(tolerance, deadline, surely=True)
        self._prune(deadline)

    def _prove(self, tolerance: float, deadline: float, tell: Callable[[], None]) -> None:
        """Settle the shares and bound the scores by turns, each as closely as the other deserves.

        Prices of a point well inside show worlds that are of use sooner than those of the best shares, which are
        arbitrary where a condition becomes impossible (Gondzio, Gonzalez-Brevis and Munari 2013).
        """
        self._join(self._missing())
        goal = FINISHED if self.oracle.is_exact else tolerance
        soon = time.monotonic() + POLISHING
        least, gap = ACCURACY * goal, np.inf
        aim = max(least, FIRST_AIM)
        while time.monotonic() < deadline:
            self._settle(aim, deadline)
            tell()
            new = self._certify(tolerance, deadline)
            if not self.oracle.is_exact and not len(self.limits):
                self._approach(tolerance, deadline, tell)
            before, gap = gap, self.objective - self.bound
            stale = aim == least and (not new or (self.is_done(tolerance) and gap > 0.5 * before))
            if stale or self.is_done(goal if time.monotonic() < soon else tolerance):
                return
            aim = max(least, CLOSER * min(aim, gap / self.scale))
            self._forget()
            self._join(self._improving(self._model(deadline, tell, THOROUGH)[1]))

    def _approach(self, tolerance: float, deadline: float, tell: Callable[[], None]) -> None:
        """Steps with the quadratic model, full ones where they do not raise the scores, as long as they lower them.

        From shares that were settled once Newton's method converges, and a step costs much less than settling.
        """
        rough = True
        for _ in range(MOST_STEPS):
            if self.is_done(tolerance) or time.monotonic() >= deadline:
                return
            before = self.objective
            share, worlds = self._model(deadline, tell, ROUGH if rough else THOROUGH)
            truth = self.part.functions.hold(worlds).astype(np.float64)
            aim = np.clip(share @ truth, 0.0, 1.0)
            length = 1.0 if self.sum.value(aim) <= (1.0 + STEADY) * before else self._length(self.x, aim)
            if length <= LEAST:
                return
            kept = self.share > 0 if length < 1 else np.zeros(len(self.share), np.bool_)
            self.share = np.concatenate([(1.0 - length) * self.share[kept], length * share])
            self.worlds = np.vstack([self.worlds[kept], worlds])
            self.truth = np.vstack([self.truth[kept], truth])
            missing = self.short
            if rough:
                rough = before - self.objective > CLOSE * before
                continue
            self._certify(tolerance, deadline)
            if before - self.objective <= tolerance * before and self.short > 0.5 * missing:
                return

    def _start(self, deadline: float) -> None:
        """The nearest mixture by the linearised Brier loss, with a little of worlds that show every event."""
        part = self.part
        share, worlds = self._column_generation(self.sum.linearised(), None, deadline, lambda: None)
        self.examples = examples = example_worlds(part, self.oracle).worlds
        even = np.full(len(examples), SPREAD / len(examples))
        self._set(np.vstack([worlds, examples]), np.concatenate([(1.0 - SPREAD) * share, even]))
        if len(self.limits):
            self._set(*feasible_mixture(part, self.limits, self.oracle, self.worlds))

    def _set(self, worlds: Truth, share: Vector) -> None:
        self.worlds = np.ascontiguousarray(worlds, np.uint8)
        self.share = share
        self.truth = self.part.functions.hold(self.worlds).astype(np.float64)

    def _step(self, deadline: float, tell: Callable[[], None]) -> None:
        """Go towards the best mixture of the quadratic model, or to the best of all worlds where there are limits."""
        share, worlds = self._model(deadline, tell)
        if len(self.limits):
            self._join(worlds)
            self._settle(FIRST_AIM, deadline)
            return
        truth = self.part.functions.hold(worlds).astype(np.float64)
        x = self.x
        length = self._length(x, np.clip(share @ truth, 0.0, 1.0))
        kept = self.share > FORGOTTEN
        self.share = np.concatenate([(1.0 - length) * self.share[kept], length * share])
        self.share /= self.share.sum()
        self.worlds = np.vstack([self.worlds[kept], worlds])
        self.truth = np.vstack([self.truth[kept], truth])

    def _model(self, deadline: float, tell: Callable[[], None], search: Search = BRIEF) -> tuple[Vector, Truth]:
        """The best mixture for the quadratic model."""
        x = self.x
        weight, target, squares = self.sum.model(x)
        if len(self.limits):
            squares = self._with_limits(squares, x)
        known = np.ascontiguousarray(self.worlds[self.share > NEGLIGIBLE])
        return self._column_generation((weight, target, squares), known, deadline, tell, search)

    def _column_generation(
        self,
        model: tuple[Vector, Vector, Squares],
        known: Truth | None,
        deadline: float,
        tell: Callable[[], None],
        search: Search = BRIEF,
    ) -> tuple[Vector, Truth]:
        """The best mixture for a sum of squares, as far as local search of this effort finds it."""
        weight, target, squares = model
        core = _core.NearestMixture(self.part.handle, weight, target, self.seed, self.oracle.space, squares)
        if known is not None:
            core.include(known)
        while (left := deadline - time.monotonic()) > 0:
            seconds = min(SLICE, left)
            if core.eliminate(seconds) if self.oracle.is_exact else core.search(seconds, *search):
                break
            tell()
        share, worlds = core.worlds()
        return share / share.sum(), worlds

    def _with_limits(self, squares: Squares, x: Vector) -> Squares:
        """Add the squares of the augmented Lagrangian for the limits that bind."""
        more = self.limits.squares(self.prices, float(self.scores.weight.sum()) or 1.0, x)
        return (
            np.concatenate([squares[0], squares[0][-1] + more[0][1:]]),
            np.concatenate([squares[1], more[1]]),
            np.concatenate([squares[2], more[2]]),
            np.concatenate([squares[3], more[3]]),
            np.concatenate([squares[4], more[4]]),
        )

    def _length(self, x: Vector, aim: Vector) -> float:
        """The longest of almost 1, 1/2, 1/4 ... of the way at which the scores have fallen enough (Armijo 1966)."""
        slope, here, length = float(self.sum.gradient(x) @ (aim - x)), self.sum.value(x), INSIDE
        while length > LEAST and slope < 0:
            if self.sum.value(x + length * (aim - x)) < here + 1e-4 * length * slope:
                return length
            length *= 0.5
        return 0.0

    def _join(self, worlds: Truth) -> None:
        """Take in worlds at share 0."""
        known = {world.tobytes() for world in self.worlds}
        new = [world for world in worlds if world.tobytes() not in known]
        if new:
            rows = np.ascontiguousarray(np.vstack(new), np.uint8)
            self.worlds = np.vstack([self.worlds, rows])
            self.truth = np.vstack([self.truth, self.part.functions.hold(rows)])
            self.share = np.concatenate([self.share, np.zeros(len(rows))])

    def _forget(self) -> None:
        """Leave out worlds of little share, also of the share of any condition that they fulfil."""
        if len(self.share) <= FEW:
            return
        fulfilled = in_worlds(self.scores.condition, self.truth)
        largest = (fulfilled / np.maximum(self.share @ fulfilled, TINY)).max(axis=1)
        worth = np.maximum(self.share, self.share * largest * PART)
        kept = np.sort(np.argsort(worth)[-max(FEW, len(self.part)) :])
        self.share = self.share[kept] / self.share[kept].sum()
        self.worlds, self.truth = self.worlds[kept], self.truth[kept]

    def _improving(self, worlds: Truth) -> Truth:
        """Those of some worlds that bring the scores down at once; all, where there are few."""
        if len(self.share) <= FEW:
            return worlds
        x = self.x
        gradient = self.sum.gradient(x) - self.limits.gradient(self.prices, len(x))
        return worlds[self.part.functions.hold(worlds) @ gradient < gradient @ x]

    def _missing(self) -> Truth:
        """Examples of the events that hold in no world within."""
        shown = self.part.functions.hold(self.examples)
        return self.examples[shown[:, ~self.truth.any(axis=0)].any(axis=1)]

    def _settle(self, aim: float, deadline: float) -> None:
        """Give the worlds within their best shares, but for a relative gap; not where a limit would be missed.

        Nor where the time did not suffice, and the old shares are better.
        """
        scores, limits = self.scores, self.limits
        worlds, same = np.unique(self.worlds, axis=0, return_inverse=True)
        self._set(worlds, np.bincount(same.ravel(), self.share, len(worlds)).astype(np.float64))
        master = Master(
            scores,
            in_worlds(scores.joint, self.truth),
            in_worlds(scores.condition, self.truth),
            limits.in_worlds(self.truth),
            limits.equal,
        )
        found = master.solve(self.share, aim * self.scale, deadline)
        x = found.share @ self.truth
        if limits.violation(x) > max(KEPT, self.violation) or self.sum.value(x) > self.objective + aim * self.scale:
            return
        self.share, self.prices = found.share, found.prices

    def _certify(self, tolerance: float, deadline: float, *, surely: bool = False) -> bool:
        """Bound the scores; unless `surely`, not where local search shows that the proof would fail.

        Whether there is a new world.
        """
        x, count = self.x, len(self.worlds)
        slope = self.sum.gradient(x)
        most = STEEPEST * max(1.0, float(np.abs(slope).max(initial=0.0)))
        prices = np.clip(self.prices, -most, most)
        gradient = slope - self.limits.gradient(prices, len(x))
        objective = self.sum.value(x)
        allowed = 0.5 * tolerance * max(objective, self.floor)
        level = float(gradient @ x) + float(prices @ self.limits.value(x)) + rounding_of(gradient, prices)
        seconds = max(0.0, deadline - time.monotonic())
        if not self.oracle.is_exact:
            world, value = self.oracle.search(gradient, seconds)
            self._join(world[None])
            self.short = level - value
            if self.short > 2.0 * allowed and not surely:
                return len(self.worlds) > count
        least = self.oracle.least(gradient, seconds, allowed)
        self.proof, self.short = least.proof, level - least.bound
        self.slope, self.least = gradient, least.bound
        self.bound = max(self.bound, objective - max(0.0, self.short))
        self._join(least.world[None])
        return len(self.worlds) > count

    def _prune(self, deadline: float) -> None:
        """Leave out worlds of negligible shares, and those that others can stand for, if few or in time."""
        kept = self.share > (NEGLIGIBLE if len(self.limits) else UNSEEN)
        share, worlds = self.share[kept] / self.share[kept].sum(), self.worlds[kept]
        if len(share) <= FEW or (len(share) > len(self.part) + 1 and time.monotonic() < deadline):
            share = fewest(share, self.truth[kept])
        self._set(worlds[share > 0], share[share > 0])

    def degenerate(self) -> NDArray[np.int64]:
        """The conditionals whose conditions are impossible or certain here, though nobody and no law says so."""
        given, limits, x = self.part.terms.conditionals, self.part.terms.limits, self.x
        shown = self.part.functions.hold(self.examples)
        varies = np.asarray(shown.any(axis=0) & ~shown.all(axis=0))
        coordinate, p = given.condition.coordinate, given.condition.probability(x)
        known = given.condition.probability(np.where(self.part.weight > 0, self.part.mean, 0.5))
        pinned = np.isin(coordinate, limits.joint.coordinate[limits.condition.coordinate < 0])
        edge = np.minimum(p, 1.0 - p) < ABSENT
        return np.flatnonzero(edge & varies[coordinate] & (np.abs(known - p) > ABSENT) & ~pinned)
