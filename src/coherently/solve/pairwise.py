"""The relaxed problem of panels whose events are about at most two variables each, by the compiled Newton method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from coherently.problem import Design, Merged

MAX_ITERATIONS = 1000


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
    merged: Merged, design: Design, tolerance: float, threads: int = 1, *, auxiliary: bool = False
) -> Relaxed:
    """Solve the relaxed problem with the groups `logical` or `pairs`.

    A variable that nobody forecast has no weight; it is each group's own, or, with `auxiliary`, shared by its groups.
    Components are solved in parallel.
    """
    x, objective, bound, sweeps = _core.solve_pairs(
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
    )
    return Relaxed(x, objective, bound, sweeps)
