"""Who can hear whom: topologies that are given or drawn, and the shortest way from one node to another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError, counted
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from coherently.arrays import Indices

WIDER = 1.1
"""A radius with which some sensors hear nobody grows by this factor until the graph is connected."""


@dataclass(frozen=True, slots=True, eq=False)
class Topology(Value):
    """An undirected graph of nodes, numbered from 0.

    The neighbours of node i are `neighbours[starts[i]:starts[i + 1]]`, ascending; `everybody` says that all nodes are
    neighbours, and then there are no arrays. `place` has the two coordinates of each node in the unit square, if it has
    any.
    """

    kind: str
    count: int
    starts: Indices
    neighbours: Indices
    place: NDArray[np.float64] | None = None
    everybody: bool = False

    @staticmethod
    def given(edges: Iterable[tuple[int, int]], count: int | None = None) -> Topology:
        """The graph with these edges; all of its `count` nodes must be connected.

        >>> Topology.given([(0, 1), (1, 2)]).route(0, 2)
        (0, 1, 2)
        """
        pairs = np.array([tuple(edge) for edge in edges], np.int64).reshape(-1, 2)
        largest = int(pairs.max(initial=-1)) + 1
        nodes = largest if count is None else count
        if nodes < 1 or pairs.min(initial=0) < 0 or largest > nodes:
            raise MethodError(f"edges name nodes from 0 to {nodes - 1} of {nodes}; found {pairs.tolist()[:3]}")
        return _graph("given", nodes, pairs)

    @staticmethod
    def complete(count: int) -> Topology:
        """Everybody hears everybody."""
        _require_nodes(count)
        return Topology(
            kind="complete",
            count=count,
            starts=np.zeros(1, np.int64),
            neighbours=np.empty(0, np.int64),
            place=None,
            everybody=True,
        )

    @staticmethod
    def grid(rows: int, columns: int) -> Topology:
        """Nodes on a grid, row by row, each with up to four neighbours.

        >>> Topology.grid(2, 3).of(1).tolist()
        [0, 2, 4]
        """
        _require_nodes(min(rows, columns))
        number = np.arange(rows * columns).reshape(rows, columns)
        across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
        down = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
        y, x = np.divmod(number.ravel(), columns)
        place = np.stack([(x + 0.5) / columns, (y + 0.5) / rows], axis=1)
        return _graph("grid", rows * columns, np.concatenate([across, down]), place)

    @staticmethod
    def geometric(count: int, radius: float | None = None, seed: int = 0) -> Topology:
        """Nodes at random in the unit square that hear each other within a radius.

        Without a radius it is the least of a growing series with which all nodes are connected; with one that leaves
        nodes unconnected the graph is refused.

        >>> Topology.geometric(100, seed=1).count
        100
        """
        from scipy.spatial import cKDTree

        _require_nodes(count)
        place = np.random.default_rng(seed).random((count, 2))
        tree = cKDTree(place)
        reach = math.sqrt(math.log(count + 1) / (math.pi * count)) if radius is None else radius
        while True:
            pairs = tree.query_pairs(reach, output_type="ndarray").astype(np.int64)
            if radius is not None or _is_connected(count, pairs):
                return _graph("geometric", count, pairs, place)
            reach *= WIDER

    @staticmethod
    def star(count: int) -> Topology:
        """Node 0 hears everybody, who hear only node 0."""
        _require_nodes(count)
        others = np.arange(1, count)
        return _graph("star", count, np.stack([np.zeros_like(others), others], axis=1))

    @staticmethod
    def tree(count: int, branching: int = 2) -> Topology:
        """Node 0 is the root; each node has up to `branching` children."""
        _require_nodes(count)
        if branching < 1:
            raise MethodError(f"branching is {branching}; it must be 1 or more")
        children = np.arange(1, count)
        return _graph("tree", count, np.stack([(children - 1) // branching, children], axis=1))

    def __repr__(self) -> str:
        return f"<Topology: {self.kind}, {counted(self.count, 'node')}>"

    def of(self, node: int) -> Indices:
        """The neighbours of a node."""
        if self.everybody:
            return np.delete(np.arange(self.count), node)
        return self.neighbours[self.starts[node] : self.starts[node + 1]]

    def route(self, source: int, target: int) -> tuple[int, ...]:
        """A shortest way, both ends included: search from both ends, the smaller front first."""
        if self.everybody or source == target:
            return (source, target) if source != target else (source,)
        behind: tuple[dict[int, int], dict[int, int]] = {source: source}, {target: target}
        front = [source], [target]
        while True:
            side = int(len(front[1]) < len(front[0]))
            reached = []
            for node in front[side]:
                for other in self.of(node).tolist():
                    if other in behind[side]:
                        continue
                    behind[side][other] = node
                    if other in behind[1 - side]:
                        return _way(behind, other)
                    reached.append(other)
            front = (reached, front[1]) if side == 0 else (front[0], reached)


def _way(behind: tuple[dict[int, int], dict[int, int]], middle: int) -> tuple[int, ...]:
    first, second = [middle], []
    while (node := behind[0][first[-1]]) != first[-1]:
        first.append(node)
    node = middle
    while (following := behind[1][node]) != node:
        second.append(following)
        node = following
    return (*reversed(first), *second)


def _require_nodes(count: int) -> None:
    if count < 1:
        raise MethodError(f"a topology needs at least one node, not {count}")


def _is_connected(count: int, pairs: Indices) -> bool:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    return bool(connected_components(graph, directed=False, return_labels=False) == 1)


def _graph(kind: str, count: int, pairs: Indices, place: NDArray[np.float64] | None = None) -> Topology:
    if not _is_connected(count, pairs):
        raise MethodError(f"the {kind} topology is not connected: some nodes could never hear of each other")
    both = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    both = both[both[:, 0] != both[:, 1]]
    starts = np.searchsorted(both[:, 0], np.arange(count + 1))
    return Topology(kind=kind, count=count, starts=starts, neighbours=both[:, 1].copy(), place=place)
