"""Panel -> Problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.panel import by_appearance
from coherently.problem.losses import BRIER
from coherently.problem.losses import merged_mean as merged_mean_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Panel
    from coherently.problem.losses import Loss


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """Distinct events, an event and its complement being one, with the forecasts of both sides merged.

    An entry a coordinate: `event` and `condition` are sides (see `coherently.events.Reading`), `weight` is
    the total weight N, `mean` the weighted mean q of the forecasts turned to this side (NaN where N is 0).
    `starts` and `variables` list the variables of each coordinate, `table_starts` and `tables` its truth table
    or, for large cardinalities, the counts that make it true (see `coherently.events.Events.tables`). `origin` is the
    panel's variable behind each variable; with judges apart each has variables of his own, and a panel's variable may
    occur several times.
    """

    event: NDArray[np.int32]
    condition: NDArray[np.int32]
    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    starts: NDArray[np.int64]
    variables: NDArray[np.int32]
    origin: NDArray[np.int32]
    table_starts: NDArray[np.int64]
    tables: NDArray[np.uint64]

    @property
    def n_variables(self) -> int:
        """The number of variables, used or not."""
        return len(self.origin)

    @property
    def functions(self) -> tuple[int, NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.uint64]]:
        """What a kernel needs to tell which events hold in a world."""
        return self.n_variables, self.starts, self.variables, self.table_starts, self.tables

    def __len__(self) -> int:
        return len(self.event)

    def sizes(self) -> NDArray[np.int64]:
        """The number of variables of each coordinate."""
        return np.diff(self.starts)

    def truth(self, coordinates: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The truth tables of coordinates that have equally many variables, a row each."""
        first = self.table_starts[coordinates]
        length = self.table_starts[coordinates[:1] + 1] - first[:1]
        return self.tables[first[:, None] + np.arange(length[0] if len(length) else 0)]

    def keep(self, kept: NDArray[np.bool_]) -> Merged:
        """The coordinates of a mask alone, in their order."""
        return replace(
            self,
            event=self.event[kept],
            condition=self.condition[kept],
            weight=self.weight[kept],
            mean=self.mean[kept],
            starts=np.concatenate([[0], np.cumsum(self.sizes()[kept])]),
            variables=self.variables[np.repeat(kept, self.sizes())],
            table_starts=np.concatenate([[0], np.cumsum(np.diff(self.table_starts)[kept])]),
            tables=self.tables[np.repeat(kept, np.diff(self.table_starts))],
        )

    def renumber(self, used: NDArray[np.int64]) -> Merged:
        """The same with only some variables, ascending, numbered by their place; no other may occur."""
        variables = np.searchsorted(used, self.variables).astype(np.int32)
        return replace(self, variables=variables, origin=self.origin[used])

    def components(self) -> NDArray[np.int32]:
        """Label each coordinate with its connected component: those that share no variable are apart."""
        return _core.connected_rows(self.starts, self.variables, self.n_variables)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The forecasts as the methods need them.

    `weight` and `mean` have an entry a unit (NaN where the weight is 0): an event as written, or, where judges are
    apart, one of a judge's. `unit` gives the unit of each forecast; `coordinate` and `complemented` lead from units
    to `merged`, whose means are those of the loss. `scatter` is the sum of w (p - q)^2, which merging leaves out of
    the objective under the Brier loss.
    """

    unit: NDArray[np.int32]
    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    coordinate: NDArray[np.int32]
    complemented: NDArray[np.bool_]
    merged: Merged
    scatter: float
    loss: Loss

    def keep(self, kept: NDArray[np.bool_]) -> tuple[Problem, NDArray[np.bool_]]:
        """Give the problem of some coordinates alone, and the units that are about them.

        The scatter goes with the coordinates in no other way than all or nothing: it is 0 where some are left out.
        """
        number = np.where(kept, np.cumsum(kept) - 1, -1)[self.coordinate]
        units = number >= 0
        part = replace(
            self,
            coordinate=number[units].astype(np.int32),
            complemented=self.complemented[units],
            merged=self.merged.keep(kept),
            scatter=self.scatter if kept.all() else 0.0,
        )
        return part, units

    def as_written(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Carry an answer for each coordinate back to the units."""
        answer = x[self.coordinate]
        return np.where(self.complemented, 1.0 - answer, answer)


def pose(panel: Panel, loss: Loss = BRIER) -> Problem:
    """Merge the panel's forecasts of equal events, and of events with their complements.

    >>> from coherently.panel import Panel
    >>> problem = pose(Panel.from_records([("Ann", "p", 0.6), ("Ann", "~p", 0.6), ("Bob", "p", 0.8)]))
    >>> problem.mean.round(3).tolist(), problem.merged.mean.round(3).tolist(), problem.merged.weight.tolist()
    ([0.7, 0.6], [0.6], [3.0])
    """
    return _pose(panel, panel.event_index, np.arange(len(panel.written)), None, loss)


def pose_individually(panel: Panel, loss: Loss = BRIER) -> Problem:
    """Pose the problems of all judges side by side, as if each had variables of its own."""
    unit, first = by_appearance(panel.judge_index.astype(np.int64) * len(panel.written) + panel.event_index)
    return _pose(panel, unit, panel.event_index[first], panel.judge_index[first].astype(np.int64), loss)


def _pose(
    panel: Panel, unit: NDArray[np.int32], index: NDArray[np.integer], owner: NDArray[np.int64] | None, loss: Loss
) -> Problem:
    """Merge within owners; `index` is the written event of each unit and `owner` whose it is, if they are apart."""
    written = panel.written
    complemented = written.event[index] > written.rest[index]
    side = np.minimum(written.event, written.rest)[index]
    coordinate, first = by_appearance(side.astype(np.int64) << 32 | written.condition[index])
    if owner is not None:
        coordinate, first = by_appearance(owner * len(index) + coordinate)
    event, condition = side[first], written.condition[index][first]

    weight, mean = _weighted_mean(unit, panel.probability, panel.weight, len(index))
    turned = np.where(complemented[unit], 1.0 - panel.probability, panel.probability)
    own = coordinate[unit]
    if loss.name == BRIER.name:
        merged_weight, merged_mean = _weighted_mean(own, turned, panel.weight, len(event))
    else:
        merged_weight = np.bincount(own, panel.weight, len(event)).astype(np.float64)
        merged_mean = merged_mean_of(loss, own, turned, panel.weight, len(event))
    starts, variables = _supports(panel, event, condition)
    own_variables = _number_variables(variables, None if owner is None else np.repeat(owner[first], np.diff(starts)))
    tables = panel.events.tables(event // 2)
    merged = Merged(event, condition, merged_weight, merged_mean, starts, *own_variables, *tables)
    scatter = float(np.sum(panel.weight * (turned - merged_mean[own]) ** 2, where=panel.weight > 0))
    return Problem(unit, weight, mean, coordinate, complemented, merged, scatter, loss)


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


def _number_variables(
    variables: NDArray[np.int32], owner: NDArray[np.int64] | None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number the variables that occur from 0 on, those of each owner apart, and say which is behind each number."""
    if owner is None:
        origin = np.flatnonzero(np.bincount(variables)).astype(np.int32)
        number = np.zeros(int(variables.max(initial=-1)) + 1, np.int32)
        number[origin] = np.arange(len(origin))
        return number[variables], origin
    count = int(variables.max(initial=0)) + 1
    owned, number = np.unique(owner * count + variables, return_inverse=True)
    return number.astype(np.int32), (owned % count).astype(np.int32)
