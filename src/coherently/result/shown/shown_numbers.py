"""Probabilities with few digits: rounded so that they keep what people check.

Shown numbers are claims. Rounded one by one, 14.51, 50.59, 24.51 and 10.39 per cent become 15 + 51 + 25 + 10 = 101.
Here every number becomes one of the two numbers of the grid beside it, the nearest choice that keeps these relations of
the events that are shown together:

- an event and its complement add up to 1;
- an event is not shown above what it implies;
- events that exclude each other add up to at most 1, or to at most the event that they are parts of; if they leave
  nothing out, exactly to that;
- both of two events, and at least one of them, add up to the two.

The same holds among events given one condition.

If no choice keeps all, one more digit is shown, and so on. A relation that the true numbers themselves break, as plain
averages may, is not repaired. At most `LARGEST` events are compared; more are rounded one by one.

Numbers rounded to the nearest keep every implication, because rounding is monotone; only sums, and numbers halfway, can
break. So implications are looked for only in families of events where a sum is broken or numbers lie halfway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.result.shown.families import families
from coherently.result.shown.grid_search import Row, search_grid
from coherently.result.shown.simple_relations import FamilyRelations, ShownRelation, StepsLeft
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coherently.arrays import Indices, Mask, Vector
    from coherently.problem import Problem

DIGITS = 4
"""Number of decimals of probabilities in tables."""
MORE = 3
"""Maximum number of additional digits."""
LARGEST = 600
"""Maximum number of events among which relations are kept."""
HELD = 1e-6
"""Relations that numbers break by no more than this are kept: the rest is not repaired."""
ON_GRID = 1e-6
"""A number within this part of a step of the grid is on it; also the rounding error of a half."""


@dataclass(frozen=True, slots=True, eq=False)
class ShownNumbers(Value):
    """Numbers with `digits` decimals; NaN where there is none."""

    value: Vector
    digits: int


@dataclass(frozen=True, slots=True, eq=False)
class ShownForecasts(Value):
    """Probabilities and raw numbers with `digits` decimals, and the changes that a reader works out from them."""

    probability: Vector
    raw: Vector
    digits: int

    @property
    def change(self) -> Vector:
        """The shown probability minus the shown raw number, 0 where they are equal."""
        difference: Vector = np.round(self.probability - self.raw, self.digits) + 0.0  # no minus before a zero
        return difference


def nearest(value: Vector, digits: int) -> Vector:
    """Each number by itself, to the nearest; halves are rounded up.

    >>> nearest(np.array([0.345, 0.3449, np.nan]), 2).tolist()
    [0.35, 0.34, nan]
    """
    steps = 10.0**digits
    found: Vector = np.floor(value * steps + 0.5 + ON_GRID) / steps
    return found


def outward(low: Vector, high: Vector, digits: int) -> tuple[Vector, Vector]:
    """Bounds to the nearest, where halves are rounded away from what lies between.

    So the bounds of an event and of its complement add up to 1, crosswise, and rounding is monotone: an event has no
    higher bounds than what it implies.

    >>> outward(np.array([0.345, 0.2]), np.array([0.655, 0.2]), 2)
    (array([0.34, 0.2 ]), array([0.66, 0.2 ]))
    """
    return 1.0 - nearest(1.0 - low, digits), nearest(high, digits)


def rounded(problem: Problem, value: Vector, digits: int = DIGITS, units: Indices | None = None) -> ShownNumbers:
    """Round numbers for the units of a problem, or for those `units` that are shown together.

    `value` has one number for each unit of the problem, `units` are indices, and the answer has one number for each of
    them.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> texts, numbers = ["r = a", "r = b", "r = c", "r = d"], np.array([0.1451, 0.5059, 0.2451, 0.1039])
    >>> panel = Panel.from_records([("Ann", text, 0.25) for text in texts], laws=["variable r: a, b, c, d"])
    >>> rounded(pose(panel), numbers, 2).value.tolist()
    [0.15, 0.51, 0.24, 0.1]
    """
    units = np.arange(len(problem.coordinate)) if units is None else units
    if len(units) > LARGEST:
        return ShownNumbers(nearest(value[units], digits), digits)
    known = np.isfinite(value)
    steps = StepsLeft()
    relations = [FamilyRelations(family, known, steps) for family in families(problem, units[known[units]])]
    for more in range(digits, digits + MORE + 1):
        found = _Grid.of(problem, value, units, 10**more).search(relations)
        if found is not None:
            return ShownNumbers(found / 10.0**more, more)
    return ShownNumbers(nearest(value[units], digits), digits)


def rounded_changes(
    problem: Problem, value: Vector, raw: Vector, digits: int = DIGITS, units: Indices | None = None
) -> ShownForecasts:
    """Round probabilities and the raw numbers beside them, so that shown changes have the direction of the true ones.

    An unchanged number is shown unchanged: where raw and probability have the same neighbours on the grid, and the raw
    number would be shown on the wrong side of the probability, it is shown as the probability.
    """
    units = np.arange(len(problem.coordinate)) if units is None else units
    shown = rounded(problem, value, digits, units)
    before = rounded(problem, raw, shown.digits, units)
    if before.digits > shown.digits:
        before = ShownNumbers(nearest(raw[units], shown.digits), shown.digits)
    return ShownForecasts(shown.value, beside(shown, value[units], raw[units], before.value), shown.digits)


def beside(shown: ShownNumbers, value: Vector, raw: Vector, before: Vector) -> Vector:
    """The rounded raw numbers `before`, where they are on the right side of the shown probabilities."""
    error = ON_GRID / 10.0**shown.digits
    wrong = ((raw <= value + error) & (before > shown.value)) | ((raw >= value - error) & (before < shown.value))
    found: Vector = np.where(wrong, shown.value, before)
    return found


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Grid:
    """The numbers of units in steps of a grid, with the whole numbers `low` and `high` beside each.

    Entries are per unit of the problem. `leader` is the first of the units that are about one event or its complement
    and whose numbers agree; where `turned`, a unit is about the complement of its leader's event.
    """

    value: Vector
    units: Indices
    top: int
    target: Vector
    low: Indices
    high: Indices
    leader: Indices
    turned: Mask

    @staticmethod
    def of(problem: Problem, value: Vector, units: Indices, top: int) -> _Grid:
        target = np.nan_to_num(value) * top
        whole = np.rint(target)
        on_grid = np.abs(target - whole) <= ON_GRID
        low, high = (np.where(on_grid, whole, end).astype(np.int64) for end in (np.floor(target), np.ceil(target)))
        leader, turned = _leaders(problem, value, units)
        return _Grid(value=value, units=units, top=top, target=target, low=low, high=high, leader=leader, turned=turned)

    def search(self, relations: Sequence[FamilyRelations]) -> Vector | None:
        """The shown numbers in steps of the grid, NaN where there is none; None if no choice keeps all relations."""
        chosen = np.clip(np.floor(self.target + 0.5 + ON_GRID).astype(np.int64), self.low, self.high)
        rows = [row for family in relations for row in self._rows(self._all(family, chosen))]
        times = np.bincount(self.leader[self.units], minlength=len(self.leader))
        found = search_grid(self.target, self.low, self.high, chosen, rows=rows, shown=times)
        if found is None:
            return None
        led = found[self.leader]
        shown = np.where(self.turned, self.top - led, led).astype(np.float64)
        shown[~np.isfinite(self.value)] = np.nan
        return shown[self.units]

    def _all(self, family: FamilyRelations, chosen: Indices) -> Iterator[ShownRelation]:
        """The relations of a family; implications only where rounding to the nearest may break them."""
        yield from family.sums
        own = np.array(family.units, np.int64)
        halfway = np.abs(self.target[own] - np.floor(self.target[own]) - 0.5) <= self.top * HELD + ON_GRID
        if np.count_nonzero(halfway) > 1 or not all(row.holds(chosen) for row in self._rows(family.sums)):
            yield from family.pairs(self.low[own], self.high[own], self.top)

    def _rows(self, relations: Iterable[ShownRelation]) -> Iterator[Row]:
        """Relations that the true numbers keep, in terms of leaders and steps of the grid."""
        held = min(HELD, 0.1 / self.top)
        for relation in relations:
            if relation.broken(self.value) > held:
                continue
            total: dict[int, int] = {}
            offset = 0
            for unit, sign in zip(relation.units, relation.signs, strict=True):
                leader = int(self.leader[unit])
                turned = bool(self.turned[unit])
                offset += sign * self.top * turned
                total[leader] = total.get(leader, 0) + (-sign if turned else sign)
            kept = {unit: sign for unit, sign in total.items() if sign}
            if kept:
                least, most = relation.least * self.top - offset, relation.most * self.top - offset
                yield Row(tuple(kept), tuple(kept.values()), least, most)


def _leaders(problem: Problem, value: Vector, units: Indices) -> tuple[Indices, Mask]:
    """For each unit, the first of those that it agrees with, and whether it is about the complement."""
    leader, turned = np.arange(len(value)), np.zeros(len(value), np.bool_)
    first: dict[tuple[bool, int], int] = {}
    for unit in units[np.isfinite(value[units])].tolist():
        one = first.setdefault((bool(problem.conditional[unit]), int(problem.coordinate[unit])), unit)
        other = bool(problem.complemented[one] != problem.complemented[unit])
        if abs((1.0 - value[unit] if other else value[unit]) - value[one]) <= HELD:
            leader[unit], turned[unit] = one, other
    return leader, turned
