"""The interval that a coherent result implies for any event."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from coherently.contract import FLAG, NUMBER, TEXT, Described, OrNull, Record, RecordField
from coherently.errors import EventError, MethodError, ResultError, Where
from coherently.events import CERTAIN, NEVER, find_world, quote_name
from coherently.problem import pose, settled, split, unit_of
from coherently.result.answer_worlds import join
from coherently.solve import Budget, Coherence
from coherently.solve.implied import ENOUGH, absent, extremes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.events import Events
    from coherently.panel import Panel
    from coherently.problem import Loss, Merged
    from coherently.result.result import Result
    from coherently.solve.implied import Extremes


class _Enclosure(NamedTuple):
    low: float
    high: float


INTERVAL_FIELDS = (
    RecordField("event", OrNull(TEXT), "the event that was asked for, as it was written"),
    RecordField("low", NUMBER, "the least probability of the event"),
    RecordField("high", NUMBER, "the greatest"),
    RecordField("certified", FLAG, "whether both are proved and reached; otherwise tighter ones may exist"),
    RecordField("note", OrNull(TEXT), "what a reader should know"),
)
BOUNDS_RECORD = Record("bounds", 1, "What a coherent result implies for an event (`Result.bounds`).", INTERVAL_FIELDS)


class Bounds(_Enclosure, Described):
    """The least and the greatest probability of an event, a pair.

    Every distribution that agrees with the result gives the event a probability between them (`Result.bounds` says
    what that means). They are the tightest if `certified`; otherwise tighter ones may exist. `note` says what a reader
    should know, or is None, and `event` is what was asked for.

    >>> low, high = Bounds(0.25, 0.5)
    >>> low, high
    (0.25, 0.5)
    >>> Bounds.from_json(Bounds(0.25, 0.5, note="rough").to_json()).note
    'rough'
    """

    record: ClassVar[Record] = BOUNDS_RECORD
    certified: bool
    note: str | None
    event: str | None

    def __new__(
        cls, low: float, high: float, certified: bool = True, note: str | None = None, event: str | None = None
    ) -> Bounds:
        """Make a pair that also says whether it is certified, why not, and what it is about."""
        pair = super().__new__(cls, low, high)
        pair.certified, pair.note, pair.event = certified, note, event
        return pair

    def about(self, event: str) -> Bounds:
        """The same, with the text of the event."""
        return Bounds(self.low, self.high, self.certified, self.note, event)

    def __eq__(self, other: object) -> bool:
        """Bounds are compared with all that they say, and with any other pair as a pair."""
        if not isinstance(other, tuple):
            return NotImplemented
        return tuple.__eq__(self, other) and (not isinstance(other, Bounds) or vars(self) == vars(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    def _plain(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in INTERVAL_FIELDS}

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Bounds:
        return cls(**values | {"low": float(values["low"]), "high": float(values["high"])})


def read_event(event: str, events: Events) -> int:
    """Give the side of an event that can have bounds, and add it to the table."""
    reading = events.add([event])
    if reading.faults:
        raise reading.faults[0].error(f"{event!r}: {reading.faults[0]}")
    side, condition, _ = reading.sides[0].tolist()
    if condition != CERTAIN:
        raise EventError(
            f"{event!r} is conditional, and bounds on it do not follow from a linear program; it is the ratio of two "
            "events, the conjunction and the condition: ask for the bounds of these",
            code="conditional-event",
            where=Where(event=event),
        )
    return int(side)


def find_bounds(result: Result, event: str, time_limit: float) -> Bounds:
    """Bound an event, whether it was forecast or not."""
    if result.coherence is not Coherence.GLOBAL:
        raise ResultError(
            f"bounds need globally coherent forecasts, but the coherence of these is {result.coherence}: "
            "aggregate with the method exact (or annealing)",
            code="not-coherent",
            remedy="aggregate with the method exact (or annealing)",
        )
    if not 0 <= time_limit < math.inf:
        raise MethodError(f"time_limit is {time_limit}; it must be a number of seconds, 0 or more")
    # A separate table, because the event may add variables, and thresholds and values of declared variables.
    panel = replace(result.panel, events=deepcopy(result.panel.events))
    side = read_event(event, panel.events)
    if side in (NEVER, CERTAIN):
        return Bounds(float(side), float(side))
    problem = pose(settled(panel), result.loss, unit_of(panel.weight), np.array([side], np.int32))
    part = _touched(problem.merged, problem.coordinate_of(side))
    weight, truth = _joint(result, panel, part)
    found = _bounds(part, truth, weight, result.loss, Budget().within(time_limit), turned=side % 2 == 1)
    return _noted(found, _note_unknown(result, panel.events, part))


def _bounds(
    part: Merged, truth: NDArray[np.bool_], weight: NDArray[np.float64], loss: Loss, budget: Budget, *, turned: bool
) -> Bounds:
    """The bounds of a part's last coordinate, or of its complement if `turned`.

    They leave out forecasts conditional on events that are impossible in the answer, and are certified only if that
    makes no difference.
    """
    some_absent = absent(part, truth, weight)
    found = extremes(part, truth, weight, loss, budget.share(0.5) if some_absent else budget).turned(turned)
    bounds = Bounds(found.low, found.high, found.certified, _reason(found))
    if not some_absent:
        return bounds
    strict = extremes(part, truth, weight, loss, budget, heed_absent=True).turned(turned)
    if strict.certified and max(strict.low - found.low, found.high - strict.high) <= ENOUGH:
        return bounds
    remark = (
        "forecasts conditional on events that are impossible in the answer are left out; "
        f"with them it is {strict.low:.4f} to {strict.high:.4f}"
    )
    return _noted(Bounds(found.low, found.high, certified=False, note=bounds.note), remark)


def _noted(bounds: Bounds, remark: str | None) -> Bounds:
    """The same bounds, with a remark before the note."""
    note = "; ".join(filter(None, [remark, bounds.note])) or None
    return Bounds(bounds.low, bounds.high, bounds.certified, note)


def _reason(found: Extremes) -> str | None:
    """Why extremes are not certified."""
    if found.certified:
        return None
    if found.late:
        return "the proof was not finished within the time limit; tighter bounds may exist"
    return "the events are too large for a proof; tighter bounds may exist"


def _touched(merged: Merged, asked: int) -> Merged:
    """Everything known that is connected to a coordinate, and that coordinate once more, as the last."""
    needed = merged.known()
    needed[asked] = True
    kept = merged.keep(needed)
    place = int(np.cumsum(needed)[asked] - 1)
    part = next(part for part in split(kept) if (part.coordinates == place).any())
    own = int(np.flatnonzero(part.coordinates == place)[0])
    rest = np.ones(len(part.merged), np.bool_)
    rest[own] = part.merged.known()[own]
    found = part.merged.keep(rest).extend([part.merged.functions.of(own)], [part.merged.functions.words(own)])
    return replace(found, origin=kept.origin[part.merged.origin])


def _note_unknown(result: Result, events: Events, part: Merged) -> str | None:
    """A note on the variables of the last coordinate that are not in the panel."""
    known = set(_owners(result.panel.events))
    owners = _owners(events)
    used = [owners[v] for v in part.origin[part.functions.of(len(part) - 1)].tolist()]
    unknown = [quote_name(name) for name in dict.fromkeys(used) if name not in known]
    return f"the panel says nothing about {', '.join(unknown)}" if unknown else None


def _owners(events: Events) -> list[str]:
    """The name of the user's variable that each Boolean variable is, or is an atom of."""
    names = events.variables
    for choice in events.choices():
        for atom in choice.atoms.tolist():
            names[atom] = choice.name
    return names


def _joint(result: Result, panel: Panel, part: Merged) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """One mixture over a part's variables, from the mixtures of the result.

    Variables that are not in the result get a truth that the laws allow.
    """
    mixture = result.worlds
    assert mixture is not None
    place = {text: v for v, text in enumerate(panel.events.written_variables)}
    column = {int(v): i for i, v in enumerate(part.origin.tolist())}
    homes = np.array([column.get(place.get(name, -1), -1) for name in mixture.names], np.int64)
    parts = [worlds for worlds in mixture.parts if (homes[worlds.variables] >= 0).any()]
    share, rows = join(parts)
    known = np.full((len(share), len(part.origin)), -1, np.int8)
    for worlds, row in zip(parts, rows, strict=True):
        own = homes[worlds.variables]
        known[:, own[own >= 0]] = worlds.truth[row][:, own >= 0]
    distinct, number = np.unique(known, axis=0, return_inverse=True)
    weight = np.bincount(number.ravel(), share, len(distinct)).astype(np.float64)
    return weight, np.array([_completed(panel, part, row) for row in distinct], np.bool_)


def _completed(panel: Panel, part: Merged, known: NDArray[np.int8]) -> NDArray[np.bool_]:
    """A world of a part that has the known truths."""
    if (known >= 0).all() or part.space.is_free:
        return known > 0
    row = np.full(panel.events.n_variables, -1, np.int8)
    row[part.origin] = known
    world = find_world(panel.events, panel.laws.side, known=row)
    if world is None:
        raise ResultError("a world of the result breaks the laws of its panel; co.verify(panel, result) says which")
    return world[part.origin]
