"""Designs whose groups also share coordinates that nobody forecast, up to the junction tree, which is exact.

Such an auxiliary coordinate is a conjunction of variables with weight 0, numbered after those of the problem: groups
that both have it must agree on it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import chain, combinations
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from coherently.errors import MethodError
from coherently.problem.groups.junction import eliminate, graph_of, junction_tree
from coherently.problem.groups.restricted import BlockGraph, Setting, node_drafts
from coherently.problem.groups.simple import Groups, all_worlds, check_size, drafted, is_plain
from coherently.problem.spaces.states import MAX_STATES, distinct, truths

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.problem.groups.junction import Graph, Variables
    from coherently.problem.problem import Merged

T = TypeVar("T")

MAX_TRIPLES = 200_000
"""Maximum number of groups of three variables in `triples`."""
MAX_ENTRIES = 4_000_000
"""Maximum cost of the common variables of neighbouring cliques: 4^k for k of them, conjunctions by worlds."""


BETWEEN_LOOKS = 256
"""Number of items between two looks at the clock."""


def never() -> bool:
    """Nothing ends the work before it is done."""
    return False


def until(items: Iterable[T], is_over: Callable[[], bool]) -> Iterator[T]:
    """The items, and an error once the time is over: a relaxed problem without some of its clusters is of no use.

    >>> list(until("ab", never))
    ['a', 'b']
    """
    for i, item in enumerate(items):
        if i % BETWEEN_LOOKS == 0 and is_over():
            raise MethodError("the time was over before all clusters were made")
        yield item


def with_auxiliary(design: Callable[[Merged], Groups], merged: Merged) -> Groups:
    """The groups of a design, with the variables of two or more events that nobody forecast by themselves."""
    within = np.repeat(merged.sizes(), merged.sizes())
    events = np.bincount(merged.functions.variables[within > 1], minlength=merged.n_variables)
    events += np.bincount(merged.space.rows()[1], minlength=merged.n_variables)
    events[merged.functions.variables[within == 1]] = 0
    unforecast = [(v,) for v in np.flatnonzero(events > 1).tolist()]
    groups = design(_extend(merged, unforecast))
    return replace(groups, auxiliary=len(unforecast) + groups.auxiliary)


def triples(merged: Merged) -> Groups:
    """All events about the same three variables together, where at least two of their pairs share an event.

    A larger event comes with all events about its variables, a pair without a triple as in `pairs`. Groups
    share the variables, and one event per pair: a conjunction if nobody forecast any. A pair's further events are in
    one group only, which is equivalent. With laws, blocks of variables count as one.
    """
    if not is_plain(merged):
        return _lawful_triples(merged)
    check_size(np.arange(len(merged)), merged.sizes())
    known = _by_variables(merged)
    sets = _sets_of_three(known, graph_of(known))
    return _groups("triples", merged, sets, _met_twice(sets))[0]


def clusters(merged: Merged, is_over: Callable[[], bool] = never) -> Groups:
    """All events about a triangle of variables together, those that all share events with each other.

    A larger event comes with all events about its variables, a pair without a triangle as in `pairs`. Groups share
    every variable and every pair. An error ends the work once it `is_over`.
    """
    check_size(np.arange(len(merged)), merged.sizes())
    sets = cluster_sets(_by_variables(merged), is_over)
    uses = Counter(chain.from_iterable(_subsets(variables, 2) for variables in until(sets, is_over)))
    shared = [s for s, count in uses.items() if count > 1 or len(s) == 1]
    return _groups("clusters", merged, sets, shared, is_over=is_over)[0]


def cliques(merged: Merged) -> Groups:
    """All events about the variables of a clique together, for the cliques of a junction tree: the whole problem.

    Neighbouring cliques share every conjunction of their common variables, hence the distribution of these; so there is
    one distribution behind all of them (Lauritzen and Spiegelhalter 1988). With laws, blocks of variables are the nodes
    of the tree, and the variables of a law are in one clique.
    """
    return _clique_tree(merged)[0]


def clique_tree(merged: Merged) -> tuple[Groups, Merged]:
    """The groups of `cliques`, and the problem with their auxiliary coordinates.

    Variables that only laws are about are coordinates, too: the truth of all coordinates determines a whole world.
    """
    bare = np.setdiff1d(np.arange(merged.n_variables), merged.functions.variables).tolist()
    groups, whole = _clique_tree(_extend(merged, [(v,) for v in bare]) if bare else merged)
    return replace(groups, auxiliary=groups.auxiliary + len(bare)), whole


def _clique_tree(merged: Merged) -> tuple[Groups, Merged]:
    if not is_plain(merged):
        return _lawful_cliques(merged)
    check_size(np.arange(len(merged)), merged.sizes())
    sets, separators = junction_tree(eliminate(graph_of(_by_variables(merged))))
    _check_separators(separators, [4 ** len(variables) for variables in separators])
    shared = {subset for variables in separators for subset in _subsets(variables, len(variables))}
    return _groups("cliques", merged, sets, shared)


def _check_separators(separators: Collection[Variables], entries: Collection[int]) -> None:
    if sum(entries) > MAX_ENTRIES:
        raise MethodError(
            f"neighbouring cliques have up to {max(map(len, separators))} variables in common, which take "
            f"{sum(entries):,} entries; {MAX_ENTRIES:,} is the maximum: choose the groups pairs or triples, or the "
            f"method projections"
        )


def _lawful_triples(merged: Merged) -> Groups:
    """`triples` with blocks as variables, and the scopes of laws and conditionals as events."""
    nodes = BlockGraph(Setting(merged))
    edges = nodes.edges()
    graph = graph_of(edges)
    sets = _sets_of_three(edges, graph) + _alone(edges, graph)
    return _sharing("triples", nodes, sets, _met_twice(sets))[0]


def _lawful_cliques(merged: Merged) -> tuple[Groups, Merged]:
    """`cliques` with blocks as variables; the scopes of laws and conditionals are in cliques, too."""
    nodes = BlockGraph(Setting(merged))
    edges = nodes.edges()
    graph = graph_of(edges)
    sets, separators = junction_tree(eliminate(graph, lambda own: nodes.states(own) <= MAX_STATES))
    _check_separators(separators, [nodes.states(own) ** 2 for own in separators])
    within = {subset for own in separators for subset in _subsets(own, len(own))}
    return _sharing("cliques", nodes, sets + _alone(edges, graph), within)


def _sharing(
    design: str, nodes: BlockGraph, sets: Sequence[Variables], within: Collection[Variables]
) -> tuple[Groups, Merged]:
    """One group per set of nodes, which agree on the joint distributions of the sets `within`; and their problem."""
    merged = nodes.setting.merged
    missing = _missing(merged, {atoms for subset in within for atoms in nodes.conjunctions(subset)})
    whole = Setting(_extend(merged, missing))
    groups = drafted(design, whole, node_drafts(whole, nodes, sets))
    return replace(groups, auxiliary=len(missing)), whole.merged


def _by_variables(merged: Merged) -> dict[Variables, list[int]]:
    """The coordinates about exactly the same variables."""
    found: defaultdict[Variables, list[int]] = defaultdict(list)
    for i, variables in enumerate(merged.functions.variable_sets()):
        found[variables].append(i)
    return dict(found)


def _subsets(variables: Variables, largest: int) -> Iterable[Variables]:
    """The sets of one variable, then of two, up to `largest` variables; of no variables, the empty set."""
    sizes = range(min(1, len(variables)), min(largest, len(variables)) + 1)
    return chain.from_iterable(combinations(variables, size) for size in sizes)


def _met_twice(sets: Iterable[Variables]) -> list[Variables]:
    """The variables and pairs that two or more sets have."""
    uses = Counter(chain.from_iterable(_subsets(variables, 2) for variables in sets))
    return [subset for subset, count in uses.items() if count > 1]


def _sets_of_three(known: Collection[Variables], graph: Graph) -> list[Variables]:
    """Connected triples, larger sets with what is inside them, and pairs that are in no triple."""
    larger = sorted(variables for variables in known if len(variables) > 3)
    inside = {three for variables in larger for three in combinations(variables, 3)}
    apart = sorted(v for v in known if len(v) == 2 and len(graph[v[0]]) == len(graph[v[1]]) == 1)
    return sorted(_connected_triples(graph) - inside) + larger + apart


def cluster_sets(known: Collection[Variables], is_over: Callable[[], bool] = never) -> list[Variables]:
    """Triangles, larger sets with what is inside them, pairs that are in none of these, and single variables."""
    graph = graph_of(known)
    larger = sorted(variables for variables in known if len(variables) > 3)
    inside = {three for variables in larger for three in combinations(variables, 3)}
    sets = sorted(_triangles(graph, is_over) - inside) + larger
    covered = {two for variables in until(sets, is_over) for two in combinations(variables, 2)}
    pairs = {(a, b) for a, near in graph.items() for b in near if a < b} - covered
    return sets + sorted(pairs) + _alone(known, graph)


def _alone(known: Iterable[Variables], graph: Graph) -> list[Variables]:
    """The variables that share no event with another."""
    return sorted(variables for variables in known if len(variables) == 1 and variables[0] not in graph)


def _connected_triples(graph: Graph) -> set[Variables]:
    # A triple is counted at each variable that is linked to both others: once, or three times.
    met = sum(math.comb(len(near), 2) for near in graph.values())
    found: set[Variables] = set()
    if met <= 3 * MAX_TRIPLES:
        for v, near in graph.items():
            found.update(tuple(sorted((v, a, b))) for a, b in combinations(near, 2))
    count = len(found) if found else -(-met // 3)
    if count > MAX_TRIPLES:
        raise MethodError(
            f"the panel has {'' if found else 'at least '}{count:,} triples of variables that share events; "
            f"{MAX_TRIPLES:,} is the maximum: choose the groups pairs or cliques, or leave events out"
        )
    return found


def _triangles(graph: Graph, is_over: Callable[[], bool]) -> set[Variables]:
    pairs = ((a, b) for a, near in graph.items() for b in near if a < b)
    return {(a, b, c) for a, b in until(pairs, is_over) for c in graph[a] & graph[b] if b < c}


def _groups(
    design: str,
    merged: Merged,
    sets: Sequence[Variables],
    shared: Collection[Variables],
    is_over: Callable[[], bool] = never,
) -> tuple[Groups, Merged]:
    """One group per set of variables, which agree on the conjunctions of the shared sets; and their problem."""
    missing = _missing(merged, shared)
    constant = [()] if np.any(merged.sizes() == 0) else []
    whole = _extend(merged, missing)
    groups = _of_sets(design, whole, until([*constant, *sets], is_over), set(shared))
    return replace(groups, auxiliary=len(missing)), whole


def _missing(merged: Merged, shared: Iterable[Variables]) -> list[Variables]:
    """The sets of variables whose conjunction no event gives, small ones first."""
    known = _by_variables(merged)
    found = (s for s in shared if not any(_gives_conjunction(merged, i) for i in known.get(s, ())))
    return sorted(found, key=lambda s: (len(s), s))


def _gives_conjunction(merged: Merged, coordinate: int) -> bool:
    """Whether an event, with the smaller conjunctions of its variables, gives the conjunction of all of them.

    It does if their product has a coefficient in the event's multilinear form; for two variables, always.
    """
    size = len(merged.functions.of(coordinate))
    if size <= 2:
        return True
    sign = 1 - 2 * (all_worlds(size).sum(axis=1) % 2).astype(np.int64)
    return bool(sign @ merged.functions.decoded(coordinate)[1])


def _extend(merged: Merged, conjunctions: Sequence[Variables]) -> Merged:
    """Append conjunctions of variables as coordinates of weight 0."""
    return merged.extend(conjunctions, [_conjunction(len(variables)) for variables in conjunctions])


def _conjunction(size: int) -> NDArray[np.uint64]:
    """The truth table of a conjunction: true only in the last world."""
    table = np.zeros(-(-(2**size) // 64), np.uint64)
    table[-1] = 1 << (2**size - 1) % 64
    return table


def _of_sets(design: str, merged: Merged, sets: Iterable[Variables], shared: Collection[Variables]) -> Groups:
    """One group per set of variables, with the coordinates about only these, by first complex event."""
    known, sizes = _by_variables(merged), merged.sizes().tolist()
    tables = [merged.functions.words(i).tobytes() for i in range(len(merged))]
    # The same tables about the same places among as many variables have the same pattern.
    numbers: dict[Hashable, int] = {}
    patterns: list[NDArray[np.float64]] = []
    found = []
    for variables in sets:
        taken = list(_take(merged, known, variables, shared))
        members = [i for _, mine in taken for i in mine]
        key = tuple((place, tables[i]) for place, mine in taken for i in mine)
        number = numbers.setdefault((len(variables), key), len(patterns))
        if number == len(patterns):
            truth = truths(merged, members, all_worlds(len(variables)), np.array(variables, np.int64))
            patterns.append(distinct(truth).astype(np.float64))
        first = min((i for i in members if sizes[i] != 1), default=len(merged))
        found.append((first, members, number))
    found.sort(key=lambda group: group[0])
    return Groups(
        design=design,
        starts=np.cumsum([0] + [len(members) for _, members, _ in found], dtype=np.int64),
        members=np.array([i for _, members, _ in found for i in members], np.int32),
        pattern=np.array([number for _, _, number in found], np.int32),
        patterns=tuple(patterns),
    )


def _take(
    merged: Merged, known: dict[Variables, list[int]], variables: Variables, shared: Collection[Variables]
) -> Iterator[tuple[int, list[int]]]:
    """The coordinates about some of the variables, with the number of that subset.

    Of those about the same shared variables only one is left in `known` for later groups: with those about fewer
    variables, on which the groups agree, too, it determines the others.
    """
    for number, subset in enumerate(_subsets(variables, len(variables))):
        if mine := known.get(subset):
            yield number, mine
            if len(mine) > 1 and subset in shared:
                known[subset] = [next(i for i in mine if _gives_conjunction(merged, i))]
