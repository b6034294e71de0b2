"""Cycles of variables on which a relaxed answer is not coherent, and the relaxed problem with them as clusters.

Let d(a, b) be the probability that exactly one of two variables holds. Along a cycle a world changes its truth value an
even number of times, so that for any odd set F of the cycle's pairs

    sum over F of (1 - d)  +  sum over the other pairs of d  >=  1.

Clusters of pairs and triangles need not satisfy these cycle inequalities (Barahona and Mahjoub 1986). The least left
side is the length of a shortest path in a graph with two copies of each variable, from one copy to the other: a pair
joins equal copies at length d and unequal ones at length 1 - d (Sontag and Jaakkola 2007).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.problem import wider_clusters
from coherently.solve.relaxed.certificate import relaxed_bound, touching_points
from coherently.solve.relaxed.interior import interior_point
from coherently.solve.solution import ClusterForces

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.arrays import Indices, Vector
    from coherently.problem import Merged
    from coherently.problem.groups.simple import Groups
    from coherently.solve.budget import Budget

LONGEST = 6
"""Maximum number of variables of a cycle that becomes a cluster."""
BROKEN = 1e-3
"""A cycle counts as broken if its inequality is missed by more than this."""
ROUNDS = 8
"""Maximum number of times that broken cycles are looked for."""


LINKED_VARIABLES = 500
"""Maximum number of variables for which broken cycles are looked for: beyond, search is a better use of the time."""
SHARE = 0.3
"""The part of the time after which they are not looked for any more."""


def tighten(part: Merged, solve: Callable[[Groups, Merged], Vector | None], budget: Budget) -> None:
    """Solve the problem relaxed to clusters, again and again with broken cycles as clusters, until none is broken.

    `solve` is given the clusters and the coordinates that they share, with the events first. It returns the answer for
    these, or None if that is enough.
    """
    cycles, looking = set[tuple[int, ...]](), budget.share(SHARE)
    for _ in range(ROUNDS):
        try:
            groups, whole = wider_clusters(part, cycles, budget.is_over)
        except MethodError:
            if not cycles:
                raise
            return
        x = solve(groups, whole)
        if x is None or part.n_variables > LINKED_VARIABLES or looking.is_over():
            return
        found = broken_cycles(whole, x)
        if found <= cycles:
            return
        cycles |= found


def bound_by_cycles(part: Merged, budget: Budget, objective: float, kept: list[ClusterForces] | None = None) -> float:
    """A lower bound on the least objective: of the problem relaxed to clusters, with more of them where cycles break.

    It is raised until the gap to the objective of a known answer is at most the tolerance, or no cycle is broken. What
    proves it is the last of `kept`, if that is given.
    """
    best = 0.0

    def solve(groups: Groups, whole: Merged) -> Vector | None:
        nonlocal best
        weight, target = whole.weight, np.where(whole.weight > 0, whole.mean, 0.0)
        inner = interior_point(weight, target, groups, budget)
        bound = relaxed_bound(weight, target, groups, inner.forces)
        if kept is not None and (bound > best or not kept):
            pull = np.bincount(groups.members, inner.forces, len(weight)).astype(np.float64)
            x = touching_points(weight, target, pull)
            kept.append(ClusterForces(groups=groups, whole=whole, x=x, forces=inner.forces))
        best = max(best, bound)
        return None if budget.is_over() or budget.is_enough(objective - best, objective) else inner.x

    tighten(part, solve, budget)
    return best


def broken_cycles(whole: Merged, x: Vector) -> set[tuple[int, ...]]:
    """The variables of broken cycles, the shortest through each variable; x has one entry per coordinate."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    n = whole.n_variables
    first, second, differ = _differences(whole, x)
    rows = np.concatenate([first, first + n, first, first + n])
    columns = np.concatenate([second, second + n, second + n, second])
    # A length of 0 would count as no link.
    length = np.concatenate([differ, differ, 1.0 - differ, 1.0 - differ]) + 0.1 * BROKEN / LONGEST
    graph = coo_array((length, (rows, columns)), shape=(2 * n, 2 * n)).tocsr()
    distance, before = dijkstra(graph, directed=False, indices=np.arange(n), return_predecessors=True, limit=1.0)
    found = set()
    for start in np.flatnonzero(distance[np.arange(n), n + np.arange(n)] < 1.0 - BROKEN).tolist():
        path, at = [], n + start
        while at != start:
            path.append(at % n)
            at = int(before[start, at])
        if len(set(path)) == len(path) <= LONGEST:
            found.add(tuple(sorted(path)))
    return found


def _differences(whole: Merged, x: Vector) -> tuple[Indices, Indices, Vector]:
    """The pairs of variables that have a coordinate, and the probability that exactly one of the two holds.

    An event of two variables is x = t00 (1 - p - q + r) + t10 (p - r) + t01 (q - r) + t11 r by its truth table t, with
    the probabilities p and q of the variables and r of both; then p + q - 2 r is the answer.
    """
    functions, sizes = whole.functions, whole.sizes()
    table = functions.tables[functions.table_starts[:-1]]
    single, two = np.flatnonzero(sizes == 1), np.flatnonzero(sizes == 2)
    known = np.zeros(whole.n_variables)
    known[functions.variables[functions.starts[single]]] = np.where(table[single] == 2, x[single], 1.0 - x[single])
    first = functions.variables[functions.starts[two]].astype(np.int64)
    second = functions.variables[functions.starts[two] + 1].astype(np.int64)
    p, q = known[first], known[second]
    neither, former, latter, both = ((table[two] >> np.uint64(bit)) & np.uint64(1) for bit in range(4))
    t = np.stack([neither, former, latter, both]).astype(np.float64)
    r = (x[two] - t[0] * (1.0 - p - q) - t[1] * p - t[2] * q) / (t[0] - t[1] - t[2] + t[3])
    return first, second, np.clip(p + q - 2.0 * r, 0.0, 1.0)
