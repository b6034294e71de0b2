"""A problem that still knows its forecasts one by one."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.problem.losses import merged_mean
from coherently.problem.problem import Problem
from coherently.problem.terms import Intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Panel


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Detailed(Problem):
    """A problem with what merging leaves out, for methods that do more than average.

    `probability`, `forecast_weight` and `judge` have an entry a forecast, as `unit` has; `judges` and `texts` name the
    judges and the units. All weights are in units of `weight_unit` (see `coherently.problem.units`).
    """

    probability: NDArray[np.float64]
    forecast_weight: NDArray[np.float64]
    judge: NDArray[np.int32]
    judges: tuple[str, ...]
    texts: tuple[str, ...]
    weight_unit: float = 1.0

    def in_weights(self) -> Detailed:
        """The same with all weights as they were given, a sum that is too large for a double being infinite."""
        unit = self.weight_unit
        if unit == 1:
            return self
        with np.errstate(over="ignore"):
            return replace(
                self,
                weight=unit * self.weight,
                forecast_weight=unit * self.forecast_weight,
                merged=self.merged.times(unit),
                scatter=unit * self.scatter,
                weight_unit=1.0,
            )


def detail(problem: Problem, panel: Panel, weight_unit: float = 1.0) -> Detailed:
    """Put the forecasts of a panel beside the problem that it poses (see `coherently.problem.pose`).

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> panel = Panel.from_records([("Ann", "p", 0.6), ("Bob", "p", 0.8), ("Bob", "~p", 0.1)])
    >>> detailed = detail(pose(panel), panel)
    >>> detailed.unit.tolist(), detailed.probability.tolist(), detailed.judge.tolist(), detailed.texts
    ([0, 0, 1], [0.6, 0.8, 0.1], [0, 1, 1], ('p', '~p'))
    """
    return Detailed(
        **{field.name: getattr(problem, field.name) for field in fields(problem)},
        probability=panel.probability,
        forecast_weight=panel.weight,
        judge=panel.judge_index,
        judges=panel.judges,
        texts=panel.written.text,
        weight_unit=weight_unit,
    )


def forecasts_of(problem: Problem, method: str) -> Detailed:
    """Give the problem with its forecasts one by one, which judges posed apart do not have."""
    if isinstance(problem, Detailed):
        return problem
    raise MethodError(
        f"{method} combines the forecasts of several judges: it is for co.aggregate. To make each judge coherent "
        "alone, choose the method auto, exact, dykstra, projections or annealing"
    )


def pose_again(problem: Problem, value: NDArray[np.float64]) -> Problem:
    """Put a number for each unit in the place of its forecasts, intervals too; their weights stay."""
    merged, given = problem.merged, problem.merged.terms.conditionals
    turned = np.where(problem.complemented, 1.0 - value, value)
    weighty = problem.weight > 0

    def merge(units: NDArray[np.bool_], count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        own, weight = problem.coordinate[units], problem.weight[units]
        mean = merged_mean(problem.loss, own, turned[units], weight, count)
        return np.bincount(own, weight, count).astype(np.float64), mean

    weight, mean = merge(weighty & problem.conditional, len(given))
    terms = replace(merged.terms, conditionals=replace(given, weight=weight, mean=mean), intervals=Intervals())
    weight, mean = merge(weighty & ~problem.conditional, len(merged))
    again = replace(merged, terms=terms, weight=weight, mean=mean)
    return replace(problem, mean=value, merged=again, scatter=0.0)
