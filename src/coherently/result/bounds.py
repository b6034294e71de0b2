"""The interval that a coherent result implies for any event."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.errors import EventError, MethodError, ResultError
from coherently.events import CERTAIN, NEVER, find_world
from coherently.panel import UNRESOLVED, WrittenEvents, read_laws
from coherently.problem import append, pose, split
from coherently.result.record import is_plain
from coherently.solve.bounds import extremes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.events import Events
    from coherently.panel import Panel
    from coherently.problem import Merged
    from coherently.result.result import Result


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


def read_event(event: str, events: Events) -> int:
    """The side of an event that can have bounds, which is added to the table."""
    reading = events.add([event])
    if reading.faults:
        raise EventError(f"{event!r}: {reading.faults[0]}")
    side, condition, _ = reading.sides[0].tolist()
    if condition != CERTAIN:
        raise EventError(
            f"{event!r} is conditional, and bounds on it do not follow from a linear program; "
            "ask for the bounds of the two events that it is the ratio of: the conjunction and the condition"
        )
    return int(side)


def find_bounds(result: Result, event: str, time_limit: float) -> Bounds:
    """Bound an event, whether it was forecast or not."""
    if result.solution.worlds is None or result.coherence != "global":
        raise ResultError(
            f"bounds follow from globally coherent forecasts, and these are {result.coherence}: "
            "aggregate with the method exact (or annealing)"
        )
    if not 0 <= time_limit < math.inf:
        raise MethodError(f"time_limit is {time_limit}; it must be a number of seconds, 0 or more")
    panel, side = _asked(result.panel, event)
    if side in (NEVER, CERTAIN):
        return Bounds(float(side), float(side))
    problem = pose(panel, result.loss)
    asked = int(problem.coordinate[-1])
    part = _touched(problem.merged, asked)
    strange = _strange(result, panel.events, part)
    weight, truth = _joint(result, panel, part)
    found = extremes(part, truth, weight, result.loss, time_limit)
    low, high = (found.low, found.high) if side % 2 == 0 else (1.0 - found.high, 1.0 - found.low)
    return Bounds(low, high, found.certified, _note(strange, certified=found.certified))


def _asked(panel: Panel, event: str) -> tuple[Panel, int]:
    """The panel, read anew, with one more event, of no weight, and the side of that.

    A table of events of its own, since the new event may bring thresholds and values of declared variables.
    """
    events, statements = panel.events.fresh(), panel.laws
    laws = statements
    if len(statements) or len(statements.pins):
        laws = read_laws([*statements.text, *statements.pins.text], events)
    texts = list(panel.written.text)
    reading = events.add_names(texts) if is_plain(panel) else events.add(texts)
    side = read_event(event, events)
    sides = np.vstack([reading.sides, np.array([[side, CERTAIN, side ^ 1]], np.int32)])
    outcome = np.append(panel.written.outcome, np.int8(UNRESOLVED))
    written = WrittenEvents((*texts, event), sides[:, 0], sides[:, 1], sides[:, 2], outcome)
    return replace(
        panel,
        events=events,
        written=written,
        judge_index=np.append(panel.judge_index, np.int32(0)),
        event_index=np.append(panel.event_index, np.int32(len(texts))),
        probability=np.append(panel.probability, 0.5),
        weight=np.append(panel.weight, 0.0),
        lower=None if panel.lower is None else np.append(panel.lower, np.nan),
        upper=None if panel.upper is None else np.append(panel.upper, np.nan),
        time=None,
        laws=laws,
    ), side


def _note(strange: Sequence[str], *, certified: bool) -> str | None:
    parts = []
    if strange:
        parts.append(f"the panel says nothing of {', '.join(strange)}")
    if not certified:
        parts.append("the time limit came before the proof; tighter bounds may exist")
    return "; ".join(parts) or None


def _touched(merged: Merged, asked: int) -> Merged:
    """What is known that has to do with a coordinate, and that coordinate once more, as the last."""
    terms = merged.terms
    needed = merged.weight > 0
    needed[terms.ties()[0]] = True
    needed[asked] = True
    kept = merged.keep(needed)
    place = int(np.cumsum(needed)[asked] - 1)
    part = next(part for part in split(kept) if (part.coordinates == place).any())
    own = int(np.flatnonzero(part.coordinates == place)[0])
    a, b = part.merged.starts[own : own + 2]
    c, d = part.merged.table_starts[own : own + 2]
    rest = np.ones(len(part.merged), np.bool_)
    rest[own] = part.merged.weight[own] > 0 or own in part.merged.terms.ties()[0]
    found = append(part.merged.keep(rest), 0, part.merged.variables[a:b], part.merged.tables[c:d])
    return replace(found, origin=kept.origin[part.merged.origin])


def _strange(result: Result, events: Events, part: Merged) -> list[str]:
    """The variables of a part that the result says nothing of, as they are written."""
    mixture = result.worlds
    assert mixture is not None
    known, texts = set(mixture.names), events.written_variables
    used = part.origin[np.unique(part.variables[part.starts[-2] :])]
    return [texts[v] for v in used.tolist() if texts[v] not in known]


def _joint(result: Result, panel: Panel, part: Merged) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """One mixture of a part's variables, from the result's: the cumulative weights of its parts are walked together.

    Variables that the result says nothing of get a truth that the laws allow.
    """
    mixture = result.worlds
    assert mixture is not None
    events = panel.events
    place = {text: v for v, text in enumerate(events.written_variables)}
    column = {int(v): i for i, v in enumerate(part.origin.tolist())}
    homes = np.array([column.get(place.get(name, -1), -1) for name in mixture.names], np.int64)
    parts = [worlds for worlds in mixture.parts if (homes[worlds.variables] >= 0).any()]
    ends = [np.append(np.cumsum(worlds.weight)[:-1], 1.0) for worlds in parts]
    cuts = np.unique(np.concatenate([[0.0, 1.0], *ends]))
    known = np.full((len(cuts) - 1, len(part.origin)), -1, np.int8)
    for worlds, end in zip(parts, ends, strict=True):
        own = homes[worlds.variables]
        rows = worlds.truth[np.searchsorted(end, cuts[1:])]
        known[:, own[own >= 0]] = rows[:, own >= 0]
    distinct, number = np.unique(known, axis=0, return_inverse=True)
    weight = np.bincount(number.ravel(), np.diff(cuts), len(distinct)).astype(np.float64)
    return weight, np.array([_completed(panel, part, row) for row in distinct], np.bool_)


def _completed(panel: Panel, part: Merged, known: NDArray[np.int8]) -> NDArray[np.bool_]:
    """A world of a part that has the known truths."""
    if (known >= 0).all() or part.space.is_free:
        return known > 0
    row = np.full(len(panel.events.variables), -1, np.int8)
    row[part.origin] = known
    world = find_world(panel.events, panel.laws.side, known=row)
    if world is None:
        raise ResultError("a world of the result breaks the laws of its panel; co.verify(panel, result) says which")
    return world[part.origin]
