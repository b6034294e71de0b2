"""The relaxed problem of panels whose events are about at most two variables each, by the compiled Newton method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from coherently import _core

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.problem import Design, Merged
    from coherently.solve.budget import Budget

MAX_ITERATIONS = 1000
"""Maximum number of steps of the compiled Newton method."""
QUICK, QUICK_VARIABLES = 200_000, 300
"""Up to this many events and variables the work is not interruptible: it takes a few hundredths of a second."""


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """An answer to a relaxed problem: `x`, one entry per coordinate, and what is known of its quality."""

    x: Vector
    objective: float
    lower_bound: float
    sweeps: int


def fits(merged: Merged, design: Design) -> bool:
    """Whether the design's groups have at most two variables each, with every truth assignment possible."""
    plain = merged.space.is_free and not len(merged.terms)
    return plain and design in ("logical", "pairs") and bool((merged.sizes() <= 2).all())


def solve_pairwise(
    merged: Merged,
    design: Design,
    tolerance: float,
    threads: int = 1,
    *,
    auxiliary: bool = False,
    budget: Budget | None = None,
) -> Relaxed:
    """Solve the relaxed problem with the groups `logical` or `pairs`.

    A variable that nobody forecast has weight 0; each group has its own copy or, with `auxiliary`, all share it.
    Components are solved in parallel. If the budget is over, the bound of the answer so far is valid.
    """
    stop = _core.Stop()
    work = partial(
        _core.solve_pairs,
        merged.weight,
        merged.mean,
        merged.functions.starts,
        merged.functions.variables,
        merged.n_variables,
        merged.functions.table_starts,
        merged.functions.tables,
        design == "pairs",
        auxiliary,
        tolerance,
        MAX_ITERATIONS,
        threads,
        stop,
    )
    quick = len(merged) <= QUICK and merged.n_variables <= QUICK_VARIABLES
    return Relaxed(*(work() if budget is None or quick else budget.watch(work, stop.set)))
