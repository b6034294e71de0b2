"""One connected component under a loss other than Brier's: Newton's method on mixtures of worlds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.solve.composite import CompositeNearest
from coherently.solve.examples import example_worlds
from coherently.solve.facts import Proof, Route
from coherently.solve.oracle import SLICE, Oracle, rounding_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from coherently.problem import Loss, Merged

    Vector = NDArray[np.float64]
    Truth = NDArray[np.uint8]

MOST_STEPS = 60
INSIDE = 0.99
"""The longest step towards a point at which the loss is infinitely steep."""
STEADY = 1e-15
"""A decrease, relative to the objective, that is only rounding."""
MOST_POLISHED = 800
"""Worlds up to which shares are finished by a dense system."""
FINISHED = 1e-12
"""The relative gap at which a component is done whose best world is known for certain."""
LEAST = 1e-16
"""A probability that is as good as 0: laws may force forecasts so far that the loss is infinitely steep."""
SPREAD = 0.05
"""The part of the first mixture that keeps every event possible and avoidable."""


class CurvedNearest:
    """A component's answer so far: worlds with their shares, and a bound on the least divergence.

    Each step replaces the divergence by its quadratic model, whose best mixture of worlds is found by the column
    generation of the Brier loss, and goes there as far as the divergence falls. The divergence is convex: with g the
    greatest <gradient, x - s> over worlds s, the least one is at least f - g (Frank and Wolfe 1956). Events that hold
    in all worlds, or in none, have no part in the gradient; where that is not proved of one, there is no bound.
    """

    def __init__(self, part: Merged, loss: Loss, seed: int, floor: float) -> None:
        self.part, self.loss, self.seed, self.floor = part, loss, seed, floor
        self.oracle = Oracle(part, seed)
        self.least = 0.0 if part.space.is_free else LEAST
        self.moves = (part.weight > 0) & (part.sizes() > 0)
        self.route, self.proof, self.bound = Route.NEWTON, Proof.NOTHING, 0.0
        self.timed_out = True
        self.worlds, self.share = self._start()

    @property
    def objective(self) -> float:
        """The weighted divergence from the merged forecasts."""
        return self._divergence(self.x)

    @property
    def x(self) -> Vector:
        """The probabilities of the events."""
        return np.clip(self.share @ self.truth, 0.0, 1.0)

    @property
    def shortfall(self) -> float:
        """Not known of this loss."""
        return np.inf

    def is_done(self, tolerance: float) -> bool:
        """Whether the gap is at most the tolerance, relative to the objective or the floor."""
        return self.objective - self.bound <= tolerance * max(self.objective, self.floor)

    def mixture(self) -> tuple[Vector, Truth]:
        """The worlds' shares and truth values."""
        kept = self.share > 0
        worlds, same = np.unique(self.worlds[kept], axis=0, return_inverse=True)
        return np.bincount(same.ravel(), self.share[kept], len(worlds)).astype(np.float64), worlds

    def improve(self, tolerance: float, deadline: float, tell: Callable[[], None]) -> None:
        """Take steps until the objective falls no more, then prove it, with better worlds as they turn up.

        Where that ends short of the tolerance, as it may where probabilities come close to 0 or 1, an interior point
        method, which is slower, takes over.
        """
        self._converge(tolerance, deadline, tell)
        self.timed_out = time.monotonic() >= deadline
        if self.is_done(tolerance) or self.timed_out:
            return
        other = CompositeNearest(self.part, self.loss, self.seed, self.floor, linearised=False, deadline=deadline)
        other.improve(tolerance, deadline, tell)
        if other.objective <= self.objective or other.is_done(tolerance):
            self.worlds, self.share, self.truth = other.worlds, other.share, other.truth
            self.route, self.proof = other.route, other.proof
        self.bound, self.timed_out = max(self.bound, other.bound), other.timed_out

    def _converge(self, tolerance: float, deadline: float, tell: Callable[[], None]) -> None:
        for _ in range(MOST_STEPS):
            tell()
            before = self.objective
            if time.monotonic() >= deadline:
                return
            if not self._step(deadline, tell) or before - self.objective <= STEADY * max(before, self.floor):
                break
        self._polish()
        while time.monotonic() < deadline and not self._certify(tolerance, deadline):
            tell()
            before = self.objective
            self._polish()
            if before - self.objective <= STEADY * max(before, self.floor):
                return

    def _start(self) -> tuple[Truth, Vector]:
        """The nearest mixture by the Brier loss of what moves, with a little of worlds that show every event true."""
        part = self.part
        core = _core.NearestMixture(
            self.part.handle,
            np.where(self.moves, part.weight, 0.0),
            np.nan_to_num(part.mean),
            0,
            space=self.oracle.space,
        )
        share, worlds = core.worlds()
        examples, doubtful = example_worlds(part, self.oracle)
        self.is_bounded = not (doubtful & self.moves).any()
        self._set_truth(np.vstack([worlds, examples]).astype(np.uint8))
        self.moves &= self.truth.any(axis=0) & ~self.truth.all(axis=0)
        return self.worlds, np.concatenate([(1 - SPREAD) * share, np.full(len(examples), SPREAD / len(examples))])

    def _set_truth(self, worlds: Truth) -> None:
        self.worlds = worlds
        self.truth = self.part.functions.hold(worlds).astype(np.float64)

    def _divergence(self, x: Vector) -> float:
        part = self.part
        lost = self.loss.divergence(x, np.where(part.weight > 0, part.mean, 0.5))
        return float(np.sum(np.where(part.weight > 0, part.weight * lost, 0.0)))

    def _gradient(self, x: Vector) -> Vector:
        away = self.loss.gradient(np.clip(x, self.least, 1 - self.least)) - self.loss.gradient(
            np.where(self.moves, self.part.mean, 0.5)
        )
        return np.where(self.moves, self.part.weight * away, 0.0)

    def _step(self, deadline: float, tell: Callable[[], None]) -> bool:
        """Go towards the best mixture of the quadratic model; false where that does not help."""
        x = np.clip(self.x, self.least, 1 - self.least)
        gradient = self._gradient(x)
        curvature = np.where(self.moves, self.part.weight * self.loss.curvature(np.where(self.moves, x, 0.5)), 0.0)
        target = x - np.divide(gradient, curvature, out=np.zeros_like(x), where=self.moves)
        share, worlds, truth = self._model(0.5 * curvature, target, deadline, tell)
        aim = np.clip(share @ truth, 0.0, 1.0)
        length = self._length(x, aim, gradient)
        if length == 0:
            return False
        kept = self.share > 0 if length < 1 else np.zeros(len(self.share), np.bool_)
        self.share = np.concatenate([(1 - length) * self.share[kept], length * share])
        self.worlds = np.vstack([self.worlds[kept], worlds])
        self.truth = np.vstack([self.truth[kept], truth])
        return True

    def _model(
        self, weight: Vector, target: Vector, deadline: float, tell: Callable[[], None]
    ) -> tuple[Vector, Truth, Vector]:
        core = _core.NearestMixture(self.part.handle, weight, target, self.seed, space=self.oracle.space)
        core.include(np.ascontiguousarray(self.worlds[self.share > 0]))
        work = core.eliminate if self.oracle.is_exact else core.search
        while (left := deadline - time.monotonic()) > 0 and not work(min(SLICE, left)):
            tell()
        share, worlds = core.worlds()
        return share / share.sum(), worlds, self.part.functions.hold(worlds).astype(np.float64)

    def _length(self, x: Vector, aim: Vector, gradient: Vector) -> float:
        """The longest of 1, 1/2, 1/4 ... of the way at which the divergence has fallen enough (Armijo 1966)."""
        slope = float(gradient @ (aim - x))
        steep = self.moves & ~np.isfinite(self.loss.gradient(aim) * self.loss.curvature(aim))
        return self._shorten(x, aim - x, slope, INSIDE if steep.any() else 1.0)

    def _certify(self, tolerance: float, deadline: float) -> bool:
        """Bound the objective; false where that brought up a world that may better it."""
        x = self.x
        gradient = self._gradient(x)
        allowed = 0.5 * tolerance * max(self.objective, self.floor)
        least = self.oracle.least(gradient, max(0.0, deadline - time.monotonic()), allowed)
        self.proof = least.proof
        level = float(gradient @ x) + rounding_of(gradient)
        if self.is_bounded:
            self.bound = max(self.bound, self.objective - max(0.0, level - least.bound))
        if self.is_done(FINISHED if least.exact else tolerance) or (self.worlds == least.world).all(axis=1).any():
            return True
        self.worlds = np.vstack([self.worlds, least.world])
        self.truth = np.vstack([self.truth, self.part.functions.hold(least.world[None])])
        self.share = np.append(self.share, 0.0)
        return False

    def _polish(self) -> None:
        """Newton's method on the shares of the worlds within: worlds at 0 join where that helps, others drop out."""
        for _ in range(MOST_STEPS if len(self.share) <= MOST_POLISHED else 0):
            x = self.x
            slope = self.truth @ self._gradient(x)
            free = (self.share > 0) | (slope < self.share @ slope)
            step = np.zeros_like(self.share)
            step[free] = self._newton(self.truth[free], slope[free], x)
            step[(self.share == 0) & (step < 0)] = 0.0
            step -= (self.share > 0) * step.sum() / np.count_nonzero(self.share)
            room = np.min(-self.share[step < 0] / step[step < 0], initial=1.0)
            length = self._shorten(x, step @ self.truth, float(slope @ step), float(room))
            if length == 0:
                return
            self.share = np.maximum(0.0, self.share + length * step)
            self.share /= self.share.sum()

    def _newton(self, truth: Vector, slope: Vector, x: Vector) -> Vector:
        """The step to the minimum of the quadratic model, the sum of the shares being kept."""
        x = np.clip(x, self.least, 1 - self.least)
        curvature = np.where(self.moves, self.part.weight * self.loss.curvature(np.where(self.moves, x, 0.5)), 0.0)
        count = len(truth)
        if not np.isfinite(curvature).all() or not np.isfinite(slope).all():
            return np.zeros(count)
        system = np.ones((count + 1, count + 1))
        system[:count, :count] = truth * curvature @ truth.T
        system[count, count] = 0.0
        step: Vector = np.linalg.lstsq(system, -np.append(slope, 0.0), rcond=1e-13)[0][:count]
        return step

    def _shorten(self, x: Vector, way: Vector, slope: float, length: float) -> float:
        """The longest of `length`, a half, a quarter of it ... at which the divergence has fallen; 0 if none."""
        here = self._divergence(x)
        while length > 1e-9 and slope < 0:
            if self._divergence(np.clip(x + length * way, 0.0, 1.0)) < here + 1e-4 * length * slope:
                return length
            length *= 0.5
        return 0.0
