"""Orders in which the checker eliminates variables: hints, so a poor one makes a check slower and nothing else."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from coherently.proofcheck.truth_functions import StateSpace, TruthFunction

LARGEST_STEP, MOST_WORK = 2**20, 2**23
"""Maximum number of cells of one table, and of all tables, of a component that is eliminated."""

Shape = tuple[frozenset[tuple[int, ...]], tuple[int, ...]]
"""Scopes, whose variables are numbered from 0, and the number of states of each variable."""


class EliminationOrders:
    """Orders in which tables stay small; components of one shape have the same.

    Next is always the variable whose elimination leaves the smallest table.
    """

    def __init__(self, space: StateSpace) -> None:
        self.space = space
        self._known: dict[Shape, tuple[list[int], int]] = {}

    def of(self, functions: Iterable[TruthFunction]) -> tuple[list[int], int]:
        """An order, and the number of cells of all tables; counts are keys of their own."""
        functions = list(functions)
        if not all(one.count is None for one in functions):
            return _ended(*_order_with_counts(self.space, functions))
        scopes = {one.scope for one in functions}
        variables = sorted(set[int]().union(*scopes))
        sizes = tuple([self.space.variables[v].size for v in variables])
        if len(variables) == 1:
            return _ended(variables, sizes[0], 1)
        place = {v: i for i, v in enumerate(variables)}
        shape = frozenset(tuple(place[v] for v in scope) for scope in scopes), sizes
        if shape not in self._known:
            self._known[shape] = _ended(*_order(*shape))
        order, cost = self._known[shape]
        return [variables[i] for i in order], cost


def _ended(order: list[int], total: int, largest: int) -> tuple[list[int], int]:
    """An order with its cells, which are too many if one table is too large."""
    return order, total if largest <= LARGEST_STEP else MOST_WORK + 1


def _order(scopes: Iterable[tuple[int, ...]], sizes: Sequence[int]) -> tuple[list[int], int, int]:
    """The order, the cells of all tables and those of the largest; a set of variables is an integer, by its bits."""
    near: list[set[int]] = [set() for _ in sizes]
    for scope in scopes:
        mask = sum(1 << v for v in scope)
        for v in scope:
            near[v].add(mask)
    cells = _cells_of(sizes)
    left = [_union(near[v]) & ~(1 << v) for v in range(len(sizes))]
    cost = list(map(cells, left))
    queue = [(one, v) for v, one in enumerate(cost)]
    heapq.heapify(queue)
    order, total, largest, done = list[int](), 0, 0, [False] * len(sizes)
    while queue:
        least, v = heapq.heappop(queue)
        if done[v] or least != cost[v]:
            continue
        done[v] = True
        order.append(v)
        total, largest = total + least * sizes[v], max(largest, least)
        touched, made = near[v], left[v]
        for other in _members(made):
            near[other] = (near[other] - touched) | {made}
            left[other] = _union(near[other]) & ~(1 << other)
            cost[other] = cells(left[other])
            heapq.heappush(queue, (cost[other], other))
    return order, total, largest


def _union(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def _members(mask: int) -> list[int]:
    found = []
    while mask:
        found.append((mask & -mask).bit_length() - 1)
        mask &= mask - 1
    return found


def _cells_of(sizes: Sequence[int]) -> Callable[[int], int]:
    """The number of cells of a table of the variables of a mask."""
    if all(size == 2 for size in sizes):
        return lambda mask: 1 << mask.bit_count()

    def cells(mask: int) -> int:
        found = 1
        for v in _members(mask):
            found *= sizes[v]
        return found

    return cells


def _order_with_counts(space: StateSpace, functions: Iterable[TruthFunction]) -> tuple[list[int], int, int]:
    """The same where some functions are counts, whose keys are the literals that are still to be counted."""
    near: dict[int, set[frozenset[Any]]] = {}
    for one in functions:
        keys = frozenset([frozenset(one.count.literals)] if one.count is not None else one.scope)
        for v in one.scope:
            near.setdefault(v, set()).add(keys)
    cost = {v: _cells(space, _left(near[v], v)) for v in near}
    order, total, largest = [], 0, 0
    while near:
        v = min(cost, key=lambda one: (cost[one], one))
        order.append(v)
        largest = max(largest, cost[v])
        total += cost.pop(v) * space.variables[v].size
        touched = near.pop(v)
        keys = _left(touched, v)
        for other in {w for scope in touched for key in scope for w in _counted(key)} - {v}:
            near[other] = {scope for scope in near[other] if scope not in touched} | {keys}
            cost[other] = _cells(space, _left(near[other], other))
    return order, total, largest


def _counted(key: Any) -> list[int]:
    """The variables of a key: one, or those of a count."""
    return [key] if isinstance(key, int) else [v for v, _ in key]


def _left(scopes: Iterable[frozenset[Any]], v: int) -> frozenset[Any]:
    """The keys of the table that is left when a variable of all these scopes is eliminated."""
    keys = {
        key if isinstance(key, int) else frozenset(one for one in key if one[0] != v) for own in scopes for key in own
    }
    return frozenset(key for key in keys if key not in (v, frozenset()))


def _cells(space: StateSpace, keys: Iterable[Any]) -> int:
    cells = 1
    for key in keys:
        cells *= space.variables[key].size if isinstance(key, int) else len(key) + 1
    return cells
