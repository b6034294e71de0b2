"""Integers below a sum of functions in every possible world: two rules, each valid for every value of its hints.

A sum is a list of functions with integer coefficients, E = sum of c [f]; laws are functions that hold in every possible
world. A branch of a proof may restrict variables to some of their states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, TypeAlias

from .check_errors import ProofRefusedError
from .truth_functions import StateSpace, TruthFunction

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
        scope = {v for one in (*self.parts, *self.laws) for v in one.scope}
        return {v: tuple(range(self.space.variables[v].size)) for v in sorted(scope)}


def factor_of(space: StateSpace, function: TruthFunction, states: States, *, held: int = 0, failed: int = 0) -> Factor:
    """A function as a factor: one value where it holds, another where it fails."""
    if function.count is not None:
        key, counts = frozenset(function.count.literals), function.count.counts
        return (key,), [held if j in counts else failed for j in range(len(key) + 1)]
    scope, mask = function.scope, function.mask
    assert mask is not None
    places = [0]
    for v in scope:
        size = space.variables[v].size
        places = [place * size + state for place in places for state in states[v]]
    bits = bin(mask)[:1:-1]  # the lowest bit first; what is not written is 0
    return scope, [held if place < len(bits) and bits[place] == "1" else failed for place in places]


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
    cells = 1
    for key in scope:
        cells *= _size(key, states)
    if cells > LARGEST_TABLE:
        raise ProofRefusedError(f"elimination needs a table of more than {LARGEST_TABLE} states")
    work.spend(cells * len(states[x]) * len(touched))
    placed = [(values, *_places(keys, scope, x, states)) for keys, values in touched]
    least: list[int] | None = None
    for number, state in enumerate(states[x]):
        total = [0] * cells
        for values, places, shift in placed:
            offset = shift(number, state)
            total = [t + values[place + offset] for t, place in zip(total, places, strict=True)]
        least = total if least is None else list(map(min, least, total))
    return scope, least or [LARGE] * cells


def _places(
    keys: tuple[Any, ...], scope: tuple[Any, ...], x: int, states: States
) -> tuple[list[int], Callable[[int, int], int]]:
    """Where the values of a factor are, for each combination of a new scope, and how far x moves them."""
    stride, steps, moves = 1, dict[Any, int](), list[tuple[int, frozenset[int] | None]]()
    for key in reversed(keys):
        left = _without(key, x)
        if left is not None:
            steps[left] = steps.get(left, 0) + stride
        if left is not key:
            held = None if isinstance(key, int) else next(states for v, states in key if v == x)
            moves.append((stride, held))
        stride *= _size(key, states)
    places = [0]
    for key in scope:
        step = steps.get(key, 0)
        places = [place + step * i for place in places for i in range(_size(key, states))]

    def shift(number: int, state: int) -> int:
        return sum(step * (number if held is None else state in held) for step, held in moves)

    return places, shift


def least_left(factors: Iterable[Factor]) -> int:
    """The sum of the least values of factors: no more than the least of their sum."""
    return sum(min(values) if values else LARGE for _, values in factors)


def bound_by_elimination(total: CostSum, order: Sequence[int], states: States, work: WorkLeft) -> int:
    """R5: the least value of E, if the order names all variables; else something below it."""
    return least_left(eliminate(total.factors(states), order, states, work))


@dataclass(frozen=True)
class ClusterTables:
    """R6: sets of variables, with the functions and laws that each contains, over the states that a branch leaves."""

    scopes: Sequence[tuple[int, ...]]
    tables: Sequence[Sequence[int]]
    rest: int
    sizes: Mapping[int, int]
    states: States
    containing: Mapping[int, frozenset[int]] = field(default_factory=dict)

    def least(self) -> int:
        """The sum of the least values of the clusters: no more than the least of E."""
        return self.rest + sum(min(table, default=LARGE) for table in self.tables)

    def within(self, x: int, states: tuple[int, ...], work: WorkLeft) -> ClusterTables:
        """The same where a variable has only some of its states."""
        tables, kept = list(self.tables), {self.states[x].index(state) for state in states}
        for number in self.containing.get(x, ()):
            places = [True]
            for v in self.scopes[number]:
                left = [i in kept if v == x else True for i in range(len(self.states[v]))]
                places = [place and one for place in places for one in left]
            work.spend(len(places))
            tables[number] = [value for value, place in zip(tables[number], places, strict=True) if place]
        return replace(self, tables=tables, states={**self.states, x: states})


def cluster_tables(total: CostSum, scopes: Sequence[tuple[int, ...]], states: States, work: WorkLeft) -> ClusterTables:
    """Give each function to the first cluster that contains it, each law to all; others by their own minimum."""
    sizes = {v: one.size for v, one in enumerate(total.space.variables)}
    near: dict[int, set[int]] = {}
    for number, scope in enumerate(scopes):
        if len(set(scope)) < len(scope) or not all(v in sizes for v in scope):
            raise ProofRefusedError("a cluster names a variable twice, or one that does not exist")
        if total.space.cells(scope) > LARGEST_CLUSTER:
            raise ProofRefusedError(f"a cluster has more than {LARGEST_CLUSTER} states")
        for v in scope:
            near.setdefault(v, set()).add(number)
    if sum(map(total.space.cells, scopes)) > LARGEST_TABLE:
        raise ProofRefusedError(f"the clusters have more than {LARGEST_TABLE} states together")
    containing = {v: frozenset(places) for v, places in near.items()}
    full = {v: tuple(range(size)) for v, size in sizes.items()}
    left = full | dict(states)
    tables = [[0] * prod(len(left[v]) for v in scope) for scope in scopes]
    rest = 0
    for function, c in total.parts.items():
        homes = _homes(function.scope, containing)
        if not homes or function.mask is None:
            rest += (c if function.constant is True else 0) if function.constant is not None else min(0, c)
            continue
        plain = TruthFunction(function.scope, function.mask)
        _add(
            tables, min(homes), scopes, factor_of(total.space, plain, full, held=c), sizes=sizes, states=left, work=work
        )
    for law in total.laws:
        for home in _homes(law.scope, containing) if law.mask is not None else ():
            plain = TruthFunction(law.scope, law.mask)
            _add(
                tables,
                home,
                scopes,
                factor_of(total.space, plain, full, failed=LARGE),
                sizes=sizes,
                states=left,
                work=work,
            )
    return ClusterTables(scopes, tables, rest, sizes, left, containing)


def _homes(scope: Iterable[int], containing: Mapping[int, frozenset[int]]) -> frozenset[int]:
    """The clusters that contain a scope; none of an empty one."""
    sets = [containing.get(v, frozenset()) for v in scope]
    return frozenset.intersection(*sets) if sets else frozenset()


def _add(
    tables: list[list[int]],
    home: int,
    scopes: Sequence[tuple[int, ...]],
    factor: Factor,
    sizes: Mapping[int, int],
    states: States,
    work: WorkLeft,
    sign: int = 1,
) -> None:
    scope, values = factor
    stride, steps = 1, dict[int, int]()
    for v in reversed(scope):
        steps[v] = stride
        stride *= sizes[v]
    places = [0]
    for v in scopes[home]:
        step = steps.get(v, 0)
        places = [place + step * state for place in places for state in states[v]]
    work.spend(len(places))
    tables[home] = [t + sign * values[place] for t, place in zip(tables[home], places, strict=True)]


def with_messages(clusters: ClusterTables, messages: Sequence[Any], shift: int, work: WorkLeft) -> ClusterTables:
    """R6: a message is added to one cluster and taken from another, so the sum of all stays E, whatever it is.

    Values of messages are in units of 2^shift.
    """
    tables = list(map(list, clusters.tables))
    for to, come, scope, values in messages:
        homes = _homes(scope, clusters.containing) if scope else frozenset(range(len(tables)))
        if to not in homes or come not in homes or len(set(scope)) < len(scope):
            raise ProofRefusedError("a message is not between two clusters that contain its variables")
        if len(values) != prod(clusters.sizes[v] for v in scope):
            raise ProofRefusedError("a message has another number of values than its variables have states")
        factor = tuple(scope), [value << shift for value in values]
        for home, sign in ((to, 1), (come, -1)):
            _add(
                tables,
                home,
                clusters.scopes,
                factor,
                sizes=clusters.sizes,
                states=clusters.states,
                work=work,
                sign=sign,
            )
    return replace(clusters, tables=tables)
