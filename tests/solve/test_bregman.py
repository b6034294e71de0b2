"""Losses other than Brier's through the public calls."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from tests.panels import bundled
from tests.solve.reference import every_world, panels, truth

FOUR = [("A", event, p) for event, p in zip(("p", "q", "p & q", "p | q"), (0.2, 0.3, 0.5, 0.9), strict=True)]


def method(groups, correction, **options):
    return co.AlternatingProjections(groups, correction=correction, sweeps=5000, **options)


@pytest.mark.parametrize(
    ("groups", "correction", "expected"),
    [
        ("logical", "none", [0.426026, 0.426026, 0.322014, 0.852051]),
        ("logical", "dykstra", [0.400624, 0.433710, 0.400624, 0.834334]),
        ("global", "dykstra", [0.431098, 0.565036, 0.248072, 0.748062]),
    ],
)
def test_the_four_events_under_the_log_loss(groups, correction, expected):
    result = co.aggregate(co.Panel.from_records(FOUR), method(groups, correction), "log")
    np.testing.assert_allclose(result.solution.value, expected, atol=1e-6)
    assert result.status == "converged"
    assert result.guaranteed_improvement is None


def test_table_2_under_the_log_loss():
    result = co.aggregate(bundled("table2.csv"), method("global", "dykstra"), co.Log(clip=0.01))
    np.testing.assert_allclose(result.problem.merged.mean, [0.815001, 0.061444, 0.209215], atol=1e-6)
    np.testing.assert_allclose(result.solution.value, [0.815001, 0.116301, 0.116301], atol=1e-6)


@pytest.mark.parametrize("name", ["log", "spherical"])
@settings(max_examples=40)
@given(st.data())
def test_pythagoras_in_every_world(name, data):
    """d(v, p) >= d(v, x) + d(x, p): whatever happens, the answer loses less than the merged forecasts."""
    panel = data.draw(panels("hundred", max_size=8))
    result = co.aggregate(panel, method("pairs", "dykstra"), name)
    loss, merged = result.problem.loss, result.problem.merged
    x = np.empty(len(merged))
    x[result.problem.coordinate] = np.where(
        result.problem.complemented, 1 - result.solution.value, result.solution.value
    )
    outcome = truth(panel, merged.event)
    assert len(outcome) == len(every_world(panel))
    before = np.sum(merged.weight * loss.divergence(outcome, np.broadcast_to(merged.mean, outcome.shape)), axis=1)
    after = np.sum(
        merged.weight * loss.divergence(outcome, np.broadcast_to(np.clip(x, 1e-12, 1 - 1e-12), outcome.shape)), axis=1
    )
    assert np.all(before >= after + result.objective - 1e-5 * np.maximum(1, before))


def test_a_trace_under_the_log_loss():
    result = co.aggregate(co.Panel.from_records(FOUR), method("logical", "dykstra", trace=True), "log")
    trace = result.solution.trace
    assert len(trace.objective) == result.sweeps + 1
    assert trace.violation[0] > 0.1
    assert trace.violation[-1] <= 1e-9
    np.testing.assert_allclose(trace.value[-1], result.solution.value)


def test_weightless_events_stay_unknown():
    rows = [*FOUR, ("B", "r & p", 0.9, 0.0)]
    panel = co.Panel.from_records([(*row, 1.0)[:4] if len(row) == 3 else row for row in rows])
    assert np.isnan(co.aggregate(panel, method("logical", "dykstra"), "log").solution.value).tolist() == [False] * 4 + [
        True
    ]


def test_losses_that_do_not_fit_are_refused():
    panel = co.Panel.from_records(FOUR)
    with pytest.raises(co.MethodError, match="linear averaging goes with the loss brier"):
        co.aggregate(panel, "linear", "log")
    more = co.Panel.from_records([*FOUR, ("A", "q & r", 0.5), ("A", "p & r", 0.5)])
    with pytest.raises(co.MethodError, match="need the loss brier"):
        co.aggregate(more, method("logical", "dykstra", auxiliary=True), "log")
    with pytest.raises(co.MethodError, match=r"unknown loss 'lag'.*Did you mean 'log'"):
        co.aggregate(panel, "dykstra", "lag")


@pytest.mark.parametrize("correction", ["none", "dykstra"])
def test_each_judge_alone_is_that_judge_in_the_panel(correction):
    panel = co.simulate(judges=6, variables=8, basic=6, seed=2)
    together = co.individual(panel, method("logical", correction, threads=1))
    threaded = co.individual(panel, method("logical", correction, threads=2))
    np.testing.assert_array_equal(together.probability, threaded.probability)
    for judge in panel.judges:
        alone = co.aggregate(panel.judge(judge), method("logical", correction))
        mine = together.judge(judge)
        np.testing.assert_allclose(alone.solution.value[panel.judge(judge).event_index], mine.probability, atol=1e-7)
