"""Whether the relaxation to clusters is tight on the sparse panels: `python -m bench.tightness`.

The relaxed answer is unique, every weight being 1, so the relaxation is tight if and only if that answer is coherent.
Where a few of its numbers are not, they prove the contrary. Squared distances of parts without common variables add up
to one that every coherent point keeps from the relaxed answer, and so much, at least, the bound lies below the optimum.
"""

from __future__ import annotations

import numpy as np

import coherently as co
from bench.draw import sparse_panel
from bench.exact import SPARSE
from coherently.problem import pose, split
from coherently.solve.relaxed.interior import interior_point
from coherently.solve.relaxed.relaxation import Relaxation

PART = 24
"""Variables whose events are looked at together."""
SECONDS = 2.0
SMALL = 1e-9
"""A squared distance that may be rounding."""


def main() -> None:
    """Print for each simulated panel how far its relaxed answer is from coherent, at least."""
    print("| seed | bound | incoherent parts | distance, at least | of the bound |\n|---|---|---|---|---|")
    for seed in range(3):
        bound, found = measure(*SPARSE, seed)
        print(f"| {seed} | {bound:.3f} | {len(found)} | {sum(found):.4f} | {sum(found) / bound:.2%} |", flush=True)


def measure(variables: int, events: int, seed: int) -> tuple[float, list[float]]:
    """The relaxed distance, and proved squared distances of parts of the relaxed answer from coherent ones."""
    panel = sparse_panel(variables, events, "simulated", seed)
    problem = pose(panel)
    whole = max(split(problem.merged), key=lambda part: len(part.merged))
    merged = whole.merged
    groups = Relaxation(merged, None).groups
    none = np.zeros(groups.auxiliary)
    inner = interior_point(np.concatenate([merged.weight, none]), np.concatenate([merged.mean, none]), groups)
    answer = np.full(len(problem.merged), np.nan)
    answer[whole.coordinates] = np.clip(inner.x[: len(merged)], 0.0, 1.0)
    value, text = problem.as_written(answer), panel.written.text
    written = np.empty(len(problem.merged), np.int64)
    written[problem.coordinate] = np.arange(len(problem.coordinate))
    ends = merged.functions.variables.reshape(-1, 2)
    found: list[float] = []
    free = np.ones(merged.n_variables, np.bool_)
    for v in range(merged.n_variables):
        inside = _grown(ends, v, free)
        own = written[whole.coordinates[inside[ends].all(axis=1)]]
        if len(own) <= np.count_nonzero(inside):  # hardly a cycle
            continue
        part = co.Panel.from_records([("relaxed", text[i], value[i]) for i in own.tolist()])
        bound = co.aggregate(part, co.Exact(time_limit=SECONDS)).lower_bound or 0.0
        if bound > SMALL:
            found.append(bound)
            free &= ~inside
    return float(np.sum(merged.weight * (inner.x[: len(merged)] - merged.mean) ** 2)), found


def _grown(ends: np.ndarray, start: int, free: np.ndarray) -> np.ndarray:
    """The variables around one, those with the most events about variables within first; none that is not free."""
    inside = np.zeros(len(free), np.bool_)
    inside[start] = free[start]
    for _ in range(PART - 1):
        a, b = ends[inside[ends[:, 0]], 1], ends[inside[ends[:, 1]], 0]
        links = np.bincount(np.concatenate([a, b]), minlength=len(free)) * (free & ~inside)
        if not links.any():
            break
        inside[np.argmax(links)] = True
    return inside


if __name__ == "__main__":
    main()
