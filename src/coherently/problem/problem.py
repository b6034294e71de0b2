"""Panel -> Problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.events import CERTAIN
from coherently.panel import by_appearance
from coherently.problem.losses import BRIER
from coherently.problem.losses import merged_mean as merged_mean_of
from coherently.problem.possible import number_variables
from coherently.problem.space import FREE, Space, take_rows
from coherently.problem.terms import NO_TERMS, Conditionals, Intervals, Limits, Sides, Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Panel
    from coherently.problem.losses import Loss
    from coherently.problem.possible import Numbering


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """Distinct events, an event and its complement being one, with the forecasts of both sides merged.

    An entry a coordinate: `event` is a side (see `coherently.events.Reading`), `weight` is the total weight N,
    `mean` the weighted mean q of the forecasts turned to this side (NaN where N is 0). Events that only conditionals
    and pins are about are coordinates without weight, after the others. `starts` and `variables` list the variables of
    each coordinate, `table_starts` and `tables` its truth table or, for large cardinalities, the counts that make it
    true (see `coherently.events.Events.tables`). `origin` is the panel's variable behind each variable; with judges
    apart each has variables of his own, and a panel's variable may occur several times. `space` tells the worlds
    that are possible, and `terms` what was said beside the numbers for events.
    """

    event: NDArray[np.int32]
    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    starts: NDArray[np.int64]
    variables: NDArray[np.int32]
    origin: NDArray[np.int32]
    table_starts: NDArray[np.int64]
    tables: NDArray[np.uint64]
    space: Space = FREE
    terms: Terms = NO_TERMS

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
        """The coordinates of a mask alone, in their order; conditionals and pins go with their events."""
        index = np.flatnonzero(kept)
        starts, variables = take_rows(self.starts, self.variables, index)
        table_starts, tables = take_rows(self.table_starts, self.tables, index)
        return replace(
            self,
            event=self.event[kept],
            weight=self.weight[kept],
            mean=self.mean[kept],
            starts=starts,
            variables=variables,
            table_starts=table_starts,
            tables=tables,
            terms=self.terms.part(np.where(kept, np.cumsum(kept) - 1, -1)),
        )

    def renumber(self, used: NDArray[np.int64]) -> Merged:
        """The same with only some variables, ascending, numbered by their place; no other may occur."""
        number = np.full(self.n_variables, -1, np.int64)
        number[used] = np.arange(len(used))
        space = self.space
        if not space.is_free:
            starts, members = space.rows()
            inside = np.flatnonzero(np.add.reduceat(number[members] < 0, starts[:-1]) == 0)
            blocks = len(space.blocks)
            space = space.part(inside[inside < blocks].tolist(), inside[inside >= blocks] - blocks, number)
        variables = number[self.variables].astype(np.int32)
        return replace(self, variables=variables, origin=self.origin[used], space=space)

    def times(self, factor: float) -> Merged:
        """The same with all weights multiplied."""
        given, inner = self.terms.conditionals, self.terms.intervals
        terms = self.terms
        if len(terms):
            given, inner = replace(given, weight=factor * given.weight), replace(inner, weight=factor * inner.weight)
            terms = replace(terms, conditionals=given, intervals=inner)
        return replace(self, weight=factor * self.weight, terms=terms)

    def components(self) -> NDArray[np.int32]:
        """Label each coordinate with its connected component: those that nothing ties to each other are apart."""
        return self.tied()[: len(self)]

    def tied(self) -> NDArray[np.int32]:
        """The components of the coordinates, of the blocks and of the laws, one after the other."""
        starts, variables, count = self.starts, self.variables, self.n_variables
        coordinate, term = self.terms.ties()
        if len(coordinate):
            order = np.argsort(
                np.concatenate([np.repeat(np.arange(len(self)), self.sizes()), coordinate]), kind="stable"
            )
            variables = np.concatenate([variables, count + term])[order]
            starts = starts + np.concatenate([[0], np.cumsum(np.bincount(coordinate, minlength=len(self)))])
            count += int(term.max()) + 1
        if not self.space.is_free:
            more, members = self.space.rows()
            starts = np.concatenate([starts, starts[-1] + more[1:]])
            variables = np.concatenate([variables, members])
        return _core.connected_rows(starts.astype(np.int64), variables.astype(np.int32), count)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The forecasts as the methods need them.

    `weight` and `mean` have an entry a unit (NaN where the weight is 0): an event as written, or, where judges are
    apart, one of a judge's. `unit` gives the unit of each forecast; `coordinate` and `complemented` lead from units
    to `merged`, whose means are those of the loss: to a coordinate or, where `conditional`, to a conditional of its
    terms. `scatter` is the sum of w (p - q)^2, which merging leaves out of the objective under the Brier loss.
    """

    unit: NDArray[np.int32]
    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    coordinate: NDArray[np.int32]
    complemented: NDArray[np.bool_]
    conditional: NDArray[np.bool_]
    merged: Merged
    scatter: float
    loss: Loss

    def keep(self, kept: NDArray[np.bool_]) -> tuple[Problem, NDArray[np.bool_]]:
        """Give the problem of some coordinates alone, and the units that are about them.

        The scatter goes with the coordinates in no other way than all or nothing: it is 0 where some are left out.
        """
        place = np.where(kept, np.cumsum(kept) - 1, -1)
        given = place[self.merged.terms.conditionals.joint.coordinate] >= 0
        given_place = np.where(given, np.cumsum(given) - 1, -1)
        number = np.full(len(self.coordinate), -1, np.int64)
        number[~self.conditional] = place[self.coordinate[~self.conditional]]
        number[self.conditional] = given_place[self.coordinate[self.conditional]]
        units = number >= 0
        part = replace(
            self,
            coordinate=number[units].astype(np.int32),
            complemented=self.complemented[units],
            conditional=self.conditional[units],
            merged=self.merged.keep(kept),
            scatter=self.scatter if kept.all() else 0.0,
        )
        return part, units

    def as_written(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Carry an answer for each coordinate back to the units."""
        if not self.conditional.any():
            answer = x[self.coordinate]
        else:
            answer = np.empty(len(self.coordinate))
            answer[~self.conditional] = x[self.coordinate[~self.conditional]]
            given = self.merged.terms.conditionals.value(x)
            answer[self.conditional] = given[self.coordinate[self.conditional]]
        return np.where(self.complemented, 1.0 - answer, answer)


def pose(panel: Panel, loss: Loss = BRIER) -> Problem:
    """Merge the panel's forecasts of equal events, and of events with their complements.

    >>> from coherently.panel import Panel
    >>> problem = pose(Panel.from_records([("Ann", "p", 0.6), ("Ann", "~p", 0.6), ("Bob", "p", 0.8)]))
    >>> problem.mean.round(3).tolist(), problem.merged.mean.round(3).tolist(), problem.merged.weight.tolist()
    ([0.7, 0.6], [0.6], [3.0])
    """
    index = np.arange(len(panel.written))
    return _pose(panel, panel.event_index, index, np.zeros(len(index), np.int64), loss)


def pose_individually(panel: Panel, loss: Loss = BRIER) -> Problem:
    """Pose the problems of all judges side by side, as if each had variables of its own."""
    unit, first = by_appearance(panel.judge_index.astype(np.int64) * len(panel.written) + panel.event_index)
    return _pose(panel, unit, panel.event_index[first], panel.judge_index[first].astype(np.int64), loss)


def _pose(
    panel: Panel, unit: NDArray[np.int32], index: NDArray[np.integer], owner: NDArray[np.int64], loss: Loss
) -> Problem:
    """Merge within owners; `index` is the written event of each unit and `owner` whose it is."""
    written = panel.written
    event, condition, rest = written.event[index], written.condition[index], written.rest[index]
    conditional, complemented = condition != CERTAIN, event > rest
    given, distinct = _given(owner, np.minimum(event, rest), condition, conditional)
    numbering = _number(panel, owner, event, condition)
    pin_owner, pin = numbering.pins
    pins = panel.laws.pins
    asked_owner = [owner[~conditional], owner[distinct], owner[distinct], pin_owner, pin_owner]
    asked = [
        np.minimum(event, rest)[~conditional],
        np.minimum(event, rest)[distinct],
        condition[distinct],
        pins.event[pin],
        pins.condition[pin],
    ]
    places, home, kinds = _coordinates(asked_owner, asked)
    coordinate = np.empty(len(index), np.int32)
    coordinate[~conditional], coordinate[conditional] = places[0].coordinate, given
    turned = np.where(complemented[unit], 1.0 - panel.probability, panel.probability)
    weight, mean = _weighted_mean(unit, panel.probability, panel.weight, len(index))
    point, intervals = _intervals(panel, unit, coordinate, conditional, complemented)
    merge = _Merge(loss, coordinate[unit], turned, panel.weight)
    merged_weight, merged_mean = merge.of(point & ~conditional[unit], len(kinds))
    starts, variables = panel.events.supports(kinds)
    merged = Merged(
        2 * kinds,
        merged_weight,
        merged_mean,
        starts,
        numbering.number(np.repeat(home, np.diff(starts)), variables),
        numbering.origin,
        *panel.events.tables(kinds),
        numbering.space,
        Terms(
            Conditionals(places[1], places[2], *merge.of(point & conditional[unit], len(distinct))),
            intervals,
            Limits(places[3], places[4], pins.low[pin], pins.high[pin], pin.astype(np.int32)),
        ),
    )
    told = (panel.weight > 0) & point & ~conditional[unit]
    scatter = (
        np.sum((panel.weight * (turned - merged_mean[np.where(told, merge.own, 0)]) ** 2)[told]) if told.any() else 0
    )
    return Problem(unit, weight, mean, coordinate, complemented, conditional, merged, float(scatter), loss)


def _given(
    owner: NDArray[np.int64], side: NDArray[np.int32], condition: NDArray[np.int32], conditional: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number the distinct conditionals of each owner: that of each conditional unit, and a unit of each."""
    units = np.flatnonzero(conditional)
    pair, _ = by_appearance(side[units].astype(np.int64) << 32 | condition[units])
    number, first = by_appearance(owner[units] * (len(units) + 1) + pair)
    return number, units[first]


def _coordinates(
    owners: list[NDArray[np.int64]], sides: list[NDArray[np.int32]]
) -> tuple[list[Sides], NDArray[np.int64], NDArray[np.int32]]:
    """Number the distinct events of each owner, complements being one: the places of all, then owner and event."""
    side, owner = np.concatenate(sides), np.concatenate(owners)
    certain = (side == CERTAIN) & (np.arange(len(side)) >= len(sides[0]))
    place = np.full(len(side), -1, np.int32)
    key = (owner << 32 | side // 2)[~certain]
    place[~certain], first = by_appearance(key)
    cuts = np.cumsum([len(part) for part in sides])[:-1]
    parts = zip(np.split(place, cuts), np.split(np.where(certain, False, side % 2 == 1), cuts), strict=True)
    return [Sides(*part) for part in parts], key[first] >> 32, (key[first] & 0xFFFFFFFF).astype(np.int32)


def _number(
    panel: Panel, owner: NDArray[np.int64], event: NDArray[np.int32], condition: NDArray[np.int32]
) -> Numbering:
    starts, variables = panel.events.supports(np.stack([event, condition], axis=1).ravel() // 2)
    return number_variables(panel, np.repeat(owner, np.diff(starts[::2])), variables)


def _intervals(
    panel: Panel,
    unit: NDArray[np.int32],
    coordinate: NDArray[np.int32],
    conditional: NDArray[np.bool_],
    complemented: NDArray[np.bool_],
) -> tuple[NDArray[np.bool_], Intervals]:
    """Which forecasts are points, and the others."""
    if panel.lower is None and panel.upper is None:
        return np.ones(len(unit), np.bool_), Intervals()
    absent = np.full(len(unit), np.nan)
    lower, upper = (absent if side is None else side for side in (panel.lower, panel.upper))
    low, high = np.nan_to_num(lower, nan=0.0), np.nan_to_num(upper, nan=1.0)
    given = ~(np.isnan(lower) & np.isnan(upper))
    own = unit[given]
    turned = complemented[own]
    low, high = low[given], high[given]
    return ~given, Intervals(
        coordinate[own],
        conditional[own],
        np.where(turned, 1.0 - high, low),
        np.where(turned, 1.0 - low, high),
        panel.weight[given],
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Merge:
    """Merges forecasts, turned to the sides of their coordinates, under a loss."""

    loss: Loss
    own: NDArray[np.int32]
    turned: NDArray[np.float64]
    weight: NDArray[np.float64]

    def of(self, rows: NDArray[np.bool_], count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The weights and means of `count` coordinates that some forecasts are about."""
        whole = bool(rows.all())
        own, turned, weight = (
            (self.own, self.turned, self.weight) if whole else (self.own[rows], self.turned[rows], self.weight[rows])
        )
        if self.loss.name == BRIER.name:
            return _weighted_mean(own, turned, weight, count)
        total = np.bincount(own, weight, count).astype(np.float64)
        return total, merged_mean_of(self.loss, own, turned, weight, count)


def _weighted_mean(
    index: NDArray[np.int32], values: NDArray[np.float64], weights: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    total: NDArray[np.float64] = np.bincount(index, weights, count).astype(np.float64)
    sums = np.bincount(index, weights * values, count)
    mean: NDArray[np.float64] = np.divide(sums, total, out=np.full(count, np.nan), where=total > 0)
    return total, np.clip(mean, 0.0, 1.0)
