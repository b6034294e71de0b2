"""Judges weighted by what is known of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coherently as co
from tests.panels import TABLE_2
from tests.solve.reference import panels

PANEL = co.Panel.from_records(TABLE_2)
PAST = [("Alice", "a", 0.9), ("Alice", "b", 0.2), ("Bob", "a", 0.4), ("Bob", "b", 0.7), ("Dora", "c", 0.5)]


def test_coherence_weights_of_table_2():
    """Only Chris contradicts himself, by (p & q) - q = 0.6, so his forecasts move by 0.3 twice."""
    assert co.check(PANEL).judges["Chris"].distance == pytest.approx(math.sqrt(0.18))
    np.testing.assert_array_equal(co.CoherenceWeights()(PANEL), [1.0, 1.0, 0.0])


def test_coherence_is_measured_by_forecast():
    rows = [("A", "p", 0.7), ("A", "~p", 0.5), ("B", "p", 0.7), ("B", "~p", 0.5), ("B", "r", 0.1), ("B", "s", 0.1)]
    panel = co.Panel.from_records([*rows, ("C", "r", 0.4)])
    for beta in (1.0, 2.0, 0.5):
        expected = [0.0, (1 - math.sqrt(1 / 2)) ** beta, 1.0]
        np.testing.assert_allclose(co.CoherenceWeights(beta)(panel), expected, atol=1e-9)


def test_equally_incoherent_judges_count_alike():
    rows = [(judge, event, 0.7) for judge in "AB" for event in ("p", "~p")]
    np.testing.assert_array_equal(co.CoherenceWeights()(co.Panel.from_records(rows)), [1.0, 1.0])
    np.testing.assert_array_equal(co.CoherenceWeights()(co.Panel.from_records(rows[:2])), [1.0])


def test_consensus_weights_fall_with_the_distance_from_the_means():
    rows = [("A", "p", 0.5), ("B", "~p", 0.5), ("C", "p", 0.8), ("C", "q", 0.1)]
    distance = np.array([0.1, 0.1, math.sqrt(0.2**2 / 2)])
    expected = np.exp(-2 * distance / distance.max())
    np.testing.assert_allclose(co.ConsensusWeights(2.0)(co.Panel.from_records(rows)), expected)


@given(panels("some zero"))
def test_no_exponent_means_equal_weights(panel):
    np.testing.assert_array_equal(co.ConsensusWeights(0.0)(panel), np.ones(len(panel.judges)))
    weights = co.ConsensusWeights(3.0)(panel)
    assert np.all((weights >= math.exp(-3) - 1e-12) & (weights <= 1))


def test_without_exponents_weighted_cap_is_cap():
    weights = co.ProductWeights((co.CoherenceWeights(0.0), co.ConsensusWeights(0.0)))
    result = co.aggregate(PANEL, "exact", weights=weights)
    np.testing.assert_array_equal(result.solution.value, co.aggregate(PANEL, "exact").solution.value)
    expected = (
        "Judges are weighted by their coherence (beta 0) and by their agreement with the panel's means (gamma 0)."
    )
    assert result.note == expected


def test_history_weights_are_inverse_to_shrunken_brier_scores():
    past = co.Panel.from_records(PAST, outcomes={"a": 1, "b": 0})
    average = (0.01 + 0.04 + 0.36 + 0.49) / 4
    weights = co.HistoryWeights(past, shrink=3, power=2)
    alice, bob = ((total + 3 * average) / 5 for total in (0.05, 0.85))
    np.testing.assert_allclose(weights(PANEL), [(average / alice) ** 2, (average / bob) ** 2, 1.0])
    assert weights.describe(PANEL) == (
        "by their past Brier scores (Chris has no history and counts as an average judge)"
    )


def test_a_history_without_errors_tells_nobody_apart():
    past = co.Panel.from_records([("Alice", "a", 1.0), ("Bob", "a", 1.0)], outcomes={"a": 1})
    np.testing.assert_array_equal(co.HistoryWeights(past)(PANEL), [1.0, 1.0, 1.0])


def test_a_history_may_be_a_file(tmp_path):
    file = tmp_path / "past.csv"
    file.write_text("judge,event,probability,outcome\nAlice,a,0.9,1\nBob,a,0.4,1\n")
    assert np.all(np.diff(co.HistoryWeights(file)(PANEL)[[1, 2, 0]]) > 0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: co.CoherenceWeights(-1), "beta is -1; it must be a number of 0 or more"),
        (lambda: co.ConsensusWeights(math.nan), "gamma is nan"),
        (lambda: co.HistoryWeights(PANEL), "the history has no outcomes: add a column 'outcome'"),
        (lambda: co.HistoryWeights(co.Panel.from_records(PAST, outcomes={"a": 1}), shrink=0), "shrink is 0"),
        (lambda: co.ProductWeights(co.EqualWeights()), "a tuple of weightings"),
        (
            lambda: co.HistoryWeights(co.Panel.from_records(PAST, outcomes={"a": 1}))(
                co.Panel.from_records([("Eve", "p", 0.5)])
            ),
            "no judge of the panel is in the history, whose judges are Alice, Bob, Dora",
        ),
    ],
)
def test_what_cannot_be_weighed_is_refused(make, message):
    with pytest.raises(co.CoherentlyError) as caught:
        make()
    assert message in str(caught.value)


@given(panels(), st.lists(st.floats(0.1, 10), min_size=2, max_size=2))
def test_weighted_panels_aggregate_as_columns_of_weights_do(panel, factors):
    weights = np.array(factors[: len(panel.judges)])
    result = co.aggregate(panel, "dykstra", weights=lambda _: weights)
    assert result.problem.merged.weight.sum() == pytest.approx((weights[panel.judge_index] * panel.weight).sum())
