"""Integers below a sum of functions in every possible world: two rules, each valid for every value of its hints.

A sum is a list of functions with integer coefficients, E = sum of c [f]; laws are functions that hold in every possible
world. A branch of a proof may restrict variables to some of their states.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, TypeAlias

from .check_errors import ProofRefusedError
from .truth_functions import StateSpace, TruthFunction, places

LARGE = 1 << 400
"""What a broken law costs. It is finite, so that bounds stay bounds: in possible worlds it is never paid."""
LARGEST_TABLE, LARGEST_CLUSTER = 1 << 22, 1 << 16

States: TypeAlias = Mapping[int, tuple[int, ...]]
"""The states that a branch leaves to each variable."""
Factor: TypeAlias = tuple[tuple[Any, ...], list[int]]
"""A scope and its values, the last key fastest; a key is a variable, or a set of literals: how many of them hold."""


@dataclass
class WorkLeft:
    """How many cells of tables may still be computed, so that no file keeps the checker busy for ever."""

    left: int = 1 << 31

    def spend(self, cells: int) -> None:
        """Use up some of it."""
        self.left -= cells
        if self.left < 0:
            raise ProofRefusedError("the proof needs more work than is allowed (--work)")


@dataclass(frozen=True)
class CostSum:
    """E = sum of c [f] over `parts`, to be bounded in the worlds where all of `laws` hold."""

    space: StateSpace
    parts: Mapping[TruthFunction, int]
    laws: Sequence[TruthFunction]

    def factors(self, states: States) -> list[Factor]:
        """All functions and laws as factors over the states that are left."""
        terms = [factor_of(self.space, one, states, held=c) for one, c in self.parts.items()]
        return terms + [factor_of(self.space, law, states, failed=LARGE) for law in self.laws]

    def states(self) -> dict[int, tuple[int, ...]]:
        """All states of the variables in it."""
        return self.space.states(sorted({v for one in (*self.parts, *self.laws) for v in one.scope}))


def factor_of(space: StateSpace, function: TruthFunction, states: States, *, held: int = 0, failed: int = 0) -> Factor:
    """A function as a factor: one value where it holds, another where it fails."""
    if function.count is not None:
        key, counts = frozenset(function.count.literals), function.count.counts
        return (key,), [held if j in counts else failed for j in range(len(key) + 1)]
    scope, truth = function.scope, space.truth(function)
    return scope, [held if truth[place] else failed for place in places(scope, space.strides(scope), states)]


def _size(key: Any, states: States) -> int:
    return len(states[key]) if isinstance(key, int) else len(key) + 1


def eliminate(factors: Iterable[Factor], order: Sequence[int], states: States, work: WorkLeft) -> list[Factor]:
    """R5: replace all factors with a variable x by one without it, their sum minimised over x, for x in an order.

    A count of the literals S is a variable too. Where x has a literal in S, the count is (the count of S without that
    literal) + [the literal], so that a count of n literals is taken apart with tables of n cells.
    """
    left = _merged(factors)
    for x in order:
        touched, others = list[Factor](), list[Factor]()
        for one in left:
            (touched if any(_without(key, x) is not key for key in one[0]) else others).append(one)
        if touched:
            left = _merged([*others, _minimised(touched, x, states, work)])
    return left


def _merged(factors: Iterable[Factor]) -> list[Factor]:
    """Factors of the same scope as one."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for scope, values in factors:
        known = found.get(scope)
        found[scope] = values if known is None else [a + b for a, b in zip(known, values, strict=True)]
    return list(found.items())


def _without(key: Any, x: int) -> Any:
    """What is left of a key once x is gone: None of x itself and of a count of x alone."""
    if isinstance(key, int):
        return None if key == x else key
    left = frozenset(one for one in key if one[0] != x)
    return key if len(left) == len(key) else left or None


def _minimised(touched: Sequence[Factor], x: int, states: States, work: WorkLeft) -> Factor:
    scope = tuple(dict.fromkeys(left for keys, _ in touched for key in keys if (left := _without(key, x)) is not None))
    choices = {key: range(_size(key, states)) for key in scope}
    cells = prod(map(len, choices.values()))
    if cells > LARGEST_TABLE:
        raise ProofRefusedError(f"elimination needs a table of more than {LARGEST_TABLE} states")
    work.spend(cells * len(states[x]) * len(touched))
    placed = []
    for keys, values in touched:
        steps, moves = _steps(keys, x, states)
        placed.append((values, places(scope, steps, choices), moves))
    least: list[int] | None = None
    for number in range(len(states[x])):
        total = [0] * cells
        for values, at, moves in placed:
            move = moves[number]
            total = [t + values[place + move] for t, place in zip(total, at, strict=True)]
        least = total if least is None else list(map(min, least, total))
    return scope, least or [LARGE] * cells


def _steps(keys: tuple[Any, ...], x: int, states: States) -> tuple[dict[Any, int], list[int]]:
    """How far what is left of each key moves in the values of a factor, and how far each state of x does."""
    stride, steps, moves = 1, dict[Any, int](), [0] * len(states[x])
    for key in reversed(keys):
        left = _without(key, x)
        if left is not None:
            steps[left] = steps.get(left, 0) + stride
        if left is not key:
            held = None if isinstance(key, int) else next(states for v, states in key if v == x)
            for number, state in enumerate(states[x]):
                moves[number] += stride * (number if held is None else state in held)
        stride *= _size(key, states)
    return steps, moves


def least_left(factors: Iterable[Factor]) -> int:
    """The sum of the least values of factors: no more than the least of their sum."""
    return sum(min(values) if values else LARGE for _, values in factors)


def bound_by_elimination(total: CostSum, order: Sequence[int], states: States, work: WorkLeft) -> int:
    """R5: the least value of E, if the order names all variables; else something below it."""
    return least_left(eliminate(total.factors(states), order, states, work))


@dataclass(frozen=True)
class ClusterTables:
    """R6: sets of variables, each with a table over the states that a branch leaves; tables and `rest` sum to E."""

    space: StateSpace
    scopes: Sequence[tuple[int, ...]]
    tables: list[list[int]]
    rest: int
    states: States

    def least(self) -> int:
        """The sum of the least values of the clusters: no more than the least of E."""
        return self.rest + sum(min(table, default=LARGE) for table in self.tables)

    def add(self, cluster: int, scope: Sequence[int], values: Sequence[int], work: WorkLeft) -> None:
        """Add a table over all states of variables in a cluster."""
        at = places(self.scopes[cluster], self.space.strides(scope), self.states)
        work.spend(len(at))
        self.tables[cluster] = [t + values[place] for t, place in zip(self.tables[cluster], at, strict=True)]

    def within(self, x: int, states: tuple[int, ...], work: WorkLeft) -> ClusterTables:
        """The same where a variable has only some of its states."""
        tables, kept = list(self.tables), {self.states[x].index(state) for state in states}
        for number, scope in enumerate(self.scopes):
            if x in scope:
                stays = [True]
                for v in scope:
                    left = [v != x or i in kept for i in range(len(self.states[v]))]
                    stays = [stay and one for stay in stays for one in left]
                work.spend(len(stays))
                tables[number] = [value for value, stay in zip(tables[number], stays, strict=True) if stay]
        return replace(self, tables=tables, states={**self.states, x: states})


def cluster_tables(total: CostSum, scopes: Sequence[tuple[int, ...]], states: States, work: WorkLeft) -> ClusterTables:
    """Give each function to the first cluster that contains it, each law to all; others by their own minimum."""
    space, containing = total.space, dict[int, set[int]]()
    for number, scope in enumerate(scopes):
        if len(set(scope)) < len(scope) or not all(0 <= v < len(space.variables) for v in scope):
            raise ProofRefusedError("a cluster names a variable twice, or one that does not exist")
        if space.cells(scope) > LARGEST_CLUSTER:
            raise ProofRefusedError(f"a cluster has more than {LARGEST_CLUSTER} states")
        for v in scope:
            containing.setdefault(v, set()).add(number)
    if sum(map(space.cells, scopes)) > LARGEST_TABLE:
        raise ProofRefusedError(f"the clusters have more than {LARGEST_TABLE} states together")

    def homes(function: TruthFunction) -> set[int]:
        """The clusters with all variables of a table; none of a constant, or of a count without a table."""
        sets = [containing.get(v, set()) for v in function.scope] if function.mask is not None else []
        return set.intersection(*sets) if sets else set()

    left = space.states(range(len(space.variables))) | dict(states)
    tables = [[0] * prod(len(left[v]) for v in scope) for scope in scopes]
    outside = [(function, c) for function, c in total.parts.items() if not homes(function)]
    rest = sum(c * one.constant if one.constant is not None else min(0, c) for one, c in outside)
    found = ClusterTables(space, scopes, tables, rest, states=left)
    for function, c in total.parts.items():
        for home in sorted(homes(function))[:1]:
            found.add(home, function.scope, [c * true for true in space.truth(function)], work)
    for law in total.laws:
        for home in homes(law):
            found.add(home, law.scope, [0 if true else LARGE for true in space.truth(law)], work)
    return found


def with_messages(clusters: ClusterTables, messages: Sequence[Any], shift: int, work: WorkLeft) -> ClusterTables:
    """R6: a message is added to one cluster and taken from another, so the sum of all stays E, whatever it is.

    Values of messages are in units of 2^shift.
    """
    found, scopes = replace(clusters, tables=list(clusters.tables)), [set(scope) for scope in clusters.scopes]
    for to, come, scope, values in messages:
        known = all(0 <= one < len(scopes) and scopes[one].issuperset(scope) for one in (to, come))
        if not known or len(set(scope)) < len(scope):
            raise ProofRefusedError("a message is not between two clusters that contain its variables")
        if len(values) != clusters.space.cells(scope):
            raise ProofRefusedError("a message has another number of values than its variables have states")
        for home, sign in ((to, 1), (come, -1)):
            found.add(home, scope, [sign * value << shift for value in values], work)
    return found
