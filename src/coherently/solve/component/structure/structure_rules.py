"""The structures that a component is asked for before any search among worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.solve.component.structure.exclusive_values import solve_exclusive
from coherently.solve.component.structure.interior_levels import solve_levels
from coherently.solve.component.structure.isotonic import solve_isotonic
from coherently.solve.component.structure.literal_order import literal_order
from coherently.solve.component.structure.world_shares import solve_shares

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.answer import Answer
    from coherently.solve.component.objective import Objective, Squares

    Solver = Callable[[Merged, Objective | Squares, Budget], Answer | None]

MANY_SQUARES, MANY_EVENTS = 1_000, 400
"""Number of events from which all worlds at once are quicker than one after the other: Brier loss, other losses."""


def solve_order(part: Merged, objective: Objective | Squares, budget: Budget) -> Answer | None:
    """The nearest probabilities of literals in an order and of events linear in these; None if it is something else."""
    order = literal_order(part)
    if order is None:
        return None
    if order.is_single:
        return solve_isotonic(part, objective, budget, order)
    return solve_levels(part, objective, budget, order)


def solve_large_lists(part: Merged, objective: Objective | Squares, budget: Budget) -> Answer | None:
    """The nearest mixture of few worlds, if events are so many that one world after the other takes longer."""
    if not part.space.blocks or len(part) < (MANY_SQUARES if objective.is_quadratic else MANY_EVENTS):
        return None
    return solve_shares(part, objective, budget)


STRUCTURES: tuple[Solver, ...] = (solve_exclusive, solve_order, solve_large_lists)
"""Each looks, in linear time, whether a component has its structure, and gives None if not."""


def solve_by_structure(part: Merged, objective: Objective | Squares, budget: Budget) -> Answer | None:
    """The answer by the first structure that a component has, proved to the tolerance; None if it has none."""
    for solve in STRUCTURES:
        if (answer := solve(part, objective, budget)) is not None:
            return answer
    return None
