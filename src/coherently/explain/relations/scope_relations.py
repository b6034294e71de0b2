"""Relations that answers break in the worlds of a scope: pairs, threes, sums, partitions, and shares of a condition.

All assertions of a scope, of plain answers and of conditionals together with their conditions, are compared by their
truth in its worlds, so that laws and declared variables count. What cannot happen together depends only on which
questions are answered, and is kept: other numbers take no new look at worlds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.explain.recent_values import Lately, kept_with_owner
from coherently.explain.relations.exclusions import Excess, Exclusions, bits_of_rows
from coherently.explain.relations.relation import Assertion, Relation

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Mask, Vector
    from coherently.solve.budget import Budget

    Truths = NDArray[np.bool_]

ANSWERED = 32
"""Number of sets of answers to a scope whose exclusions are kept."""
FEW = 8
"""Maximum number of forecasts of a relation whose parts are listed, to see whether one is broken by itself."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Scope:
    """Some items of a piece, by number, and their truth in the worlds that differ in them: one row per world."""

    items: NDArray[np.int64]
    joint: Truths
    given: Truths


@dataclass(frozen=True, slots=True, eq=False)
class AssertionTable:
    """Assertions without numbers, and what they exclude: `first` and `second` are items, the second -1 if plain."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    rest: Mask
    turned: Mask
    exclusions: Exclusions
    worlds: list[int]
    granted: bool = False
    _senses: dict[int, tuple[Hashable, ...]] = field(default_factory=dict)

    def sense(self, row: int) -> tuple[Hashable, ...]:
        """That of the relation of a row of the exclusions' limits."""
        if row not in self._senses:
            literals, _, kinds = self.exclusions.limits
            own = tuple(literal for literal in literals[row].tolist() if literal < 2 * len(self.first))
            self._senses[row] = _relation(self, np.zeros(len(self.first)), Excess(kinds[row], own)).sense
        return self._senses[row]

    def chances(self, value: Vector) -> Vector:
        """The probabilities that answers give to the assertions; `value` may have several rows of answers."""
        own, condition = value[..., self.first], value[..., self.second]
        made = np.where(self.rest, 1.0 - own, own) * np.where(self.turned, 1.0 - condition, condition)
        chances: Vector = np.where(self.second < 0, own, made)
        return chances

    def assertion(self, i: int, chance: float) -> Assertion:
        """One of them, with its number."""
        one, condition = int(self.first[i]), int(self.second[i])
        items = (one,) if condition < 0 else (one, condition)
        return Assertion(
            forecasts=items, chance=chance, worlds=self.worlds[i], rest=bool(self.rest[i]), turned=bool(self.turned[i])
        )


def assertion_tables(scope: Scope, answered: bytes) -> tuple[AssertionTable, ...]:
    """The assertions that answers on some items of the scope make, and those where one condition is granted."""
    kept = _kept_tables(scope)
    found = kept.get(answered)
    if found is None:
        found = _assertion_tables(scope, answered)
        kept.put(answered, found)
    return found


@kept_with_owner
def _kept_tables(_scope: Scope) -> Lately[tuple[AssertionTable, ...]]:
    return Lately(ANSWERED)


def _assertion_tables(scope: Scope, answered: bytes) -> tuple[AssertionTable, ...]:
    known, number = np.frombuffer(answered, np.bool_), scope.items.tolist()
    plain = scope.given.all(axis=0)
    told = np.flatnonzero(known & plain).tolist()
    rows = [_AssertionRow(scope.joint[:, i], number[i]) for i in told]
    condition_of = {(~row.truth).tobytes(): (row.first, True) for row in reversed(rows)}
    condition_of |= {row.truth.tobytes(): (row.first, False) for row in reversed(rows)}
    for i in np.flatnonzero(known & ~plain).tolist():
        condition, turned = condition_of.get(scope.given[:, i].tobytes(), (-1, False))
        if condition >= 0:
            joint = scope.joint[:, i]
            rows.append(_AssertionRow(joint, number[i], condition, turned=turned))
            rows.append(_AssertionRow(scope.given[:, i] & ~joint, number[i], condition, rest=True, turned=turned))
    return (_table_of(rows, len(scope.joint)), *_granted(scope, known & ~plain))


class _AssertionRow(NamedTuple):
    """An assertion with its truth in each world."""

    truth: Truths
    first: int
    second: int = -1
    rest: bool = False
    turned: bool = False


def _table_of(rows: Sequence[_AssertionRow], worlds: int, *, granted: bool = False) -> AssertionTable:
    truth = np.array([row.truth for row in rows], np.bool_).reshape(len(rows), worlds)
    return AssertionTable(
        first=np.array([row.first for row in rows], np.int64),
        second=np.array([row.second for row in rows], np.int64),
        rest=np.array([row.rest for row in rows], np.bool_),
        turned=np.array([row.turned for row in rows], np.bool_),
        exclusions=Exclusions(truth),
        worlds=bits_of_rows(truth),
        granted=granted,
    )


def _granted(scope: Scope, conditional: Mask) -> Iterator[AssertionTable]:
    """Conditional answers with one condition in common, in its worlds."""
    by_condition: dict[bytes, list[int]] = {}
    for i in np.flatnonzero(conditional).tolist():
        by_condition.setdefault(scope.given[:, i].tobytes(), []).append(i)
    for own in by_condition.values():
        where = scope.given[:, own[0]]
        rows = [_AssertionRow(scope.joint[where, i], int(scope.items[i])) for i in own]
        yield _table_of(rows, int(where.sum()), granted=True)


class SimpleRelations(NamedTuple):
    """Broken relations, the worst first; `finished` is false if time ran out before all were looked for.

    `sums` are those of four answers, which are told only where nothing else is.
    """

    found: list[Relation]
    sums: list[Relation]
    finished: bool


def broken_relations(
    scopes: Sequence[Scope], value: Vector, families: Sequence[frozenset[int]], tolerance: float, budget: Budget
) -> SimpleRelations:
    """All simple relations that answers break by more than the tolerance; `families` are items of one question each.

    `value` has one entry per item, NaN where there is no answer. Items are compared within scopes, the simplest
    relations of all scopes first. Relations of which a part is broken by itself are left out.
    """
    partitions = [list(_partitions(scope, value, families, tolerance)) for scope in scopes]
    found = [replace(one, scope=number) for number, own in enumerate(partitions) for one in own]
    sums: list[Relation] = []
    tables = [list(_numbered(scope, value)) for scope in scopes]
    for look in (Exclusions.broken_pairs, Exclusions.broken_sets):
        for number, own in enumerate(tables):
            if budget.is_over():
                return SimpleRelations(irreducible_relations(found), [], finished=False)
            for table, chance in own:
                for excess in look(table.exclusions, chance, chance, tolerance):
                    relation = _relation(table, chance, excess, number)
                    if not any(set(relation.forecasts) <= set(whole.forecasts) for whole in partitions[number]):
                        (sums if relation.kind == "sum" else found).append(relation)
    return SimpleRelations(irreducible_relations(found), irreducible_relations([*found, *sums], "sum"), finished=True)


def _numbered(scope: Scope, value: Vector) -> Iterator[tuple[AssertionTable, Vector]]:
    """The assertions of a scope, and what answers say about them."""
    answered = ~np.isnan(value[scope.items])
    for table in assertion_tables(scope, answered.tobytes()):
        yield table, table.chances(value)


class _RowsOfTable(NamedTuple):
    """What one table excludes, and the sums that must agree, by rows of literals.

    `holds` has a column for each broken relation: whether the row is about all its forecasts; `same` if it is told in
    the same words.
    """

    table: AssertionTable
    literals: NDArray[np.int64]
    most: Vector
    holds: Mask
    same: Mask

    def over(self, values: Vector, tolerance: float) -> Mask:
        """Which rows of literals each row of answers breaks."""
        found: Mask = self._likely(values)[:, self.literals].sum(axis=2) > self.most + tolerance
        return found

    def breaks_sums(self, values: Vector, tolerance: float) -> Mask:
        """Which rows of answers break a sum."""
        likely, sums = self._likely(values), self.table.exclusions.sums
        off = likely[:, sums[:, :2]].sum(axis=2) - likely[:, sums[:, 2:]].sum(axis=2)
        found: Mask = (np.abs(off) > tolerance).any(axis=1)
        return found

    def _likely(self, values: Vector) -> Vector:
        chance = self.table.chances(values)
        return np.concatenate([chance, 1.0 - chance, np.zeros((len(values), 1))], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class FreshRelations:
    """What new answers must not break if they are to mend one of some broken relations.

    A relation that they break is told, or a smaller part of it is. They break nothing new only if a part of it that was
    told before is still broken in the same direction, and is not the relation that is to be mended. `unlisted` are
    broken relations that no row is about, which may be broken still. `is_whole` if there is no relation without a row.
    """

    parts: list[_RowsOfTable]
    unlisted: Mask
    is_whole: bool

    def broken_at(self, values: Vector, mended: int | None, tolerance: float) -> Mask:
        """For each row of answers, whether it is sure to break something anew; `mended` is a broken relation."""
        over = [part.over(values, tolerance) for part in self.parts]
        still = np.tile(self.unlisted, (len(values), 1))
        for part, broken in zip(self.parts, over, strict=True):
            still |= _meet(broken, part.same)
        if mended is not None:
            still[:, mended] = False
        found = np.zeros(len(values), np.bool_)
        for part, broken in zip(self.parts, over, strict=True):
            rows = np.flatnonzero(broken.any(axis=0))
            if len(rows):
                found |= (broken[:, rows] & ~_meet(still, part.holds[rows].T)).any(axis=1)
        return found

    def fits_at(self, value: Vector, tolerance: float) -> bool:
        """Whether answers are sure to break nothing at all."""
        values = value[None]
        return self.is_whole and not any(
            part.over(values, tolerance).any() or part.breaks_sums(values, tolerance).any() for part in self.parts
        )


def _meet(first: Mask, second: Mask) -> Mask:
    """Whether a row and a column have a place in common where both are true."""
    found: Mask = first.astype(np.float32) @ second.astype(np.float32) > 0.5
    return found


def fresh_relations(
    scopes: Sequence[Scope], value: Vector, families: Sequence[frozenset[int]], broken: Sequence[Relation]
) -> FreshRelations:
    """The relations of scopes, each with the broken ones that are a part of it.

    Those within a family are left out: if the family is broken as a whole, they are not told by themselves.
    """
    parts, is_whole = [], not families
    own = np.zeros((len(broken), len(value)), np.bool_)
    for number, relation in enumerate(broken):
        own[number, list(relation.forecasts)] = True
    unlisted = np.ones(len(broken), np.bool_)
    for scope in scopes:
        answered = ~np.isnan(value[scope.items])
        for table in assertion_tables(scope, answered.tobytes()):
            if not table.exclusions.has_threes:
                is_whole = False
                continue
            literals, most, _ = table.exclusions.limits
            about = _forecasts_of(table, literals, len(value))
            kept = np.ones(len(literals), np.bool_)
            for family in families:
                kept &= about[:, np.setdiff1d(np.arange(len(value)), list(family))].any(axis=1)
            holds = ~_meet(~about, own.T)
            same = holds & kept[:, None] & (about.sum(axis=1)[:, None] == own.sum(axis=1))
            for row, number in zip(*(side.tolist() for side in np.nonzero(same)), strict=True):
                same[row, number] = table.sense(row) == broken[number].sense
            parts.append(_RowsOfTable(table, literals[kept], most[kept], holds=holds[kept], same=same[kept]))
            unlisted &= ~same.any(axis=0)
    return FreshRelations(parts, unlisted, is_whole)


def _forecasts_of(table: AssertionTable, literals: NDArray[np.int64], count: int) -> Mask:
    """For each row of literals, which of all forecasts it is about."""
    about = np.zeros((len(literals), count + 1), np.bool_)  # the last column is for -1: no second item, or no literal
    event = np.where(literals < 2 * len(table.first), literals % max(len(table.first), 1), -1)
    rows = np.arange(len(literals))[:, None]
    about[rows, np.append(table.first, -1)[event]] = about[rows, np.append(table.second, -1)[event]] = True
    return about[:, :count]


def _relation(table: AssertionTable, chance: Vector, excess: Excess, scope: int = 0) -> Relation:
    """The relation of literals of a table; what is too likely comes first, but for sums."""
    n, literals = len(table.first), excess.literals
    if excess.kind != "sum":
        literals = tuple(sorted(literals, key=lambda literal: literal >= n))
    assertions = tuple(table.assertion(literal % n, float(chance[literal % n])) for literal in literals)
    negated, size = tuple(literal >= n for literal in literals), table.exclusions.truth.shape[1]
    return Relation(excess.kind, assertions, negated, granted=table.granted, scope=scope, size=size)


def irreducible_relations(found: Iterable[Relation], kind: str | None = None) -> list[Relation]:
    """One relation for each set of forecasts, the worst, and none that contains another's set.

    Of one kind, if told: only of sets that break nothing of another kind.
    """
    best: dict[frozenset[int], Relation] = {}
    for relation in sorted(found, key=lambda one: (one.kind == kind, -round(one.violation, 9))):
        best.setdefault(frozenset(relation.forecasts), relation)
    return [one for own, one in best.items() if kind in (None, one.kind) and not _has_part(own, best.keys())]


def _has_part(own: frozenset[int], broken: Iterable[frozenset[int]]) -> bool:
    """Whether a smaller set is among the broken ones."""
    if len(own) > FEW:
        return any(part < own for part in broken)
    return any(frozenset(part) in broken for size in range(1, len(own)) for part in combinations(own, size))


def _partitions(
    scope: Scope, value: Vector, families: Sequence[frozenset[int]], tolerance: float
) -> Iterator[Relation]:
    """Questions whose events exclude each other: their answers make more than 100 %, or not 100 % if all are given."""
    place = {item: i for i, item in enumerate(scope.items.tolist())} if families else {}
    for family in families:
        if len(family) < 2 or not family <= place.keys():
            continue
        own = sorted(family)
        columns = [place[i] for i in own]
        truth = scope.joint[:, columns]
        if not scope.given[:, columns].all() or (truth.sum(axis=1) > 1).any():
            continue
        told = zip(bits_of_rows(truth.T), own, strict=True)
        assertions = tuple(Assertion((i,), float(value[i]), worlds) for worlds, i in told if not np.isnan(value[i]))
        over = sum(assertion.chance for assertion in assertions) - 1.0
        whole = len(assertions) == len(own) and bool(truth.any(axis=1).all())
        if over > tolerance or (whole and -over > tolerance):
            negated = (over < 0,) * len(assertions)
            yield Relation("one" if over > 0 else "all", assertions, negated, partition=True, whole=whole)
