"""The problem of a panel: terms (merged forecasts), laws and pins, from its canonical form."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from .check_errors import BadInputError
from .forecast_files import Canonical, ReadingOptions, canonical, read_rows, read_text, settle
from .language import Step, normal, read_declaration, read_event, read_pin, split_statements
from .leaves import LARGE, Factor, WorkLeft, eliminate, factor_of, least_left
from .loss_planes import Cost, LossRule
from .numbers import decimal
from .truth_functions import TRUE, StateSpace, TruthFunction

Event = tuple[TruthFunction, TruthFunction]
"""E & H and H; without a condition, E and TRUE."""


@dataclass(frozen=True)
class PosedTerm:
    """Forecasts of one event, or of its complement: they lose `cost` at u = P(`joint`), h = P(`condition`).

    A term whose joint event is a constant under its condition has `settled`, its truth. `text` is one of its texts, and
    `turned` says whether that is the complement of the term's event.
    """

    joint: TruthFunction
    condition: TruthFunction
    cost: Cost
    settled: bool | None
    text: str
    turned: bool


@dataclass(frozen=True)
class PosedPin:
    """low P(H) <= P(E & H) <= high P(H)."""

    text: str
    joint: TruthFunction
    condition: TruthFunction
    low: Fraction
    high: Fraction


class PosedPanel:
    """A panel in its canonical form, as functions of variables; `terms` merges its forecasts under a loss."""

    def __init__(self, form: Canonical) -> None:
        self.form, self.digest = form, form.digest
        said, pinned_texts, self.law_texts = split_statements(form.laws)
        declarations = list(map(read_declaration, said))
        if len({one.name for one in declarations}) < len(declarations):
            raise BadInputError("a variable is declared twice")
        self.programs = {one["event"]: _read(one["event"], plain=form.plain_events) for one in form.forecasts}
        laws = list(map(read_event, self.law_texts))
        if any(condition is not None for _, condition in laws):
            raise BadInputError("a law is a formula without 'given'")
        pins = list(map(read_pin, pinned_texts))
        pinned = [read_event(event) for event, _, _ in pins]
        pairs = [*laws, *pinned, *self.programs.values()]
        self.space = StateSpace(declarations, [program for pair in pairs for program in pair if program is not None])
        self.laws = [self.space.function(program) for program, _ in laws]
        self.pins = [
            PosedPin(text, *self.event(program), low, high)
            for text, (_, low, high), program in zip(pinned_texts, pins, pinned, strict=True)
        ]
        self.events: dict[str, Event] = {text: self.event(program) for text, program in self.programs.items()}

    def event(self, pair: tuple[list[Step], list[Step] | None]) -> Event:
        """E & H and H of a program with its condition."""
        event, condition = pair
        if condition is None:
            return self.space.function(event), TRUE
        given = self.space.function(condition)
        if given.constant is False:
            raise BadInputError("the condition after 'given' can never be true")
        return self.space.function([*event, *condition, ("and",)]), given

    def rest(self, text: str) -> TruthFunction:
        """~E & H of an event."""
        event, condition = self.programs[text]
        if condition is None:
            return self.space.complement(self.events[text][0])
        return self.space.function([*event, ("not",), *condition, ("and",)])

    def terms(self, loss: LossRule, work: WorkLeft) -> list[PosedTerm]:
        """Merge forecasts of equal events, and of complements; intervals of their own; in order of appearance."""
        sides = {text: self.side(text, work) for text in self.events}
        points = dict[tuple[Any, ...], list[tuple[Fraction, Fraction]]]()
        first = dict[tuple[Any, ...], tuple[str, bool]]()
        fields = ("event", "probability", "weight", "lower", "upper")
        lines: Counter[tuple[Any, ...]] = Counter(tuple(map(one.get, fields)) for one in self.form.forecasts)
        for (text, written, weight, lower, upper), count in lines.items():
            if decimal(weight) <= 0:
                continue
            joint, given, settled, turned = sides[text]
            p, low, high = decimal(written), decimal(lower or "0"), decimal(upper or "1")
            if turned:
                p, low, high = 1 - p, 1 - high, 1 - low
            if not 0 <= low <= p <= high <= 1:
                raise BadInputError(f"{text!r}: a probability lies outside [0, 1], or outside its interval")
            key = (joint, given, settled, (low, high) if lower or upper else None)
            points.setdefault(key, []).append((p, count * decimal(weight)))
            first.setdefault(key, (text, turned))
        found = []
        for key, told in points.items():
            joint, given, settled, ends = key
            cost = loss.cost(told, ends, conditional=given.constant is None)
            text, turned = first[key]
            found.append(PosedTerm(joint, given, cost, settled, text=text, turned=turned))
        return found

    def side(self, text: str, work: WorkLeft) -> tuple[TruthFunction, TruthFunction, bool | None, bool]:
        """The joint event and the condition, turned to the side that stands for both; whether it is settled."""
        (joint, given), other = self.events[text], self.rest(text)
        if given is not TRUE and given.constant is None:
            holds, fails = self.possible(joint, work), self.possible(other, work)
            if not holds and not fails:
                raise BadInputError(f"{text!r}: the condition can never be true under the laws")
            if holds != fails:
                return TRUE, TRUE, True, not holds
        elif joint.constant is not None:
            return TRUE, TRUE, True, joint.constant is False
        turned = _order(joint) > _order(other)
        return (other if turned else joint), given, None, turned

    def possible(self, function: TruthFunction, work: WorkLeft) -> bool:
        """Whether a function holds in a world that obeys the laws connected to it: eliminate their variables."""
        if function.constant is not None:
            return function.constant
        laws, scope, rest = list[TruthFunction](), set(function.scope), self.laws
        while near := [law for law in rest if scope.intersection(law.scope)]:
            laws, rest = laws + near, [law for law in rest if not scope.intersection(law.scope)]
            scope.update(*(law.scope for law in near))
        if not laws:
            return True
        states = self.space.states(scope)
        factors = [factor_of(self.space, one, states, failed=LARGE) for one in (function, *laws)]
        return least_left(eliminate(factors, least_width(factors), states, work)) < LARGE


def least_width(factors: list[Factor]) -> list[int]:
    """An order of elimination: next is always a variable with the fewest neighbours."""
    near: dict[int, set[int]] = {}
    for scope, _ in factors:
        members = {v for key in scope for v in ([key] if isinstance(key, int) else [one[0] for one in key])}
        for v in members:
            near.setdefault(v, set()).update(members)
    order = []
    while near:
        chosen = min(near, key=lambda v: (len(near[v]), v))
        around = near.pop(chosen)
        for v in around - {chosen}:
            near[v] = (near[v] | around) - {chosen}
        order.append(chosen)
    return order


def _order(function: TruthFunction) -> tuple[object, ...]:
    """An order of functions by which one of two complements is chosen."""
    if function.mask is not None:
        return 0, function.scope, function.mask
    assert function.count is not None
    return 1, function.scope, sorted(function.count.counts)


def _read(text: str, *, plain: bool) -> tuple[list[Step], list[Step] | None]:
    return ([("variable", normal(text))], None) if plain else read_event(text)


def read_panel(path: Path, laws: Path | None, options: ReadingOptions) -> PosedPanel:
    """The panel of a file and its laws; a file in the canonical form has its laws with it."""
    read = read_rows(path, options)
    if isinstance(read, Canonical):
        if laws is not None or options != ReadingOptions():
            raise BadInputError("a panel in the canonical form has its laws and options in it already")
        return PosedPanel(read)
    statements = [] if laws is None else read_text(laws).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    form = canonical([], statements, plain_events=options.plain_events)
    texts = dict.fromkeys(normal(row.event) for row in read)
    first = PosedPanel(replace(form, forecasts=tuple({"event": text} for text in texts)))  # which of them are the same?
    keys = {text: (joint.key, given.key) for text, (joint, given) in first.events.items()}
    rows = settle(read, options.repeats, lambda text: keys[normal(text)])
    if not rows:
        raise BadInputError(f"{path.name} has no forecast")
    plain = all(first.programs[normal(row.event)] == _read(row.event, plain=True) for row in rows)
    return PosedPanel(canonical(rows, statements, plain_events=plain))
