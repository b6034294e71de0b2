"""Partitions among the events of a panel, against enumeration."""

from dataclasses import replace

import numpy as np
from hypothesis import given

import coherently as co
from coherently.events import Choice
from coherently.panel import Laws
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


def with_laws(panel, texts):
    return replace(panel, laws=Laws(tuple(texts), ("",) * len(texts), panel.events.add(list(texts)).event))


def test_laws_of_exactly_one_make_partitions():
    names = [f"v{i}" for i in range(20)]
    panel = co.Panel.from_records([("A", name, 0.5) for name in [*names, "~v0"]])
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
        found = partitions(pose(with_laws(panel, [law])))
        assert [sorted(units.tolist()) for units in found] == expected, law


def test_partitions_by_law_sum_to_one():
    panel = co.Panel.from_records([("A", name, p) for name, p in zip("abc", (0.4, 0.4, 0.8), strict=True)])
    result = co.aggregate(with_laws(panel, ["exactly(1; a, b, c)"]), "normalised")
    np.testing.assert_allclose(result.solution.value, [0.25, 0.25, 0.5])


def test_declared_variables_are_partitions(monkeypatch):
    panel = co.Panel.from_records([("A", "b", 0.6), ("A", "a", 0.6), ("A", "c", 0.3)])
    number = {name: i for i, name in enumerate(panel.events.variables)}
    atoms = np.array([number["a"], number["b"]], np.int32)
    choices = (Choice("w", atoms, False, True), Choice("x", np.array([number["c"]], np.int32), False, False))
    monkeypatch.setattr(type(panel.events), "choices", lambda _: choices)
    np.testing.assert_allclose(co.aggregate(panel, "normalised").solution.value, [0.5, 0.5, 0.3])
