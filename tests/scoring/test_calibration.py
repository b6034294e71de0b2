import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coherently as co
from coherently.errors import MethodError, PanelError
from coherently.scoring.calibration import binned
from coherently.scoring.scoring_rules import brier

probabilities = st.one_of(st.floats(0, 1), st.integers(0, 20).map(lambda i: i / 20))
resolved = st.lists(st.tuples(probabilities, st.integers(0, 1)), min_size=1, max_size=60)


def test_worked_numbers():
    """Two bins: forecasts .1, .3 with outcomes 0, 1 and forecasts .6, .8, 1 with outcomes 0, 1, 1."""
    table = binned([0.1, 0.3, 0.6, 0.8, 1.0], [0, 1, 0, 1, 1], bins=2)
    columns = table.columns()
    assert list(columns) == ["lower", "upper", "count", "mean_forecast", "observed", "observed_low", "observed_high"]
    expected = [[0, 0.5], [0.5, 1], [2, 3], [0.2, 0.8], [0.5, 2 / 3]]
    for column, values in zip(list(columns.values())[:5], expected, strict=True):
        np.testing.assert_allclose(column, values)
    assert table.brier == pytest.approx(0.18)
    assert table.reliability == pytest.approx((2 * 0.3**2 + 3 * (2 / 15) ** 2) / 5)
    assert table.resolution == pytest.approx((2 * 0.1**2 + 3 * (1 / 15) ** 2) / 5)
    assert table.uncertainty == pytest.approx(0.6 * 0.4)
    variance, covariance = (2 * 0.1**2 + 2 * 0.2**2) / 5, (2 * 0.1 * 0.5 + 0.2 * 2 / 3 + 0.2 / 3) / 5
    assert table.within_bin == pytest.approx(variance - 2 * covariance)


@given(resolved, st.integers(1, 25))
def test_the_parts_sum_to_the_brier_score(rows, bins):
    forecast, outcome = np.array(rows).T
    table = binned(forecast, outcome, bins)
    parts = table.reliability - table.resolution + table.uncertainty + table.within_bin
    assert parts == pytest.approx(brier(forecast, outcome).mean(), abs=1e-12)
    assert table.brier == pytest.approx(parts, abs=1e-12)
    assert table.uncertainty == pytest.approx(outcome.var(), abs=1e-12)


@given(resolved, st.integers(1, 25))
def test_the_bins_agree_with_a_loop_over_them(rows, bins):
    forecast, outcome = np.array(rows).T
    table = binned(forecast, outcome, bins)
    for b in range(bins):
        inside = (forecast >= b / bins - 1e-12) & ((forecast < (b + 1) / bins - 1e-12) | (b == bins - 1))
        assert table.count[b] == inside.sum()
        if inside.any():
            assert table.mean_forecast[b] == pytest.approx(forecast[inside].mean())
            assert table.observed[b] == pytest.approx(outcome[inside].mean())
        else:
            assert np.isnan([table.mean_forecast[b], table.observed[b]]).all()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1)), min_size=1))
def test_nothing_is_hidden_where_the_forecasts_of_a_bin_are_equal(rows):
    digits, outcome = np.array(rows).T
    assert binned(digits / 10, outcome).within_bin == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("bins", [1, 3, 7, 10, 20, 49, 100])
def test_a_forecast_on_an_edge_belongs_to_the_bin_above(bins):
    edges = np.arange(bins + 1) / bins
    expected = np.array([1] * (bins - 1) + [2])
    for moved in (
        edges,
        np.nextafter(edges, 0),
        np.nextafter(edges, 1).clip(max=1),
        np.cumsum([0] + [1 / bins] * bins),
    ):
        np.testing.assert_array_equal(binned(moved, np.ones(bins + 1), bins).count, expected)
    below = edges[1:] - 1e-6
    np.testing.assert_array_equal(binned(below, np.ones(bins), bins).count, np.ones(bins))


def test_nothing_to_calibrate_is_an_error():
    with pytest.raises(PanelError, match="at least one forecast with an outcome"):
        binned([], [])
    with pytest.raises(MethodError, match="at least 1 bin; found 0"):
        binned([0.5], [1], bins=0)


def test_calibration_of_one_judge_and_of_a_result():
    panel = co.simulate(judges=4, variables=40, basic=30, compound=0, seed=1)
    for name in panel.judges:
        own = panel.judge(name)
        expected = binned(own.probability, own.written.outcome[own.event_index])
        assert co.calibration(panel, name) == expected
    assert co.calibration(panel) == co.score(panel).calibration
    result = co.aggregate(panel)
    assert co.calibration(panel, result=result) == co.score(panel, result, by_judge=True).calibration
    with pytest.raises(PanelError, match="unknown judge"):
        co.calibration(panel, "nobody")


@pytest.mark.parametrize(("count", "share"), [(1, 0.0), (7, 3 / 7), (50, 0.5), (400, 1.0)])
def test_intervals_are_those_of_wilson(count, share):
    # Where the share lies 1.96 standard errors from p: found here by bisection, without the formula.
    true = round(count * share)
    table = binned(np.full(count, 0.5), np.arange(count) < true, bins=1)
    z = 1.959963984540054

    def outside(p):
        return (share - p) ** 2 - z * z * p * (1 - p) / count

    for end, outer in ((table.observed_low, 0.0), (table.observed_high, 1.0)):
        near, far = share, outer
        for _ in range(200):
            middle = (near + far) / 2
            near, far = (middle, far) if outside(middle) <= 0 else (near, middle)
        assert end[0] == pytest.approx(near, abs=1e-9)
    assert np.isnan(binned([0.1], [1], bins=2).observed_low[1])
