"""The relaxed problem of panels whose events are about at most two variables each, by the compiled Newton method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem import Design, Merged

MAX_ITERATIONS = 1000

# Events about variables a and b that are false where both are: truth table -> the coefficients of
# P(a & b), P(a) and P(b) in their probability.
_COEFFICIENTS = np.zeros((16, 3))
_COEFFICIENTS[0b1000] = 1, 0, 0  # a & b
_COEFFICIENTS[0b0010] = -1, 1, 0  # a & ~b
_COEFFICIENTS[0b0100] = -1, 0, 1  # ~a & b
_COEFFICIENTS[0b1110] = -1, 1, 1  # a | b
_COEFFICIENTS[0b0110] = -2, 1, 1  # a ^ b


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """An answer to a relaxed problem: `x` an entry a coordinate, and what is known of its quality."""

    x: NDArray[np.float64]
    objective: float
    lower_bound: float
    sweeps: int


def fits(merged: Merged, design: Design) -> bool:
    """Tell whether the design's groups are about at most two variables each."""
    return design in ("logical", "pairs") and bool((merged.sizes() <= 2).all())


def solve_pairwise(
    merged: Merged, design: Design, tolerance: float, threads: int = 1, *, auxiliary: bool = False
) -> Relaxed:
    """Solve the relaxed problem with the groups `logical` or `pairs`.

    A variable that nobody forecast has no weight; it is each group's own, or, with `auxiliary`, shared by its groups.
    Components are solved in parallel.
    """
    size = merged.sizes()
    alone, double = np.flatnonzero(size == 1), np.flatnonzero(size == 2)
    order, starts = _grouped(merged, double, design)
    events = double[order]
    owner, free = _owners(merged, alone, events[starts[:-1]], auxiliary=auxiliary)
    table = merged.truth(events)[:, 0] if len(events) else np.empty(0, np.uint64)
    rows = np.column_stack([merged.weight[events], np.nan_to_num(merged.mean[events]), _COEFFICIENTS[table]])
    variables, values, objective, bound, sweeps = _core.solve_pairs(
        np.concatenate([merged.weight[alone], np.zeros(free)]),
        np.nan_to_num(np.concatenate([merged.mean[alone], np.full(free, 0.5)]), nan=0.5),
        np.ascontiguousarray(owner[:, 0], np.int32),
        np.ascontiguousarray(owner[:, 1], np.int32),
        starts,
        np.ascontiguousarray(rows),
        tolerance,
        MAX_ITERATIONS,
        threads,
    )
    x = np.zeros(len(merged))
    x[alone] = variables[: len(alone)]
    x[events] = values
    never = size == 0
    extra = float(np.nansum(merged.weight[never] * merged.mean[never] ** 2))
    return Relaxed(x, objective + extra, bound + extra, sweeps)


def _owners(
    merged: Merged, alone: NDArray[np.int64], lead: NDArray[np.int64], *, auxiliary: bool
) -> tuple[NDArray[np.int64], int]:
    """Number the two variables of each group, forecast ones first, and count those that nobody forecast."""
    known = np.full(merged.n_variables, -1, np.int64)
    known[merged.variables[merged.starts[alone]]] = np.arange(len(alone))
    ends = merged.variables[merged.starts[lead][:, None] + np.arange(2)]
    owner = known[ends]
    free = owner < 0
    own = np.unique(ends[free], return_inverse=True)[1] if auxiliary else np.arange(free.sum())
    owner[free] = len(alone) + own
    return owner, int(own.max(initial=-1)) + 1


def _grouped(merged: Merged, double: NDArray[np.int64], design: Design) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order the two-variable events by group, and say where each group starts."""
    count = len(double)
    if design == "logical" or count == 0:
        return np.arange(count), np.arange(count + 1)
    ends = merged.variables[merged.starts[double][:, None] + np.arange(2)].astype(np.int64)
    key = ends[:, 0] * merged.n_variables + ends[:, 1]
    order = np.argsort(key, kind="stable")
    cuts = np.flatnonzero(np.diff(key[order])) + 1
    return order, np.concatenate([[0], cuts, [count]])
