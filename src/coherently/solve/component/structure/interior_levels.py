"""Events that are sums of literals in an order: an interior point method on the levels, and then the last digits.

With slacks s = z_j - z_i of implications i -> j and multipliers y, a step of the primal-dual method solves

    (H + A' diag(y / s) A) dz = A' (m / s) - grad f,   A z = s,

where the products m of slacks and multipliers are lowered towards 0 (Mehrotra 1992: a first step says how far). In
the end either the slack or the multiplier of an implication is small. Where it is the slack, the ends are made one
node; Newton's method on the levels of these nodes, without any inequality, finds the last digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.solve.component.objective import sides_at
from coherently.solve.component.structure.certified_levels import CLOSE, certified
from coherently.solve.component.structure.level_program import LevelProgram, level_program
from coherently.solve.facts import Route

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.arrays import Indices, Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.answer import Answer
    from coherently.solve.component.objective import Objective, Squares
    from coherently.solve.component.structure.literal_order import LiteralOrder


@dataclass(frozen=True, slots=True)
class LevelTuning:
    """When steps end, and how near to the edge they may go."""

    most_steps: int = 100
    """Maximum number of steps; one or two dozen are usual."""
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
    tight: tuple[float, ...] = (1e-3, 1.0, 1e-6, 1e-9)
    """Ratios of slack and multiplier, in units of weight, below which an implication may hold with equality."""
    noise: float = 1e-15
    """What differences of levels may be off by."""
    last_steps: int = 12
    """Maximum number of steps for the last digits."""
    damping: float = 1e-12
    """What holds levels that no event depends on, relative to the largest second derivative."""


TUNING = LevelTuning()


def solve_levels(part: Merged, objective: Objective | Squares, budget: Budget, order: LiteralOrder) -> Answer | None:
    """The nearest probabilities; None if time is over, the band is too wide, or rounding leaves a gap."""
    terms = objective.terms(part)
    made = level_program(order, terms)
    if made is None:
        return None
    program, start = made
    point, steps = _minimised(program, start, budget)
    best = None
    for levels in _candidates(program, point):
        mixture = *order.mixture(levels), np.clip(order.probabilities(levels), 0.0, 1.0)
        answer = certified(part, objective, budget, mixture=mixture, least=order.least, route=Route.LEVELS, steps=steps)
        if answer is not None and (best is None or answer.gap < best.gap):
            best = answer
        if best is not None and best.gap <= CLOSE * terms.total:
            break
    return best


class _LevelPoint(NamedTuple):
    """Levels of nodes, and the multipliers of the implications."""

    levels: Vector
    multipliers: Vector


def _unit(program: LevelProgram) -> float:
    """The mean weight of a term."""
    return program.objective.total / max(1, len(program.objective))


def _minimised(program: LevelProgram, z: Vector, budget: Budget) -> tuple[_LevelPoint, int]:
    """The point whose slopes and products of slacks and multipliers are least, and the steps."""
    unit = _unit(program)
    best = point = _LevelPoint(z, TUNING.first * unit / program.slacks(z))
    least, idle, steps = np.inf, 0, 0
    while steps < TUNING.most_steps and idle < TUNING.patience and not budget.is_over():
        steps += 1
        step = _LevelStep(program, point)
        if not step.is_possible:
            break
        left = step.left / unit
        idle += 1
        if left < least:
            best, least, idle = point, left, 0
        if left <= TUNING.finished:
            break
        point = step.taken()
    return best, steps


class _LevelStep:
    """One step of the primal-dual method: predicted, then centred, corrected, and cut where f would rise."""

    def __init__(self, program: LevelProgram, point: _LevelPoint) -> None:
        self.program, (self.z, self.y) = program, point
        self.slack = program.slacks(self.z)
        self.is_possible = bool((self.slack > 0).all())
        if self.is_possible:
            self.gradient, curvature = program.model(self.z)
            self.factor = program.factor(curvature, self.y / self.slack)
            self.is_possible = self.factor.is_positive
        self.mean = float(self.slack @ self.y) / max(1, len(self.y))

    @property
    def slope(self) -> float:
        """The largest slope of a node that multipliers do not hold."""
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

    def taken(self) -> _LevelPoint:
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
        return _LevelPoint(z, np.clip(y, central / TUNING.apart, central * TUNING.apart))

    def _length(self, dz: Vector, length: float, target: float) -> float:
        """The part of a step at which f with the barrier falls as it should; 0 if it does not."""
        slope = float((self.gradient - self.program.pull(target / self.slack)) @ dz)
        if slope >= 0:
            return 0.0
        program, now = self.program, self._barrier(self.z, target)
        noise = TUNING.rounding * (program.objective.total + abs(now))
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
        sides = sides_at(program.order.probabilities(program.literals(z)))
        return program.objective.value(sides) - target * float(np.log(slack).sum())


def _reach(value: Vector, change: Vector) -> float:
    """How many times a change can be made until a value is 0, at most twice."""
    with np.errstate(over="ignore"):
        return 1.0 / max(0.5, float((-change / value).max(initial=0.0)))


def _candidates(program: LevelProgram, point: _LevelPoint) -> Iterator[Vector]:
    """Probabilities of literals: with the last digits, for several guesses of what multipliers hold, then as they are.

    Where an implication holds with equality, its slack is small beside its multiplier; otherwise it is the other way.
    """
    ratio = _unit(program) * program.slacks(point.levels) / point.multipliers
    known: set[bytes] = set()
    for least in TUNING.tight:
        tight = np.flatnonzero(ratio < least)
        if (key := tight.tobytes()) not in known and (levels := _last_digits(program, point.levels, tight)) is not None:
            yield levels
        known.add(key)
    yield program.literals(point.levels)


def _last_digits(program: LevelProgram, z: Vector, tight: Indices) -> Vector | None:
    """The probabilities of literals where some implications hold with equality; None if order would break."""
    made = program.pooled(z, tight)
    if made is None:
        return None
    pooled, z = made
    moved = np.inf
    for _ in range(TUNING.last_steps if pooled.size else 0):
        gradient, curvature = pooled.model(z)
        factor = pooled.damped_factor(curvature, TUNING.damping)
        if not factor.is_positive:
            return None
        change = factor.solve(-gradient)
        if not (length := float(np.abs(change).max())) < moved:
            break
        z, moved = z + change, length
    return pooled.literals(z) if (pooled.slacks(z) >= 0).all() else None
