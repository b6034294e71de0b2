"""The interval that a coherent result implies for any event."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.errors import EventError, MethodError, ResultError
from coherently.events import CERTAIN, NEVER, Events, quote_name
from coherently.problem import append
from coherently.solve.bounds import extremes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.problem import Merged
    from coherently.result.result import Result
    from coherently.solve import Worlds


class _Interval(NamedTuple):
    low: float
    high: float


class Bounds(_Interval):
    """The least and the greatest probability of an event, a pair.

    Every distribution that agrees with the result lies between them. They are the tightest if `certified`; otherwise
    the time was up, and tighter ones may exist. `note` says what a reader should know, or is None.

    >>> low, high = Bounds(0.25, 0.5)
    >>> low, high
    (0.25, 0.5)
    """

    certified: bool
    note: str | None

    def __new__(cls, low: float, high: float, certified: bool = True, note: str | None = None) -> Bounds:
        """Make a pair that remembers how good it is."""
        pair = super().__new__(cls, low, high)
        pair.certified, pair.note = certified, note
        return pair


def read_event(event: str) -> tuple[int, list[str]]:
    """The side of an event that can have bounds, in a table of its own, and the names of its variables."""
    alone = Events()
    reading = alone.add([event])
    if reading.faults:
        raise EventError(f"{event!r}: {reading.faults[0]}")
    side, condition, _ = reading.sides[0].tolist()
    if condition != CERTAIN:
        raise EventError(
            f"{event!r} is conditional, and bounds on it do not follow from a linear program; "
            "ask for the bounds of the two events that it is the ratio of: the conjunction and the condition"
        )
    variables = alone.supports(np.array([side // 2], np.int32))[1]
    return side, [alone.variables[v] for v in variables.tolist()]


def find_bounds(result: Result, event: str, time_limit: float) -> Bounds:
    """Bound an event, whether it was forecast or not."""
    if result.solution.worlds is None or result.coherence != "global":
        raise ResultError(
            f"bounds follow from globally coherent forecasts, and these are {result.coherence}: "
            "aggregate with the method exact (or annealing)"
        )
    if not 0 <= time_limit < math.inf:
        raise MethodError(f"time_limit is {time_limit}; it must be a number of seconds, 0 or more")
    side, names = read_event(event)
    if side in (NEVER, CERTAIN):
        return Bounds(float(side), float(side))
    return _bounds(result, result.solution.worlds, event, names, time_limit)


def _bounds(result: Result, worlds: Sequence[Worlds], event: str, names: list[str], seconds: float) -> Bounds:
    merged, mixture = result.problem.merged, result.worlds
    assert mixture is not None
    number = {name: v for v, name in enumerate(mixture.names)}
    part, variables = _touched(merged, [number[name] for name in names if name in number])
    strange = [name for name in names if name not in number]
    table = Events()
    table.add_names([*(mixture.names[v] for v in variables.tolist()), *strange])
    side = int(table.add([event]).event[0])
    coordinate = np.array([side // 2], np.int32)
    whole = append(part, len(strange), table.supports(coordinate)[1], table.tables(coordinate)[1])
    weight, truth = _joint(worlds, variables)
    truth = np.hstack([truth, np.zeros((len(truth), len(strange)), np.bool_)])
    found = extremes(whole, truth, weight, result.loss, seconds)
    low, high = (found.low, found.high) if side % 2 == 0 else (1.0 - found.high, 1.0 - found.low)
    return Bounds(low, high, found.certified, _note(strange, certified=found.certified))


def _note(strange: Sequence[str], *, certified: bool) -> str | None:
    parts = []
    if strange:
        parts.append(f"the panel says nothing of {', '.join(map(quote_name, strange))}")
    if not certified:
        parts.append("the time limit came before the proof; tighter bounds may exist")
    return "; ".join(parts) or None


def _touched(merged: Merged, variables: Sequence[int]) -> tuple[Merged, NDArray[np.int64]]:
    """The weighty events of the components that have some of the variables, and all variables then, ascending.

    The variables of the part are numbered by their place among those.
    """
    weighty = merged.keep(merged.weight > 0)
    component = np.repeat(weighty.components(), weighty.sizes())
    touched = np.unique(component[np.isin(weighty.variables, variables)])
    part = weighty.keep(np.isin(weighty.components(), touched))
    used = np.unique(np.concatenate([part.variables, np.array(variables, np.int64)])).astype(np.int64)
    return part.renumber(used), used


def _joint(worlds: Sequence[Worlds], variables: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """One mixture of some variables: the cumulative weights of their parts are walked together."""
    parts = [part for part in worlds if np.isin(part.variables, variables).any()]
    ends = [np.append(np.cumsum(part.weight)[:-1], 1.0) for part in parts]
    cuts = np.unique(np.concatenate([[0.0, 1.0], *ends]))
    truth = np.zeros((len(cuts) - 1, len(variables)), np.bool_)
    for part, end in zip(parts, ends, strict=True):
        known = np.isin(part.variables, variables)
        rows = part.truth[np.searchsorted(end, cuts[1:])]
        truth[:, np.searchsorted(variables, part.variables[known])] = rows[:, known]
    distinct, place = np.unique(truth, axis=0, return_inverse=True)
    return np.bincount(place.ravel(), np.diff(cuts), len(distinct)).astype(np.float64), distinct
