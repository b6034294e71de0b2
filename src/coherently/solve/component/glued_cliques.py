"""One distribution over worlds behind the mixtures of cliques, as pieces of an interval.

Think of the worlds as the points of [0, 1), whose lengths are shares. A clique cuts it into pieces, each with one of
its truth vectors. A neighbour must have, on all pieces on which the shared events have the same truth, those of its own
vectors that agree with it, in the proportions of its mixture: it lays them out one after the other on these pieces.
Each clique adds few cuts; between two cuts of any cliques there is one world.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.arrays import Vector

LEAST_SHARE = 1e-15
"""Smaller shares are rounding."""


class Pieces(NamedTuple):
    """A partition of [0, 1) into pieces: the end of each, ascending, and the row that a clique has there."""

    ends: list[float]
    rows: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class Clique:
    """The members of a group, its truth vectors on these, one row each, and the share of each row."""

    members: list[int]
    rows: Vector
    mass: list[float]

    def keys(self, some: list[int]) -> list[int]:
        """A number for the truth of some members in each row."""
        at = [self.members.index(i) for i in some]
        keys: list[int] = (self.rows[:, at].astype(np.int64) @ (1 << np.arange(len(at)))).tolist()
        return keys


class Link(NamedTuple):
    """A clique and an earlier one with all that it shares with earlier ones, -1 if that is nothing.

    Rows of the two agree if they have the same key: `own` has the keys of the clique's rows, `there` those of the
    other's.
    """

    clique: int
    parent: int
    own: list[int]
    there: list[int]


def glue(cliques: list[Clique]) -> list[Pieces]:
    """Lay out the mixtures of an acyclic set of cliques on [0, 1), so that shared members agree everywhere."""
    links = link(cliques)
    possible = [set(range(len(clique.mass))) for clique in cliques]
    for clique, parent, own, there in reversed(links):  # towards the root: no row stays that a neighbour rules out
        met = {own[row] for row in possible[clique]}
        if parent >= 0 and not met.issuperset(there):
            possible[parent] = {row for row in possible[parent] if there[row] in met}
    found: dict[int, Pieces] = {}
    for clique, parent, own, there in links:
        pieces = found[parent] if parent >= 0 else Pieces([1.0], [0])
        rows: dict[int, list[int]] = {}
        for row in sorted(possible[clique]):
            rows.setdefault(own[row], []).append(row)
        found[clique] = _lay_out(cliques[clique].mass, rows, pieces, there)
    return [found[g] for g in range(len(cliques))]


def link(cliques: list[Clique]) -> list[Link]:
    """The cliques in an order in which each comes with its link to an earlier one."""
    seen: dict[int, list[int]] = {}
    links = []
    for g in _in_order([clique.members for clique in cliques]):
        own = cliques[g]
        shared = [i for i in own.members if i in seen]
        if shared:
            rarest = min(shared, key=lambda i: len(seen[i]))
            parent = next(k for k in seen[rarest] if set(shared).issubset(cliques[k].members))
            links.append(Link(g, parent, own.keys(shared), cliques[parent].keys(shared)))
        else:
            links.append(Link(g, -1, [0] * len(own.mass), [0]))
        for i in own.members:
            seen.setdefault(i, []).append(g)
    return links


def _in_order(members: list[list[int]]) -> list[int]:
    """Always next the clique with the most members in earlier ones: then one of these has all that it shares with them.

    That is maximum cardinality search on an acyclic hypergraph (Tarjan and Yannakakis 1984).
    """
    homes: dict[int, list[int]] = {}
    for g, own in enumerate(members):
        for i in own:
            homes.setdefault(i, []).append(g)
    count = [0] * len(members)
    heap = [(0, g) for g in range(len(members))]
    order, done = [], set[int]()
    while heap:
        known, g = heapq.heappop(heap)
        if g in done or -known != count[g]:
            continue
        done.add(g)
        order.append(g)
        for i in members[g]:
            for other in homes.pop(i, ()):
                if other not in done:
                    count[other] += 1
                    heapq.heappush(heap, (-count[other], other))
    return order


def _lay_out(mass: list[float], rows: dict[int, list[int]], pieces: Pieces, there: list[int]) -> Pieces:
    """On all pieces with the same key lay the rows with that key one after the other, in proportion to their masses.

    The key of a piece is that of its row, in `there`.
    """
    starts = [0.0, *pieces.ends]
    length: dict[int, float] = {}
    for start, end, row in zip(starts, pieces.ends, pieces.rows, strict=False):
        length[there[row]] = length.get(there[row], 0.0) + end - start
    left = {key: _Queue(mass, rows[key], total) for key, total in length.items()}
    found = Pieces([], [])
    for start, end, row in zip(starts, pieces.ends, pieces.rows, strict=False):
        for place, new in left[there[row]].over(start, end):
            if found.rows and found.rows[-1] == new:
                found.ends[-1] = place
            else:
                found.ends.append(place)
                found.rows.append(new)
    return found


class _Queue:
    """Rows of a clique, each with the length on which it is still to be laid out."""

    def __init__(self, mass: list[float], rows: list[int], length: float) -> None:
        # Neighbours agree on the mass of a key only up to rounding: the rows are scaled to the length that is there.
        heavy = [row for row in rows if mass[row] > LEAST_SHARE] or rows[:1]
        scale = length / (sum(mass[row] for row in heavy) or 1.0)
        self.left = [(row, scale * mass[row]) for row in reversed(heavy)]

    def over(self, start: float, end: float) -> Iterator[tuple[float, int]]:
        """Where the rows on a piece end; the last one takes what rounding leaves."""
        while len(self.left) > 1 and start + self.left[-1][1] < end - LEAST_SHARE:
            row, length = self.left.pop()
            start += length
            yield start, row
        row, length = self.left[-1]
        self.left[-1] = row, length - (end - start)
        yield end, row
