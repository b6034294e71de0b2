"""Partitions among the events of a panel, against enumeration."""

import numpy as np
from hypothesis import given

import coherently as co
from coherently.problem import pose
from coherently.problem.partitions import partitions
from tests.solve.reference import panels, truth


@given(panels(max_size=12, n_variables=3))
def test_exactly_one_of_each_comes_true(panel):
    holds = truth(panel, panel.written.event)
    found = partitions(pose(panel))
    for units in found:
        np.testing.assert_array_equal(holds[:, units].sum(axis=1), 1.0)
    used = np.concatenate([np.empty(0, int), *found])
    assert len(np.unique(used)) == len(used)


def test_an_event_and_its_complement_are_never_missed_alone():
    panel = co.Panel.from_records([("A", text, 0.5) for text in ("p | q", "r", "~p & ~q", "a given b", "~a given b")])
    assert [units.tolist() for units in partitions(pose(panel))] == [[0, 2], [3, 4]]


def test_laws_of_exactly_one_make_partitions():
    names = [f"v{i}" for i in range(20)]
    for law, expected in {
        "exactly(1; v1, v2, v3)": [[1, 2, 3], [0, 20]],
        f"exactly(1; {', '.join(names)})": [list(range(20))],
        "exactly(2; v0, v1, v2)": [[0, 20]],
        f"exactly(19; {', '.join(names)})": [[0, 20]],
        "exactly(1; v0, w)": [[0, 20]],
        "v0 ^ v1": [[0, 1]],
        "at_most(1; v0, v1)": [[0, 20]],
        "~exactly(1; v0, v1, v2)": [[0, 20]],
    }.items():
        panel = co.Panel.from_records([("A", name, 0.5) for name in [*names, "~v0"]], laws=[law])
        found = partitions(pose(panel))
        assert [sorted(units.tolist()) for units in found] == expected, law


def test_partitions_by_law_sum_to_one():
    rows = [("A", name, p) for name, p in zip("abc", (0.4, 0.4, 0.8), strict=True)]
    result = co.aggregate(co.Panel.from_records(rows, laws=["exactly(1; a, b, c)"]), "normalised")
    np.testing.assert_allclose(result.solution.value, [0.25, 0.25, 0.5])


def test_declared_variables_are_partitions():
    rows = [("A", "winner = Bob", 0.6), ("A", "winner = Ann", 0.6), ("A", "c", 0.3), ("B", "winner != Bob", 0.1)]
    closed = co.Panel.from_records(rows, laws=["variable winner: Ann, Bob"])
    np.testing.assert_allclose(co.aggregate(closed, "normalised").solution.value[:3], [0.6 / 0.95, 0.35 / 0.95, 0.3])
    opened = co.Panel.from_records(rows, laws=["variable winner: Ann, Bob, ..."])
    np.testing.assert_allclose(co.aggregate(opened, "normalised").solution.value, [6 / 7, 0.6, 0.3, 1 / 7])
