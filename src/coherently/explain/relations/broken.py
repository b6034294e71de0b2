"""Simple relations that forecasts break: two or three events that cannot all happen, and sums that must agree."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, pairwise, product, takewhile
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from coherently.explain.bets.distance import TOLERANCE
from coherently.explain.relations.declared import relations_within
from coherently.explain.relations.literals import (
    Literal,
    PricedEvent,
    Relation,
    bits_of,
    expanded,
    over,
    relation_of,
    table_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Vector
    from coherently.explain.bets.bets import Bets
    from coherently.explain.bets.distance import NearestPrices
    from coherently.problem import Space
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
MOST_MEMBERS = 24
"""Maximum number of events of a family that are compared three at a time."""
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
    bets: Bets, index: Indices, slack: Vector | None = None, rules: Constraints | None = None, *, budget: Budget
) -> list[Relation]:
    """The relations that some of the bets break, the worst first; each bet may be off by its `slack` either way.

    `rules` are those of the bets, if the caller has them already. At the end of the budget, those found by then.
    """
    events, constants = _events(bets, index, slack)
    rules = rules or Constraints(bets.merged.space)
    found = [*constants, *_repeats(events), *_ruled_out(_in_time(events, budget), rules)]
    found += _pairs(_in_time(_candidates(events, rules), budget), rules)
    found += _in_blocks(events, rules, budget)
    for family in _in_time(_families(events), budget):
        if len(family) <= MOST_MEMBERS:
            variables = tuple(sorted({v for event in family for v in event.variables}))
            tables = [over(event, variables) for event in family]
            found += _triples(family, tables, rules.allowed(variables))
            found += _sums(family, tables, (1 << (1 << len(variables))) - 1)
    best: dict[frozenset[int], Relation] = {}
    broken = (relation for relation in found if relation.violation > TOLERANCE)
    for relation in sorted(broken, key=lambda relation: (-round(relation.violation, 9), relation.complements)):
        best.setdefault(frozenset(relation.bets), relation)
    return list(best.values())


def irreducible(relations: Sequence[Relation]) -> Iterator[Relation]:
    """The relations of which no part is broken by itself; long sums are cut to the fewest members that break them."""
    broken = {frozenset(relation.bets) for relation in relations}
    told = set()
    for relation in relations:
        few = relation.reduced(TOLERANCE)
        own = frozenset(few.bets)
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
    relations without a common bet add up.
    """
    used: set[int] = set()
    square = 0.0
    for relation in sorted(relations, key=lambda relation: -(relation.violation**2) / len(relation.bets)):
        if used.isdisjoint(relation.bets):
            used.update(relation.bets)
            square += relation.violation**2 / len(relation.bets)
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


def _events(bets: Bets, index: Indices, slack: Vector | None) -> tuple[list[PricedEvent], list[Relation]]:
    merged, constants = bets.merged, []
    off = 0.0 if slack is None else slack
    bid, ask = bets.bid - off, bets.ask + off
    sold, bought = np.where(bets.complemented, 1.0 - ask, bid), np.where(bets.complemented, 1.0 - bid, ask)
    given: dict[int, list[int]] = defaultdict(list)
    for bet in index[~bets.conditional[index]].tolist():
        given[int(bets.coordinate[bet])].append(bet)
    events = []
    for coordinate, own in given.items():
        variables = tuple(merged.functions.of(coordinate).tolist())
        if not variables:
            # The coordinate never happens, so no literal of it is considered.
            constants += [
                Relation("all", (Literal(bet, bool(bets.complemented[bet])),), (float(sold[bet]),)) for bet in own
            ]
        elif len(variables) <= MOST_VARIABLES:
            table = table_of(merged.functions.words(coordinate))
            high, low = own[int(np.argmax(sold[own]))], own[int(np.argmin(bought[own]))]
            top, bottom = (Literal(bet, bool(bets.complemented[bet])) for bet in (high, low))
            events.append(PricedEvent(variables, table, float(sold[high]), top, float(bought[low]), bottom))
    return events, constants


def _repeats(events: Iterable[PricedEvent]) -> Iterator[Relation]:
    """An event and its complement, or two forecasts of one event."""
    for event in events:
        (high, first), (low, second) = event.most(False), event.most(True)
        if first.bet != second.bet:
            yield Relation("all", (first, second), (high, low))


def _ruled_out(events: Iterable[PricedEvent], rules: Constraints) -> Iterator[Relation]:
    """Events that the laws make impossible, or certain."""
    for event in events:
        allowed = rules.allowed(event.variables)
        for negated in (False, True):
            if not (~event.table if negated else event.table) & allowed:
                yield relation_of("all", (event,), (negated,))


def _in_blocks(events: Iterable[PricedEvent], rules: Constraints, budget: Budget) -> Iterator[Relation]:
    """The relations that events about one declared variable break."""
    inside: dict[int, list[PricedEvent]] = defaultdict(list)
    for event in events:
        if (home := rules.home(event)) is not None:
            inside[home].append(event)
    for block, own in _in_time(inside.items(), budget):
        if len(own) > 1:
            yield from relations_within(own, *rules.states(block), TOLERANCE)


def _pairs(candidates: Iterable[tuple[PricedEvent, PricedEvent]], rules: Constraints) -> Iterator[Relation]:
    """Two events of which one implies the other, or that exclude each other."""
    for first, second in candidates:
        variables = tuple(sorted({*first.variables, *second.variables}))
        a, b, allowed = over(first, variables), over(second, variables), rules.allowed(variables)
        for signs in product((False, True), repeat=2):
            if not (~a if signs[0] else a) & (~b if signs[1] else b) & allowed:
                yield relation_of("all", (first, second), signs)


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


def _triples(family: list[PricedEvent], tables: list[int], allowed: int) -> Iterator[Relation]:
    """Three events that cannot all happen though any two can, or of which no two can."""
    held = [table & allowed for table in tables]
    for chosen in combinations(range(len(family)), 3):
        members = tuple(family[i] for i in chosen)
        for signs in product((False, True), repeat=3):
            a, b, c = (held[i] ^ (allowed if negated else 0) for i, negated in zip(chosen, signs, strict=True))
            pairs = bool(a & b) + bool(a & c) + bool(b & c)
            if pairs == 3 and not a & b & c:
                yield relation_of("all", members, signs)
            elif pairs == 0:
                yield relation_of("one", members, signs)


def _sums(family: list[PricedEvent], tables: list[int], everything: int) -> Iterator[Relation]:
    """P(A) + P(B) = P(A & B) + P(A | B), where all four are forecast."""
    by_table = {}
    for event, table in zip(family, tables, strict=True):
        by_table[table], by_table[everything ^ table] = (event, False), (event, True)
    for (a, first), (b, second) in combinations(by_table.items(), 2):
        both, either = by_table.get(a & b), by_table.get(a | b)
        if both is None or either is None or both[0] in (first[0], second[0]):
            continue
        left, right = (first, second), (both, either)
        for more, less in ((left, right), (right, left)):
            ends = [
                *(event.most(negated) for event, negated in more),
                *(event.least(negated) for event, negated in less),
            ]
            literals = tuple(literal for _, literal in ends)
            if len({literal.bet for literal in literals}) == 4:
                yield Relation("sum", literals, tuple(chance for chance, _ in ends))
