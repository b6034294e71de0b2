import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently import _core
from coherently.events import CERTAIN, NEVER
from coherently.problem import find_design, pose
from coherently.solve import Status
from tests.panels import TABLE_2, TABLE_3
from tests.solve.reference import (
    briers,
    check_relaxed,
    coordinates,
    members_of,
    objective,
    panels,
    raw_briers,
    records,
    truth,
    violation,
)

LOCAL = ("logical", "pairs", "global")
FOUR = ("p", "q", "p & q", "p | q")
ROW_1, ROW_2 = (0.2, 0.3, 0.5, 0.9), (0.9, 0.6, 0.1, 0.4)
TRIANGLE = [
    *[("A", event, 0.5) for event in ("a", "b", "c")],
    *[("A", event, 0.0) for event in ("a & b", "a & c", "b & c")],
]


def solve(panel, groups="logical", **options):
    return co.aggregate(panel, co.AlternatingProjections(groups, **options))


def nearest(panel, groups="logical", **options):
    return solve(panel, groups, correction="dykstra", **options)


def forecasts(events, probabilities):
    return co.Panel.from_records([("A", event, p) for event, p in zip(events, probabilities, strict=True)])


def varying(rows):
    """The rows whose events are not constant, for constants are one event wherever they stand."""
    panel = co.Panel.from_records(rows)
    side = panel.written.event[panel.event_index]
    return [row for row, varies in zip(rows, (side != NEVER) & (side != CERTAIN), strict=True) if varies]


# Worked numbers


@pytest.mark.parametrize(
    ("row", "options", "expected"),
    [
        (ROW_1, {}, (37 / 90, 37 / 90, 1 / 3, 37 / 45)),
        (ROW_1, {"correction": "dykstra"}, (0.4, 0.4, 0.4, 0.8)),
        (ROW_1, {"groups": "global"}, (0.425, 0.525, 0.275, 0.675)),
        (ROW_1, {"groups": "global", "correction": "dykstra"}, (0.425, 0.525, 0.275, 0.675)),
        (ROW_1, {"groups": "pairs", "correction": "dykstra"}, (0.425, 0.525, 0.275, 0.675)),
        (ROW_2, {}, (7 / 12, 7 / 15, 7 / 30, 7 / 12)),
        (ROW_2, {"correction": "dykstra"}, (0.62, 0.54, 0.16, 0.62)),
        (ROW_2, {"groups": "global"}, (0.65, 0.35, 0.35, 0.65)),
        (ROW_2, {"groups": "global", "correction": "dykstra"}, (0.65, 0.35, 0.35, 0.65)),
    ],
)
def test_the_paper_dykstra_and_the_whole_problem_differ(row, options, expected):
    result = co.aggregate(forecasts(FOUR, row), co.AlternatingProjections(**options))
    assert result.status == "converged"
    np.testing.assert_allclose(result.solution.value, expected, rtol=0, atol=1e-8)


def test_the_order_of_the_groups_matters_to_the_paper_alone():
    events = ("p", "q", "p | q", "p & q")
    panel = forecasts(events, (0.2, 0.3, 0.9, 0.5))
    expected = [5 / 12, 13 / 30, 23 / 30, 5 / 12]
    np.testing.assert_allclose(solve(panel).solution.value, expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(nearest(panel).solution.value, [0.4, 0.4, 0.8, 0.4], rtol=0, atol=1e-8)


@pytest.mark.parametrize("correction", ["none", "dykstra"])
@pytest.mark.parametrize("groups", LOCAL)
@pytest.mark.parametrize(("rows", "expected"), [(TABLE_2, (23 / 30, 11 / 60, 11 / 60)), (TABLE_3, (0.675, 0.15, 0.15))])
def test_the_papers_tables(rows, expected, groups, correction):
    result = solve(co.Panel.from_records(rows), groups, correction=correction)
    np.testing.assert_allclose(result.solution.value, expected, rtol=0, atol=1e-8)


def test_chris_alone():
    chris = co.Panel.from_records([row for row in TABLE_2 if row[0] == "Chris"])
    for result in (solve(chris), nearest(chris)):
        np.testing.assert_allclose(result.solution.value, [0.95, 0.3, 0.3], rtol=0, atol=1e-8)
        assert result.objective == pytest.approx(0.18, abs=1e-9)


def test_a_triangle_is_pairwise_coherent():
    panel = co.Panel.from_records(TRIANGLE)
    for groups in ("logical", "pairs"):
        for result in (solve(panel, groups), nearest(panel, groups)):
            np.testing.assert_allclose(result.solution.value, [0.5] * 3 + [0.0] * 3, rtol=0, atol=1e-9)
            assert result.objective == pytest.approx(0.0, abs=1e-12)
    for result in (solve(panel, "global"), nearest(panel, "global")):
        np.testing.assert_allclose(result.solution.value, [5 / 12] * 3 + [1 / 12] * 3, rtol=0, atol=1e-8)
        assert result.objective == pytest.approx(1 / 24, abs=1e-9)


# The paper's loop


@pytest.mark.parametrize("weights", ["flat", "hundred", "some zero"])
@settings(max_examples=25)
@given(st.data())
def test_each_projection_is_better_in_every_world(weights, data):
    panel = data.draw(panels(weights, most=3, n_variables=4, max_size=12))
    merged = pose(panel).merged
    worlds = truth(panel, merged.event)
    unit = max(1.0, merged.weight.sum())
    for design in LOCAL:
        x = np.where(merged.weight > 0, merged.mean, 0.5)
        for members, rows in members_of(find_design(design)(merged)):
            before = x.copy()
            one = np.zeros(1, np.int32)
            _core.GroupProjector(np.array([0, len(members)]), members, one, [rows], merged.weight).sweep(x)
            saved = (before - worlds) ** 2 @ merged.weight - (x - worlds) ** 2 @ merged.weight
            assert np.all(saved >= merged.weight @ (x - before) ** 2 - 1e-12 * unit)


@pytest.mark.parametrize("groups", LOCAL)
@settings(max_examples=25)
@given(st.data())
def test_the_loop_ends_locally_coherent_and_never_worse_in_any_world(groups, data):
    panel = data.draw(panels(data.draw(st.sampled_from(["flat", "hundred"])), most=3, n_variables=4, max_size=12))
    result = solve(panel, groups, sweeps=100_000, tolerance=1e-11, trace=True)
    design = find_design(groups)(result.problem.merged)
    assert result.status == "converged"
    assert violation(design, coordinates(result.problem, result.solution.value)) <= 1e-9
    assert result.solution.violation <= 1e-9
    trace = result.solution.trace
    assert len(trace.value) == result.solution.sweeps + 1
    scores = np.array([briers(panel, value) for value in trace.value])
    assert np.all(np.diff(scores, axis=0) <= 1e-11 * max(1.0, panel.weight.sum()))


@given(panels("hundred", most=3, n_variables=4, max_size=12))
@settings(max_examples=25)
def test_a_trace_tells_the_whole_run(panel):
    result = solve(panel, sweeps=50, trace=True)
    problem, trace = result.problem, result.solution.trace
    design = find_design("logical")(problem.merged)
    np.testing.assert_array_equal(trace.value[0], problem.as_written(problem.merged.mean))
    np.testing.assert_array_equal(trace.value[-1], result.solution.value)
    x = [coordinates(problem, value) for value in trace.value]
    np.testing.assert_allclose(trace.objective, [objective(problem.merged, row) for row in x], rtol=1e-9, atol=1e-12)
    assert trace.objective[-1] == pytest.approx(result.objective)
    assert trace.violation[-1] == result.solution.violation
    for row, noted in zip(x, trace.violation, strict=True):
        # The one is a largest coordinate, the other a length: of at most five members each.
        distance = violation(design, row)
        assert distance <= 3 * noted + 1e-9
        assert noted <= 4 * distance + 1e-7
    assert solve(panel, sweeps=50).solution.trace is None


@pytest.mark.parametrize("correction", ["none", "dykstra"])
@pytest.mark.parametrize("groups", LOCAL)
@settings(max_examples=25)
@given(st.data())
def test_the_guaranteed_improvement_is_kept_in_every_world(groups, correction, data):
    panel = data.draw(panels(data.draw(st.sampled_from(["flat", "hundred", "some zero"])), most=3, n_variables=4))
    result = solve(panel, groups, correction=correction)
    saved = raw_briers(panel) - briers(panel, result.solution.value)
    assert result.guaranteed_improvement >= 0
    assert saved.min() >= result.guaranteed_improvement - 1e-9 * max(1.0, panel.weight.sum())


def test_the_guarantee_is_not_empty():
    chris = co.Panel.from_records([row for row in TABLE_2 if row[0] == "Chris"])
    for result in (solve(chris), nearest(chris)):
        assert result.guaranteed_improvement == pytest.approx(0.18, abs=1e-4)
        assert min(raw_briers(chris) - briers(chris, result.solution.value)) == pytest.approx(0.18, abs=1e-9)


def test_the_papers_scale_converges_within_ten_sweeps():
    panel = co.simulate(47, 30)
    result = solve(panel, tolerance=1e-3, trace=True)
    trace = result.solution.trace
    assert result.status == "converged"
    assert result.solution.sweeps <= 10
    assert trace.objective[0] == 0.0
    assert trace.violation[-1] < 1e-2 < trace.violation[0]
    assert result.objective == pytest.approx(trace.objective[-1])
    exact = solve(panel)
    assert exact.status == "converged"
    assert exact.solution.violation <= 1e-8
    assert exact.objective >= nearest(panel).lower_bound


def test_few_sweeps_say_so():
    result = solve(co.simulate(10, 12), sweeps=2)
    assert result.solution.status is Status.SWEEP_LIMIT
    assert result.solution.sweeps == 2
    assert result.solution.violation > 1e-4


def test_singletons_average():
    panel = co.Panel.from_records(TABLE_2)
    for correction in ("none", "dykstra"):
        result = solve(panel, "singletons", correction=correction)
        np.testing.assert_array_equal(result.solution.value, co.aggregate(panel, "linear").solution.value)
    odd = forecasts(("p", "true", "p & ~p"), (0.3, 0.8, 0.4))
    np.testing.assert_allclose(solve(odd, "singletons").solution.value, [0.3, 1.0, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"correction": "Dykstra"}, "it may be none or dykstra"),
        ({"sweeps": 0}, "1 or more"),
        ({"tolerance": -1.0}, "0 or more"),
        ({"tolerance": float("nan")}, "0 or more"),
        ({"tolerance": float("inf")}, "0 or more"),
        ({"groups": "logic"}, "Did you mean 'logical'"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(co.MethodError, match=message):
        co.AlternatingProjections(**options)


# The relaxed problem, any groups


@pytest.mark.parametrize("groups", LOCAL)
@pytest.mark.parametrize("weights", ["flat", "hundred", "skewed", "some zero"])
@settings(max_examples=20)
@given(st.data())
def test_the_nearest_locally_coherent_forecasts(weights, groups, data):
    panel = data.draw(panels(weights, most=4, max_size=15))
    result = nearest(panel, groups)
    check_relaxed(result.problem, result.solution, even=weights in {"flat", "hundred"})


@settings(max_examples=25)
@given(panels("hundred", most=4, max_size=15))
def test_larger_groups_are_no_nearer(panel):
    found = [nearest(panel, groups) for groups in LOCAL]
    unit = max(1.0, found[-1].objective)
    assert found[0].objective <= found[1].objective + 1e-8 * unit
    assert found[1].objective <= found[2].objective + 1e-8 * unit


@pytest.mark.parametrize("groups", LOCAL)
@settings(max_examples=20)
@given(st.data())
def test_order_names_and_sides_do_not_matter(groups, data):
    rows = data.draw(records("hundred", most=3, max_size=12))
    order = data.draw(st.permutations(range(len(rows))))
    answer = nearest(co.Panel.from_records(rows), groups)
    rename = str.maketrans("01234", "30142")
    others = []
    for i in order:
        judge, event, p, weight = rows[i]
        turned = data.draw(st.booleans())
        text = event.translate(rename)
        others.append((judge, f"~({text})", 1 - p, weight) if turned else (judge, text, p, weight))
    other = nearest(co.Panel.from_records(others), groups)
    for i, (_, event, _, _) in zip(order, others, strict=True):
        flipped = event == f"~({rows[i][1].translate(rename)})"
        p = other.probability(event)
        assert abs((1 - p if flipped else p) - answer.probability(rows[i][1])) <= 1e-7


@pytest.mark.parametrize("groups", LOCAL)
@settings(max_examples=20)
@given(records("hundred", most=3, max_size=8), records("hundred", most=3, max_size=8, prefix="w"))
def test_independent_parts_are_solved_apart(groups, left, right):
    left, right = varying([("A", "v0", 0.5, 1.0), *left]), varying([("A", "w0", 0.5, 1.0), *right])
    together = nearest(co.Panel.from_records([*left, *right]), groups)
    apart = [nearest(co.Panel.from_records(part), groups) for part in (left, right)]
    for part, rows in zip(apart, (left, right), strict=True):
        expected = [part.probability(event) for _, event, _, _ in rows]
        found = [together.probability(event) for _, event, _, _ in rows]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)
    assert together.objective == pytest.approx(sum(part.objective for part in apart), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("groups", LOCAL)
@settings(max_examples=20)
@given(records(most=3, max_size=10), st.data())
def test_a_forecast_of_weight_n_is_n_copies(groups, rows, data):
    counts = [data.draw(st.integers(1, 4)) for _ in rows]
    weighted = [(judge, event, p, float(n)) for (judge, event, p, _), n in zip(rows, counts, strict=True)]
    copies = [row for row, n in zip(rows, counts, strict=True) for _ in range(n)]
    one, many = (nearest(co.Panel.from_records(part), groups) for part in (weighted, copies))
    np.testing.assert_allclose(one.solution.value, many.solution.value, rtol=0, atol=1e-7)
    assert one.objective == pytest.approx(many.objective, rel=1e-8, abs=1e-8)


@settings(max_examples=25)
@given(panels(most=3, max_size=8), st.integers(0, 10**6))
def test_coherent_judges_are_averaged(panel, seed):
    events = list(panel.written.text)
    mixtures = np.random.default_rng(seed).dirichlet(np.full(len(truth(panel, panel.written.event)), 0.3), 3)
    values = np.clip(mixtures @ truth(panel, panel.written.event), 0.0, 1.0)
    rows = [(f"j{j}", event, p) for j, judge in enumerate(values) for event, p in zip(events, judge, strict=True)]
    coherent = co.Panel.from_records(rows)
    for result in (nearest(coherent, "global"), solve(coherent, "global")):
        np.testing.assert_allclose(result.solution.value, values.mean(axis=0), rtol=0, atol=1e-7)


@pytest.mark.parametrize("groups", LOCAL)
def test_weightless_events_follow_the_others(groups):
    rows = [("A", "p", 0.9, 1.0), ("A", "q", 0.8, 1.0), ("A", "p & q", 0.1, 0.0), ("A", "p | q & r", 0.0, 0.0)]
    result = nearest(co.Panel.from_records(rows), groups)
    np.testing.assert_allclose(result.solution.value[:2], [0.9, 0.8], rtol=0, atol=1e-7)
    assert result.objective == pytest.approx(0.0, abs=1e-12)
    merged = result.problem.merged
    assert violation(find_design(groups)(merged), coordinates(result.problem, result.solution.value)) <= 1e-8


@pytest.mark.parametrize("groups", LOCAL)
def test_the_loop_knows_nothing_of_weightless_events(groups):
    rows = [("A", "a | ~c", 0.37, 1.0), ("A", "b ^ c", 0.86, 7.0), ("A", "~c", 0.69, 0.0)]
    result = solve(co.Panel.from_records(rows), groups)
    without = solve(co.Panel.from_records(rows[:2]), groups)
    np.testing.assert_allclose(result.solution.value, [*without.solution.value, np.nan], atol=1e-12)
    assert result.status == "converged"
    assert result.solution.violation <= 1e-9


@pytest.mark.parametrize("correction", ["none", "dykstra"])
@pytest.mark.parametrize("groups", LOCAL)
def test_no_weight_at_all(groups, correction):
    panel = co.Panel.from_records([("A", "p", 0.9, 0.0), ("A", "p & q", 1.0, 0.0), ("A", "p & q & r", 1.0, 0.0)])
    result = solve(panel, groups, correction=correction)
    assert result.objective == pytest.approx(0.0, abs=1e-12)
    if correction == "none":
        assert np.isnan(result.solution.value).all()
        return
    merged = result.problem.merged
    assert violation(find_design(groups)(merged), coordinates(result.problem, result.solution.value)) <= 1e-8


def test_dykstra_without_a_bound_says_so():
    panel = forecasts((*FOUR, "p & q & r"), (*ROW_1, 0.9))
    method = co.AlternatingProjections(correction="dykstra", tolerance=1e-3)
    loose = co.aggregate(panel, method)
    tight = co.aggregate(panel, dataclasses.replace(method, tolerance=1e-9))
    assert loose.gap <= 1e-3 * max(1.0, loose.objective)
    assert loose.lower_bound <= tight.objective + 1e-12
    assert loose.solution.sweeps <= tight.solution.sweeps


def test_a_design_of_the_users_own_puts_constants_right():
    panel = co.Panel.from_records([("A", "false", 0.05), ("A", "p", 0.4), ("A", "q given q", 0.3)])
    result = co.aggregate(panel, co.AlternatingProjections(lambda events: [[i] for i, own in enumerate(events) if own]))
    assert result.solution.value.tolist() == [0.0, 0.4, 1.0]
