"""Panel -> Problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Panel


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """Distinct events, an event and its complement being one, with the forecasts of both sides merged.

    An entry a coordinate: `event` and `condition` are sides (see `coherently.events.Reading`), `weight` is
    the total weight N, `mean` the weighted mean q of the forecasts turned to this side (NaN where N is 0).
    `starts` and `variables` list the variables of each coordinate.
    """

    event: NDArray[np.int32]
    condition: NDArray[np.int32]
    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    starts: NDArray[np.int64]
    variables: NDArray[np.int32]
    n_variables: int

    def __len__(self) -> int:
        return len(self.event)

    def components(self) -> NDArray[np.int32]:
        """Label each coordinate with its connected component: those that share no variable are apart."""
        return _core.connected_rows(self.starts, self.variables, self.n_variables)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The forecasts as the methods need them.

    `weight` and `mean` have an entry an event as written (NaN where the weight is 0); `coordinate` and
    `complemented` lead from there to `merged`. `scatter` is the sum of w (p - q)^2, which merging leaves out
    of the objective.
    """

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    coordinate: NDArray[np.int32]
    complemented: NDArray[np.bool_]
    merged: Merged
    scatter: float

    def as_written(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Carry an answer for each coordinate back to the events as written."""
        answer = x[self.coordinate]
        return np.where(self.complemented, 1.0 - answer, answer)


def pose(panel: Panel) -> Problem:
    """Merge the panel's forecasts of equal events, and of events with their complements.

    >>> from coherently.panel import Panel
    >>> problem = pose(Panel.from_records([("Ann", "p", 0.6), ("Ann", "~p", 0.6), ("Bob", "p", 0.8)]))
    >>> problem.mean.round(3).tolist(), problem.merged.mean.round(3).tolist(), problem.merged.weight.tolist()
    ([0.7, 0.6], [0.6], [3.0])
    """
    written = panel.written
    complemented = written.event > written.rest
    side = np.minimum(written.event, written.rest)
    key = side.astype(np.int64) << 32 | written.condition
    _, first, coordinate = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    coordinate = rank[coordinate].astype(np.int32)
    event, condition = side[first[order]], written.condition[first[order]]

    weight, mean = _weighted_mean(panel.event_index, panel.probability, panel.weight, len(written))
    turned = np.where(complemented[panel.event_index], 1.0 - panel.probability, panel.probability)
    row_coordinate = coordinate[panel.event_index]
    merged_weight, merged_mean = _weighted_mean(row_coordinate, turned, panel.weight, len(event))
    offset = turned - merged_mean[row_coordinate]
    starts, variables = _supports(panel, event, condition)
    merged = Merged(
        event, condition, merged_weight, merged_mean, starts, variables, len(panel.events.variables)
    )
    scatter = float(np.sum(panel.weight * offset**2, where=panel.weight > 0))
    return Problem(weight, mean, coordinate, complemented, merged, scatter)


def _weighted_mean(
    index: NDArray[np.int32], values: NDArray[np.float64], weights: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    total: NDArray[np.float64] = np.bincount(index, weights, count).astype(np.float64)
    sums = np.bincount(index, weights * values, count)
    mean: NDArray[np.float64] = np.divide(sums, total, out=np.full(count, np.nan), where=total > 0)
    return total, np.clip(mean, 0.0, 1.0)


def _supports(
    panel: Panel, event: NDArray[np.int32], condition: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """List the variables of each coordinate, those of its condition included."""
    coordinates = np.stack([event, condition], axis=1).ravel() // 2
    starts, variables = panel.events.supports(coordinates)
    return starts[::2], variables
