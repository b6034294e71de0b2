"""The panel's forecasts by distinct event, merged for the verifier only, without the rooms that solve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.events import CERTAIN
from coherently.problem import possible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Mask, Vector
    from coherently.panel import Panel
    from coherently.problem import Loss

    Link = tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]


CLOSE = 1e-9
"""Maximum error of a number, relative to it or to 1 (for losses, to the largest weight).

Sums over up to 10^5 events or worlds are off by at most 10^5 times the rounding of one, 1.1e-16, that is 1e-11; and
methods leave out shares of worlds of at most 1e-12 each, of which mixtures have up to a few hundred.
"""


@dataclass(frozen=True, slots=True, eq=False)
class IntervalRows:
    """Forecasts of an interval, turned to the side of the distinct event at `row`."""

    row: Indices
    low: Vector
    high: Vector
    weight: Vector


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Distinct:
    """Distinct events (an event and its complement count as one), by first appearance in the panel.

    `side` and `condition` are as in `coherently.events.Reading`, of the smaller side: of "E given H" E & H, and H.
    `weight` is the sum N of the weights and `mean` the mean q (of the loss) of the forecasts of both sides, turned to
    this one, NaN where N is 0; `intervals` are kept separately. `scatter` is the sum of w (p - q)^2 with plain means
    q. `home` and `turned` give, for each event as written, its place here and whether it is the complement. The
    variables of event i and its condition are `variables[starts[i]:starts[i + 1]]`. `component` numbers the sets of
    events that nothing ties to others: no variable, law, declaration or pin; `home_of_variable` and `events` are the
    component of each variable (-1 where none) and the number of distinct events of each component. `tied` numbers the
    sets of variables that belong together, those included that no forecast reaches. `plain` are the means of the
    probabilities themselves, whatever the loss. `stated` is where the forecasts of a conditional would lose least,
    intervals included, nearest to the mean of the judges' numbers if that is not unique: they stand there if the
    condition has no probability (at one half if none has any weight). All weights are in units of the largest weight of
    a forecast, `unit` (1 where none has any): only the ratios of weights matter, and sums of scaled ones neither
    overflow nor vanish.
    `floor` is the weight to which tolerances are relative, where the objective is less, and `close` how far a loss may
    lie from what it must be, relative to it or to 1.
    """

    side: NDArray[np.int32]
    condition: NDArray[np.int32]
    weight: Vector
    mean: Vector
    intervals: IntervalRows
    scatter: float
    home: Indices
    turned: Mask
    starts: Indices
    variables: NDArray[np.int32]
    component: Indices
    home_of_variable: Indices
    events: NDArray[np.int64]
    tied: Indices
    plain: Vector
    stated: Vector
    unit: float
    floor: float
    close: float

    @property
    def conditional(self) -> Mask:
        """Which of them are conditional."""
        given: Mask = self.condition != CERTAIN
        return given

    @property
    def weighty(self) -> Mask:
        """Which of them have a forecast of positive weight."""
        heavy: Mask = self.weight > 0
        heavy[self.intervals.row[self.intervals.weight > 0]] = True
        return heavy

    @property
    def n_components(self) -> int:
        """The number of components."""
        return len(self.events)

    def at_home(self, written: Vector) -> Vector:
        """Probabilities of the events as written, turned to the sides here; the first written counts."""
        turned = np.where(self.turned, 1.0 - written, written)
        value = np.empty(len(self.side))
        value[self.home[::-1]] = turned[::-1]
        return value


def scaled(panel: Panel) -> tuple[Vector, float]:
    """The weights of the forecasts in units of the largest, and the largest."""
    unit = float(panel.weight.max(initial=0.0)) or 1.0
    return panel.weight / unit, unit


def resolution(unit: float) -> float:
    """Maximum error of losses and weights in this unit: CLOSE, and a few of the least doubles.

    Below 2^-1022 doubles are multiples of 2^-1074, so a loss of weights of 1e-320 has three digits.
    """
    return CLOSE + 4.0 * (math.ulp(0.0) / unit)


def called_off(panel: Panel, plain: Panel) -> float:
    """What conditionals that are constants in `plain` save only in the worlds of a condition that may fail.

    A forecast p of the constant c saves w (p - c)^2 there, and nothing where the bet is called off.
    """
    units = np.flatnonzero(panel.written.condition != plain.written.condition)
    units = units[possible(panel, panel.written.condition[units] ^ np.int32(1))]
    constant = np.where(plain.written.event == CERTAIN, 1.0, 0.0)[panel.event_index]
    mine = np.isin(panel.event_index, units)
    return float(np.sum((scaled(panel)[0] * (panel.probability - constant) ** 2)[mine]))


def floor_of(panel: Panel) -> float:
    """The largest power of two up to the median of the weights, in units of the largest; 1 if all weights are equal.

    If the objective is less, the tolerance of "optimal" is relative to this, whatever the heaviest forecast weighs.
    """
    known = np.sort(panel.weight[panel.weight > 0])
    if not len(known):
        return 1.0
    return float(np.ldexp(1.0, int(np.frexp(known[(len(known) - 1) // 2])[1]) - 1) / known[-1])


def means_as_written(panel: Panel) -> tuple[Vector, Vector]:
    """The total weight of each event as written, in units of the largest, and its weighted mean (NaN if it is 0)."""
    count, (own, _) = len(panel.written), scaled(panel)
    weight = np.bincount(panel.event_index, own, count).astype(np.float64)
    heaviest = np.zeros(count)
    np.maximum.at(heaviest, panel.event_index, panel.weight)
    share = np.divide(panel.weight, heaviest[panel.event_index], out=np.zeros(len(panel)), where=panel.weight > 0)
    sums = [np.bincount(panel.event_index, values, count) for values in (share * panel.probability, share)]
    return weight, _divide(sums[0], sums[1].astype(np.float64))


def merge(panel: Panel, loss: Loss) -> Distinct:
    """Merge equal events, and events with their complements.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import BRIER
    >>> found = merge(Panel.from_records([("Ann", "p", 0.6), ("Ann", "~p", 0.6), ("Bob", "q", 0.8)]), BRIER)
    >>> found.mean.tolist(), found.weight.tolist(), found.component.tolist()
    ([0.5, 0.8], [2.0, 1.0], [0, 1])
    """
    written = panel.written
    turned = written.rest < written.event
    pairs = np.stack([np.where(turned, written.rest, written.event), written.condition], axis=1)
    sorted_pairs, first, number = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    home = np.argsort(np.argsort(first))[number.ravel()]
    side, condition = sorted_pairs[np.argsort(first)].T
    every_weight, unit = scaled(panel)
    point, intervals = _intervals(panel, every_weight, home, turned)
    own = home[panel.event_index][point]
    probability = np.where(turned[panel.event_index], 1.0 - panel.probability, panel.probability)[point]
    own_weight = every_weight[point]
    weight = np.bincount(own, own_weight, len(side)).astype(np.float64)
    plain = _divide(np.bincount(own, own_weight * probability, len(side)), weight)
    mean = plain
    if not loss.is_quadratic:
        duals = own_weight * loss.gradient(loss.clipped(probability))
        known, mean = weight > 0, plain.copy()
        mean[known] = loss.inverse(np.bincount(own, duals, len(side))[known] / weight[known])
    counted = condition[own] == CERTAIN
    scatter = float(np.sum((own_weight * (probability - np.nan_to_num(plain)[own]) ** 2)[counted]))
    starts, variables = _supports(panel, side, condition)
    component, home_of_variable, events, tied = _components(panel, side, condition)
    judged = _numbers(panel, every_weight, home, turned)
    return Distinct(
        side=side,
        condition=condition,
        weight=weight,
        mean=mean,
        intervals=intervals,
        scatter=scatter,
        home=home,
        turned=turned,
        starts=starts,
        variables=variables,
        component=component,
        home_of_variable=home_of_variable,
        events=events,
        tied=tied,
        plain=plain,
        stated=_stated(loss, weight, mean, intervals, number=judged, conditional=condition != CERTAIN),
        unit=unit,
        floor=floor_of(panel),
        close=resolution(unit),
    )


def _intervals(panel: Panel, weight: Vector, home: Indices, turned: Mask) -> tuple[Mask, IntervalRows]:
    """Which forecasts are numbers, and those that are intervals."""
    none = np.full(len(panel), np.nan)
    low, high = (none if column is None else column for column in (panel.lower, panel.upper))
    given = ~(np.isnan(low) & np.isnan(high))
    low, high = np.where(np.isnan(low), 0.0, low)[given], np.where(np.isnan(high), 1.0, high)[given]
    turn = turned[panel.event_index][given]
    return ~given, IntervalRows(
        home[panel.event_index][given],
        np.where(turn, 1.0 - high, low),
        np.where(turn, 1.0 - low, high),
        weight[given],
    )


def _numbers(panel: Panel, weight: Vector, home: Indices, turned: Mask) -> Vector:
    """The weighted mean of the numbers that judges give to each distinct event, in points and inside intervals."""
    own, count = home[panel.event_index], int(home.max(initial=-1)) + 1
    turn = np.where(turned[panel.event_index], 1.0 - panel.probability, panel.probability)
    return _divide(np.bincount(own, weight * turn, count), np.bincount(own, weight, count).astype(np.float64))


def _stated(
    loss: Loss, weight: Vector, mean: Vector, intervals: IntervalRows, number: Vector, conditional: Mask
) -> Vector:
    """Where forecasts lose least, by halving the distance from `number` to the end that their slope points to."""
    found: Vector = np.where(weight > 0, mean, np.where(np.isnan(number), 0.5, number))
    told = (intervals.weight > 0) & conditional[intervals.row]
    row, heavy = intervals.row[told], intervals.weight[told]
    low, high = np.minimum(intervals.low[told], loss.clipped(1.0)), np.maximum(intervals.high[told], loss.clipped(0.0))
    for i in np.unique(row).tolist():
        mine = row == i
        ends = np.append(low[mine], found[i]), np.append(high[mine], found[i])
        weights = np.append(heavy[mine], weight[i])

        def slope(t: float, ends: tuple[Vector, Vector] = ends, weights: Vector = weights) -> float:
            nearest = np.clip(t, *ends)
            steep = loss.gradient(np.full(len(weights), t)) - loss.gradient(nearest)
            return float(np.sum(np.where((nearest == t) | (weights == 0), 0.0, weights * steep)))

        near, sign = float(number[i]), np.sign(slope(float(number[i])))
        far = 0.0 if sign > 0 else 1.0
        while sign and near != (middle := 0.5 * (near + far)) != far:
            near, far = (middle, far) if sign * slope(middle) > 0 else (near, middle)
        found[i] = far if sign else near
    return found


def _divide(sums: NDArray[Any], weight: Vector) -> Vector:
    quotient: Vector = np.divide(sums, weight, out=np.full(len(weight), np.nan), where=weight > 0)
    return quotient


def _supports(panel: Panel, *sides: NDArray[np.int32]) -> tuple[Indices, NDArray[np.int32]]:
    """The variables of events by several sides each: those of all the sides, side by side."""
    starts, variables = panel.events.supports((np.stack(sides, axis=1).ravel() // 2).astype(np.int32))
    return starts[:: len(sides)], variables


def first_homes(panel: Panel, home: Indices, *sides: NDArray[np.int32]) -> Indices:
    """The home of the first variable of each law or pin, which its sides give; -1 if it has no variables."""
    starts, variables = _supports(panel, *sides)
    homes = np.full(len(sides[0]), -1, np.int64)
    some = np.diff(starts) > 0
    homes[some] = home[variables[starts[:-1][some]]]
    return homes


def _components(
    panel: Panel, side: NDArray[np.int32], condition: NDArray[np.int32]
) -> tuple[Indices, Indices, Indices, Indices]:
    """The component of each distinct event and of each variable, the events of each component, and what is tied.

    Events are counted as the methods do: E & H and H of conditionals and pins that nobody forecast are events too.
    Components are numbered by the first of their events: forecasts, then those of conditionals, then those of pins.
    """
    plain, given = condition == CERTAIN, condition != CERTAIN
    pins, pin = panel.laws.pins, _pins_in_reach(panel, side, condition)
    (own, joint, condition_at, pin_joint, pin_condition), kinds = _coordinates(
        [side[plain], side[given], condition[given], pins.event[pin], pins.condition[pin]]
    )
    count = len(kinds)
    starts, variables = panel.events.supports(kinds)
    links: list[Link] = [(np.repeat(np.arange(count), np.diff(starts)), count + variables)]
    links += [(a[b >= 0], b[b >= 0]) for a, b in ((joint, condition_at), (pin_joint, pin_condition))]
    links += [(count + tie[:-1], count + tie[1:]) for tie in _ties(panel)]
    label = _connected(count + len(panel.events.variables), links)
    home = np.where(label < int(label[:count].max(initial=-1)) + 1, label, -1)
    component = np.empty(len(side), np.int64)
    component[plain], component[given] = home[own], home[joint]
    return component, home[count:], np.bincount(home[:count]), label[count:]


def _coordinates(sides: Sequence[NDArray[np.int32]]) -> tuple[list[Indices], NDArray[np.int32]]:
    """Number distinct events by first appearance, complements as one; a certain condition is -1."""
    asked = np.concatenate(sides).astype(np.int64)
    told = (asked != CERTAIN) | (np.arange(len(asked)) < len(sides[0]))
    number = np.full(len(asked), -1, np.int64)
    _, first, place = np.unique(asked[told] // 2, return_index=True, return_inverse=True)
    number[told] = np.argsort(np.argsort(first))[place]
    kinds = (asked[told] // 2)[np.sort(first)].astype(np.int32)
    return np.split(number, np.cumsum([len(part) for part in sides])[:-1]), kinds


def _pins_in_reach(panel: Panel, side: NDArray[np.int32], condition: NDArray[np.int32]) -> Indices:
    """The pins about variables of forecasts, or about those that declarations, laws and pins tie to them."""
    label = _connected(len(panel.events.variables), [(tie[:-1], tie[1:]) for tie in _ties(panel)])
    used = np.unique(label[_supports(panel, side, condition)[1]])
    reached = [bool(np.isin(label[tie], used).any()) for tie in _pin_variables(panel)]
    return np.flatnonzero(np.array(reached, np.bool_))


def _connected(count: int, links: Sequence[Link]) -> Indices:
    """Number the connected components of so many nodes by their first."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    none = np.empty(0, np.int64)
    rows, columns = (np.concatenate([none, *(link[i] for link in links)]) for i in (0, 1))
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(count, count))
    _, first, number = np.unique(connected_components(graph, False)[1], return_index=True, return_inverse=True)
    found: Indices = np.argsort(np.argsort(first))[number]
    return found


def _ties(panel: Panel) -> list[Indices]:
    """The variables that each declaration, law and pin ties together."""
    choices = [choice.atoms.astype(np.int64) for choice in panel.events.choices()]
    return [*choices, *_rows(*panel.events.supports(panel.laws.side // 2)), *_pin_variables(panel)]


def _pin_variables(panel: Panel) -> list[Indices]:
    pins = panel.laws.pins
    return _rows(*_supports(panel, pins.event, pins.condition))


def _rows(starts: Indices, members: NDArray[np.int32]) -> list[Indices]:
    return [part.astype(np.int64) for part in np.split(members, starts[1:-1])] if len(starts) > 1 else []
