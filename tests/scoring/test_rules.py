import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherently.scoring.scoring_rules import RULES, brier, by_group, log_score, slope

NAN = float("nan")

rows = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from([0.0, 1.0, NAN]), st.integers(0, 3)), min_size=1, max_size=30
)


def test_brier_is_the_squared_distance():
    np.testing.assert_array_equal(brier([0.0, 0.5, 0.75, 1.0, 0.3], [0, 1, 0, 0, NAN]), [0, 0.25, 0.5625, 1, NAN])


def test_log_score_of_worked_numbers():
    expected = [np.log(2), -np.log(0.8), 0.0, np.log(4), NAN]
    np.testing.assert_allclose(log_score([0.5, 0.2, 1.0, 0.25, 0.5], [1, 0, 1, 1, NAN], clip=0), expected)


@pytest.mark.parametrize(("clip", "worst"), [(1e-4, 4 * np.log(10)), (0.25, np.log(4)), (0, np.inf)])
def test_clipping_bounds_the_log_score(clip, worst):
    scores = log_score([0, 1, 0, 1], [1, 0, 0, 1], clip)
    np.testing.assert_allclose(scores, [worst, worst, -np.log1p(-clip), -np.log1p(-clip)], rtol=1e-12)


def test_outcomes_may_be_booleans():
    np.testing.assert_array_equal(brier([0.5, 0.25], np.array([True, False])), [0.25, 0.0625])
    np.testing.assert_array_equal(log_score([0.5], np.array([True])), log_score([0.5], [1]))


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_both_scores_are_proper(belief, said):
    for score in (brier, log_score):
        expected = [belief * score(p, 1) + (1 - belief) * score(p, 0) for p in (belief, said)]
        assert expected[0] <= expected[1] + 1e-15


def test_slope_of_worked_numbers():
    assert slope([0.9, 0.7, 0.2, 0.4], [1, 1, 0, 0]) == pytest.approx(0.5)
    assert slope([1, 0], [1, 0]) == 1
    assert slope([0.5, 0.5, 0.5], [1, 0, 1]) == 0


@pytest.mark.parametrize("outcome", [[1, 1], [0, 0], [NAN, 1], []])
def test_slope_needs_true_and_false_events(outcome):
    assert np.isnan(slope([0.5] * len(outcome), outcome))


@given(rows)
def test_slope_is_the_least_squares_slope_of_forecasts_on_outcomes(rows):
    forecast, outcome = np.array([(p, o) for p, o, _ in rows if o in (0, 1)] + [(0.5, 0), (0.25, 1)]).T
    assert slope(forecast, outcome) == pytest.approx(np.polyfit(outcome, forecast, 1)[0], abs=1e-9)


@given(rows)
def test_groups_agree_with_a_loop_over_them(rows):
    forecast, _, group = (np.array(column) for column in zip(*rows, strict=True))
    members = [group == g for g in range(5)]
    means = [forecast[m].mean() if m.any() else NAN for m in members]
    np.testing.assert_allclose(by_group(forecast, group, 5), means, atol=1e-12)


@given(rows)
def test_a_judge_has_the_score_of_its_own_resolved_forecasts(rows):
    forecast, outcome, judge = (np.array(column) for column in zip(*rows, strict=True))
    resolved = ~np.isnan(outcome)
    forecast, outcome, judge = forecast[resolved], outcome[resolved], judge[resolved]
    members = [judge == j for j in range(5)]
    expected = {
        "brier": [brier(forecast[m], outcome[m]).mean() if m.any() else NAN for m in members],
        "log": [log_score(forecast[m], outcome[m], 0.01).mean() if m.any() else NAN for m in members],
        "slope": [slope(forecast[m], outcome[m]) for m in members],
    }
    for rule in RULES:
        found = rule.by_judge(forecast, outcome, judge, 5, 0.01)
        np.testing.assert_allclose(found, expected[rule.name], atol=1e-12)
        assert np.nanmin(np.append(found, rule.least)) == rule.least
        assert np.nanmax(np.append(found, rule.most)) == rule.most
