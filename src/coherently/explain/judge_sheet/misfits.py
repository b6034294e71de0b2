"""Simple ways in which answers do not fit: pairs, threes, sums of a partition, and shares of a condition.

An assertion is an event with a probability: that of a plain answer, or what a conditional answer and that on its
condition make together (P(H) times P(E given H) is P(E & H), and the rest of P(H) is P(~E & H)). All assertions are
compared by their truth in the worlds of the piece, so that laws and declared variables count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.explain.judge_sheet.sheet_parts.mixture_program import GRACE
from coherently.explain.relations.declared import relations_within
from coherently.explain.relations.literals import Literal, PricedEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.explain.judge_sheet.sheet_parts.pieces import Scope
    from coherently.solve.budget import Budget

    Vector = NDArray[np.float64]
    Truths = NDArray[np.bool_]

MOST_ASSERTIONS = 80
"""Maximum number of assertions that are compared three at a time."""


class MisfitShape(StrEnum):
    """What assertions a misfit is about."""

    NEVER = "never"
    SURE = "sure"
    IMPLIES = "implies"
    EXCLUDE = "exclude"
    COVER = "cover"
    OVERLAP = "overlap"
    NEEDS = "needs"
    ONE = "one"
    PARTS = "parts"
    PARTITION = "partition"
    SET = "set"


@dataclass(frozen=True, slots=True)
class Assertion:
    """An event, as the set of its worlds (bits of a number), with its probability and the items that it comes from.

    With two items, these are a conditional and its condition; `rest` says that it is the rest of the condition, and
    `turned` that the condition is the complement of the second item.
    """

    bits: int
    chance: float
    items: tuple[int, ...]
    rest: bool = False
    turned: bool = False

    def chance_at(self, value: Vector) -> float:
        """The probability that other answers give it."""
        own = float(value[self.items[0]])
        if len(self.items) == 1:
            return own
        condition = float(value[self.items[1]])
        return (1.0 - own if self.rest else own) * (1.0 - condition if self.turned else condition)


@dataclass(frozen=True, slots=True)
class Misfit:
    """Assertions that do not fit, each with whether its complement is meant: together they are likelier than `most`.

    The order is that of the sentence: what is too likely comes first. `granted` says that they are conditional answers,
    considered where their condition holds. `whole` says that these are all options of a
    partition. Worlds of assertions can be compared within one `scope`.
    """

    shape: MisfitShape
    assertions: tuple[Assertion, ...]
    negated: tuple[bool, ...]
    most: float
    granted: bool = False
    whole: bool = False
    scope: int = 0

    @property
    def amount(self) -> float:
        """By how much they do not fit."""
        return self._over([assertion.chance for assertion in self.assertions])

    def amount_at(self, value: Vector) -> float:
        """The same for other answers."""
        return self._over([assertion.chance_at(value) for assertion in self.assertions])

    def _over(self, chances: Sequence[float]) -> float:
        signed = zip(chances, self.negated, strict=True)
        return sum(1.0 - chance if turned else chance for chance, turned in signed) - self.most

    @property
    def items(self) -> frozenset[int]:
        """The items that it is about."""
        return frozenset(item for assertion in self.assertions for item in assertion.items)


def assertions_of(scope: Scope, value: Vector) -> list[Assertion]:
    """The assertions that answers make; `value` has one entry per item of the scope, NaN where there is no answer."""
    answered, plain = ~np.isnan(value), scope.given.all(axis=0)
    every = (1 << len(scope.joint)) - 1
    joint, given, number = _bits(scope.joint), _bits(scope.given), scope.items.tolist()
    found = [Assertion(joint[i], float(value[i]), (number[i],)) for i in np.flatnonzero(answered & plain).tolist()]
    known = {assertion.bits: (assertion.items[0], assertion.chance, False) for assertion in reversed(found)}
    known |= {
        every ^ assertion.bits: (assertion.items[0], 1.0 - assertion.chance, True) for assertion in reversed(found)
    }
    for i in np.flatnonzero(answered & ~plain).tolist():
        if given[i] in known:
            condition, chance, turned = known[given[i]]
            share, own = float(value[i]), (number[i], condition)
            found.append(Assertion(joint[i], share * chance, own, turned=turned))
            found.append(Assertion(given[i] ^ joint[i], (1.0 - share) * chance, own, rest=True, turned=turned))
    return found


def _given_same(scope: Scope, value: Vector) -> Iterator[tuple[int, list[Assertion]]]:
    """Conditional answers with one condition in common: the number of its worlds, and the assertions there."""
    answered, plain = ~np.isnan(value), scope.given.all(axis=0)
    by_condition: dict[bytes, list[int]] = {}
    for i in np.flatnonzero(answered & ~plain).tolist():
        by_condition.setdefault(scope.given[:, i].tobytes(), []).append(i)
    for own in by_condition.values():
        truth = scope.joint[scope.given[:, own[0]]][:, own]
        number = scope.items[own].tolist()
        yield (
            len(truth),
            [Assertion(b, float(value[i]), (k,)) for b, i, k in zip(_bits(truth), own, number, strict=True)],
        )


class SimpleMisfits(NamedTuple):
    """Simple misfits, the worst first; `finished` is false if time ran out before all were looked for."""

    found: list[Misfit]
    finished: bool


def misfits_of(
    scopes: Sequence[Scope], value: Vector, families: Sequence[frozenset[int]], budget: Budget
) -> SimpleMisfits:
    """All simple misfits of answers by more than the grace; `families` are the items of questions with several.

    Items are compared within scopes, the simplest relations of all scopes first. Misfits of which a part does not fit
    either are left out.
    """
    sums = [list(_partitions(scope, value, families)) for scope in scopes]
    found = [replace(one, scope=number) for number, own in enumerate(sums) for one in own]
    for among in (_few, _threes):
        for number, scope in enumerate(scopes):
            if budget.is_over():
                return SimpleMisfits(_irreducible(found), finished=False)
            own = value[scope.items]
            rest = [*among(assertions_of(scope, own), len(scope.joint))]
            for size, assertions in _given_same(scope, own):
                rest += (replace(misfit, granted=True) for misfit in among(assertions, size))
            found += (
                replace(one, scope=number)
                for one in rest
                if not any(one.items <= whole.items for whole in sums[number])
            )
    return SimpleMisfits(_irreducible(found), finished=True)


def _irreducible(found: Iterable[Misfit]) -> list[Misfit]:
    """One misfit for each set of items, the largest, and none that contains another's set."""
    best: dict[frozenset[int], Misfit] = {}
    for misfit in sorted(found, key=lambda one: -round(one.amount, 9)):
        best.setdefault(misfit.items, misfit)
    return [one for items, one in best.items() if not any(other < items for other in best)]


def _partitions(scope: Scope, value: Vector, families: Sequence[frozenset[int]]) -> Iterator[Misfit]:
    """Questions whose events exclude each other: their answers make more than 100 %, or not 100 % if all are given."""
    place = {item: i for i, item in enumerate(scope.items.tolist())}
    for family in families:
        if len(family) < 2 or not family <= place.keys():
            continue
        own = sorted(family)
        columns = [place[i] for i in own]
        truth = scope.joint[:, columns]
        if not scope.given[:, columns].all() or (truth.sum(axis=1) > 1).any():
            continue
        told = zip(_bits(truth), own, strict=True)
        assertions = tuple(Assertion(bits, float(value[i]), (i,)) for bits, i in told if not np.isnan(value[i]))
        over = sum(assertion.chance for assertion in assertions) - 1.0
        whole = len(assertions) == len(own) and bool(truth.any(axis=1).all())
        if over > GRACE or (whole and -over > GRACE):
            most = 1.0 if over > 0 else len(assertions) - 1.0
            yield Misfit(MisfitShape.PARTITION, assertions, (over < 0,) * len(assertions), most, whole=whole)


def _few(assertions: list[Assertion], size: int) -> Iterator[Misfit]:
    """The misfits of one assertion, or two."""
    every = (1 << size) - 1
    for assertion in assertions:
        if assertion.bits == 0 and assertion.chance > GRACE:
            yield Misfit(MisfitShape.NEVER, (assertion,), (False,), 0.0)
        if assertion.bits == every and 1.0 - assertion.chance > GRACE:
            yield Misfit(MisfitShape.SURE, (assertion,), (True,), 0.0)
    some = _open(assertions, size)
    if len(some) >= 2:
        yield from _pairs(some, _unpacked([assertion.bits for assertion in some], size))


def _open(assertions: list[Assertion], size: int) -> list[Assertion]:
    """The assertions that worlds do not settle."""
    return [assertion for assertion in assertions if assertion.bits not in (0, (1 << size) - 1)]


def _pairs(assertions: list[Assertion], truth: Truths) -> Iterator[Misfit]:
    """Pairs, by the search for relations among the events of one declared variable: the worlds are its values."""
    events = [
        PricedEvent((i,), 0b10, assertion.chance, Literal(i, False), assertion.chance, Literal(i, False))
        for i, assertion in enumerate(assertions)
    ]
    variables = np.arange(len(assertions), dtype=np.int32)
    for relation in relations_within(events, variables, truth.T.astype(np.uint8), GRACE):
        if len(relation.literals) == 2 and relation.violation > GRACE:
            yield _shaped(
                [assertions[one.bet] for one in relation.literals], [one.negated for one in relation.literals]
            )


def _threes(every: list[Assertion], size: int) -> Iterator[Misfit]:
    """Three assertions, or complements, that cannot all come true though any two can, or of which no two can."""
    assertions = _open(every, size)
    n = len(assertions)
    if not 3 <= n <= MOST_ASSERTIONS:
        return
    truth = _unpacked([assertion.bits for assertion in assertions], size)
    chance = np.array([assertion.chance for assertion in assertions])
    likely = np.concatenate([chance, 1.0 - chance])
    both = np.vstack([truth, ~truth])
    meets, packed = both.astype(np.float32) @ both.T.astype(np.float32) > 0, np.packbits(both, axis=1)
    triple = np.array(list(combinations(range(n), 3)), np.int64).reshape(-1, 3)
    for turn in np.ndindex(2, 2, 2):
        own = triple + n * np.array(turn)
        a, b, c = own.T
        total, meeting = likely[own].sum(axis=1), meets[a, b].astype(np.int8) + meets[a, c] + meets[b, c]
        likelier = own[(meeting == 3) & (total > 2.0 + GRACE)]
        a, b, c = packed[likelier.T]
        for row in likelier[~(a & b & c).any(axis=1)].tolist():
            yield _shaped([assertions[i % n] for i in row], [i >= n for i in row])
        for row in own[(meeting == 0) & (total > 1.0 + GRACE)].tolist():
            yield _shaped([assertions[i % n] for i in row], [i >= n for i in row], exclusive=True)


def _shaped(assertions: list[Assertion], negated: list[bool], *, exclusive: bool = False) -> Misfit:
    """The misfit of assertions, or complements, of which not all can come true, or only one if they are `exclusive`."""
    order = sorted(range(len(assertions)), key=lambda i: negated[i])
    assertions, negated = [assertions[i] for i in order], [negated[i] for i in order]
    turned = sum(negated)
    if exclusive:
        # Of A, B and ~C at most one comes true: A and B exclude each other and are parts of C.
        shape = (MisfitShape.ONE, MisfitShape.PARTS, MisfitShape.SET, MisfitShape.SET)[turned]
        return Misfit(shape, tuple(assertions), tuple(negated), 1.0)
    if len(assertions) == 2:
        shape = (MisfitShape.EXCLUDE, MisfitShape.IMPLIES, MisfitShape.COVER)[turned]
    else:
        shape = (MisfitShape.SET, MisfitShape.OVERLAP, MisfitShape.NEEDS, MisfitShape.COVER)[turned]
    return Misfit(shape, tuple(assertions), tuple(negated), len(assertions) - 1.0)


def _bits(truth: Truths) -> list[int]:
    """The columns of a table of truths as numbers: bit i is the truth in world i."""
    packed = np.packbits(truth.T, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _unpacked(bits: Sequence[int], size: int) -> Truths:
    """The same as rows of truths."""
    raw = np.frombuffer(b"".join(one.to_bytes((size + 7) // 8, "little") for one in bits), np.uint8)
    found: Truths = np.unpackbits(raw.reshape(len(bits), -1), axis=1, count=size, bitorder="little").view(np.bool_)
    return found
