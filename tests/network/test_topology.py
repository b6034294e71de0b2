"""Who hears whom, and the shortest ways."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

import coherently as co
from coherently.network import Topology

DRAWN = [
    Topology.grid(5, 7), Topology.geometric(40, seed=3), Topology.star(12), Topology.tree(20, 3), Topology.complete(6),
    Topology.given([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)]), Topology.tree(9, 1), Topology.grid(1, 1),
]  # fmt: skip


@pytest.mark.parametrize("topology", DRAWN, ids=repr)
def test_routes_are_shortest_ways_between_neighbours(topology):
    count = topology.count
    near = [set(topology.of(i).tolist()) for i in range(count)]
    assert all(i in near[j] for i in range(count) for j in near[i])
    graph = np.array([[float(j in near[i]) for j in range(count)] for i in range(count)])
    hops = shortest_path(csr_array(graph), unweighted=True)
    for a in range(count):
        for b in range(count):
            route = topology.route(a, b)
            assert (route[0], route[-1], len(route) - 1) == (a, b, hops[a, b])
            assert all(y in near[x] for x, y in itertools.pairwise(route))


def test_sensors_hear_each_other_within_a_radius():
    topology = Topology.geometric(60, radius=0.4, seed=1)
    apart = np.linalg.norm(topology.place[:, None] - topology.place[None], axis=2)
    for node in range(60):
        near = np.flatnonzero(apart[node] <= 0.4)
        assert topology.of(node).tolist() == near[near != node].tolist()


def test_topologies_are_drawn_by_seed():
    assert Topology.geometric(30, seed=1) == Topology.geometric(30, seed=1)
    assert Topology.geometric(30, seed=1) != Topology.geometric(30, seed=2)


def test_what_cannot_connect_everybody_is_refused():
    cases = [
        (lambda: Topology.given([(0, 1), (2, 3)]), "not connected"),
        (lambda: Topology.geometric(50, radius=0.01), "not connected"),
        (lambda: Topology.given([(0, 5)], count=3), "nodes from 0 to 2"),
        (lambda: Topology.given([(-1, 0)]), "nodes from 0"),
        (lambda: Topology.star(0), "at least one node"),
        (lambda: Topology.tree(5, 0), "branching is 0"),
    ]
    for work, words in cases:
        with pytest.raises(co.MethodError, match=words):
            work()
