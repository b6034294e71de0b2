"""Values of which exactly one, or at most one, comes true, each forecast by itself: one multiplier solves it.

With shares x_i of the values, the weights w and merged forecasts q, the least sum of w_i d(x_i, q_i) with sum x = 1 has

    phi'(x_i) = phi'(q_i) - l / w_i, or x_i = 0 where that is less than phi'(0),

for one number l, at which the x sum to 1. Where some value has no forecast, or none of the values may come true, the
rest 1 - sum x is free: then sum x <= 1 and l >= 0. Under the Brier loss, sorting finds l (Held, Wolfe and Crowder
1974); under other losses Newton's method on the logarithm of the sum does, inside a bracket.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.problem import BlockForm
from coherently.solve.component.newton.limits import pin_rows
from coherently.solve.component.objective import sides_at
from coherently.solve.component.structure.certified_levels import certified, plane_at
from coherently.solve.facts import Route
from coherently.solve.lazy_table import LazyTable

if TYPE_CHECKING:
    from coherently.arrays import Indices, Truth, Vector
    from coherently.problem import Loss, Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.answer import Answer
    from coherently.solve.component.objective import Objective, Squares
    from coherently.solve.component.planes import PlaneBelow

SINGLE = 2
"""The truth table of a variable itself."""
MOST_STEPS = 200
"""Maximum number of Newton steps and bisections; a bracket of doubles is closed by then."""


class ExclusiveValues(NamedTuple):
    """A component of exclusive values: the `variable` of each event, and how many values no variable stands for."""

    variable: Indices
    n_variables: int
    unnamed: int

    def least(self, coefficients: Vector) -> float:
        """The least sum of coefficients of events in any world: that of one value, or of none."""
        by_value = np.zeros(self.n_variables + bool(self.unnamed))
        by_value[self.variable] = coefficients
        return float(by_value.min())


def exclusive_values(part: Merged) -> ExclusiveValues | None:
    """The component as exclusive values with a number each; None if there is anything else in it."""
    return None if len(part.terms) else values_of(part)


def values_of(part: Merged) -> ExclusiveValues | None:
    """The component as exclusive values, whatever is said of them; None if there are other events or laws."""
    space, functions = part.space, part.functions
    if len(space.blocks) != 1 or len(space.laws):
        return None
    block = space.blocks[0]
    if block.form not in (BlockForm.EXACTLY_ONE, BlockForm.AT_MOST_ONE) or len(block.variables) != part.n_variables:
        return None
    if len(functions.variables) != len(part) or (functions.sizes() != 1).any() or (functions.tables != SINGLE).any():
        return None
    if np.bincount(functions.variables, minlength=1).max() > 1:
        return None
    unnamed = block.unnamed if block.form is BlockForm.AT_MOST_ONE else 0
    return ExclusiveValues(functions.variables.astype(np.int64), part.n_variables, unnamed)


def solve_exclusive(part: Merged, objective: Objective | Squares, budget: Budget) -> Answer | None:
    """The nearest shares of exclusive values; None if the component is something else."""
    values = exclusive_values(part)
    if values is None:
        return None
    known = part.weight > 0
    free = part.n_variables - int(np.count_nonzero(known)) + values.unnamed
    found = _nearest(objective.loss, part.mean[known], part.weight[known], is_open=free > 0)
    if found is None:
        return None
    x, dual = found
    share = np.zeros(part.n_variables + 1)
    share[values.variable[known]] = x
    rest = max(0.0, 1.0 - float(x.sum()))
    if free:
        told = np.zeros(part.n_variables, np.bool_)
        told[values.variable[known]] = True
        share[:-1][~told] = rest / free
        share[-1] = rest * values.unnamed / free
    slopes = np.zeros(len(part))
    slopes[known] = dual
    terms = objective.terms(part)
    return answer_of_values(part, objective, budget, values=values, share=share, plane=plane_at(terms, slopes))


def answer_of_values(
    part: Merged,
    objective: Objective | Squares,
    budget: Budget,
    *,
    values: ExclusiveValues,
    share: Vector,
    plane: PlaneBelow,
) -> Answer | None:
    """The answer of shares, one for each value and one for none of them; None if rounding leaves a gap."""
    share = share / share.sum()
    value = np.flatnonzero(share > 0)
    x, worlds = (
        share[values.variable],
        LazyTable(partial(_worlds, value, part.n_variables), len(value), part.n_variables),
    )
    return certified(
        part,
        objective,
        budget,
        mixture=(share[value], worlds, x),
        least=values.least,
        plane=plane,
        route=Route.CLOSED_FORM,
        violation=pin_rows(part.terms.limits, len(part)).violation(sides_at(x)),
    )


def _worlds(value: Indices, count: int) -> Truth:
    """The worlds in which one of `count` variables is true; after the last one, none is."""
    worlds = np.zeros((len(value), count), np.uint8)
    named = value[value < count]
    worlds[np.arange(len(named)), named] = 1
    return worlds


def _nearest(loss: Loss, q: Vector, w: Vector, *, is_open: bool) -> tuple[Vector, Vector] | None:
    """The shares of forecast values, which sum to 1, or to less if there are others, and phi' of them."""
    if not len(q) or (is_open and q.sum() <= 1):
        return q, loss.gradient(q)
    if loss.is_quadratic:
        x = _by_sorting(q, w)
        return x, loss.gradient(x)
    return _by_newton(loss, q, w)


def _by_sorting(q: Vector, w: Vector) -> Vector:
    """The largest w q are positive: as many as stay so at their common l."""
    order = np.argsort(-w * q, kind="stable")
    level = (w * q)[order]
    multiplier = (np.cumsum(q[order]) - 1.0) / np.cumsum(1.0 / w[order])
    count = int(np.argmax(np.append(level[1:], -np.inf) <= multiplier)) + 1
    some = order[:count]
    x = np.zeros(len(q))
    x[some] = q[some] - multiplier[count - 1] / w[some]
    x[some] -= (x[some].sum() - 1.0) / (w[some] * (1.0 / w[some]).sum())  # what rounding has left
    return np.maximum(x, 0.0)


def _by_newton(loss: Loss, q: Vector, w: Vector) -> tuple[Vector, Vector] | None:
    """The x at the root l of log(sum x) = 0, which falls as l grows; None if the loss gives no finite numbers there."""
    ends = loss.gradient(np.array([0.0, 1.0]))
    dual = loss.gradient(q)
    low, high = float((w * (dual - ends[1])).min()), float((w * (dual - ends[0])).max())
    price = 0.0
    for _ in range(MOST_STEPS):
        at = np.clip(dual - price / w, *ends)
        x = loss.inverse(at)
        total = float(x.sum())
        if not np.isfinite(total):
            return None
        if total >= 1:
            low = price
        else:
            high = price
        inside = (at > ends[0]) & (at < ends[1])
        with np.errstate(all="ignore"):
            slope = float((1.0 / (w * loss.curvature(x)))[inside].sum())
            step = price + total * np.log(total) / slope
        following = step if low < step < high else 0.5 * (low + high)
        if following in (price, low, high) or abs(total - 1.0) <= 4e-16:
            break
        price = following
    return np.clip(x, 0.0, 1.0), at
