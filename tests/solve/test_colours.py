"""Sweeps colour by colour: the same bytes for every number of threads, and as one after the other."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently import _core
from coherently.problem import find_design, pose
from coherently.solve.relaxed.colours import in_colours


def greedy(rows):
    """The first colour that no earlier row with a common member has."""
    colours = []
    for i, row in enumerate(rows):
        taken = {colours[k] for k in range(i) if set(rows[k]) & set(row)}
        colours.append(next(c for c in range(i + 1) if c not in taken))
    return colours


ROWS = st.lists(st.sets(st.integers(0, 9), min_size=1, max_size=4).map(sorted), max_size=80)


@given(ROWS)
def test_colours_are_the_first_that_are_free(rows):
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    members = np.array([member for row in rows for member in row], np.int32)
    assert _core.colour_groups(starts, members, 10).tolist() == greedy(rows)


def test_many_groups_of_one_event_have_many_colours():
    count = 200
    starts, members = np.arange(0, 2 * count + 1, 2), np.zeros(2 * count, np.int32)
    members[1::2] = np.arange(1, count + 1)
    assert _core.colour_groups(starts, members, count + 1).tolist() == list(range(count))


def drawn(variables, events, seed=0):
    """A panel whose events are about three variables, which no compiled method for pairs takes."""
    rng = np.random.default_rng(seed)
    rows = [("A", f"x{i}", round(float(rng.random()), 3)) for i in range(variables)]
    for _ in range(events):
        a, b, c = rng.choice(variables, 3, replace=False)
        form = ("x{} & x{} & x{}", "x{} & (x{} | x{})", "x{} | x{} & ~x{}")[rng.integers(3)]
        rows.append(("A", form.format(a, b, c), round(float(rng.random()), 3)))
    return co.Panel.from_records(rows)


def start_of(panel):
    merged = pose(panel).merged
    groups, colours = in_colours(find_design("logical")(merged), len(merged))
    return merged, groups, colours


def projector(merged, groups, loss, *more):
    arrays = groups.starts, groups.members, groups.pattern, list(groups.patterns), merged.weight, *more
    return _core.GroupProjector(*arrays) if loss == "brier" else _core.BregmanProjector(loss, *arrays)


@pytest.mark.parametrize("loss", ["brier", "log", "spherical"])
@pytest.mark.parametrize("panel", [drawn(3000, 2500), co.simulate(judges=100, variables=60, seed=1)], ids=len)
def test_every_number_of_threads_gives_the_bytes_of_one_group_after_the_other(panel, loss):
    merged, groups, colours = start_of(panel)
    dual = {"brier": co.Brier(), "log": co.Log(), "spherical": co.Spherical()}[loss]
    begin = merged.mean if loss == "brier" else dual.gradient(merged.mean)
    found = []
    for more in ((), (colours, 1), (colours, 2), (colours, 5), (colours, 0)):
        one, x, y, increments = projector(merged, groups, loss, *more), begin.copy(), begin.copy(), None
        increments = np.zeros(len(groups.members))
        moved = [one.sweep(x) for _ in range(4)]
        for _ in range(4):
            one.dykstra(y, increments)
        found.append((x, y, increments, moved))
    plain, first, *others = found
    for a, b in zip(plain[:3], first[:3], strict=True):
        assert np.array_equal(a, b)
    assert np.allclose(plain[3], first[3], rtol=1e-12)
    for other in others:
        assert all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def test_no_two_groups_of_a_colour_have_an_event_in_common():
    merged, groups, colours = start_of(drawn(300, 300))
    assert sorted(groups.members.tolist()) == sorted(find_design("logical")(merged).members.tolist())
    for begin, end in pairwise(colours):
        members = groups.members[groups.starts[begin] : groups.starts[end]]
        assert len(np.unique(members)) == len(members)


def test_the_kernel_refuses_groups_that_overlap_and_colours_that_do_not_fit():
    starts, members, pattern = np.array([0, 2, 4]), np.array([0, 1, 1, 2], np.int32), np.zeros(2, np.int32)
    rows = [np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]])]
    for colours, reason in (([0, 2], "in common"), ([0, 1], "all groups"), ([1, 2], "all"), ([0, 2, 1, 2], "ascend")):
        with pytest.raises(ValueError, match=reason):
            _core.GroupProjector(starts, members, pattern, rows, np.ones(3), np.array(colours), 2)
    for bad in (np.array([0, 2, 9]), np.array([0, 3, 2, 4])):
        with pytest.raises(ValueError, match="cover"):
            _core.colour_groups(bad, members, 3)
    with pytest.raises(IndexError):
        _core.colour_groups(starts, members, 2)


@pytest.mark.parametrize("correction", ["none", "dykstra"])
@pytest.mark.parametrize("loss", ["brier", "log"])
def test_answers_by_colours_are_locally_coherent_and_the_nearest_is_the_same(correction, loss):
    panel = drawn(60, 60, seed=3)
    options = {"correction": correction, "tolerance": 1e-10, "sweeps": 5000}
    usual = co.aggregate(panel, co.AlternatingProjections(**options), loss)
    results = [
        co.aggregate(panel, co.AlternatingProjections(**options, order="colours", threads=threads), loss)
        for threads in (1, 3)
    ]
    assert results[0].solution == results[1].solution
    assert results[0].violation < 1e-6
    assert co.verify(panel, results[0])
    if correction == "dykstra":
        assert np.allclose(results[0].solution.value, usual.solution.value, atol=1e-5)


def test_an_unknown_order_is_refused():
    with pytest.raises(co.MethodError, match="order is 'size'"):
        co.AlternatingProjections(order="size")


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_laws_and_terms_go_by_colours(seed):
    rng = np.random.default_rng(seed)
    rows = [{"judge": "A", "event": f"x{i}", "probability": round(float(rng.random()), 2)} for i in range(6)]
    rows.append({"judge": "A", "event": "x0 & x1 given x2", "probability": 0.5})
    panel = co.Panel.from_records(rows, laws=["x0 -> x1 | x3", "P(x4) <= 0.4"])
    for correction in ("none", "dykstra"):
        result = co.aggregate(panel, co.AlternatingProjections(correction=correction, order="colours"))
        assert result.status in ("converged", "sweep_limit")
        assert co.verify(panel, result)
