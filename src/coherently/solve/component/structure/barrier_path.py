"""The least of a convex function under inequalities, by an interior point method.

With slacks s of inequalities A z >= b and multipliers y, a step of the primal-dual method solves

    (H + A' diag(y / s) A) dz = A' (m / s) - grad f,   A z = s,

where the products m of slacks and multipliers are lowered towards 0 (Mehrotra 1992: a first step says how far). In
the end either the slack or the multiplier of an inequality is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.solve.budget import Budget
    from coherently.solve.component.objective import Planes


@dataclass(frozen=True, slots=True)
class BarrierTuning:
    """When steps end, and how near to the edge they may go."""

    most_steps: int = 100
    """Maximum number of steps; one or two dozen are usual."""
    first_steps: int = 4
    """Minimum number of steps, whatever the time: they are quicker than any other first answer."""
    finished: float = 1e-17
    """The mean product of slack and multiplier, relative to the mean weight, at which nothing is left to gain."""
    kept: float = 0.995
    """The part of the way to the edge that a step may go."""
    slope: float = 1e-4
    """How much a slope counts beside a product of slack and multiplier."""
    held: float = 1e-10
    """The part of the largest slope that is left below which products do not go: slacks would vanish before slopes."""
    patience: int = 8
    """Maximum number of steps that lower neither."""
    last_patience: int = 1
    """The same once products are finished: slopes then fall by the square, and one that does not is rounding."""
    lowest: float = 1e-3
    """The least part of their products that slacks and multipliers are led to, before it is cubed."""
    apart: float = 1e8
    """Maximum factor between a multiplier and the one that goes with its slack."""
    enough: float = 1e-4
    """The part of what the slope promises by which f must fall."""
    halvings: int = 40
    """How often a step is halved at most."""
    rounding: float = 1e-14
    """A rise of f by this part of all weights may be rounding."""
    first: float = 0.1
    """The first product of slack and multiplier, relative to the mean weight."""
    raised: tuple[float, ...] = (0.0, 1e-14, 1e-12, 1e-10)
    """What the diagonal of a matrix is raised by, in parts of itself, as long as rounding makes it indefinite."""


TUNING = BarrierTuning()


class StepFactor(Protocol):
    """The factor of the matrix of a step."""

    @property
    def is_positive(self) -> bool:
        """Whether the matrix is positive definite, rounding included."""

    def solve(self, right: Vector) -> Vector:
        """The step for a right side."""


class BarrierProgram(Protocol):
    """A convex function of z, and inequalities that are linear in z."""

    @property
    def unit(self) -> float:
        """The mean weight of a term."""

    @property
    def total(self) -> float:
        """The sum of all weights."""

    def lost(self, z: Vector) -> float:
        """The value of the function."""

    def slacks(self, z: Vector) -> Vector:
        """By how much each inequality holds."""

    def changes(self, dz: Vector) -> Vector:
        """The changes of the slacks."""

    def pull(self, y: Vector) -> Vector:
        """The gradient of the sum of slacks times y."""

    def model(self, z: Vector) -> tuple[Vector, Planes]:
        """The gradient, and the planes of terms with their second derivatives."""

    def factor(self, planes: Planes, ratio: Vector, raised: float) -> StepFactor:
        """The factor of the second derivative of f plus that of slacks weighed by `ratio`, its diagonal `raised`."""


class BarrierPoint(NamedTuple):
    """A point inside, and the multipliers of the inequalities."""

    z: Vector
    multipliers: Vector


def minimised(program: BarrierProgram, z: Vector, budget: Budget) -> tuple[BarrierPoint, int]:
    """The point whose slopes and products of slacks and multipliers are least, and the steps."""
    unit = program.unit
    best = point = BarrierPoint(z, TUNING.first * unit / program.slacks(z))
    least, idle, steps = np.inf, 0, 0
    while steps < TUNING.most_steps:
        if steps >= TUNING.first_steps and budget.is_over():
            break
        steps += 1
        step = _BarrierStep(program, point)
        if not step.is_possible:
            break
        left = step.left / unit
        idle += 1
        if left < least:
            best, least, idle = point, left, 0
        patience = TUNING.patience if step.mean > TUNING.finished * unit else TUNING.last_patience
        if left <= TUNING.finished or idle >= patience:
            break
        point = step.taken()
    return best, steps


class _BarrierStep:
    """One step of the primal-dual method: predicted, then centred, corrected, and cut where f would rise."""

    def __init__(self, program: BarrierProgram, point: BarrierPoint) -> None:
        self.program, (self.z, self.y) = program, point
        self.slack = program.slacks(self.z)
        self.is_possible = bool((self.slack > 0).all())
        if self.is_possible:
            self.gradient, planes = program.model(self.z)
            for raised in TUNING.raised:
                self.factor = program.factor(planes, self.y / self.slack, raised)
                self.is_possible = self.factor.is_positive
                if self.is_possible:
                    break
        self.mean = float(self.slack @ self.y) / max(1, len(self.y))

    @property
    def slope(self) -> float:
        """The largest slope that multipliers do not hold."""
        return float(np.abs(self.gradient - self.program.pull(self.y)).max(initial=0.0))

    @property
    def left(self) -> float:
        """The mean product of slack and multiplier or, if that is more, a part of the largest slope that is left."""
        return max(self.mean, TUNING.slope * self.slope)

    def direction(self, product: Vector) -> tuple[Vector, Vector, Vector]:
        """The changes of levels, slacks and multipliers that lead to these products."""
        dz = self.factor.solve(self.program.pull(product / self.slack) - self.gradient)
        ds = self.program.changes(dz)
        return dz, ds, (product - self.y * ds) / self.slack - self.y

    def taken(self) -> BarrierPoint:
        """The next point."""
        slack, y = self.slack, self.y
        _, ds, dy = self.direction(np.zeros_like(y))
        reach = min(1.0, _reach(slack, ds)), min(1.0, _reach(y, dy))
        after = float((slack + reach[0] * ds) @ (y + reach[1] * dy)) / len(y)
        target = self.mean * min(1.0, max(after / self.mean, TUNING.lowest)) ** 3
        target = min(self.mean, max(target, TUNING.held * self.slope))
        for product in (target - ds * dy, np.full_like(y, target)):
            dz, ds, dy = self.direction(product)
            length = self._length(dz, min(1.0, TUNING.kept * _reach(slack, ds)), target)
            if length > 0:
                break
        y = y + min(1.0, TUNING.kept * _reach(y, dy)) * dy
        z = self.z + length * dz
        central = target / self.program.slacks(z)
        return BarrierPoint(z, np.clip(y, central / TUNING.apart, central * TUNING.apart))

    def _length(self, dz: Vector, length: float, target: float) -> float:
        """The part of a step at which f with the barrier falls as it should; 0 if it does not."""
        slope = float((self.gradient - self.program.pull(target / self.slack)) @ dz)
        if slope >= 0:
            return 0.0
        program, now = self.program, self._barrier(self.z, target)
        noise = TUNING.rounding * (program.total + abs(now))
        for _ in range(TUNING.halvings):
            if self._barrier(self.z + length * dz, target) <= now + TUNING.enough * length * slope + noise:
                return length
            length *= 0.5
        return 0.0

    def _barrier(self, z: Vector, target: float) -> float:
        program = self.program
        slack = program.slacks(z)
        if not slack.min(initial=1.0) > 0:
            return np.inf
        return program.lost(z) - target * float(np.log(slack).sum())


def _reach(value: Vector, change: Vector) -> float:
    """How many times a change can be made until a value is 0, at most twice."""
    with np.errstate(over="ignore"):
        return 1.0 / max(0.5, float((-change / value).max(initial=0.0)))
