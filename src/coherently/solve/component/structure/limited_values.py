"""Exclusive values with intervals and pins: one multiplier, and lines in the dual.

Let d = phi'(x). The terms of a value, points and intervals [a, b] of weight w, have the derivative

    F'(d) = sum of w (d - phi'(a)) below intervals and of w (d - phi'(b)) above them,

which is made of straight pieces and rises, except where d is in all intervals: there it is 0. The least sum of all F
with the sum of the shares held has F'(d_i) = v for all values i, with one number v, or the value is at the edge of a
pin. Shares rise with v, so that v is found by halving. At v = 0 shares may have a choice: those of intervals stay in
the middle of it if values that nobody forecast can take the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.solve.component.newton.limits import pin_rows
from coherently.solve.component.objective import sides_at
from coherently.solve.component.planes import plane_below
from coherently.solve.component.structure.exclusive_values import answer_of_values, values_of
from coherently.solve.component.structure.literal_order import sums_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Mask, Vector
    from coherently.problem import Loss, Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.answer import Answer
    from coherently.solve.component.newton.limits import PinRows
    from coherently.solve.component.objective import Objective, Planes, Squares
    from coherently.solve.component.structure.exclusive_values import ExclusiveValues

    Table = NDArray[np.float64]

MOST_DOUBLINGS, MOST_HALVINGS = 1_100, 200
"""How often a bracket is doubled until it has the root, and halved until doubles do not tell its ends apart."""
TIGHT = 1e-12
"""The distance from the edge of a pin at which it may hold a share."""


def solve_limited(part: Merged, objective: Objective | Squares, budget: Budget) -> Answer | None:
    """The nearest shares of exclusive values with intervals and pins; None if there is anything else, or no way."""
    terms = part.terms
    if not len(terms) or len(terms.conditionals) or (terms.limits.condition.coordinate >= 0).any():
        return None
    values = values_of(part)
    if values is None:
        return None
    whole = objective.terms(part)
    shares = _shares(part, whole, values)
    if shares is None:
        return None
    share, price = shares
    sides, pins = sides_at(share[values.variable]), pin_rows(terms.limits, len(part))
    planes = whole.planes(sides, 0.0)
    plane = plane_below(whole, planes, pins, _prices(whole, planes, pins, sides=sides, v=price))
    return answer_of_values(part, objective, budget, values=values, share=share, plane=plane)


def _shares(part: Merged, objective: Objective, values: ExclusiveValues) -> tuple[Vector, float] | None:
    """The shares of all values, the last one of those that no variable stands for, and v; None if pins leave none."""
    count = part.n_variables + 1
    low, high, copies = np.zeros(count), np.ones(count), np.ones(count)
    _limit(part, values, low, high)
    high[-1], copies[-1] = float(values.unnamed > 0), float(values.unnamed)
    lines = _dual_lines(objective.loss, values.variable[objective.joint], objective, count)

    loss = objective.loss
    with np.errstate(all="ignore"):
        ends = loss.gradient(np.array([0.0, 1.0]))

    def shares(v: float, *, upper: bool = False) -> Vector:
        dual = lines.at(v, upper=upper)
        with np.errstate(all="ignore"):
            found = np.where(dual <= ends[0], 0.0, np.where(dual >= ends[1], 1.0, loss.inverse(np.clip(dual, *ends))))
        return np.minimum(np.maximum(found, low), high)

    if low.sum() > 1 or high.sum() < 1 or (low > high).any():
        return None
    least, most = shares(0.0), shares(0.0, upper=True)
    if least.sum() > 1 or most.sum() < 1:
        v = _root(lambda v: float(shares(v).sum()) - 1.0, -1.0 if least.sum() > 1 else 1.0, objective.total)
        return shares(v), v
    told = np.zeros(count, np.bool_)
    told[values.variable[objective.joint]] = True
    return _chosen(least, most, told, copies), 0.0


def _limit(part: Merged, values: ExclusiveValues, low: Vector, high: Vector) -> None:
    """Tighten the ranges of shares to those of the pins."""
    limits = part.terms.limits
    variable, turned = values.variable[limits.joint.coordinate], limits.joint.turned
    np.maximum.at(low, variable, np.where(turned, 1.0 - limits.high, limits.low))
    np.minimum.at(high, variable, np.where(turned, 1.0 - limits.low, limits.high))


def _chosen(least: Vector, most: Vector, told: Mask, copies: Vector) -> Vector:
    """Shares between two ends that sum to 1: what nobody forecast first, in equal parts, and the rest as evenly."""
    middle, free = 0.5 * (least + most), ~told
    rest = min(max(1.0 - float(middle[told].sum()), float(least[free].sum())), float(most[free].sum()))
    found = middle.copy()
    found[free] = _levelled(least[free], most[free], start=np.zeros(int(free.sum())), copies=copies[free], total=rest)
    found[told] = _levelled(
        least[told], most[told], start=middle[told], copies=np.ones(int(told.sum())), total=1.0 - found[free].sum()
    )
    return found


def _levelled(least: Vector, most: Vector, *, start: Vector, copies: Vector, total: float) -> Vector:
    """The starts, each raised by the same number times its copies but kept between its ends, so that they sum up."""

    def at(level: float) -> Vector:
        return np.minimum(np.maximum(start + level * copies, least), most)

    away = float(at(0.0).sum()) - total
    if away == 0 or not len(start):
        return at(0.0)
    if total >= most.sum() or total <= least.sum():  # by no more than rounding
        return most if away < 0 else least
    return at(_root(lambda level: float(at(level).sum()) - total, 1.0 if away < 0 else -1.0, 1.0))


def _root(rising: Callable[[float], float], sign: float, unit: float) -> float:
    """Where a rising function is 0, on one side of 0, by doubling and then halving a bracket."""
    near, far = 0.0, sign * unit
    for _ in range(MOST_DOUBLINGS):
        if sign * rising(far) >= 0:
            break
        near, far = far, 2.0 * far
    for _ in range(MOST_HALVINGS):
        middle = 0.5 * (near + far)
        if middle in (near, far):
            break
        if sign * rising(middle) >= 0:
            far = middle
        else:
            near = middle
    return far


class _DualLines(NamedTuple):
    """F' of each value: `knot` has the `counts` duals at which it bends, ascending, and `height` F' there.

    It rises by `rise[:, k]` before knot k, and after the last one by the next.
    """

    knot: Table
    height: Table
    rise: Table
    counts: Indices

    def at(self, v: float, *, upper: bool = False) -> Vector:
        """The least dual at which F' is v, or if `upper` the greatest."""
        if not self.knot.shape[1]:
            return np.full(len(self.counts), np.inf if v > 0 or (v == 0 and upper) else -np.inf)
        below = self.height <= v if upper else self.height < v
        passed = (below & (np.arange(self.knot.shape[1]) < self.counts[:, None])).sum(axis=1)
        row, at = np.arange(len(self.counts)), np.maximum(passed - 1, 0)
        rise, past = self.rise[row, passed], v - self.height[row, at]
        inner, idle = (passed > 0) & (passed < self.counts), np.inf if v > 0 or (v == 0 and upper) else -np.inf
        with np.errstate(all="ignore"):
            moved = np.where(rise > 0, past / rise, np.where(inner, 0.0, idle))
        found: Vector = self.knot[row, at] + moved
        return found


def _dual_lines(loss: Loss, value: Indices, objective: Objective, count: int) -> _DualLines:
    """The lines of `count` values; term i is about the value `value[i]`."""
    with np.errstate(all="ignore"):
        knot = np.concatenate([loss.gradient(end) for end in (objective.low, objective.high)])
    bend = np.concatenate([-objective.weight, objective.weight])
    owner, finite = np.concatenate([value, value]), np.isfinite(knot)
    knot, bend, owner = knot[finite], bend[finite], owner[finite]
    order = np.lexsort([knot, owner])
    knot, bend, owner = knot[order], bend[order], owner[order]
    counts = np.bincount(owner, minlength=count)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = int(counts.max(initial=0))
    knots, bends = np.zeros((count, width)), np.zeros((count, width))
    knots[owner, place], bends[owner, place] = knot, bend
    apart = np.where(np.arange(1, width) < counts[:, None], np.diff(knots, axis=1), 0.0)
    above, below = _heights(np.maximum(bends, 0.0), apart), _heights(np.maximum(-bends, 0.0)[:, ::-1], apart[:, ::-1])
    return _DualLines(knots, above[0] - below[0][:, ::-1], above[1] + below[1][:, ::-1], counts)


def _heights(bends: Table, apart: Table) -> tuple[Table, Table]:
    """What rises by each bend from its knot on: the heights at the knots, and the rises before, between and after them.

    Both are 0, without rounding, up to the first bend.
    """
    rise = np.column_stack([np.zeros(len(bends)), np.cumsum(bends, axis=1)])
    steps = np.column_stack([np.zeros(len(bends)), rise[:, 1:-1] * apart])[:, : bends.shape[1]]
    return np.cumsum(steps, axis=1), rise


def _prices(objective: Objective, planes: Planes, pins: PinRows, *, sides: Vector, v: float) -> Vector:
    """What pins hold shares with: F' less v, for the first pin of each event that is tight and has the right sign."""
    size = objective.size
    slope = sums_at(objective.joint, planes.by_joint, size) - v
    event = pins.joint % size
    price = slope[event] / np.where(pins.joint < size, pins.sign, -pins.sign)
    fits = (np.abs(pins.value(sides)) <= TIGHT) & (pins.equal | (price > 0))
    found = np.zeros(len(pins))
    _, first = np.unique(event[fits], return_index=True)
    chosen = np.flatnonzero(fits)[first]
    found[chosen] = price[chosen]
    return found
