"""Each judge made coherent on its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coherently.problem import find_loss, pose_individually
from coherently.result.aggregation import choose

if TYPE_CHECKING:
    from coherently.panel import Panel
    from coherently.problem import Loss
    from coherently.solve import Method


def individual(panel: Panel, method: str | Method = "dykstra", loss: str | Loss = "brier") -> Panel:
    """Give the panel with each judge's forecasts replaced by coherent ones, made of that judge's alone.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Chris", "p", 0.95), ("Chris", "q", 0.0), ("Chris", "p & q", 0.6)])
    >>> individual(panel).probability.round(6).tolist()
    [0.95, 0.3, 0.3]
    """
    problem = pose_individually(panel, find_loss(loss))
    solution = choose(method).solve(problem)
    return replace(panel, probability=solution.value[problem.unit])
