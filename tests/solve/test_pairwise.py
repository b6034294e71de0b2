import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently import _core
from coherently.problem import find_design, pose, split
from coherently.solve.lower_bounds.bound_rules import ByPairs
from coherently.solve.relaxed.pairs import fits, solve_pairwise
from coherently.solve.worlds.grounds import Grounds
from tests.solve.exact_checks import sparse_panel
from tests.solve.reference import (
    by_clarabel,
    check_relaxed,
    coordinates,
    objective,
    panels,
    records,
    violation,
)

EVEN = ("flat", "hundred")
CROWDS = {"S(10,31)": (31, 10), "S(30,47)": (47, 30), "S(60,150)": (150, 60), "S(100,300)": (300, 100)}
SMALL_CROWDS = ("S(10,31)", "S(30,47)")


def method(groups, **options):
    return co.AlternatingProjections(groups, correction="dykstra", **options)


def nearest(panel, groups, **options):
    return co.aggregate(panel, method(groups, **options))


def panel_of(*rows):
    return co.Panel.from_records([("A", *row) if len(row) == 3 else ("A", *row, 1.0) for row in rows])


def check(panel, groups, *, even=True):
    result = nearest(panel, groups)
    assert fits(result.problem.merged, groups)
    check_relaxed(result.problem, result.solution, even=even)
    return result


@pytest.mark.parametrize("groups", ["logical", "pairs"])
@pytest.mark.parametrize("weights", ["flat", "hundred", "skewed", "some zero"])
@settings(max_examples=30)
@given(st.data())
def test_the_nearest_locally_coherent_forecasts(weights, groups, data):
    check(data.draw(panels(weights, max_size=25)), groups, even=weights in EVEN)


@pytest.mark.parametrize("groups", ["logical", "pairs"])
@pytest.mark.parametrize("weights", EVEN)
@settings(max_examples=30)
@given(st.data())
def test_agrees_with_the_way_for_any_groups(weights, groups, data):
    panel = data.draw(panels(weights, max_size=15))
    fast, slow = nearest(panel, groups), nearest(panel, groups, trace=True)
    assert slow.solution.trace is not None
    unit = max(1.0, slow.objective)
    assert fast.objective == pytest.approx(slow.objective, abs=4e-9 * unit)
    merged = fast.problem.merged
    apart = coordinates(fast.problem, fast.solution.value) - coordinates(slow.problem, slow.solution.value)
    assert np.sum(merged.weight * apart**2) <= 4e-9 * unit


@settings(max_examples=30)
@given(panels("hundred", max_size=25))
def test_larger_groups_are_no_nearer(panel):
    logical, pairs, whole = (nearest(panel, groups).objective for groups in ("logical", "pairs", "global"))
    unit = max(1.0, whole)
    assert logical <= pairs + 1e-8 * unit
    assert pairs <= whole + 1e-8 * unit


@pytest.mark.parametrize("groups", ["logical", "pairs"])
@settings(max_examples=30)
@given(st.data())
def test_order_names_and_sides_do_not_matter(groups, data):
    rows = data.draw(records("hundred", max_size=20))
    order = data.draw(st.permutations(range(len(rows))))
    rename = str.maketrans("01234", "41302")
    turned = [data.draw(st.booleans()) for _ in rows]
    others = []
    for i in order:
        judge, event, p, weight = rows[i]
        text = event.translate(rename)
        others.append((judge, f"~({text})", 1 - p, weight) if turned[i] else (judge, text, p, weight))
    answer, other = (nearest(co.Panel.from_records(part), groups) for part in (rows, others))
    expected = [answer.probability(rows[i][1]) for i in order]
    found = [other.probability(row[1]) for row in others]
    back = [1 - p if turned[i] else p for i, p in zip(order, found, strict=True)]
    np.testing.assert_allclose(back, expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    "rows",
    [
        [("v1 ^ v0", 0.75), ("v1", 1.0)],
        [("v1", 0.7), ("v2 ^ v1", 0.5)],
        [("p ^ q", 0.2)],
        [("~p & q", 0.5), ("p ^ ~q", 0.5)],
        [("p", 0.0, 1.0), ("p ^ q", 0.54, 80.0)],
        [("~a & ~b", 1.0, 1.0), ("a", 0.0, 0.0), ("c | ~a", 0.2, 1.0)],
        [("a | c", 0.0, 7.0), ("a ^ b", 0.0, 1.0), ("a & c", 0.5, 1.0), ("a", 0.2, 1.0)],
        [("a & b", 0.9), ("b & c", 0.8), ("a ^ c", 1.0)],
        [("a & ~b", 1.0), ("a | b", 0.0), ("~a & b", 0.6)],
    ],
)
@pytest.mark.parametrize("groups", ["logical", "pairs"])
def test_variables_that_nobody_forecast_are_free(rows, groups):
    check(panel_of(*rows), groups, even=all(len(row) == 2 for row in rows))


@pytest.mark.parametrize(
    "rows",
    [
        [("p", 0.3)],
        [("true", 0.3), ("false", 0.2)],
        [("true", 0.3), ("p & q", 0.2), ("p & ~p", 0.9)],
        [("p", 0.0), ("q", 0.0), ("p | q", 1.0)],
        [("p", 1.0), ("q", 1.0), ("p & q", 0.0)],
        [("p", 0.5), ("q", 0.5), ("p & q", 0.5), ("p | q", 0.5)],
        [("p", 0.5), ("q", 0.5), ("p & q", 1.0), ("p | q", 0.0), ("p ^ q", 1.0)],
        [("~v0 ^ v2", 1.0), ("~v2", 0.0), ("v2 | v3", 0.5)],
        [("~v1 & ~v3", 0.5), ("v0 & v1", 1.0), ("~v1", 0.5), ("v3", 0.0)],
    ],
)
@pytest.mark.parametrize("groups", ["logical", "pairs"])
def test_corners(rows, groups):
    result = check(panel_of(*rows), groups)
    assert result.objective >= 0


@pytest.mark.parametrize("groups", ["logical", "pairs"])
def test_weightless_events_take_a_possible_value(groups):
    panel = panel_of(("p", 0.9, 1.0), ("q", 0.8, 1.0), ("p & q", 0.0, 0.0), ("p | q", 0.1, 0.0), ("r & s", 1.0, 0.0))
    result = check(panel, groups, even=False)
    np.testing.assert_allclose(result.solution.value[:2], [0.9, 0.8], rtol=0, atol=1e-12)
    assert result.objective == pytest.approx(0.0, abs=1e-15)


def test_a_heavy_forecast_holds_its_ground():
    for weight in (1e3, 1e6, 1e9):
        result = nearest(panel_of(("p", 0.2, weight), ("q", 0.5, 1.0), ("p & q", 0.8, 1.0)), "logical")
        assert result.status == "converged"
        np.testing.assert_allclose(result.probability("p"), 0.2, rtol=0, atol=1 / weight)


@pytest.mark.parametrize("groups", ["logical", "pairs"])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_independent_parts_are_solved_apart(groups, threads):
    events = ("{0}1", "{0}2", "{0}1 & {0}2", "{0}1 | {0}2", "{0}2 & ~{0}3", "{0}1 | {0}3")
    rng = np.random.default_rng(5)
    parts = [[("A", e.format(n), p) for e, p in zip(events, rng.random(6), strict=True)] for n in "abcdefg"]
    together = nearest(co.Panel.from_records([row for part in parts for row in part]), groups, threads=threads)
    apart = [nearest(co.Panel.from_records(part), groups) for part in parts]
    values = np.concatenate([result.solution.value for result in apart])
    np.testing.assert_allclose(together.solution.value, values, rtol=0, atol=1e-12)
    assert together.objective == pytest.approx(sum(result.objective for result in apart), abs=1e-12)
    assert together.lower_bound == pytest.approx(sum(result.lower_bound for result in apart), abs=1e-12)


@pytest.mark.parametrize("groups", ["logical", "pairs"])
def test_threads_do_not_change_a_digit(groups):
    rng = np.random.default_rng(7)
    forms = ("{0}{1} & {0}{2}", "{0}{1} | ~{0}{2}", "{0}{1} ^ {0}{2}", "{0}{1}")
    rows = [
        ("A", forms[rng.integers(4)].format(part, *rng.choice(9, 2, replace=False)), rng.random(), rng.integers(1, 9))
        for part in "abcde"
        for _ in range(60)
    ]
    panel = co.Panel.from_records([*{(name, event): (name, event, p, w) for name, event, p, w in rows}.values()])
    one, *more = (nearest(panel, groups, threads=threads).solution for threads in (1, 2, 3, 5))
    for other in more:
        np.testing.assert_array_equal(other.value, one.value)
        assert (other.objective, other.lower_bound) == (one.objective, one.lower_bound)


GOOD = {
    "weight": np.ones(3),
    "mean": np.full(3, 0.5),
    "starts": np.array([0, 1, 2, 4]),
    "variables": np.array([0, 1, 0, 1], np.int32),
    "n_variables": 2,
    "table_starts": np.array([0, 1, 2, 3]),
    "tables": np.array([2, 2, 8], np.uint64),
    "by_pair": False,
    "auxiliary": False,
    "tolerance": 1e-9,
    "max_iterations": 100,
    "threads": 1,
}


@pytest.mark.parametrize(
    "bad",
    [
        {"mean": np.ones(2)},
        {"starts": np.array([0, 1, 2])},
        {"starts": np.array([0, 1, 2, 5])},
        {"starts": np.array([0, 0, 0, 3])},
        {"starts": np.array([0, 2, 1, 3])},
        {"variables": np.array([0, 1, 0, 2], np.int32)},
        {"variables": np.array([0, 1, 1, 1], np.int32)},
        {"table_starts": np.array([0, 1, 3, 3])},
    ],
)
def test_the_core_refuses_arrays_that_do_not_fit(bad):
    assert len(_core.solve_pairs(**GOOD)[0]) == 3
    with pytest.raises((ValueError, IndexError)):
        _core.solve_pairs(**GOOD | bad)


@pytest.mark.parametrize("groups", ["logical", "pairs"])
@pytest.mark.parametrize("size", CROWDS)
@pytest.mark.parametrize("flat", [True, False])
def test_crowds(size, groups, flat):
    problem = pose(co.simulate(*CROWDS[size]))
    if flat:
        problem = dataclasses.replace(
            problem, merged=dataclasses.replace(problem.merged, weight=np.ones(len(problem.merged)))
        )
    solution = method(groups).solve(problem)
    merged = problem.merged
    x = coordinates(problem, solution.value)
    unit = max(1.0, solution.objective)
    assert solution.status == "converged"
    assert 0 <= solution.objective - solution.lower_bound <= 1e-8 * unit
    assert solution.objective == pytest.approx(objective(merged, x), rel=1e-12)
    design = find_design(groups)(merged)
    assert violation(design, x) <= 1e-12
    if size in SMALL_CROWDS:
        other = by_clarabel(merged, design)
        assert abs(solution.objective - objective(merged, other)) <= 1e-9 * unit
        assert np.sum(merged.weight * (x - other) ** 2) <= 1e-9 * unit


def test_many_variables_can_be_stopped():
    """It took 13 s for 2,000 variables, whatever the time limit."""

    class Impatient:
        def watch(self, work, stop):
            stop()
            return work()

    merged = pose(sparse_panel(np.random.default_rng(0), 400)).merged
    whole, stopped = solve_pairwise(merged, "pairs", 1e-9), solve_pairwise(merged, "pairs", 1e-9, budget=Impatient())
    assert stopped.sweeps < whole.sweeps
    assert stopped.lower_bound <= whole.objective


def test_pairs_bound_large_components_only_if_clusters_do_not():
    """Clusters prove more, and sooner."""
    parts = [part.merged for part in split(pose(sparse_panel(np.random.default_rng(0), 400)).merged)]
    grounds = Grounds(max(parts, key=len))
    assert not ByPairs().fits(grounds)
    grounds.relaxation = None
    assert ByPairs().fits(grounds)
