"""Simple relations that forecasts break: two or three events that cannot all happen, and sums that must agree."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.certify.distance import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.certify.bets import Bets
    from coherently.certify.distance import Answer
    from coherently.problem import Block, Space

MOST_VARIABLES = 16
"""Variables of events that are compared by their joint truth table."""
MOST_PAIRS = 300_000
"""Pairs of events that share a variable up to which all are compared; past it, those of nested variables alone."""
MOST_BETS = 20_000
"""Bets among which relations are looked for."""
MOST_MEMBERS = 24
"""Events of a family that are compared three at a time."""


class Literal(NamedTuple):
    """A bet's event, or its complement if `negated`."""

    bet: int
    negated: bool


@dataclass(frozen=True, slots=True)
class Relation:
    """Literals that cannot all happen, or of which at most one can (`kind`), and by how much forecasts exceed that.

    The kinds are "all" (the probabilities add up to at most their number less 1), "one" (to at most 1) and "sum" (those
    of the first two to that of the last two).
    """

    kind: str
    literals: tuple[Literal, ...]
    violation: float

    @property
    def bets(self) -> tuple[int, ...]:
        """The bets that it is about."""
        return tuple(literal.bet for literal in self.literals)

    @property
    def signs(self) -> list[int]:
        """What to do to the bets to profit: 1 is selling, -1 buying."""
        turned = [-1 if literal.negated else 1 for literal in self.literals]
        return [sign if i < 2 or self.kind != "sum" else -sign for i, sign in enumerate(turned)]

    @property
    def complements(self) -> int:
        """How many literals are complements of what was written."""
        return sum(literal.negated for literal in self.literals)


class _Event(NamedTuple):
    """A distinct event of one variable or more: its table, and the bets that make it most and least likely."""

    variables: tuple[int, ...]
    table: int
    high: float
    high_literal: Literal
    low: float
    low_literal: Literal

    def most(self, negated: bool) -> tuple[float, Literal]:
        """The greatest probability of it, or of its complement, and the literal of the bet that gives it."""
        if not negated:
            return self.high, self.high_literal
        return 1.0 - self.low, Literal(self.low_literal.bet, not self.low_literal.negated)


class Rules:
    """What laws and declarations say of a few variables at a time; `about` lists, by variable, the rules about it.

    A rule is known by a number below 0.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        starts, members = space.rows()
        self.about: dict[int, list[int]] = defaultdict(list)
        self._variables = [members[a:b] for a, b in pairwise(starts.tolist())]
        for rule, variables in enumerate(self._variables):
            for variable in variables.tolist():
                self.about[variable].append(-1 - rule)
        self._known: dict[tuple[int, ...], int] = {}

    def allowed(self, variables: tuple[int, ...]) -> int:
        """The truth table, over some variables, of what the rules about them alone allow."""
        if variables not in self._known:
            rules = {-1 - rule for v in variables for rule in self.about.get(v, ())}
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
            return _expanded(sum(1 << int(row) for row in rows), places, len(variables))
        everything = (1 << (1 << len(variables))) - 1
        if len(shared) < len(own) or len(own) > MOST_VARIABLES:
            return everything
        laws = self._space.laws
        table = _table(laws.tables[laws.table_starts[rule - blocks] : laws.table_starts[rule - blocks + 1]])
        found = _expanded(table, places, len(variables))
        return found if laws.truth[rule - blocks] else everything ^ found


def violated(bets: Bets, index: NDArray[np.int64]) -> list[Relation]:
    """The relations that some of the bets break, the worst first."""
    events, constants = _events(bets, index)
    rules = Rules(bets.merged.space)
    found = [*constants, *_ruled_out(events, rules), *_repeats(events), *_pairs(events, rules)]
    found += _partitions(events, bets.merged.space.blocks)
    for family in _families(events):
        found += _triples(family, rules)
        found += _sums(family)
    best: dict[frozenset[int], Relation] = {}
    for relation in sorted(found, key=lambda relation: (-round(relation.violation, 9), relation.complements)):
        best.setdefault(frozenset(relation.bets), relation)
    return [relation for relation in best.values() if relation.violation > TOLERANCE]


def irreducible(relations: Sequence[Relation]) -> Iterator[Relation]:
    """The relations of which no part is broken on its own."""
    broken = {frozenset(relation.bets) for relation in relations}
    for relation in relations:
        bets = relation.bets
        parts = (frozenset(part) for size in range(1, len(bets)) for part in combinations(bets, size))
        if broken.isdisjoint(parts):
            yield relation


def moved_most(bets: Bets, answers: Sequence[Answer]) -> NDArray[np.int64]:
    """The bets of answers, in order; if they are many, those alone whose prices the answers change most."""
    own = np.concatenate([answer.cluster.bets for answer in answers])
    if len(own) <= MOST_BETS:
        return np.sort(own)
    change = np.abs(bets.price[own] - np.concatenate([answer.value for answer in answers]))
    return np.sort(own[np.argsort(-change, kind="stable")[:MOST_BETS]])


def _events(bets: Bets, index: NDArray[np.int64]) -> tuple[list[_Event], list[Relation]]:
    merged, constants = bets.merged, []
    sold = np.where(bets.complemented, 1.0 - bets.ask, bets.bid)
    bought = np.where(bets.complemented, 1.0 - bets.bid, bets.ask)
    given: dict[int, list[int]] = defaultdict(list)
    for bet in index[~bets.conditional[index]].tolist():
        given[int(bets.coordinate[bet])].append(bet)
    events = []
    for coordinate, own in given.items():
        a, b = merged.starts[coordinate], merged.starts[coordinate + 1]
        if a == b:
            # The coordinate never happens: no literal of it can.
            constants += [
                Relation("all", (Literal(bet, bool(bets.complemented[bet])),), float(sold[bet])) for bet in own
            ]
        elif b - a <= MOST_VARIABLES:
            table = _table(merged.tables[merged.table_starts[coordinate] : merged.table_starts[coordinate + 1]])
            high, low = own[int(np.argmax(sold[own]))], own[int(np.argmin(bought[own]))]
            top, bottom = (Literal(bet, bool(bets.complemented[bet])) for bet in (high, low))
            variables = tuple(merged.variables[a:b].tolist())
            events.append(_Event(variables, table, float(sold[high]), top, float(bought[low]), bottom))
    return events, constants


def _repeats(events: Iterable[_Event]) -> Iterator[Relation]:
    """An event and its complement, or two forecasts of one event."""
    for event in events:
        (high, first), (low, second) = event.most(False), event.most(True)
        if high + low > 1.0 and first.bet != second.bet:
            yield Relation("all", (first, second), high + low - 1.0)


def _ruled_out(events: Iterable[_Event], rules: Rules) -> Iterator[Relation]:
    """Events that the laws make impossible, or certain."""
    for event in events:
        allowed = rules.allowed(event.variables)
        for negated in (False, True):
            if not (~event.table if negated else event.table) & allowed:
                probability, literal = event.most(negated)
                yield Relation("all", (literal,), probability)


def _partitions(events: Iterable[_Event], blocks: Sequence[Block]) -> Iterator[Relation]:
    """Variables of a block of which at most one is true, and one must be if all of them are forecast."""
    alone = {event.variables[0]: event for event in events if len(event.variables) == 1}
    for block in blocks:
        counts = block.states.sum(axis=1)
        known = [alone[v] for v in block.variables.tolist() if v in alone]
        if counts.max(initial=0) > 1 or len(known) < 3:
            continue
        members = tuple(known)
        yield _relation("one", members, (False,) * len(members), 1)
        if counts.min() == 1 and len(members) == len(block.variables):
            yield _relation("all", members, (True,) * len(members), len(members) - 1)


def _pairs(events: list[_Event], rules: Rules) -> Iterator[Relation]:
    """Two events of which one implies the other, or that exclude each other."""
    for first, second in _candidates(events, rules):
        joint = _joint(first, second, rules)
        for signs in ((False, False), (False, True), (True, False), (True, True)):
            if signs not in joint:
                yield _relation("all", (first, second), signs, 1)


def _candidates(events: list[_Event], rules: Rules) -> Iterator[tuple[_Event, _Event]]:
    """Pairs of events that share a variable or a rule, or, if those are too many, whose variables are nested."""
    by_variable: dict[int, list[int]] = defaultdict(list)
    for i, event in enumerate(events):
        for key in {*event.variables, *(rule for v in event.variables for rule in rules.about.get(v, ()))}:
            by_variable[key].append(i)
    if sum(len(own) ** 2 for own in by_variable.values()) <= 2 * MOST_PAIRS:
        pairs = {pair for own in by_variable.values() for pair in combinations(own, 2)}
    else:
        position = {id(event): i for i, event in enumerate(events)}
        families = ([position[id(event)] for event in family] for family in _families(events))
        pairs = {pair for family in families for pair in combinations(family, 2)}
    for i, j in sorted(pairs):
        if len({*events[i].variables, *events[j].variables}) <= MOST_VARIABLES:
            yield events[i], events[j]


def _families(events: list[_Event]) -> Iterator[list[_Event]]:
    """For each set of two variables or more that some event has: the events over those variables."""
    over: dict[tuple[int, ...], list[_Event]] = defaultdict(list)
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


def _triples(family: list[_Event], rules: Rules) -> Iterator[Relation]:
    """Three events that cannot all happen though any two can, or of which no two can."""
    if len(family) > MOST_MEMBERS:
        return
    variables = tuple(sorted({v for event in family for v in event.variables}))
    everything = rules.allowed(variables)
    tables = [_over(event, variables) & everything for event in family]
    for chosen in combinations(range(len(family)), 3):
        members = tuple(family[i] for i in chosen)
        for signs in product((False, True), repeat=3):
            a, b, c = (tables[i] ^ (everything if negated else 0) for i, negated in zip(chosen, signs, strict=True))
            pairs = bool(a & b) + bool(a & c) + bool(b & c)
            if pairs == 3 and not a & b & c:
                yield _relation("all", members, signs, 2)
            elif pairs == 0:
                yield _relation("one", members, signs, 1)


def _sums(family: list[_Event]) -> Iterator[Relation]:
    """P(A) + P(B) = P(A & B) + P(A | B), where all four are forecast."""
    if len(family) > MOST_MEMBERS:
        return
    variables = tuple(sorted({v for event in family for v in event.variables}))
    everything = (1 << (1 << len(variables))) - 1
    by_table = {}
    for event in family:
        table = _over(event, variables)
        by_table[table], by_table[everything ^ table] = (event, False), (event, True)
    for (a, first), (b, second) in combinations(by_table.items(), 2):
        both, either = by_table.get(a & b), by_table.get(a | b)
        if both is None or either is None or both[0] in (first[0], second[0]):
            continue
        left = [first[0].most(first[1]), second[0].most(second[1])]
        right = [both[0].most(both[1]), either[0].most(either[1])]
        for more, less in ((left, right), (right, left)):
            excess = sum(p for p, _ in more) - sum(p for p, _ in less)
            literals = tuple(literal for _, literal in (*more, *less))
            if len({literal.bet for literal in literals}) == 4:
                yield Relation("sum", literals, excess)


def _relation(kind: str, events: tuple[_Event, ...], signs: tuple[bool, ...], most: int) -> Relation:
    """The relation of the likeliest bets: these literals' probabilities add up to at most `most`."""
    ends = [event.most(negated) for event, negated in zip(events, signs, strict=True)]
    return Relation(kind, tuple(literal for _, literal in ends), sum(p for p, _ in ends) - most)


def _joint(first: _Event, second: _Event, rules: Rules) -> frozenset[tuple[bool, bool]]:
    """Which combinations of two events can happen: whether each is negated."""
    variables = tuple(sorted({*first.variables, *second.variables}))
    place = {variable: i for i, variable in enumerate(variables)}
    ours, theirs = (tuple(place[v] for v in event.variables) for event in (first, second))
    return _joint_tables(first.table, ours, second.table, theirs, len(variables), rules.allowed(variables))


@lru_cache(maxsize=100_000)
def _joint_tables(
    first: int, ours: tuple[int, ...], second: int, theirs: tuple[int, ...], count: int, allowed: int
) -> frozenset[tuple[bool, bool]]:
    a, b = _expanded(first, ours, count), _expanded(second, theirs, count)
    return frozenset(
        (not x, not y) for x, y in product((True, False), repeat=2) if (a if x else ~a) & (b if y else ~b) & allowed
    )


def _table(words: NDArray[np.uint64]) -> int:
    return sum(int(word) << 64 * i for i, word in enumerate(words.tolist()))


def _over(event: _Event, variables: tuple[int, ...]) -> int:
    """The truth table of an event over more variables."""
    return _expanded(event.table, tuple(variables.index(v) for v in event.variables), len(variables))


@lru_cache(maxsize=100_000)
def _expanded(table: int, places: tuple[int, ...], count: int) -> int:
    rows = np.arange(1 << count)
    index = np.zeros(1 << count, np.int64)
    for i, place in enumerate(places):
        index |= (rows >> place & 1) << i
    bits = np.array([table >> i & 1 for i in range(1 << len(places))], np.uint8)
    return int.from_bytes(np.packbits(bits[index], bitorder="little").tobytes(), "little")
