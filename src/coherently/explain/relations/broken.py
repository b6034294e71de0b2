"""Simple relations that forecasts break: two or three events that cannot all happen, and sums that must agree."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product, takewhile
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from coherently.explain.bets.distance import TOLERANCE
from coherently.explain.relations.exclusions import Exclusions, disjoint, exclusions_of
from coherently.explain.relations.priced_events import (
    PricedEvent,
    Stand,
    bits_of,
    expanded,
    over,
    relation_of,
    table_of,
)
from coherently.explain.relations.relation import Assertion, share

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Vector
    from coherently.explain.bets.bets import Bets
    from coherently.explain.bets.distance import NearestPrices
    from coherently.explain.relations.relation import Relation
    from coherently.problem import Sides, Space
    from coherently.solve.budget import Budget

T = TypeVar("T")

MOMENT = 0.1
"""Seconds for broken relations if no time is left: they are the cheapest proof that there is."""
MOST_VARIABLES = 16
"""Maximum number of variables of events that are compared by their joint truth table."""
MOST_PAIRS = 300_000
"""Maximum number of pairs that share a variable for comparing all; beyond, only those of nested variables."""
MOST_BETS = 20_000
"""Maximum number of bets among which relations are looked for."""
MOST_EVENTS = 3_000
"""Maximum number of events about one declared variable that are compared pairwise."""
MOST_MEMBERS = 24
"""Maximum number of events of a family that are compared three at a time."""
FEW_VARIABLES = 10
"""Maximum number of variables of events that hang together, so few that all are compared in all worlds."""
FEW = 4
"""Maximum number of bets of a relation whose parts are listed."""


class Constraints:
    """What laws and declarations say of a few variables at a time; `about` lists, by variable, the rules about it.

    Blocks are the first rules, and `block` has the block of a variable.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        starts, members = space.rows()
        self.about: dict[int, list[int]] = defaultdict(list)
        self._variables = [members[a:b] for a, b in pairwise(starts.tolist())]
        for rule, variables in enumerate(self._variables):
            for variable in variables.tolist():
                self.about[variable].append(rule)
        self.block = {v: i for i, block in enumerate(space.blocks) for v in block.variables.tolist()}
        self._known: dict[tuple[int, ...], int] = {}

    def home(self, event: PricedEvent) -> int | None:
        """The block that contains all variables of an event, if there is one."""
        homes = {self.block.get(v) for v in event.variables}
        return homes.pop() if len(homes) == 1 else None

    def among(self, variables: set[int]) -> list[list[int]]:
        """The variables of each rule that leads on from some variables, by other rules, too."""
        found, todo = list[list[int]](), {rule for v in variables for rule in self.about.get(v, ())}
        seen = set(todo)
        while todo:
            own = self._variables[todo.pop()].tolist()
            found.append(own)
            new = {rule for v in own for rule in self.about[v]} - seen
            todo |= new
            seen |= new
        return found

    def states(self, block: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The variables of a block, and its states that the laws about only these variables allow."""
        variables, states = self._space.blocks[block].variables, self._space.blocks[block].states
        place = {v: i for i, v in enumerate(variables.tolist())}
        for rule in {rule for v in place for rule in self.about[v] if rule >= len(self._space.blocks)}:
            own = self._variables[rule].tolist()
            if len(own) <= MOST_VARIABLES and place.keys() >= set(own):
                rows = states[:, [place[v] for v in own]].astype(np.int64) @ (1 << np.arange(len(own)))
                states = states[bits_of(self._table(rule, tuple(own)), len(own))[rows] == 1]
        return variables, states

    def allowed(self, variables: tuple[int, ...]) -> int:
        """The truth table, over some variables, of what the rules about only these allow."""
        if variables not in self._known:
            rules = {rule for v in variables for rule in self.about.get(v, ())}
            table = (1 << (1 << len(variables))) - 1
            for rule in rules:
                table &= self._table(rule, variables)
            self._known[variables] = table
        return self._known[variables]

    def _table(self, rule: int, variables: tuple[int, ...]) -> int:
        own, blocks = self._variables[rule], len(self._space.blocks)
        place = {variable: i for i, variable in enumerate(variables)}
        shared = [i for i, v in enumerate(own.tolist()) if v in place]
        places = tuple(place[int(own[i])] for i in shared)
        if rule < blocks:
            states = self._space.blocks[rule].states[:, shared].astype(np.int64)
            rows = np.unique(states @ (1 << np.arange(len(shared))))
            return expanded(sum(1 << int(row) for row in rows), places, len(variables))
        everything = (1 << (1 << len(variables))) - 1
        if len(shared) < len(own) or len(own) > MOST_VARIABLES:
            return everything
        laws = self._space.laws
        table = table_of(laws.words(rule - blocks))
        found = expanded(table, places, len(variables))
        return found if laws.truth[rule - blocks] else everything ^ found


def violated(
    bets: Bets,
    index: Indices,
    slack: Vector | None = None,
    rules: Constraints | None = None,
    *,
    budget: Budget,
    shares: bool = False,
) -> list[Relation]:
    """The relations that some of the bets break, the worst first; each bet may be off by its `slack` either way.

    With `shares`, what conditionals make of their conditions counts, and they are compared where one condition holds.
    `rules` are those of the bets, if the caller has them already. At the end of the budget, those found by then.
    """
    prices, rules = _PriceBook(bets, slack), rules or Constraints(bets.merged.space)
    events, constants = prices.events(index[~bets.conditional[index]])
    given = list(prices.conditionals(index[bets.conditional[index]])) if shares else []
    found = [*constants, *_repeats(events), *_ruled_out(_in_time(events.values(), budget), rules)]
    small, rest, left = _grouped(list(events.values()), given, rules)
    for group in _in_time(small, budget):
        found += group.relations(prices, rules)
    large = [*rest, *(one for each in left for one in prices.shares_of(each, events))]
    found += _pairs(_in_time(_candidates(large, rules), budget), rules)
    found += _in_blocks(large, rules, budget)
    for family in _in_time(_families(large), budget):
        if len(family) <= MOST_MEMBERS:
            found += _in_family(family, rules)
    found += _granted(prices, left, rules, budget)
    best: dict[frozenset[int], Relation] = {}
    broken = (relation for relation in found if relation.violation > TOLERANCE)
    for relation in sorted(broken, key=lambda one: (-round(one.violation, 9), one.rests, one.complements)):
        best.setdefault(frozenset(relation.forecasts), relation)
    return list(best.values())


def irreducible(relations: Sequence[Relation]) -> Iterator[Relation]:
    """The relations of which no part is broken by itself; long sums are cut to the fewest members that break them."""
    broken = {frozenset(relation.forecasts) for relation in relations}
    told = set()
    for relation in relations:
        few = relation.reduced(TOLERANCE)
        own = frozenset(few.forecasts)
        if own not in told and not _has_part(own, broken):
            told.add(own)
            yield few


def _has_part(own: frozenset[int], broken: set[frozenset[int]]) -> bool:
    """Whether a smaller set is among the broken ones."""
    if len(own) > FEW:
        return any(part < own for part in broken)
    parts = (frozenset(part) for size in range(1, len(own)) for part in combinations(own, size))
    return not broken.isdisjoint(parts)


def proved_square(relations: Iterable[Relation]) -> float:
    """A lower bound on the squared distance of bets that break relations from coherent prices.

    If n prices exceed the bound on their sum by v, they are at least v / sqrt(n) from all that do not; the squares of
    relations without a common bet add up. Assertions of conditionals and their conditions are not sums of prices.
    """
    used: set[int] = set()
    square = 0.0
    plain = [relation for relation in relations if not relation.has_shares]
    for relation in sorted(plain, key=lambda relation: -(relation.violation**2) / len(relation.forecasts)):
        if used.isdisjoint(relation.forecasts):
            used.update(relation.forecasts)
            square += relation.violation**2 / len(relation.forecasts)
    return square


def moved_most(answers: Sequence[NearestPrices]) -> Indices:
    """The bets of answers, in order; if they are many, only those whose prices change most."""
    own = np.concatenate([answer.cluster.bets for answer in answers])
    if len(own) <= MOST_BETS:
        return np.sort(own)
    change = np.abs(np.concatenate([answer.target - answer.value for answer in answers]))
    return np.sort(own[np.argsort(-change, kind="stable")[:MOST_BETS]])


def _in_time(every: Iterable[T], budget: Budget) -> Iterator[T]:
    """As many of them as the time allows."""
    return takewhile(lambda _: not budget.is_over(), every)


class _PriceBook:
    """What bets assertion: each may be off by its `slack` either way."""

    def __init__(self, bets: Bets, slack: Vector | None) -> None:
        self._bets, off = bets, 0.0 if slack is None else slack
        bid, ask = bets.bid - off, bets.ask + off
        self._sold = np.where(bets.complemented, 1.0 - ask, bid)
        self._bought = np.where(bets.complemented, 1.0 - bid, ask)

    def events(self, index: Indices) -> tuple[dict[int, PricedEvent], list[Relation]]:
        """The events of bets, by coordinate, and what is claimed of events that never or always happen."""
        functions, constants, events = self._bets.merged.functions, list[PricedEvent](), {}
        given: dict[int, list[int]] = defaultdict(list)
        for bet in index.tolist():
            given[int(self._bets.coordinate[bet])].append(bet)
        for coordinate, own in given.items():
            variables = tuple(functions.of(coordinate).tolist())
            if not variables:
                constants += [self._event((), 0, [bet]) for bet in own]
            elif len(variables) <= MOST_VARIABLES:
                events[coordinate] = self._event(variables, table_of(functions.words(coordinate)), own)
        # A coordinate without variables never happens, so no literal of it is considered.
        return events, [relation_of("all", (event,), (0,)) for event in constants]

    def _event(self, variables: tuple[int, ...], table: int, own: list[int]) -> PricedEvent:
        """An event with the best prices of some bets on it."""
        high, low = own[int(np.argmax(self._sold[own]))], own[int(np.argmin(self._bought[own]))]
        ends = []
        for bet, price in ((high, float(self._sold[high])), (low, float(self._bought[low]))):
            turned = bool(self._bets.complemented[bet])
            ends.append((price, Stand(Assertion((bet,), 1.0 - price if turned else price), turned)))
        return PricedEvent(variables, table, *ends[0], *ends[1])

    def conditionals(self, index: Indices) -> Iterator[_GivenBet]:
        """Conditional bets as truth tables, those of not too many variables."""
        terms = self._bets.merged.terms.conditionals
        for bet in index.tolist():
            given = int(self._bets.coordinate[bet])
            sides = [self._side(terms.joint, given), self._side(terms.condition, given)]
            variables = tuple(sorted({v for own, _, _ in sides for v in own}))
            if len(variables) > MOST_VARIABLES:
                continue
            every = (1 << (1 << len(variables))) - 1
            joint, condition = (
                expanded(table, tuple(variables.index(v) for v in own), len(variables)) ^ (every if turned else 0)
                for own, table, turned in sides
            )
            yield _GivenBet(bet, variables, joint, condition)

    def _side(self, sides: Sides, given: int) -> tuple[tuple[int, ...], int, bool]:
        functions, coordinate = self._bets.merged.functions, int(sides.coordinate[given])
        table = table_of(functions.words(coordinate))
        return tuple(functions.of(coordinate).tolist()), table, bool(sides.turned[given])

    def alone(self, given: _GivenBet) -> PricedEvent:
        """The event of a conditional where its condition holds."""
        return self._event(given.variables, given.joint, [given.bet])

    def shares_of(self, given: _GivenBet, events: dict[int, PricedEvent]) -> Iterator[PricedEvent]:
        """What a conditional makes of its condition, if that is among the events, by coordinate."""
        side = self._bets.merged.terms.conditionals.condition
        number = int(self._bets.coordinate[given.bet])
        condition = events.get(int(side.coordinate[number]))
        if condition is not None:
            yield from self.shares(given, condition, bool(side.turned[number]))

    def shares(self, given: _GivenBet, condition: PricedEvent, turned: bool) -> Iterator[PricedEvent]:
        """What a conditional and the forecasts of its condition make together, and the rest of the condition.

        The condition is the complement of the event if `turned`.
        """
        ends = condition.most(turned), condition.least(turned)
        for table, rest in ((given.joint, False), (given.condition & ~given.joint, True)):
            high, low = (self._share(given.bet, *end, rest=rest, least=i == 0) for i, end in enumerate(ends))
            yield PricedEvent(
                variables=given.variables,
                table=table,
                high=high.assertion.chance,
                high_stand=high,
                low=low.assertion.chance,
                low_stand=low,
            )

    def _share(self, bet: int, chance: float, condition: Stand, *, rest: bool, least: bool) -> Stand:
        """The assertion of a conditional and its condition: that the event is at least, or at most, so likely."""
        price = float((self._sold if least != rest else self._bought)[bet])
        made = share(min(max(price, 0.0), 1.0), min(max(chance, 0.0), 1.0), rest=rest, turned=False)
        written = rest != bool(self._bets.complemented[bet])
        both = (bet, *condition.assertion.forecasts)
        return Stand(Assertion(both, made, rest=written, turned=condition.negated), False)


class _GivenBet(NamedTuple):
    """A conditional bet: the tables of its event with its condition, and of the condition."""

    bet: int
    variables: tuple[int, ...]
    joint: int
    condition: int

    def within(self, variables: tuple[int, ...]) -> _GivenBet:
        """The same over more variables."""
        places = tuple(variables.index(v) for v in self.variables)
        joint, condition = (expanded(table, places, len(variables)) for table in (self.joint, self.condition))
        return _GivenBet(self.bet, variables, joint, condition)


@dataclass(frozen=True, slots=True)
class _SmallGroup:
    """A few events and conditionals that hang together, with all of their few variables."""

    events: list[PricedEvent]
    given: list[_GivenBet]
    variables: tuple[int, ...]

    def relations(self, prices: _PriceBook, rules: Constraints) -> Iterator[Relation]:
        """All that they break, in all worlds of their variables."""
        allowed = rules.allowed(self.variables)
        given = [one.within(self.variables) for one in self.given]
        every = [*self.events, *(prices.alone(one) for one in given if one.condition & allowed == allowed)]
        known: dict[int, tuple[PricedEvent, bool]] = {}
        for turned in (False, True):
            for event in every:
                table = over(event, self.variables) & allowed
                known.setdefault(allowed ^ table if turned else table, (event, turned))
        by_condition: dict[int, list[_GivenBet]] = defaultdict(list)
        for one in given:
            condition = one.condition & allowed
            if condition != allowed:
                by_condition[condition].append(one)
                every += prices.shares(one, *known[condition]) if condition in known else ()
        yield from _within(every, self.variables, allowed)
        for condition, own in by_condition.items():
            for relation in _within([prices.alone(one) for one in own], self.variables, condition):
                yield replace(relation, granted=True)


def _repeats(events: dict[int, PricedEvent]) -> Iterator[Relation]:
    """An event and its complement, or two forecasts of one event."""
    for event in events.values():
        if event.high_stand.assertion.forecasts != event.low_stand.assertion.forecasts:
            yield relation_of("all", (event,), (0, 1))


def _ruled_out(events: Iterable[PricedEvent], rules: Constraints) -> Iterator[Relation]:
    """Events that the laws make impossible, or certain."""
    for event in events:
        allowed = rules.allowed(event.variables)
        for literal in (0, 1):
            if not (~event.table if literal else event.table) & allowed:
                yield relation_of("all", (event,), (literal,))


def _granted(prices: _PriceBook, given: Iterable[_GivenBet], rules: Constraints, budget: Budget) -> Iterator[Relation]:
    """What conditionals break where one condition holds."""
    groups: dict[tuple[tuple[int, ...], int], list[_GivenBet]] = defaultdict(list)
    for one in given:
        groups[_reduced(one.variables, one.condition)].append(one)
    for own in _in_time(groups.values(), budget):
        variables = tuple(sorted({v for one in own for v in one.variables}))
        if 1 < len(own) <= MOST_MEMBERS and len(variables) <= MOST_VARIABLES:
            wider = [one.within(variables) for one in own]
            allowed = rules.allowed(variables) & wider[0].condition
            for relation in _within([prices.alone(one) for one in wider], variables, allowed):
                yield replace(relation, granted=True)


def _reduced(variables: tuple[int, ...], table: int) -> tuple[tuple[int, ...], int]:
    """A truth table over the variables that it depends on."""
    bits, rows = bits_of(table, len(variables)), np.arange(1 << len(variables))
    needed = [i for i in range(len(variables)) if (bits != bits[rows ^ (1 << i)]).any()]
    least = rows[np.all([rows >> i & 1 == 0 for i in range(len(variables)) if i not in needed], axis=0)]
    kept = bits if len(needed) == len(variables) else bits[least]
    return tuple(variables[i] for i in needed), int.from_bytes(np.packbits(kept, bitorder="little").tobytes(), "little")


def _grouped(
    events: list[PricedEvent], given: list[_GivenBet], rules: Constraints
) -> tuple[list[_SmallGroup], list[PricedEvent], list[_GivenBet]]:
    """What hangs together by variables and rules: groups of few with few variables, and all others."""
    group: dict[int, set[int]] = {}
    every = [*(event.variables for event in events), *(one.variables for one in given)]
    for own in [*every, *rules.among({v for variables in every for v in variables})]:
        joined = set(own).union(*(group[v] for v in own if v in group))
        group.update(dict.fromkeys(joined, joined))
    members: dict[int, tuple[list[PricedEvent], list[_GivenBet]]] = defaultdict(lambda: ([], []))
    for event in events:
        members[min(group[event.variables[0]])][0].append(event)
    for one in given:
        members[min(group[one.variables[0]])][1].append(one)
    small, rest, left = list[_SmallGroup](), list[PricedEvent](), list[_GivenBet]()
    for first, (plain, conditional) in members.items():
        if len(plain) + 2 * len(conditional) <= MOST_MEMBERS and len(group[first]) <= FEW_VARIABLES:
            small.append(_SmallGroup(plain, conditional, tuple(sorted(group[first]))))
        else:
            rest += plain
            left += conditional
    return small, rest, left


def _in_family(family: list[PricedEvent], rules: Constraints) -> Iterator[Relation]:
    """Threes and sums among the events over some variables."""
    variables = tuple(sorted({v for event in family for v in event.variables}))
    return _within(family, variables, rules.allowed(variables))


def _within(events: list[PricedEvent], variables: tuple[int, ...], allowed: int) -> Iterator[Relation]:
    """What a few events break in the worlds that are allowed."""
    tables = tuple(over(event, variables) & allowed for event in events)
    high, low = np.array([event.high for event in events]), np.array([event.low for event in events])
    for kind, literals in exclusions_of(tables, allowed, 1 << len(variables)).broken(high, low, TOLERANCE):
        yield relation_of(kind, events, literals)


def _in_blocks(events: Iterable[PricedEvent], rules: Constraints, budget: Budget) -> Iterator[Relation]:
    """The relations that events about one declared variable break, by its states: any number of values."""
    inside: dict[int, list[PricedEvent]] = defaultdict(list)
    for event in events:
        if (home := rules.home(event)) is not None:
            inside[home].append(event)
    for block, own in _in_time(inside.items(), budget):
        if len(own) > 1:
            yield from _in_block(own[:MOST_EVENTS], *rules.states(block))


def _in_block(events: list[PricedEvent], variables: NDArray[np.int32], states: NDArray[np.uint8]) -> Iterator[Relation]:
    """Pairs, and events of which no two can happen."""
    place = {variable: i for i, variable in enumerate(variables.tolist())}
    truth = np.array([_truth(event, place, states) for event in events], np.bool_)
    high, low = np.array([event.high for event in events]), np.array([event.low for event in events])
    for kind, literals in Exclusions(truth).broken(high, low, TOLERANCE, few=True):
        yield relation_of(kind, events, literals)
    chosen, whole = disjoint(truth, high, low)
    if len(chosen) > 2:
        yield relation_of("one", events, chosen)
        if whole:
            n = len(events)
            yield relation_of("all", events, [(literal + n) % (2 * n) for literal in chosen])


def _truth(event: PricedEvent, place: dict[int, int], states: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """In which states the event holds."""
    own = states[:, [place[v] for v in event.variables]].astype(np.int64)
    return bits_of(event.table, len(event.variables))[own @ (1 << np.arange(len(event.variables)))]


def _pairs(candidates: Iterable[tuple[PricedEvent, PricedEvent]], rules: Constraints) -> Iterator[Relation]:
    """Two events of which one implies the other, or that exclude each other."""
    for first, second in candidates:
        variables = tuple(sorted({*first.variables, *second.variables}))
        allowed = rules.allowed(variables)
        tables = (over(first, variables) & allowed, over(second, variables) & allowed)
        likely = first.high, second.high, 1.0 - first.low, 1.0 - second.low
        for a, b in exclusions_of(tables, allowed, 1 << len(variables)).pair_list:
            if likely[a] + likely[b] > 1.0 + TOLERANCE:
                yield relation_of("all", (first, second), (a, b))


def _candidates(events: list[PricedEvent], rules: Constraints) -> Iterator[tuple[PricedEvent, PricedEvent]]:
    """Pairs of events that share a variable or a rule, or, if those are too many, whose variables are nested.

    Pairs about one declared variable are left out: they are compared by its states.
    """
    shared: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for i, event in enumerate(events):
        home = rules.home(event)
        for key in {*event.variables, *(-1 - rule for v in event.variables for rule in rules.about.get(v, ()))}:
            shared[key][-1 - i if home is None else home].append(i)
    groups = [list(by_home.values()) for by_home in shared.values()]
    if sum(_count_across(own) for own in groups) > MOST_PAIRS:
        position = {id(event): i for i, event in enumerate(events)}
        groups = [[[position[id(event)]] for event in family] for family in _families(events)]
    pairs = {(min(i, j), max(i, j)) for own in groups for a, b in combinations(own, 2) for i, j in product(a, b)}
    for i, j in sorted(pairs):
        if len({*events[i].variables, *events[j].variables}) <= MOST_VARIABLES:
            yield events[i], events[j]


def _count_across(groups: list[list[int]]) -> int:
    """The number of pairs across two groups."""
    sizes = [len(group) for group in groups]
    return (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2


def _families(events: list[PricedEvent]) -> Iterator[list[PricedEvent]]:
    """For each set of two or more variables of some event: the events over those variables."""
    over: dict[tuple[int, ...], list[PricedEvent]] = defaultdict(list)
    for event in events:
        over[event.variables].append(event)
    for variables in over:
        if len(variables) < 2:
            continue
        if len(variables) <= 4:
            subsets = (s for k in range(1, len(variables) + 1) for s in combinations(variables, k))
            family = [event for subset in subsets for event in over.get(subset, ())]
        else:
            family = [event for own in over if set(own) <= set(variables) for event in over[own]]
        yield family
