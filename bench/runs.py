"""One run of a globally coherent method on a panel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import coherently as co
from bench.measure import fastest
from coherently.problem import pose
from coherently.result import Result

if TYPE_CHECKING:
    from coherently.panel import Panel
    from coherently.solve import Method


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds of the processor and of the clock, and the objective with its gap, relative to it."""

    seconds: float
    clock: float
    objective: float
    gap: float


def solve_and_verify(panel: Panel, method: Method) -> Run:
    """Run a method on the built problem."""
    problem = pose(panel)
    solution, seconds, clock = fastest(lambda: method.solve(problem))
    return verified(panel, Result(panel, method, problem, solution), seconds, clock)


def verified(panel: Panel, result: Result, seconds: float, clock: float) -> Run:
    """The figures of a result; one that is not coherent, or belies its figures, is an error."""
    checked = co.verify(panel, result)
    if not checked or result.objective is None or result.gap is None:
        raise RuntimeError(f"{result.method} on {panel}: {checked.problems}")
    return Run(seconds, clock, result.objective, result.gap / result.objective)
