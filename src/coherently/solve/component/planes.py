"""Lower bounds that planes below an objective prove, and what an answer saves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.problem import ABSENT, NO_TERMS
from coherently.solve.component.newton.limits import pin_rows
from coherently.solve.worlds.oracle import rounding_of

if TYPE_CHECKING:
    from coherently.arrays import Indices, Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.newton.limits import PinRows
    from coherently.solve.component.objective import Objective, Planes
    from coherently.solve.worlds.oracle import Oracle

STEEPEST = 1e4
"""Largest price of a pin in a proof, relative to the slopes: a pin that leaves no choice may have any price."""


class PlaneBelow(NamedTuple):
    """A function of the events that hold: a constant and coefficients, with a bound on its rounding error."""

    coefficients: Vector
    constant: float
    rounding: float

    def bound(self, least: float) -> float:
        """A lower bound for every coherent answer, if no world's sum of coefficients is below `least`."""
        return least + self.constant - self.rounding


def plane_below(objective: Objective, planes: Planes, pins: PinRows, prices: Vector) -> PlaneBelow:
    """The plane below an objective at all answers that satisfy the pins.

    With pins G = 0, or G >= 0 and prices y >= 0, it is the sum of the planes of the terms minus <y, G>.

    A term f of (u, h) is convex, so f(u, h) >= f(u0, h0) + f_u (u - u0) + f_h (h - h0). A called-off one is homogeneous
    as well, f(su, sh) = s f(u, h), so f(u0, h0) = f_u u0 + f_h h0 (Euler) and nothing is left but f_u u + f_h h; an
    event is such a term with h = 1. Only linearised terms leave a constant (`Planes.constant`). Prices may be cut at
    will: any y of the right sign proves.
    """
    coefficients, constant = objective.coefficients(planes.by_joint, planes.by_condition)
    constant += planes.constant
    rounding = rounding_of(planes.by_joint, planes.by_condition)
    if len(pins):
        most = STEEPEST * max(1.0, float(np.abs(coefficients).max(initial=0.0)))
        limited = np.clip(prices, np.where(pins.equal, -most, 0.0), most)
        by_pins, fixed = pins.coefficients(limited)
        coefficients, constant = coefficients - by_pins, constant - fixed
        rounding += 2.0 * rounding_of(limited)
    return PlaneBelow(coefficients, constant, rounding + rounding_of(coefficients))


def tangent(objective: Objective, sides: Vector) -> PlaneBelow:
    """The plane below an objective that touches it at some sides."""
    return plane_below(objective, objective.planes(sides, 0.0), pin_rows(NO_TERMS.limits, objective.size), np.zeros(0))


def savings(objective: Objective, sides: Vector) -> PlaneBelow:
    """The Brier penalty that an answer saves in a world; conditionals count where their condition holds.

    A forecast p that the answer changes to r saves (v - p)^2 - (v - r)^2 where its event has the truth v: that is
    linear in v. A conditional whose condition counts as impossible stands as stated, and saves nothing.
    """
    u, h, p = sides[objective.joint], sides[objective.condition], objective.middle
    r = np.clip(np.divide(u, h, out=p.copy(), where=objective.certain | (h >= ABSENT)), 0.0, 1.0)
    by_joint, by_condition = 2.0 * objective.weight * (r - p), objective.weight * (p**2 - r**2)
    return PlaneBelow(*objective.coefficients(by_joint, by_condition), 0.0)


def find_degenerate(part: Merged, x: Vector, oracle: Oracle, budget: Budget) -> Indices:
    """The conditionals whose condition x makes impossible or certain, though it varies and no forecast says so."""
    given, limits = part.terms.conditionals, part.terms.limits
    coordinate, p = given.condition.coordinate, given.condition.probability(x)
    known = given.condition.probability(np.where(part.weight > 0, part.mean, 0.5))
    pinned = np.isin(coordinate, limits.joint.coordinate[limits.condition.coordinate < 0])
    edge = np.minimum(p, 1.0 - p) < ABSENT
    found = np.flatnonzero(edge & (np.abs(known - p) > ABSENT) & ~pinned)
    if part.space.is_free:
        return found
    varies = []
    for i in coordinate[found].tolist():
        one = (np.arange(len(part)) == i).astype(np.float64)
        varies.append(oracle.least(one, budget).value < 0.5 < -oracle.least(-one, budget).value)
    return found[np.array(varies, np.bool_)]
