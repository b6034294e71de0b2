"""The consistency checks that the logic of a panel's events holds, whoever forecasts them.

A scope is a set of variables with what the laws about only these allow: all that hangs together where that is at most
16 variables, else the variables of one event. Within a scope events are sets of worlds, so that "and" is an
intersection, and a check is found by looking up what its events come to.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.conversion.tuples import LADDER, PARTITION
from coherently.problem import pose
from coherently.problem.constraints import Constraints
from coherently.problem.partitions import partitions
from coherently.problem.spaces.space import BlockForm
from coherently.problem.truth_tables import MOST_VARIABLES, expanded, table_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from coherently.panel import Panel
    from coherently.problem import Problem, Sides

MOST_EVENTS = 400
"""Maximum number of events of a scope that are compared two at a time."""
LEAST_RUNGS = 3
"""Of two rungs a ladder is a consequence, and of two values a partition is a negation."""


class FoundCheck(NamedTuple):
    """A check, and the panel's events in the order of its roles, by their numbers."""

    check: str
    events: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CheckSearch:
    """The checks, and the number of scopes that were not searched since they have too many events."""

    checks: tuple[FoundCheck, ...]
    unsearched: int


def found_checks(panel: Panel) -> CheckSearch:
    """Find the checks among the events of a panel, each once.

    Where several events mean the same, the first stands for them in other checks. A consequence is listed where nothing
    stands between its events and no other check has both of them.

    >>> from coherently.panel import Panel
    >>> panel = Panel.from_records([("Ann", text, 0.5) for text in ("a", "b", "a & b", "~a", "b given a")])
    >>> for one in found_checks(panel).checks:
    ...     print(one.check, [panel.written.text[i] for i in one.events])
    And ['a', 'b', 'a & b']
    Cond ['a', 'b given a', 'a & b']
    Neg ['a', '~a']
    """
    logic = _PanelLogic(pose(panel))
    found: dict[FoundCheck, None] = dict.fromkeys(logic.sets())
    unsearched, consequences = 0, dict[FoundCheck, None]()
    for scope in logic.scopes():
        if len(scope.events) > MOST_EVENTS:
            unsearched += 1
            continue
        found |= dict.fromkeys(scope.checks())
        consequences |= dict.fromkeys(scope.consequences())
    told = {pair for one in found if len(one.events) > 2 for pair in combinations(sorted(one.events), 2)}
    kept = [one for one in consequences if (min(one.events), max(one.events)) not in told]
    checks = sorted([*found, *kept], key=lambda one: (one.check, one.events))
    return CheckSearch(tuple(checks), unsearched)


class _TabledEvent(NamedTuple):
    """An event of the panel, or a side of a conditional if `number` is -1, with its truth table."""

    number: int
    variables: tuple[int, ...]
    table: int

    def over(self, variables: tuple[int, ...]) -> int:
        """The table over more variables."""
        return expanded(self.table, tuple(variables.index(v) for v in self.variables), len(variables))


class _TabledConditional(NamedTuple):
    """A conditional of the panel: its event with its condition, and the condition."""

    number: int
    joint: _TabledEvent
    condition: _TabledEvent


class _PanelLogic:
    """The events and conditionals of a problem, as truth tables."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._rules = Constraints(problem.merged.space)

    @cached_property
    def _events(self) -> list[_TabledEvent]:
        problem, found = self._problem, []
        for number in np.flatnonzero(~problem.conditional).tolist():
            event = self._event(number, int(problem.coordinate[number]), bool(problem.complemented[number]))
            found += [event] if event is not None else []
        return found

    def _event(self, number: int, coordinate: int, turned: bool) -> _TabledEvent | None:
        """The table of a coordinate; None if it is constant or has too many variables."""
        variables = tuple(self._problem.merged.functions.of(coordinate).tolist()) if coordinate >= 0 else ()
        if not 0 < len(variables) <= MOST_VARIABLES:
            return None
        every = (1 << (1 << len(variables))) - 1
        table = table_of(self._problem.merged.functions.words(coordinate))
        return _TabledEvent(number, variables, every ^ table if turned else table)

    @cached_property
    def _given(self) -> list[_TabledConditional]:
        problem, terms, found = self._problem, self._problem.merged.terms.conditionals, []
        for number in np.flatnonzero(problem.conditional).tolist():
            if problem.complemented[number]:  # its joint event is that of the complement
                continue
            place = int(problem.coordinate[number])
            joint, condition = self._side(terms.joint, place), self._side(terms.condition, place)
            if joint is not None and condition is not None:
                found.append(_TabledConditional(number, joint, condition))
        return found

    def _side(self, sides: Sides, place: int) -> _TabledEvent | None:
        return self._event(-1, int(sides.coordinate[place]), bool(sides.turned[place]))

    def sets(self) -> Iterator[FoundCheck]:
        """Partitions and ladders of three events or more."""
        for units in partitions(self._problem):
            if len(units) >= LEAST_RUNGS and not self._problem.conditional[units].any():
                yield FoundCheck(PARTITION, tuple(int(unit) for unit in units))
        single: dict[tuple[int, bool], int] = {}
        for event in self._events:
            if len(event.variables) == 1:
                single.setdefault((event.variables[0], event.table == 0b10), event.number)
        for block in self._problem.merged.space.blocks:
            if block.form is not BlockForm.CHAIN:
                continue
            for holds in (True, False):
                rungs = [single[v, holds] for v in block.variables.tolist() if (v, holds) in single]
                if len(rungs) >= LEAST_RUNGS:
                    yield FoundCheck(LADDER, tuple(rungs if holds else reversed(rungs)))

    def scopes(self) -> Iterator[_WorldScope]:
        """All that hangs together, if it is small; else the scope of each event and conditional."""
        own = [(set(event.variables), event) for event in self._events]
        given = [({*one.joint.variables, *one.condition.variables}, one) for one in self._given]
        for together in self._together([variables for variables, _ in (*own, *given)]):
            events = [event for variables, event in own if variables <= together]
            conditionals = [one for variables, one in given if variables <= together]
            if len(together) <= MOST_VARIABLES:
                yield self._scope(together, events, conditionals)
                continue
            near: dict[int, list[_TabledEvent]] = defaultdict(list)
            for event in events:
                near[event.variables[0]].append(event)
            wide = [set(event.variables) for event in events] + [
                {*one.joint.variables, *one.condition.variables} for one in conditionals
            ]
            for variables in dict.fromkeys(tuple(sorted(each)) for each in wide):
                inside = [event for v in variables for event in near[v] if set(event.variables) <= set(variables)]
                within = [
                    one for one in conditionals if {*one.joint.variables, *one.condition.variables} <= set(variables)
                ]
                if len(inside) + len(within) > 1 and len(variables) <= MOST_VARIABLES:
                    yield self._scope(set(variables), sorted(inside), within)

    def _scope(
        self, variables: Iterable[int], events: list[_TabledEvent], given: list[_TabledConditional]
    ) -> _WorldScope:
        order = tuple(sorted(variables))
        return _WorldScope(order, self._rules.allowed(order), events, given)

    def _together(self, sets: list[set[int]]) -> list[set[int]]:
        """The variables that hang together by sets of variables and by rules."""
        owner: dict[int, int] = {}
        groups: dict[int, set[int]] = {}
        for place, own in enumerate([*sets, *map(set, self._rules.among({v for each in sets for v in each}))]):
            merged, old = set(own), {owner[v] for v in own if v in owner}
            for number in old:
                merged |= groups.pop(number)
            groups[place] = merged
            owner |= dict.fromkeys(merged, place)
        return list(groups.values())


@dataclass(frozen=True, eq=False)
class _WorldScope:
    """Events and conditionals over some variables, of whose worlds `allowed` are possible."""

    variables: tuple[int, ...]
    allowed: int
    events: list[_TabledEvent]
    given: list[_TabledConditional]

    @cached_property
    def _named(self) -> dict[int, list[int]]:
        """The events by the worlds in which they hold, without those that always or never do."""
        found: dict[int, list[int]] = defaultdict(list)
        for event in self.events:
            if 0 < (worlds := self._worlds(event)) < self.allowed:
                found[worlds].append(event.number)
        return found

    def _worlds(self, event: _TabledEvent) -> int:
        return event.over(self.variables) & self.allowed

    @cached_property
    def _first(self) -> dict[int, int]:
        return {worlds: numbers[0] for worlds, numbers in self._named.items()}

    def checks(self) -> Iterator[FoundCheck]:
        """All checks but consequences."""
        first = self._first
        for worlds, numbers in self._named.items():
            yield from (FoundCheck("Paraphrase", (numbers[0], other)) for other in numbers[1:])
            rest = first.get(self.allowed ^ worlds)
            if rest is not None and numbers[0] < rest:
                yield FoundCheck("Neg", (numbers[0], rest))
        for (a, p), (b, q) in combinations(sorted(first.items(), key=lambda item: item[1]), 2):
            yield from self._of_two(a, p, b, q)
        yield from self._of_conditionals()

    def _of_two(self, a: int, p: int, b: int, q: int) -> Iterator[FoundCheck]:
        both, either = a & b, a | b
        union = self._first.get(either) if either not in (a, b) else None
        if not both:
            if union is not None:
                yield FoundCheck("But", (p, q, union))
            return
        meet = self._first.get(both) if both not in (a, b) else None
        if meet is not None:
            yield FoundCheck("And", (p, q, meet))
        if union is not None:
            yield FoundCheck("Or", (p, q, union))
        if meet is not None and union is not None:
            yield FoundCheck("AndOr", (p, q, meet, union))

    def _of_conditionals(self) -> Iterator[FoundCheck]:
        first = self._first
        sides = [(one.number, self._worlds(one.joint), self._worlds(one.condition)) for one in self.given]
        following: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for number, joint, condition in sides:
            following[condition].append((number, joint))
        for number, joint, condition in sides:
            p, both = first.get(condition), first.get(joint)
            if p is None:
                continue
            if both is not None:
                yield FoundCheck("Cond", (p, number, both))
            for later, all_ in following.get(joint, ()) if joint != condition else ():
                if all_ in first:
                    yield FoundCheck("CondCond", (p, number, later, first[all_]))
            for other, rest in following.get(self.allowed ^ condition, ()):
                whole = first.get(joint | rest)
                if whole is not None:
                    yield FoundCheck("ExpectedEvidence", (whole, p, number, other))

    def consequences(self) -> Iterator[FoundCheck]:
        """Events that imply another, with none between."""
        known = sorted(self._first.items(), key=lambda item: item[0].bit_count())
        for place, (a, p) in enumerate(known):
            nearest = list[int]()
            for b, q in known[place + 1 :]:
                if a & b == a and b != a and not any(c & b == c for c in nearest):
                    nearest.append(b)
                    yield FoundCheck("Consequence", (p, q))
