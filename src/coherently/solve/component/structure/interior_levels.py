"""Events that are sums of literals in an order: an interior point method on the levels, and then the last digits.

The inequalities are z_j - z_i >= 0 for implications i -> j. In the end either the slack or the multiplier of an
implication is small (see `barrier_path`). Where it is the slack, the ends are made one node; Newton's method on the
levels of these nodes, without any inequality, finds the last digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.component.structure.barrier_path import minimised
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
    from coherently.solve.component.structure.barrier_path import BarrierPoint
    from coherently.solve.component.structure.literal_order import LiteralOrder


@dataclass(frozen=True, slots=True)
class LevelTuning:
    """How the last digits are found."""

    tight: tuple[float, ...] = (1e-3, 1.0, 1e-6, 1e-9)
    """Ratios of slack and multiplier, in units of weight, below which an implication may hold with equality."""
    last_steps: int = 12
    """Maximum number of steps for the last digits."""
    rounds: int = 8
    """How often implications that break are made to hold with equality at most."""
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
    point, steps = minimised(program, start, budget)
    best, least = None, partial(order.least_within, budget)
    for levels in [program.literals(point.z)] if budget.is_over() else _candidates(program, point):
        mixture = *order.mixture(levels), np.clip(order.probabilities(levels), 0.0, 1.0)
        answer = certified(part, objective, budget, mixture=mixture, least=least, route=Route.LEVELS, steps=steps)
        if answer is not None and (best is None or answer.gap < best.gap):
            best = answer
        if budget.is_over() or (best is not None and best.gap <= CLOSE * terms.total):
            break
    return best


def _candidates(program: LevelProgram, point: BarrierPoint) -> Iterator[Vector]:
    """Probabilities of literals: with the last digits, for several guesses of what multipliers hold, then as they are.

    Where an implication holds with equality, its slack is small beside its multiplier; otherwise it is the other way.
    """
    ratio = program.unit * program.slacks(point.z) / point.multipliers
    known: set[bytes] = set()
    for least in TUNING.tight:
        tight = np.flatnonzero(ratio < least)
        if (key := tight.tobytes()) not in known and (levels := _last_digits(program, point.z, tight)) is not None:
            yield levels
        known.add(key)
    yield program.literals(point.z)


def _last_digits(program: LevelProgram, z: Vector, tight: Indices) -> Vector | None:
    """The probabilities of literals where some implications hold with equality; None if order would break.

    An implication that breaks holds with equality from then on. If a forecast is met exactly at its edge, rounding is
    enough to break it.
    """
    for _ in range(TUNING.rounds):
        made = program.pooled(z, tight)
        if made is None:
            return None
        pooled, start, place = made
        levels = _without_inequalities(pooled, start)
        if levels is None:
            return None
        broken = np.flatnonzero(program.slacks(np.append(levels, [0.0, 1.0])[place]) < 0)
        if not len(broken):
            return pooled.literals(levels)
        tight = np.union1d(tight, broken)
    return None


def _without_inequalities(program: LevelProgram, z: Vector) -> Vector | None:
    """The best levels of nodes, whether in order or not; None if a matrix is singular."""
    moved = np.inf
    for _ in range(TUNING.last_steps if program.size else 0):
        gradient, planes = program.model(z)
        factor = program.damped_factor(planes, TUNING.damping)
        if not factor.is_positive:
            return None
        change = factor.solve(-gradient)
        if not (length := float(np.abs(change).max())) < moved:
            break
        z, moved = z + change, length
    return z
