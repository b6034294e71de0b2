"""How a method's answer improved from sweep to sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.scoring.scoring_rules import brier, by_group

if TYPE_CHECKING:
    from coherently.panel import Columns, Panel
    from coherently.problem import Problem
    from coherently.solve import Trace


def trace_columns(panel: Panel, problem: Problem, trace: Trace | None) -> Columns:
    """One row per sweep: objective, largest violation and, with outcomes, the average judge's mean Brier score.

    These are Figures 4 and 5 of Predd, Kulkarni, Poor and Osherson (2006). The first row is the start.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("A", "p", 0.5), ("A", "p & q", 0.9)], outcomes={"p": True, "q": False})
    >>> result = co.aggregate(panel, co.AlternatingProjections(trace=True))
    >>> trace_columns(panel, result.problem, result.trace)["brier"].round(3).tolist()
    [0.53, 0.29, 0.29]
    """
    if trace is None:
        raise MethodError("the method kept no trace; ask for one: AlternatingProjections(trace=True)")
    columns: dict[str, object] = {
        "sweep": np.arange(len(trace.objective)),
        "objective": trace.objective,
        "violation": trace.violation,
    }
    outcome = panel.written.outcome[panel.event_index]
    rows = np.flatnonzero(outcome >= 0)
    if len(rows):
        judge, unit = panel.judge_index[rows], problem.forecasts.unit[rows]
        means = [by_group(brier(value[unit], outcome[rows]), judge, len(panel.judges)) for value in trace.value]
        columns["brier"] = np.nanmean(np.stack(means), axis=1)
    return columns  # type: ignore[return-value]
