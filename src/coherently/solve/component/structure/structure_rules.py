"""The structures that a component is asked for before any search among worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.problem import BlockForm
from coherently.solve.component.structure.exclusive_values import solve_exclusive
from coherently.solve.component.structure.interior_levels import solve_levels
from coherently.solve.component.structure.isotonic import solve_isotonic
from coherently.solve.component.structure.limited_values import solve_limited
from coherently.solve.component.structure.literal_order import literal_order
from coherently.solve.component.structure.world_shares import solve_shares

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.answer import Answer
    from coherently.solve.component.objective import Objective, Squares

    Solver = Callable[[Merged, Objective | Squares, Budget], Answer | None]

MANY_SQUARES, MANY_WORLDS = 400, 150
"""Number of likely worlds from which all at once are quicker than one after the other: Brier loss, other losses."""
LARGE = 1_600
"""Number of events from which the same holds, however few worlds are likely."""


def solve_order(part: Merged, objective: Objective | Squares, budget: Budget) -> Answer | None:
    """The nearest probabilities of literals in an order and of events linear in these; None if it is something else."""
    order = literal_order(part)
    if order is None:
        return None
    if order.is_single:
        return solve_isotonic(part, objective, budget, order)
    return solve_levels(part, objective, budget, order)


def solve_large_lists(part: Merged, objective: Objective | Squares, budget: Budget) -> Answer | None:
    """The nearest mixture of few worlds, if the answer has so many that one world after the other takes longer."""
    many = MANY_SQUARES if objective.is_quadratic else MANY_WORLDS
    if not part.space.blocks or len(part) < many or (len(part) < LARGE and likely_worlds(part) < many):
        return None
    return solve_shares(part, objective, budget)


def likely_worlds(part: Merged) -> int:
    """About how many worlds the answer mixes: one for each event, but rungs out of order are pooled, and 0 stays 0."""
    known = (part.weight > 0) & (part.mean > 0)
    rungs, found = np.zeros(len(part), np.bool_), 0
    event_of = np.full(part.n_variables, -1)
    single = np.flatnonzero(known & (part.sizes() == 1))
    event_of[part.functions.variables[part.functions.starts[single]]] = single
    for block in part.space.blocks:
        if block.form is BlockForm.CHAIN:
            own = event_of[block.variables]
            own = own[own >= 0]
            order = np.arange(len(own), dtype=np.int32)
            chain = _core.Order(len(own), order[:-1], order[1:])
            found += len(np.unique(chain.isotonic(part.mean[own], part.weight[own])))
            rungs[own] = True
    return found + int(np.count_nonzero(known & ~rungs))


STRUCTURES: tuple[Solver, ...] = (solve_exclusive, solve_limited, solve_order, solve_large_lists)
"""Each looks, in linear time, whether a component has its structure, and gives None if not."""


def solve_by_structure(part: Merged, objective: Objective | Squares, budget: Budget) -> Answer | None:
    """The answer by the first structure that a component has, proved to the tolerance; None if it has none."""
    for solve in STRUCTURES:
        if (answer := solve(part, objective, budget)) is not None:
            return answer
    return None
