"""The relaxed problem of panels whose events are about at most two variables each, by the compiled Newton method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from coherently import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from coherently.problem import Design, Merged
    from coherently.solve.budget import Budget

MAX_ITERATIONS = 1000
QUICK = 20_000
"""Events up to which nobody looks whether to stop: they take a few hundredths of a second."""


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """An answer to a relaxed problem: `x` an entry a coordinate, and what is known of its quality."""

    x: NDArray[np.float64]
    objective: float
    lower_bound: float
    sweeps: int


def fits(merged: Merged, design: Design) -> bool:
    """Tell whether the design's groups are about at most two variables each, in any of their truth assignments."""
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

    A variable that nobody forecast has no weight; it is each group's own, or, with `auxiliary`, shared by its groups.
    Components are solved in parallel. Where the budget is over, the answer so far has a bound that holds.
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
    return Relaxed(*(work() if budget is None or len(merged) <= QUICK else budget.watch(work, stop.set)))
