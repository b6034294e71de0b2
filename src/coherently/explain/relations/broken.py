"""Simple relations that forecasts break: two or three events that cannot all happen, and sums that must agree."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import combinations, product, takewhile
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from coherently.explain.bets.distance import TOLERANCE
from coherently.explain.relations.exclusions import Exclusions, disjoint, exclusions_of
from coherently.explain.relations.price_book import GivenBet, PriceBook
from coherently.explain.relations.priced_events import PricedEvent, over, relation_of
from coherently.problem.constraints import Constraints
from coherently.problem.truth_tables import MOST_VARIABLES, bits_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Vector
    from coherently.explain.bets.bets import Bets
    from coherently.explain.bets.distance import NearestPrices
    from coherently.explain.relations.relation import Relation
    from coherently.solve.budget import Budget

T = TypeVar("T")

MOMENT = 0.1
"""Seconds for broken relations if no time is left: they are the cheapest proof that there is."""
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
    prices, rules = PriceBook(bets, slack), rules or Constraints(bets.merged.space)
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


@dataclass(frozen=True, slots=True)
class _SmallGroup:
    """A few events and conditionals that hang together, with all of their few variables."""

    events: list[PricedEvent]
    given: list[GivenBet]
    variables: tuple[int, ...]

    def relations(self, prices: PriceBook, rules: Constraints) -> Iterator[Relation]:
        """All that they break, in all worlds of their variables."""
        allowed = rules.allowed(self.variables)
        given = [one.within(self.variables) for one in self.given]
        every = [*self.events, *(prices.alone(one) for one in given if one.condition & allowed == allowed)]
        known: dict[int, tuple[PricedEvent, bool]] = {}
        for turned in (False, True):
            for event in every:
                table = over(event, self.variables) & allowed
                known.setdefault(allowed ^ table if turned else table, (event, turned))
        by_condition: dict[int, list[GivenBet]] = defaultdict(list)
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


def _granted(prices: PriceBook, given: Iterable[GivenBet], rules: Constraints, budget: Budget) -> Iterator[Relation]:
    """What conditionals break where one condition holds."""
    groups: dict[tuple[tuple[int, ...], int], list[GivenBet]] = defaultdict(list)
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
    events: list[PricedEvent], given: list[GivenBet], rules: Constraints
) -> tuple[list[_SmallGroup], list[PricedEvent], list[GivenBet]]:
    """What hangs together by variables and rules: groups of few with few variables, and all others."""
    group: dict[int, set[int]] = {}
    every = [*(event.variables for event in events), *(one.variables for one in given)]
    for own in [*every, *rules.among({v for variables in every for v in variables})]:
        joined = set(own).union(*(group[v] for v in own if v in group))
        group.update(dict.fromkeys(joined, joined))
    members: dict[int, tuple[list[PricedEvent], list[GivenBet]]] = defaultdict(lambda: ([], []))
    for event in events:
        members[min(group[event.variables[0]])][0].append(event)
    for one in given:
        members[min(group[one.variables[0]])][1].append(one)
    small, rest, left = list[_SmallGroup](), list[PricedEvent](), list[GivenBet]()
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
        if (home := rules.home(event.variables)) is not None:
            inside[home].append(event)
    for block, own in _in_time(inside.items(), budget):
        if len(own) > 1:
            yield from _in_block(own[:MOST_EVENTS], *rules.states(block))


def _in_block(events: list[PricedEvent], variables: NDArray[np.int32], states: NDArray[np.uint8]) -> Iterator[Relation]:
    """Pairs, and events of which no two can happen."""
    place = {variable: i for i, variable in enumerate(variables.tolist())}
    truth = np.array([_truth(event, place, states) for event in events], np.bool_)
    high, low = np.array([event.high for event in events]), np.array([event.low for event in events])
    for kind, literals in Exclusions(truth).broken_pairs(high, low, TOLERANCE):
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
        home = rules.home(event.variables)
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
