"""A problem that still knows its forecasts one by one."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem.losses import merged_mean
from coherently.problem.partitions import declared_partitions
from coherently.problem.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from coherently.panel import Panel


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Detailed(Problem):
    """A problem with what merging leaves out, for methods that do more than average.

    `probability`, `forecast_weight` and `judge` have an entry a forecast, as `unit` has; `judges` and `texts` name the
    judges and the units. `declared` finds the sets of units that laws and declarations make partitions.
    """

    probability: NDArray[np.float64]
    forecast_weight: NDArray[np.float64]
    judge: NDArray[np.int32]
    judges: tuple[str, ...]
    texts: tuple[str, ...]
    declared: Callable[[], list[NDArray[np.int64]]]


def detail(problem: Problem, panel: Panel) -> Detailed:
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
        declared=partial(declared_partitions, panel),
    )


def pose_again(problem: Problem, value: NDArray[np.float64]) -> Problem:
    """Put a number for each unit in the place of its forecasts; their weights stay."""
    merged, weighty = problem.merged, problem.weight > 0
    coordinate = problem.coordinate[weighty]
    turned = np.where(problem.complemented, 1.0 - value, value)[weighty]
    mean = merged_mean(problem.loss, coordinate, turned, problem.weight[weighty], len(merged))
    return replace(problem, mean=value, merged=replace(merged, mean=mean), scatter=0.0)
