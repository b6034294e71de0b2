"""Panel -> Problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.events import CERTAIN
from coherently.panel import by_appearance
from coherently.problem.functions import Functions
from coherently.problem.losses import BRIER, merged_mean
from coherently.problem.problem import Forecasts, Merged, Problem
from coherently.problem.spaces.possible import number_variables
from coherently.problem.stated_values import stated
from coherently.problem.terms import NO_TERMS, Conditionals, Intervals, Limits, Sides, Terms
from coherently.problem.units import in_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Panel
    from coherently.panel.laws import Pins
    from coherently.problem.losses import Loss

NO_SIDES = np.empty(0, np.int32)


def pose(panel: Panel, loss: Loss = BRIER, weight_unit: float = 1.0, asking: NDArray[np.int32] = NO_SIDES) -> Problem:
    """Merge the panel's forecasts of equal events, and of events with their complements.

    Events in `asking`, by their sides, are coordinates of weight 0 (`Problem.coordinate_of`).

    >>> from coherently.panel import Panel
    >>> problem = pose(Panel.from_records([("Ann", "p", 0.6), ("Ann", "~p", 0.6), ("Bob", "p", 0.8)]))
    >>> problem.mean.round(3).tolist(), problem.merged.mean.round(3).tolist(), problem.merged.weight.tolist()
    ([0.7, 0.6], [0.6], [3.0])
    """
    count, written = len(panel.written), panel.written
    units = _PosedUnits(
        written=np.arange(count),
        owner=np.zeros(count, np.int64),
        event=written.event,
        condition=written.condition,
        rest=written.rest,
    )
    return _pose(panel, panel.event_index, units, loss, weight_unit=weight_unit, asking=asking)


def pose_individually(panel: Panel, loss: Loss = BRIER, weight_unit: float = 1.0) -> Problem:
    """Pose the problems of all judges side by side, as if each had separate variables."""
    written = panel.written
    unit, first = by_appearance(panel.judge_index.astype(np.int64) * len(written) + panel.event_index)
    index, owner = panel.event_index[first], panel.judge_index[first].astype(np.int64)
    units = _PosedUnits(
        written=index,
        owner=owner,
        event=written.event[index],
        condition=written.condition[index],
        rest=written.rest[index],
    )
    return _pose(panel, unit, units, loss, weight_unit=weight_unit, asking=NO_SIDES)


def pose_again(problem: Problem, value: NDArray[np.float64]) -> Problem:
    """Replace the forecasts and intervals of each unit by one number; their weights stay."""
    units = np.flatnonzero(problem.weight > 0).astype(np.int32)
    no = np.zeros(len(units), np.bool_)
    again = Forecasts(
        judge=np.zeros_like(units),
        unit=units,
        probability=value[units],
        weight=problem.weight[units],
        interval=no,
        judges=("",),
    )
    return _merge(replace(problem, forecasts=again, mean=value), Intervals())


def pose_numbers(problem: Problem, panel: Panel, weight_unit: float = 1.0) -> Problem:
    """The problem of a panel that differs from another one, whose problem is known, only in its numbers.

    >>> from coherently.panel import Panel
    >>> one, two = (Panel.from_records([("Ann", "p", p), ("Bob", "~p", 0.5)]) for p in (0.6, 0.8))
    >>> pose_numbers(pose(one), two) == pose(two)
    True
    """
    weights = in_units(panel.weight, weight_unit)
    interval, bounds = _bounds(panel)
    forecasts = replace(problem.forecasts, probability=panel.probability, weight=weights, interval=interval)
    weight, mean = _weighted_mean(forecasts.unit, panel.probability, weights, len(problem.weight))
    problem = replace(problem, forecasts=forecasts, weight=weight, mean=mean, weight_unit=weight_unit)
    return _merge(problem, Intervals() if bounds is None else _intervals(problem, *bounds))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _PosedUnits:
    """The units of the answer: the panel's event of each, its owner, and its sides."""

    written: NDArray[np.integer]
    owner: NDArray[np.int64]
    event: NDArray[np.int32]
    condition: NDArray[np.int32]
    rest: NDArray[np.int32]


def _pose(
    panel: Panel,
    unit: NDArray[np.int32],
    units: _PosedUnits,
    loss: Loss,
    weight_unit: float,
    asking: NDArray[np.int32],
) -> Problem:
    """Merge within owners; `unit` is the unit of each forecast."""
    conditional, complemented = units.condition != CERTAIN, units.event > units.rest
    coordinate, merged = _structure(panel, units, conditional, asking)
    weights = in_units(panel.weight, weight_unit)
    interval, bounds = _bounds(panel)
    forecasts = Forecasts(
        judge=panel.judge_index,
        unit=unit,
        probability=panel.probability,
        weight=weights,
        interval=interval,
        judges=panel.judges,
    )
    weight, mean = _weighted_mean(unit, panel.probability, weights, len(coordinate))
    problem = Problem(
        forecasts=forecasts,
        texts=panel.written.text,
        written=units.written,
        owner=units.owner,
        weight=weight,
        mean=mean,
        coordinate=coordinate,
        complemented=complemented,
        conditional=conditional,
        merged=merged,
        loss=loss,
        weight_unit=weight_unit,
    )
    return _merge(problem, Intervals() if bounds is None else _intervals(problem, *bounds))


def _structure(
    panel: Panel, units: _PosedUnits, conditional: NDArray[np.bool_], asking: NDArray[np.int32]
) -> tuple[NDArray[np.int32], Merged]:
    """The coordinate (or conditional) of each unit, and what is to be merged, still without numbers."""
    side = np.minimum(units.event, units.rest)
    plain: slice | NDArray[np.bool_] = slice(None)
    given, some = NO_SIDES, np.empty(0, np.int64)
    if conditional.any():
        plain = ~conditional
        given, some = _given(units, side, conditional)
    owners = [units.owner[plain], np.zeros(len(asking), np.int64), units.owner[some], units.owner[some]]
    sides = [side[plain], asking, side[some], units.condition[some]]
    places, home, kinds = _coordinates(owners, sides)
    starts, variables = panel.events.supports(kinds)
    numbering = number_variables(panel, np.repeat(home, np.diff(starts)), variables)
    pins, (owner, pin) = panel.laws.pins, numbering.pins
    if len(pin):
        owners, sides = [*owners, owner, owner], [*sides, pins.event[pin], pins.condition[pin]]
        places, home, kinds = _coordinates(owners, sides)
        starts, variables = panel.events.supports(kinds)
    merged = Merged(
        event=2 * kinds,
        weight=np.zeros(len(kinds)),
        mean=np.full(len(kinds), np.nan),
        functions=Functions(
            starts, numbering.number(np.repeat(home, np.diff(starts)), variables), *panel.events.tables(kinds)
        ),
        origin=numbering.origin,
        space=numbering.space,
        terms=_terms(pins, pin, places) if len(some) or len(pin) else NO_TERMS,
    )
    coordinate = np.empty(len(side), np.int32)
    coordinate[plain], coordinate[conditional] = places[0].coordinate, given
    return coordinate, merged


def _terms(pins: Pins, pin: NDArray[np.int64], places: list[Sides]) -> Terms:
    """Conditionals, still without numbers, and pins."""
    given, none = places[2], np.zeros(len(places[2]))
    limits = (
        Limits(joint=places[4], condition=places[5], low=pins.low[pin], high=pins.high[pin], pin=pin.astype(np.int32))
        if len(pin)
        else Limits()
    )
    return Terms(
        Conditionals(joint=given, condition=places[3], weight=none, mean=none, stated=none), Intervals(), limits
    )


def _given(
    units: _PosedUnits, side: NDArray[np.int32], conditional: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number the distinct conditionals of each owner: the number for each conditional unit, and one unit of each."""
    rows = np.flatnonzero(conditional)
    pair, _ = by_appearance(side[rows].astype(np.int64) << 32 | units.condition[rows])
    number, first = by_appearance(units.owner[rows] * (len(rows) + 1) + pair)
    return number, rows[first]


def _coordinates(
    owners: list[NDArray[np.int64]], sides: list[NDArray[np.int32]]
) -> tuple[list[Sides], NDArray[np.int64], NDArray[np.int32]]:
    """Number the distinct events of each owner, complements as one: the places of all, then owner and event."""
    side, owner = np.concatenate(sides), np.concatenate(owners)
    turned = (side & 1).astype(np.bool_)
    certain = side == CERTAIN
    certain[: len(sides[0])] = False
    if certain.any():
        turned &= ~certain
        place = np.full(len(side), -1, np.int32)
        place[~certain], first = by_appearance((owner << 32 | side >> 1)[~certain])
        first = np.flatnonzero(~certain)[first]
    else:
        place, first = by_appearance(owner << 32 | side >> 1)
    ends = np.cumsum([len(part) for part in sides]).tolist()
    cuts = zip([0, *ends], ends, strict=False)
    return [Sides(place[a:b], turned[a:b]) for a, b in cuts], owner[first], side[first] >> 1


def _bounds(
    panel: Panel,
) -> tuple[NDArray[np.bool_], tuple[NDArray[np.float64], NDArray[np.float64]] | None]:
    """Which forecasts are intervals, and their ends; None if there are none."""
    if panel.lower is None and panel.upper is None:
        return np.zeros(len(panel), np.bool_), None
    absent = np.full(len(panel), np.nan)
    lower, upper = (absent if side is None else side for side in (panel.lower, panel.upper))
    given = ~(np.isnan(lower) & np.isnan(upper))
    return given, (np.nan_to_num(lower[given], nan=0.0), np.nan_to_num(upper[given], nan=1.0))


def _intervals(problem: Problem, low: NDArray[np.float64], high: NDArray[np.float64]) -> Intervals:
    """The forecasts that are intervals, turned to the sides of their coordinates."""
    forecasts = problem.forecasts
    own = forecasts.unit[forecasts.interval]
    turned = problem.complemented[own]
    return Intervals(
        about=problem.coordinate[own],
        conditional=problem.conditional[own],
        low=np.where(turned, 1.0 - high, low),
        high=np.where(turned, 1.0 - low, high),
        weight=forecasts.weight[forecasts.interval],
    )


def _merge(problem: Problem, intervals: Intervals) -> Problem:
    """Merge the numbers that forecasts give to each coordinate, and to each conditional; intervals stay as they are."""
    merged, given = problem.merged, problem.merged.terms.conditionals
    forecasts, conditional = problem.forecasts, problem.conditional
    own, turned, weight = problem.coordinate[forecasts.unit], problem.turned(), forecasts.weight
    if not len(given) and not len(intervals) and not len(merged.terms.intervals):
        total, mean = _merged_mean(problem.loss, own, turned, weight, count=len(merged))
        return replace(problem, merged=replace(merged, weight=total, mean=mean))
    point, plain = ~forecasts.interval, ~conditional[forecasts.unit]
    rows = point & plain
    total, mean = _merged_mean(problem.loss, own[rows], turned[rows], weight[rows], count=len(merged))
    rows = point & ~plain
    known = _merged_mean(problem.loss, own[rows], turned[rows], weight[rows], count=len(given))
    given = replace(given, weight=known[0], mean=known[1])
    _, number = _weighted_mean(own[~plain], turned[~plain], weight[~plain], len(given))
    given = replace(given, stated=stated(problem.loss, given, intervals, number))
    terms = replace(merged.terms, conditionals=given, intervals=intervals)
    return replace(problem, merged=replace(merged, weight=total, mean=mean, terms=terms))


def _merged_mean(
    loss: Loss, own: NDArray[np.int32], turned: NDArray[np.float64], weight: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if loss.is_quadratic:
        return _weighted_mean(own, turned, weight, count)
    return np.bincount(own, weight, count).astype(np.float64), merged_mean(loss, own, turned, weight, count=count)


def _weighted_mean(
    index: NDArray[np.int32], values: NDArray[np.float64], weights: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    total: NDArray[np.float64] = np.bincount(index, weights, count).astype(np.float64)
    sums = np.bincount(index, weights * values, count)
    mean: NDArray[np.float64] = np.divide(sums, total, out=np.full(count, np.nan), where=total > 0)
    return total, np.clip(mean, 0.0, 1.0)
