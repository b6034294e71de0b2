import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import coherently as co
from coherently.problem import pose, pose_individually
from tests.panels import TABLE_2, TABLE_3

EVENTS = ["p", "~p", "q", "p & q", "~(q & p)", "p | q", "~p & ~q", "r", "true"]


def rows_about(events):
    row = st.tuples(
        st.sampled_from("ABC"), st.sampled_from(events), st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0, 4.0])
    )
    return st.lists(row, min_size=1, max_size=30)


ROWS = rows_about(EVENTS)


def test_means_of_the_papers_tables():
    np.testing.assert_allclose(pose(co.Panel.from_records(TABLE_2)).mean, [23 / 30, 0.1, 4 / 15], atol=1e-15)
    np.testing.assert_allclose(pose(co.Panel.from_records(TABLE_3)).mean, [0.675, 0.1, 0.2], atol=1e-15)


def test_complements_are_one_coordinate():
    problem = pose(
        co.Panel.from_records([("A", "~p", 0.6), ("A", "p", 0.6), ("A", "a | ~b", 0.3), ("A", "b & ~a", 0.9)])
    )
    assert problem.coordinate.tolist() == [0, 0, 1, 1]
    assert problem.complemented.tolist() == [True, False, True, False]
    np.testing.assert_allclose(problem.merged.mean, [0.5, 0.8])
    np.testing.assert_allclose(problem.scatter, 2 * 0.1**2 + 2 * 0.1**2)


def test_conditionals_merge_with_their_complement_only():
    problem = pose(co.Panel.from_records([("A", "p given q", 0.2), ("B", "~p given q", 0.6), ("A", "p & q", 0.9)]))
    assert problem.coordinate.tolist() == [0, 0, 0]
    assert problem.conditional.tolist() == [True, True, False]
    np.testing.assert_allclose(problem.merged.terms.conditionals.mean, [0.3])
    np.testing.assert_allclose(problem.as_written(np.array([0.1, 0.5])), [0.2, 0.8, 0.1])


def test_weightless_events_stay_and_pull_nothing():
    problem = pose(co.Panel.from_records([("A", "p", 0.2, 0.0), ("A", "q", 0.4, 1.0), ("B", "q", 0.9, 0.0)]))
    np.testing.assert_array_equal(problem.mean, [np.nan, 0.4])
    assert problem.merged.weight.tolist() == [0.0, 1.0]
    assert problem.scatter == 0.0


def test_components_share_no_variable():
    events = ["a & b", "c", "b | d", "e ^ f", "~c", "f given g", "true"]
    problem = pose(co.Panel.from_records([("A", event, 0.5) for event in events]))
    coordinate = problem.coordinate.copy()
    coordinate[problem.conditional] = problem.merged.terms.conditionals.joint.coordinate
    assert problem.merged.components()[coordinate].tolist() == [0, 1, 0, 2, 1, 2, 3]


@given(ROWS, st.booleans())
def test_variables_are_numbered_densely_and_known_by_their_origin(rows, apart):
    panel = co.Panel.from_records(rows)
    problem = pose_individually(panel) if apart else pose(panel)
    merged = problem.merged
    assert np.array_equal(np.unique(merged.functions.variables), np.arange(merged.n_variables))
    starts, variables = panel.events.supports(merged.event // 2)
    np.testing.assert_array_equal(merged.functions.starts, starts)
    np.testing.assert_array_equal(merged.origin[merged.functions.variables], variables)
    judge = np.zeros(len(merged), np.int64)
    if apart:
        judge[problem.coordinate[problem.forecasts.unit]] = panel.judge_index
    owner = np.repeat(judge, merged.sizes())
    pairs = set(zip(owner.tolist(), variables.tolist(), strict=True))
    assert len(pairs) == merged.n_variables
    assert len(set(zip(owner.tolist(), merged.functions.variables.tolist(), strict=True))) == merged.n_variables
    assert merged.keep(merged.weight > 0).origin is merged.origin


@given(ROWS)
def test_merging_keeps_totals_and_finds_the_nearest_point(rows):
    panel = co.Panel.from_records(rows)
    problem = pose(panel)
    merged = problem.merged
    np.testing.assert_allclose(merged.weight.sum(), panel.weight.sum())
    np.testing.assert_allclose(np.bincount(problem.coordinate, problem.weight), merged.weight)

    def distance(x):
        answer = problem.as_written(np.nan_to_num(x, nan=0.5))
        return np.sum(panel.weight * (panel.probability - answer[panel.event_index]) ** 2)

    np.testing.assert_allclose(distance(merged.mean), problem.scatter, atol=1e-12)
    for x in np.random.default_rng(0).random((5, len(merged))):
        moved = np.nansum(merged.weight * (x - merged.mean) ** 2)
        np.testing.assert_allclose(distance(x), problem.scatter + moved, atol=1e-9)


@given(ROWS)
def test_a_forecast_of_weight_n_is_n_copies(rows):
    whole = [(judge, event, p, float(round(weight))) for judge, event, p, weight in rows]
    copies = [(judge, event, p, 1.0) for judge, event, p, weight in whole for _ in range(int(weight))]
    if not copies:
        return
    weighted, copied = pose(co.Panel.from_records(whole)), pose(co.Panel.from_records(copies))
    kept = weighted.weight > 0
    np.testing.assert_allclose(np.sort(weighted.mean[kept]), np.sort(copied.mean), atol=1e-12)
    np.testing.assert_allclose(weighted.scatter, copied.scatter, atol=1e-9)


def test_the_coordinate_of_any_event_can_be_asked_for():
    panel = co.Panel.from_records([("A", "p", 0.2), ("A", "q given p", 0.6)], laws=["r -> s", "P(s & t) <= 0.4"])
    asked = panel.events.add(["~r", "p & q", "~p"]).event
    problem = pose(panel, asking=asked)
    coordinates = [problem.coordinate_of(side) for side in asked.tolist()]
    assert coordinates == [1, 2, 0]
    assert problem.merged.weight[1] == 0
    assert len(problem.coordinate) == 2
    assert len(problem.merged.space.laws) == 1
    assert len(problem.merged.terms.limits) == 1
    assert pose(panel).coordinate_of(int(asked[0])) == -1


@given(ROWS, st.lists(st.booleans(), min_size=30, max_size=30), st.booleans())
def test_a_kept_problem_is_that_of_the_kept_forecasts(rows, bits, apart):
    panel = co.Panel.from_records(rows)
    posed = pose_individually if apart else pose
    problem = posed(panel)
    kept = np.array(bits)[: len(problem.merged)]
    part, way = problem.keep(kept)
    rows = way.units[problem.forecasts.unit]
    assert np.array_equal(way.units, kept[problem.coordinate])
    if rows.any():
        alone = posed(panel.select(rows))
        for name in ("unit", "probability", "weight", "interval"):
            assert np.array_equal(getattr(part.forecasts, name), getattr(alone.forecasts, name))
        for name in ("weight", "mean", "coordinate", "complemented", "conditional"):
            assert np.array_equal(getattr(part, name), getattr(alone, name), equal_nan=True)
        assert [part.texts[i] for i in part.written] == [alone.texts[i] for i in alone.written]
        assert part.scatter == alone.scatter
        assert np.array_equal(part.merged.mean, alone.merged.mean, equal_nan=True)
    value = np.random.default_rng(0).random(len(part.coordinate))
    whole = way.back(value)
    assert np.array_equal(whole[way.units], value)
    assert np.isnan(whole[~way.units]).all()
    assert np.array_equal(way.back(value, problem.mean)[~way.units], problem.mean[~way.units], equal_nan=True)


@given(ROWS)
def test_the_scatter_of_parts_is_that_of_the_whole(rows):
    problem = pose(co.Panel.from_records(rows))
    label = problem.merged.components()
    parts = [problem.keep(label == i)[0].scatter for i in range(int(label.max()) + 1)]
    np.testing.assert_allclose(sum(parts), problem.scatter, atol=1e-12)
