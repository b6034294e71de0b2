"""Junction trees by eliminating variables one by one: cliques, and what neighbours in the tree have in common."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from coherently.errors import MethodError
from coherently.problem.groups.simple import MAX_VARIABLES
from coherently.problem.spaces.states import MAX_STATES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

Variables: TypeAlias = tuple[int, ...]
"""The numbers of some variables, ascending."""
Graph: TypeAlias = dict[int, set[int]]
"""The neighbours of each variable: those with which it shares an event."""


def graph_of(known: Iterable[Variables]) -> Graph:
    """Link the variables of each set."""
    graph: defaultdict[int, set[int]] = defaultdict(set)
    for variables in known:
        for a, b in combinations(variables, 2):
            graph[a].add(b)
            graph[b].add(a)
    return dict(graph)


def _few_variables(clique: Collection[int]) -> bool:
    return len(clique) <= MAX_VARIABLES


def eliminate(graph: Graph, fits: Callable[[Collection[int]], bool] = _few_variables) -> dict[int, Variables]:
    """Remove variables one by one, linking the neighbours, by least fill (Kjaerulff 1990).

    Gives, in this order, each variable with its neighbours at that time: a clique, which must fit.
    """
    graph = {v: set(near) for v, near in graph.items()}
    heap = [_cost(graph, v, fits) for v in graph]
    heapq.heapify(heap)
    order: dict[int, Variables] = {}
    while heap:
        cost = heapq.heappop(heap)
        v = cost[2]
        if v in order or cost != _cost(graph, v, fits):
            continue
        near = graph[v]
        if not fits([v, *near]):
            raise MethodError(
                f"the junction tree has a clique of {len(near) + 1} variables or more; {MAX_VARIABLES} is the maximum "
                f"for enumerating truth vectors, or {MAX_STATES:,} joint states with laws: choose the "
                f"groups pairs or triples, or the method projections"
            )
        order[v] = tuple(sorted(near))
        for u in _remove(graph, v):
            heapq.heappush(heap, _cost(graph, u, fits))
    return order


def _cost(graph: Graph, v: int, fits: Callable[[Collection[int]], bool]) -> tuple[float, int, int]:
    """The number of links that removing a variable adds, infinite for too large a clique; then degree and number."""
    near = graph[v]
    if not fits([v, *near]):
        return math.inf, len(near), v
    return sum(b not in graph[a] for a, b in combinations(near, 2)), len(near), v


def _remove(graph: Graph, v: int) -> set[int]:
    """Remove a variable and link its neighbours; returns the variables whose cost changes."""
    near = graph.pop(v)
    changed = set(near)
    for a in near:
        graph[a].remove(v)
    for a, b in combinations(near, 2):
        if b not in graph[a]:
            graph[a].add(b)
            graph[b].add(a)
            changed |= graph[a] & graph[b]
    return changed


def junction_tree(order: dict[int, Variables]) -> tuple[list[Variables], set[Variables]]:
    """The maximal cliques of an elimination, and what neighbours in the tree have in common.

    A variable joins the clique of its first neighbour if it is linked to all of it, and otherwise starts a new one
    (Blair and Peyton 1993).
    """
    position = {v: i for i, v in enumerate(order)}
    found: list[list[int]] = []
    home: dict[int, int] = {}
    separators: set[Variables] = set()
    for v, near in reversed(order.items()):
        parent = home[min(near, key=position.__getitem__)] if near else -1
        if near and len(found[parent]) == len(near):
            found[parent].append(v)
            home[v] = parent
            continue
        home[v] = len(found)
        found.append([v, *near])
        if near:
            separators.add(near)
    return sorted(tuple(sorted(clique)) for clique in found), separators
