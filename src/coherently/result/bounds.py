"""The interval that a coherent result implies for any event or conditional."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from coherently.contract import FLAG, NUMBER, TEXT, Described, OrNull, Record, RecordField
from coherently.errors import EventError, ResultError, Where
from coherently.events import CERTAIN, NEVER, find_world, quote_name
from coherently.panel import impossible_conditions
from coherently.problem import ABSENT, pose, possible, settled, split, unit_of
from coherently.result.answer_index import index_of
from coherently.result.answer_worlds import join
from coherently.result.notes import condition_text
from coherently.solve import Budget, Coherence
from coherently.solve.budget import check_time_limit
from coherently.solve.implied.extremes import (
    ENOUGH,
    ConditionState,
    KnownAnswer,
    conditional_extremes,
    extremes,
    priced_ends,
)
from coherently.solve.implied.fixed_rows import absent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.events import Events, Reading
    from coherently.panel import Panel
    from coherently.problem import Merged
    from coherently.result.result import Result
    from coherently.solve.implied.extremes import Extremes

TIME_LIMIT = 10.0
"""Seconds for the bounds of one event."""


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
    """The least and the greatest probability of an event or a conditional, a pair.

    Every distribution that agrees with the result gives it a probability between them (`Result.bounds` says
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
        return Bounds(self.low, self.high, certified=self.certified, note=self.note, event=event)

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


@dataclass(frozen=True, slots=True)
class AskedEvent:
    """The sides of a text: E, the certain event and ~E; for "E given H" they are E & H, H and ~E & H."""

    text: str
    joint: int
    condition: int
    rest: int

    @property
    def is_conditional(self) -> bool:
        """Whether it has a condition that can fail."""
        return self.condition != CERTAIN

    def coordinates(self) -> list[int]:
        """The sides to bound, the event last."""
        return [self.condition, self.joint] if self.is_conditional else [self.joint]

    def turned(self) -> tuple[bool, bool]:
        """Whether the condition and the event are complements of coordinates."""
        return self.condition % 2 == 1, self.joint % 2 == 1


def read_event(event: str, events: Events) -> AskedEvent:
    """Read an event, or a conditional, and add it to the table."""
    return _asked(event, events.add([event]))


def _asked(event: str, reading: Reading) -> AskedEvent:
    """What was asked for; an error if it could not be read."""
    if reading.faults:
        raise reading.faults[0].error(f"{event!r}: {reading.faults[0]}")
    return AskedEvent(event, *map(int, reading.sides[0]))


def find_bounds(result: Result, event: str, time_limit: float, budget: Budget) -> Bounds:
    """Bound an event or a conditional, whether it was forecast or not."""
    if result.coherence is not Coherence.GLOBAL:
        raise ResultError(
            f"bounds need globally coherent forecasts, but the coherence of these is {result.coherence}: "
            "aggregate with the method exact (or annealing)",
            code="not-coherent",
            remedy="aggregate with the method exact (or annealing)",
        )
    check_time_limit(time_limit)
    budget, event = budget.within(time_limit), result.panel.text_of(event)
    found = _looked_up(result, event, budget)
    return _posed_anew(result, event, budget) if found is None else found


def _looked_up(result: Result, event: str, budget: Budget) -> Bounds | None:
    """The bounds by the result's own components; None if the event is about variables that are in none of them."""
    index = index_of(result)
    if (read := index.read(event)) is None:
        return None
    reading, events = read
    asked = _asked(event, reading)
    panel = replace(result.panel, events=events)
    constant = _constant(panel, asked)
    if constant is not None:
        return Bounds(constant, constant)
    coordinates = np.array(asked.coordinates(), np.int32) // 2
    starts, variables = events.supports(coordinates)
    if (number := index.numbers(variables)) is None:
        return None
    components = index.components.part(np.unique(index.components.home[number]).tolist()).merged
    place = np.searchsorted(components.origin, number)
    table_starts, tables = events.tables(coordinates)
    rows = [place[a:b] for a, b in pairwise(starts.tolist())]  # ascending: the problem numbers variables in their order
    words = [tables[a:b] for a, b in pairwise(table_starts.tolist())]
    part = touched(components.extend(rows, words), len(components) + np.arange(len(rows)))
    if (mixture := index.mixture(part.origin)) is None:
        return None
    weight, worlds = mixture
    return _bounds(part, asked, KnownAnswer(worlds, weight, result.loss), budget)


def _posed_anew(result: Result, event: str, budget: Budget) -> Bounds:
    """The bounds by the whole panel with the event, which may add variables, thresholds and values of declared ones."""
    panel = replace(result.panel, events=deepcopy(result.panel.events))
    asked = read_event(event, panel.events)
    constant = _constant(panel, asked)
    if constant is not None:
        return Bounds(constant, constant)
    sides = asked.coordinates()
    problem = pose(settled(panel), result.loss, unit_of(panel.weight), np.array(sides, np.int32))
    part = touched(problem.merged, [problem.coordinate_of(side) for side in sides])
    weight, worlds = mixture_over(result, panel, part)
    bounds = _bounds(part, asked, KnownAnswer(worlds, weight, result.loss), budget)
    return _noted(bounds, _note_unknown(result, panel.events, part, len(sides)))


@dataclass(frozen=True, slots=True)
class BoundProof:
    """Proved ends of a probability, and the prices of what the result fixes by the sides of E & H and H."""

    low: float
    high: float
    low_prices: dict[tuple[int, int], float]
    high_prices: dict[tuple[int, int], float]


def bound_proof(result: Result, event: str, budget: Budget, slack: float) -> BoundProof:
    """The prices that prove the ends of an event or a conditional, each loosened by `slack`."""
    panel = replace(result.panel, events=deepcopy(result.panel.events))
    asked = read_event(event, panel.events)
    constant = _constant(panel, asked)
    if constant is not None:
        return BoundProof(constant, constant, {}, {})
    sides = asked.coordinates()
    problem = pose(settled(panel), result.loss, unit_of(panel.weight), np.array(sides, np.int32))
    part = touched(problem.merged, [problem.coordinate_of(side) for side in sides])
    weight, worlds = mixture_over(result, panel, part)
    answer = KnownAnswer(worlds, weight, result.loss)
    found = priced_ends(part, answer, asked.turned(), conditional=asked.is_conditional, budget=budget)
    if found is None:
        return BoundProof(0.0, 1.0, {}, {})
    rows = found.rows

    def on_sides(prices: NDArray[np.float64]) -> dict[tuple[int, int], float]:
        more = 0.0 if found.condition is None else slack * found.condition.prices
        named = [
            np.where(one.coordinate < 0, CERTAIN, part.event[one.coordinate] ^ one.turned).tolist()
            for one in (rows.joint, rows.condition)
        ]
        sums: dict[tuple[int, int], float] = {}
        for joint, condition, price in zip(*named, (prices + more).tolist(), strict=True):
            sums[joint, condition] = sums.get((joint, condition), 0.0) + price
        return sums

    return BoundProof(
        found.low.bound - slack,
        -found.high.bound + slack,
        on_sides(found.low.prices),
        on_sides(found.high.prices),
    )


def _constant(panel: Panel, asked: AskedEvent) -> float | None:
    """The one probability that logic and laws leave to an event or, wherever its condition holds, to a conditional."""
    if NEVER in (asked.joint, asked.rest):
        return float(asked.rest == NEVER)
    if not asked.is_conditional:
        return None
    for reason in impossible_conditions(panel.laws, panel.events, np.array([asked.condition], np.int32)).values():
        raise EventError(f"{asked.text!r}: {reason}", code="impossible-condition", where=Where(event=asked.text))
    holds, fails = possible(panel, np.array([asked.joint, asked.rest], np.int32)).tolist()
    return None if holds and fails else float(holds)


def _bounds(part: Merged, asked: AskedEvent, answer: KnownAnswer, budget: Budget) -> Bounds:
    """The bounds of what is asked, whose coordinates are the last of the part.

    They leave out forecasts conditional on events that are impossible in the answer, and are certified only if that
    makes no difference.
    """

    def ends(budget: Budget, *, heed_absent: bool) -> Extremes:
        if asked.is_conditional:
            return conditional_extremes(part, asked.turned(), answer, budget, heed_absent=heed_absent)
        return extremes(part, answer, budget, heed_absent=heed_absent).turned(asked.turned()[1])

    some_absent = absent(part, answer.worlds, answer.weight)
    found = ends(budget.share(0.5) if some_absent else budget, heed_absent=False)
    bounds = _noted(Bounds(found.low, found.high, found.certified, _reason(found)), _note_condition(asked, found))
    if not some_absent:
        return bounds
    strict = ends(budget, heed_absent=True)
    same = found.condition is strict.condition
    if same and strict.certified and max(strict.low - found.low, found.high - strict.high) <= ENOUGH:
        return bounds
    impossible = strict.condition is ConditionState.IMPOSSIBLE
    with_them = "its condition is impossible" if impossible else f"it is {strict.low:.4f} to {strict.high:.4f}"
    remark = f"forecasts conditional on events that are impossible in the answer are left out; with them {with_them}"
    return _noted(Bounds(found.low, found.high, certified=False, note=bounds.note), remark)


def _note_condition(asked: AskedEvent, found: Extremes) -> str | None:
    """What the answer leaves of the condition, if that may be nothing."""
    if found.condition is ConditionState.POSSIBLE:
        return None
    condition = condition_text(asked.text)
    if found.condition is ConditionState.IMPOSSIBLE:
        return (
            f"in the answer the probability of {condition} is below {ABSENT:g}, so that nothing bounds what is given it"
        )
    return f"the answer allows that {condition} is impossible; the bounds are for where it is possible"


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


def touched(merged: Merged, asked: Sequence[int] | NDArray[np.int64]) -> Merged:
    """Everything known that is connected to some coordinates, and these once more, as the last.

    They are of one component: "A given H" is about A and H, and A implies H, which independent events do not.
    """
    found = touched_together(merged, asked)
    assert found is not None
    return found


def touched_together(merged: Merged, asked: Sequence[int] | NDArray[np.int64]) -> Merged | None:
    """The same of any coordinates; None if nothing known ties them to each other."""
    needed = merged.known()
    needed[asked] = True
    kept = merged.keep(needed)
    places = (np.cumsum(needed) - 1)[list(asked)]
    part = next((part for part in split(kept) if np.isin(places, part.coordinates).all()), None)
    if part is None:
        return None
    asked_here = [int(np.flatnonzero(part.coordinates == place)[0]) for place in places]
    rest = np.ones(len(part.merged), np.bool_)
    rest[asked_here] = part.merged.known()[asked_here]
    functions = part.merged.functions
    touched = part.merged.keep(rest).extend(
        [functions.of(place) for place in asked_here], [functions.words(place) for place in asked_here]
    )
    return replace(touched, origin=kept.origin[part.merged.origin])


def _note_unknown(result: Result, events: Events, part: Merged, asked: int) -> str | None:
    """A note on the variables of the last coordinates that are not in the panel."""
    known = set(_owners(result.panel.events))
    owners = _owners(events)
    places = reversed(range(len(part) - asked, len(part)))
    used = [owners[v] for place in places for v in part.origin[part.functions.of(place)].tolist()]
    unknown = [quote_name(name) for name in dict.fromkeys(used) if name not in known]
    return f"the panel says nothing about {', '.join(unknown)}" if unknown else None


def _owners(events: Events) -> list[str]:
    """The name of the user's variable that each Boolean variable is, or is an atom of."""
    names = events.variables
    for choice in events.choices():
        for atom in choice.atoms.tolist():
            names[atom] = choice.name
    return names


def mixture_over(result: Result, panel: Panel, part: Merged) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
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
