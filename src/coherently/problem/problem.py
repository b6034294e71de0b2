"""What is to be solved, as the methods see it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.problem.spaces.space import FREE, Space
from coherently.problem.terms import NO_TERMS, Terms
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from coherently.problem.functions import Functions
    from coherently.problem.losses import Loss


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Merged(Value):
    """Distinct events (an event and its complement count as one), with the forecasts of both sides merged.

    One entry per coordinate: `event` is a side (see `coherently.events.Reading`), `weight` is the total weight N,
    `mean` the weighted mean q of the forecasts turned to this side (NaN where N is 0). Events that only conditionals
    and pins are about are coordinates of weight 0, after the others. `functions` are the Boolean functions of the
    coordinates. `origin` is the panel's variable behind each variable; if judges are separate, each has separate
    variables, and a panel's variable may occur several times. `space` has the possible worlds, and `terms` the
    conditionals, intervals and pins.
    """

    event: NDArray[np.int32]
    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    functions: Functions
    origin: NDArray[np.int32]
    space: Space = field(default_factory=lambda: FREE)
    terms: Terms = field(default_factory=lambda: NO_TERMS)

    @property
    def n_variables(self) -> int:
        """The number of variables, used or not."""
        return len(self.origin)

    @property
    def handle(self) -> _core.Functions:
        """The functions in the form of kernels."""
        return self.functions.handle(self.n_variables)

    def __len__(self) -> int:
        return len(self.event)

    def sizes(self) -> NDArray[np.int64]:
        """The number of variables of each coordinate."""
        return self.functions.sizes()

    def known(self) -> NDArray[np.bool_]:
        """Which coordinates numbers, intervals, conditionals or pins are about."""
        terms, known = self.terms, self.weight > 0
        known[terms.ties()[0]] = True
        known[terms.intervals.about[~terms.intervals.conditional]] = True
        return known

    def keep(self, kept: NDArray[np.bool_]) -> Merged:
        """Only the coordinates of a mask, in their order, and the conditionals, intervals and pins about only these."""
        return replace(
            self,
            event=self.event[kept],
            weight=self.weight[kept],
            mean=self.mean[kept],
            functions=self.functions.take(np.flatnonzero(kept)),
            terms=self.terms.part(np.where(kept, np.cumsum(kept) - 1, -1)),
        )

    def renumber(self, used: NDArray[np.int64]) -> Merged:
        """The same with only some variables, ascending, numbered by their place; no other may occur."""
        number = np.full(self.n_variables, -1, np.int64)
        number[used] = np.arange(len(used))
        space = self.space
        if not space.is_free:
            starts, members = space.rows()
            outside = np.logical_or.reduceat(number[members] < 0, starts[:-1])
            space = next(space.split(outside.astype(np.int64), number, 1))
        functions = self.functions.renumbered(number[self.functions.variables].astype(np.int32))
        return replace(self, functions=functions, origin=self.origin[used], space=space)

    def extend(self, variables: Sequence[Collection[int]], words: Sequence[NDArray[np.uint64]]) -> Merged:
        """Append coordinates of weight 0, each by its variables, ascending, and its words."""
        return replace(
            self,
            event=np.append(self.event, np.full(len(variables), -1, np.int32)),
            weight=np.append(self.weight, np.zeros(len(variables))),
            mean=np.append(self.mean, np.full(len(variables), np.nan)),
            functions=self.functions.extend(variables, words),
        )

    def weights(self) -> NDArray[np.float64]:
        """The weights of coordinates, conditionals and intervals, in this order."""
        if not len(self.terms):
            return self.weight
        return np.concatenate([self.weight, self.terms.conditionals.weight, self.terms.intervals.weight])

    def times(self, factor: float) -> Merged:
        """The same with all weights multiplied."""
        given, inner = self.terms.conditionals, self.terms.intervals
        terms = self.terms
        if len(terms):
            given, inner = replace(given, weight=factor * given.weight), replace(inner, weight=factor * inner.weight)
            terms = replace(terms, conditionals=given, intervals=inner)
        return replace(self, weight=factor * self.weight, terms=terms)

    def components(self) -> NDArray[np.int32]:
        """Label each coordinate with its connected component."""
        return self.tied()[: len(self)]

    def tied(self) -> NDArray[np.int32]:
        """The components of the coordinates, of the blocks and of the laws, one after the other."""
        starts, variables, count = self.functions.starts, self.functions.variables, self.n_variables
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
        return _core.connected_rows(starts.astype(np.int64, copy=False), variables.astype(np.int32, copy=False), count)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Forecasts(Value):
    """The forecasts themselves, with one entry per forecast in each array: its judge, its unit, its numbers.

    `judge` is an index into the names `judges`. Where `interval`, the forecast is an interval that contains
    `probability`.
    """

    judge: NDArray[np.int32]
    unit: NDArray[np.int32]
    probability: NDArray[np.float64]
    weight: NDArray[np.float64]
    interval: NDArray[np.bool_]
    judges: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.unit)

    def keep(self, units: NDArray[np.bool_]) -> Forecasts:
        """The forecasts of some units, which are renumbered in their order."""
        rows, place = units[self.unit], np.cumsum(units, dtype=np.int32) - 1
        columns = ("judge", "probability", "weight", "interval")
        return replace(self, unit=place[self.unit[rows]], **{name: getattr(self, name)[rows] for name in columns})


@dataclass(frozen=True, slots=True, eq=False)
class Way(Value):
    """The way back from a part of a problem to the whole: which of the whole's units it has."""

    units: NDArray[np.bool_]

    def back(self, value: NDArray[np.float64], others: float | NDArray[np.float64] = np.nan) -> NDArray[np.float64]:
        """Put numbers of the kept units, along the last axis, in their places among those of the others.

        >>> Way(np.array([True, False, True])).back(np.array([0.1, 0.2])).tolist()
        [0.1, nan, 0.2]
        """
        whole = np.full((*value.shape[:-1], len(self.units)), others)
        whole[..., self.units] = value
        return whole


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Problem(Value):
    """The forecasts as the methods need them.

    The answer has one number per unit: the events as written or, if judges are separate, those of each judge. One entry
    per unit: `written` is an index into the panel's `texts`, `owner` is the judge if judges are separate (else 0),
    `weight` and `mean` are those of its forecasts (NaN where the weight is 0). `coordinate` and `complemented` lead
    to `merged`, whose means are those of the loss: to a coordinate or, where `conditional`, to a conditional of its
    terms. All weights are in units of `weight_unit` (see `coherently.problem.units`).
    """

    forecasts: Forecasts
    texts: Sequence[str]
    written: NDArray[np.integer]
    owner: NDArray[np.int64]
    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    coordinate: NDArray[np.int32]
    complemented: NDArray[np.bool_]
    conditional: NDArray[np.bool_]
    merged: Merged
    loss: Loss
    weight_unit: float = 1.0

    @staticmethod
    def of(
        merged: Merged,
        loss: Loss,
        coordinate: NDArray[np.integer],
        complemented: NDArray[np.bool_],
        probability: NDArray[np.float64],
        weight: NDArray[np.float64],
    ) -> Problem:
        """The problem of unnamed units, each with one forecast of a coordinate or its complement."""
        count, no = len(coordinate), np.zeros(len(coordinate), np.bool_)
        unit, owner = np.arange(count, dtype=np.int32), np.zeros(count, np.int64)
        return Problem(
            forecasts=Forecasts(
                judge=np.zeros_like(unit), unit=unit, probability=probability, weight=weight, interval=no, judges=("",)
            ),
            texts=("",) * count,
            written=unit,
            owner=owner,
            weight=weight,
            mean=probability,
            coordinate=coordinate.astype(np.int32),
            complemented=complemented,
            conditional=no,
            merged=merged,
            loss=loss,
        )

    @property
    def scatter(self) -> float:
        """The sum of w (p - q)^2, which merging forecasts p to q leaves out of the objective under the Brier loss."""
        given = self.forecasts
        told = (given.weight > 0) & ~given.interval
        if self.conditional.any():
            told &= ~self.conditional[given.unit]
        if not told.all():
            given = replace(given, **{name: getattr(given, name)[told] for name in ("unit", "probability", "weight")})
        turned = np.where(self.complemented[given.unit], 1.0 - given.probability, given.probability)
        apart = turned - self.merged.mean[self.coordinate[given.unit]]
        return float(np.sum(given.weight * apart**2))

    def turned(self) -> NDArray[np.float64]:
        """The probability that each forecast gives to its coordinate."""
        p = self.forecasts.probability
        return np.where(self.complemented[self.forecasts.unit], 1.0 - p, p)

    def coordinate_of(self, side: int) -> int:
        """The first coordinate of an event or its complement, by its side in the panel's events; -1 if none."""
        return int(np.append(np.flatnonzero(self.merged.event == side & ~1), -1)[0])

    def keep(self, kept: NDArray[np.bool_]) -> tuple[Problem, Way]:
        """The problem of only some coordinates, and the way back from it."""
        place = np.where(kept, np.cumsum(kept) - 1, -1)
        given = self.merged.terms.conditionals
        whole = given.joint.are_on(kept) & given.condition.are_on(kept)
        place = np.append(place, np.where(whole, np.cumsum(whole) - 1, -1))
        number = place[self.coordinate + len(kept) * self.conditional]
        units = number >= 0
        columns = ("written", "owner", "weight", "mean", "complemented", "conditional")
        part = replace(
            self,
            forecasts=self.forecasts.keep(units),
            coordinate=number[units].astype(np.int32),
            merged=self.merged.keep(kept),
            **{name: getattr(self, name)[units] for name in columns},
        )
        return part, Way(units)

    def in_weights(self) -> Problem:
        """The same with all weights as given; a sum that is too large for a double is infinite."""
        unit = self.weight_unit
        if unit == 1:
            return self
        with np.errstate(over="ignore"):
            return replace(
                self,
                weight=unit * self.weight,
                forecasts=replace(self.forecasts, weight=unit * self.forecasts.weight),
                merged=self.merged.times(unit),
                weight_unit=1.0,
            )

    def as_written(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Carry an answer for each coordinate back to the units."""
        place = self.coordinate
        if self.conditional.any():
            place, x = place + len(x) * self.conditional, np.append(x, self.merged.terms.conditionals.value(x))
        answer = x[place]
        return np.where(self.complemented, 1.0 - answer, answer)
