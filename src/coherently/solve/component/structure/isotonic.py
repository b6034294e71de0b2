"""Forecasts of literals in an order: isotonic regression of their duals.

With the multipliers f of x_i <= x_j, the least sum of w_i d(x_i, q_i) has

    w_i (phi'(x_i) - phi'(q_i)) = (f into i) - (f out of i),

which are the conditions of the least sum of w_i (g_i - phi'(q_i))^2 with g_i <= g_j, at g = phi'(x), as phi' is
rising. So every loss has the same regression, of other numbers (Barlow and Brunk 1972, The isotonic regression
problem and its dual, Journal of the American Statistical Association 67): under the log loss blocks have their mean
log-odds.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.component.structure.certified_levels import certified
from coherently.solve.component.structure.literal_order import sums_at
from coherently.solve.facts import Route

if TYPE_CHECKING:
    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.answer import Answer
    from coherently.solve.component.objective import Objective, Squares
    from coherently.solve.component.structure.literal_order import LiteralOrder


def solve_isotonic(part: Merged, objective: Objective | Squares, budget: Budget, order: LiteralOrder) -> Answer | None:
    """The nearest probabilities of literals in an order; None if time is over, or rounding leaves a gap."""
    loss, weights = objective.loss, part.weight[order.event]
    known = np.flatnonzero(weights > 0)
    event, literal = order.event[known], order.literal[known]
    told = np.where(order.factor[known] < 0, 1.0 - part.mean[event], part.mean[event])
    weight = sums_at(literal, weights[known], part.n_variables)
    dual = sums_at(literal, weights[known] * loss.gradient(told), part.n_variables)
    np.divide(dual, weight, out=dual, where=weight > 0)
    fitted = order.watched(budget, partial(order.order.isotonic, dual, weight))
    if not len(fitted):
        return None
    x = np.clip(loss.inverse(fitted), 0.0, 1.0)
    if not np.isfinite(x).all():
        return None
    return certified(
        part,
        objective,
        budget,
        mixture=(*order.mixture(x), order.probabilities(x)),
        least=partial(order.least_within, budget),
        route=Route.CLOSED_FORM,
        steps=int(not order.order.is_forest),  # with cycles the proof may have to end early
    )
