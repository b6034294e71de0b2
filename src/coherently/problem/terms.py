"""Forecasts that are not one number for one event: conditionals, intervals and limits."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from coherently.problem.spaces.space import rows_by_home
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

ABSENT = 1e-6
"""The probability below which a condition counts as impossible."""


def _numbers() -> NDArray[np.int32]:
    return np.empty(0, np.int32)


def _flags() -> NDArray[np.bool_]:
    return np.empty(0, np.bool_)


def _floats() -> NDArray[np.float64]:
    return np.empty(0, np.float64)


NO_TIES = (np.empty(0, np.int32), np.empty(0, np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class Sides(Value):
    """Events by coordinate, or the complements of coordinates where `turned`; -1 is the certain event."""

    coordinate: NDArray[np.int32] = field(default_factory=_numbers)
    turned: NDArray[np.bool_] = field(default_factory=_flags)

    def __len__(self) -> int:
        return len(self.coordinate)

    def probability(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probabilities of the events, from those of the coordinates."""
        value = np.append(x, 1.0)[self.coordinate]
        return np.where(self.turned, 1.0 - value, value)

    def are_on(self, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which events are of kept coordinates; the certain event always is."""
        return np.append(kept, True)[self.coordinate]

    def take(self, index: NDArray[np.integer], number: NDArray[np.integer]) -> Sides:
        """Some of them, with coordinates renumbered."""
        own = self.coordinate[index]
        return Sides(np.where(own < 0, -1, number[own]).astype(np.int32), self.turned[index])


class _TermRows(Value):
    """A base for values whose fields have one entry per row each: arrays, or sides."""

    __slots__ = ()

    def __len__(self) -> int:
        raise NotImplementedError

    def take(self, index: NDArray[np.integer], number: NDArray[np.integer]) -> Self:
        """Some of the rows, with the coordinates of sides renumbered."""
        columns = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]
        return type(self)(
            **{name: one.take(index, number) if isinstance(one, Sides) else one[index] for name, one in columns.items()}
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Conditionals(_TermRows):
    """Distinct conditional forecasts "E given H"; an event and its complement given the same condition count as one.

    `joint` is E & H and `condition` H; `weight` and `mean` are of the merged forecasts (NaN where the weight is 0).
    `stated` is where the forecasts, intervals included, stand if the condition has no probability (NaN if none has any
    weight).
    """

    joint: Sides = field(default_factory=Sides)
    condition: Sides = field(default_factory=Sides)
    weight: NDArray[np.float64] = field(default_factory=_floats)
    mean: NDArray[np.float64] = field(default_factory=_floats)
    stated: NDArray[np.float64] = field(default_factory=_floats)

    def __len__(self) -> int:
        return len(self.stated)

    def value(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The conditional probabilities; where the condition counts as impossible, they are as stated."""
        return np.where(self.standing(x), self.as_stated(), self.ratio(x))

    def as_stated(self) -> NDArray[np.float64]:
        """Where the forecasts stand if nothing constrains them: one half if there is none of any weight."""
        return np.nan_to_num(self.stated, nan=0.5)

    def standing(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which forecasts stand as they are: those whose condition counts as impossible."""
        absent: NDArray[np.bool_] = self.condition.probability(x) < ABSENT
        return absent

    def ratio(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The ratio of the probabilities of E & H and H; where that of H is 0, it is as stated."""
        joint, condition = self.joint.probability(x), self.condition.probability(x)
        ratio = np.divide(joint, condition, out=self.as_stated(), where=condition > 0)
        return np.clip(ratio, 0.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Intervals(_TermRows):
    """Forecasts that lose nothing while the probability lies in [`low`, `high`].

    `about` is a coordinate or, where `conditional`, the number of a conditional; the interval is turned to its side.
    """

    about: NDArray[np.int32] = field(default_factory=_numbers)
    conditional: NDArray[np.bool_] = field(default_factory=_flags)
    low: NDArray[np.float64] = field(default_factory=_floats)
    high: NDArray[np.float64] = field(default_factory=_floats)
    weight: NDArray[np.float64] = field(default_factory=_floats)

    def __len__(self) -> int:
        return len(self.weight)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Limits(_TermRows):
    """Pins: low P(H) <= P(E & H) <= high P(H), where `joint` is E & H; H is certain for an unconditional pin.

    `pin` is the number of the panel's pin.
    """

    joint: Sides = field(default_factory=Sides)
    condition: Sides = field(default_factory=Sides)
    low: NDArray[np.float64] = field(default_factory=_floats)
    high: NDArray[np.float64] = field(default_factory=_floats)
    pin: NDArray[np.int32] = field(default_factory=_numbers)

    def __len__(self) -> int:
        return len(self.pin)


@dataclass(frozen=True, slots=True, eq=False)
class Terms(Value):
    """All conditionals, intervals and limits."""

    conditionals: Conditionals = field(default_factory=Conditionals)
    intervals: Intervals = field(default_factory=Intervals)
    limits: Limits = field(default_factory=Limits)

    def __len__(self) -> int:
        return len(self.conditionals) + len(self.intervals) + len(self.limits)

    def of_intervals(self) -> tuple[Sides, Sides]:
        """What each interval is about, as E & H and H: for an event, that event and the certain one."""
        given, about = self.intervals.conditional, self.intervals.about
        joint = Sides(about.copy(), np.zeros(len(about), np.bool_))
        condition = Sides(np.full(len(about), -1, np.int32), np.zeros(len(about), np.bool_))
        for side, own in ((joint, self.conditionals.joint), (condition, self.conditionals.condition)):
            side.coordinate[given], side.turned[given] = own.coordinate[about[given]], own.turned[about[given]]
        return joint, condition

    def ties(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Coordinates, and for each the number of a conditional or limit that ties it to others."""
        if not len(self):
            return NO_TIES
        sides = [self.conditionals.joint, self.conditionals.condition, self.limits.joint, self.limits.condition]
        count = len(self.conditionals)
        numbers = [np.arange(count), np.arange(count), *(count + np.arange(len(self.limits)) for _ in range(2))]
        coordinate = np.concatenate([side.coordinate for side in sides])
        known = coordinate >= 0
        return coordinate[known], np.concatenate(numbers)[known].astype(np.int32)

    def part(self, number: NDArray[np.integer]) -> Terms:
        """The terms all of whose coordinates are kept: `number` renumbers these, and is -1 for the others."""
        if not len(self):
            return self
        given, intervals, limits = self.conditionals, self.intervals, self.limits
        kept = number >= 0
        whole, bound = (one.joint.are_on(kept) & one.condition.are_on(kept) for one in (given, limits))
        place = np.append(number, np.where(whole, np.cumsum(whole) - 1, -1))
        about = place[intervals.about + len(number) * intervals.conditional].astype(np.int32)
        return Terms(
            given.take(np.flatnonzero(whole), number),
            replace(intervals, about=about).take(np.flatnonzero(about >= 0), number),
            limits.take(np.flatnonzero(bound), number),
        )

    def split(self, home: NDArray[np.integer], number: NDArray[np.integer], count: int) -> Iterator[Terms]:
        """The terms of each of the first `count` homes of coordinates, which are renumbered in each."""
        given, intervals, limits = self.conditionals, self.intervals, self.limits
        given_home, limit_home = home[given.joint.coordinate], home[limits.joint.coordinate]
        given_rows, limit_rows = rows_by_home(given_home, count), rows_by_home(limit_home, count)
        place = np.empty(len(given), np.int64)
        for rows in given_rows:
            place[rows] = np.arange(len(rows))
        at = intervals.about + len(home) * intervals.conditional
        own_home = np.append(home, given_home)[at]
        moved = replace(intervals, about=np.append(number, place)[at].astype(np.int32))
        for mine, some, bound in zip(given_rows, rows_by_home(own_home, count), limit_rows, strict=True):
            if not len(mine) + len(some) + len(bound):
                yield NO_TERMS
                continue
            yield Terms(given.take(mine, number), moved.take(some, number), limits.take(bound, number))


NO_TERMS = Terms()
