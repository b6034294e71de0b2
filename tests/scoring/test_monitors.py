"""Monitors: evidence that cannot look ahead, alarms that are rarely false, and what the public value promises."""

import itertools
import math

import numpy as np
import pytest

import coherently as co
from coherently.scoring.bet_capital import (
    LARGEST_BET,
    alarm_capital,
    mean_capital,
    mean_sequence,
    sequence_bets,
    upper_limit,
)
from coherently.scoring.tuple_distances import JointDistance
from tests.scoring.monitor_checks import KINDS, TOLERANCE, alarms, draw, estimated_alarms, missed

STREAMS = 1_500


@pytest.mark.parametrize("kind", KINDS)
def test_drawn_streams_have_the_mean_that_they_should(kind):
    x = draw(np.random.default_rng(0), kind, TOLERANCE, (2_000, 100))
    np.testing.assert_allclose(x.mean(), TOLERANCE, rtol=0.03)


@pytest.mark.parametrize("kind", KINDS)
def test_false_alarms_are_rare_over_all_time(kind):
    # 5% are allowed; among 1,500 streams at most 6.9% can be seen, but for a chance of 1 in 2,000.
    assert alarms(1, STREAMS, 400, kind=kind)[0] <= 0.069


def test_a_bet_that_sees_its_value_would_not_pass():
    """The check can fail: with bets that look ahead by one value most streams raise an alarm."""
    x = draw(np.random.default_rng(1), "gamma", TOLERANCE, (200, 400))
    seen = np.where(x > TOLERANCE, LARGEST_BET / TOLERANCE, 0.0)
    capital = np.cumsum(np.log1p(seen * (x - TOLERANCE)), axis=1)
    assert (capital >= math.log(20)).any(axis=1).mean() > 0.5


def test_the_mean_of_the_capital_is_at_most_one_exactly():
    """Over all sequences of two values: every bet must be fixed before its value, and lose nothing in the mean."""
    for low, high, tolerance in ((0.0, 1.0, 0.3), (0.1, 0.9, 0.4), (0.0, 0.5, 0.05)):
        chance = (tolerance - low) / (high - low)
        every = np.array(list(itertools.product((low, high), repeat=10)))
        weight = np.prod(np.where(every == high, chance, 1 - chance), axis=1)
        capital = alarm_capital(every, tolerance)
        np.testing.assert_allclose(weight @ capital, 1.0, atol=1e-12)
        assert (capital > 0).all()
        # What is bet on a value follows from those before it: streams that share their beginning share the evidence.
        for t in (1, 4, 9):
            same = (every[:, :t] == every[0, :t]).all(axis=1)
            assert np.ptp(capital[same, t - 1]) == 0


def test_alarms_come_soon_after_a_rise():
    share, delay = alarms(2, STREAMS, 300, factor=2.0)
    assert share > 0.99
    assert delay < 80
    share, delay = alarms(3, STREAMS, 600, factor=2.0, change=300)
    assert share > 0.98
    assert 0 < delay < 120


def test_an_estimated_tolerance_keeps_the_promise():
    assert estimated_alarms(4, 300, 250, first=50, most=0.2) <= 0.09


@pytest.mark.parametrize("kind", KINDS)
def test_confidence_sequences_cover_at_all_times(kind):
    assert missed(5, STREAMS, 400, kind=kind) <= 0.069
    assert missed(6, STREAMS, 200, kind=kind, mean=0.3 if kind != "dependent" else 0.04) <= 0.069


def test_the_ends_are_where_the_capital_reaches_its_limit():
    x = draw(np.random.default_rng(7), "gamma", 0.1, (120,))
    found, bets = mean_sequence(x, 0.1), sequence_bets(x, 0.1)
    points = np.linspace(0.0, 1.0, 4_001)
    over = {}
    for above in (True, False):
        capital = mean_capital(np.tile(x, (len(points), 1)), np.tile(bets, (len(points), 1)), points, above=above)
        over[above] = np.maximum.accumulate(capital, axis=1) >= math.log(2 / 0.1)
    for t in (0, 10, 50, 119):
        left = points[~over[True][:, t] & ~over[False][:, t]]
        assert found.low[t] <= left[0]
        assert found.high[t] >= left[-1]
        step = 2.5e-4 + 2e-3 * math.sqrt(left[0]), 2.5e-4 + 2.2e-3 * math.sqrt(left[-1])
        assert left[0] - found.low[t] <= step[0]
        assert found.high[t] - left[-1] <= step[1]
    assert upper_limit(np.empty(0), 0.05) == 1.0


def test_evidence_does_not_change_when_more_is_seen():
    x = draw(np.random.default_rng(8), "gamma", 0.03, (60,)).tolist()
    parts = co.monitor(x[:20], tolerance=0.02).after(x[20:45]).after(x[45:])
    whole = co.monitor(x, tolerance=0.02)
    assert parts == whole
    np.testing.assert_array_equal(co.monitor(x[:20], tolerance=0.02).e_value, whole.e_value[:20])


def test_distances_of_panels_are_those_of_consistency():
    sets = [co.Panel.from_records([("m", "p", p), ("m", "~p", 0.6), ("m", "p & q", 0.3)]) for p in (0.4, 0.5, 0.9)]
    watched = co.monitor({f"day {i}": one for i, one in enumerate(sets)}, tolerance=0.05)
    expected = [co.consistency(one).judge_columns()["joint_per_answer"][0] for one in sets]
    np.testing.assert_allclose(watched.distance, expected, atol=1e-12)
    assert watched.names == ("day 0", "day 1", "day 2")
    two = co.Panel.from_records([("m", "p", 0.4), ("n", "p", 0.5), ("n", "~p", 0.6)])
    with pytest.raises(co.PanelError, match="answers of 2 judges"):
        co.monitor([two], tolerance=0.1)
    assert co.monitor([two], tolerance=0.1, judge="n").distance[0] > 0


def test_the_first_sets_give_the_tolerance_and_are_not_watched():
    calm = [0.01, 0.02, 0.03, 0.02] * 30
    watched = co.monitor(calm + [0.12] * 40, first=100, most=0.2)
    assert watched.first == 100
    assert watched.threshold == 40
    assert (watched.e_value[:100] == 1).all()
    assert 0.02 < watched.tolerance == 0.2 * upper_limit(np.array(calm[:100]) / 0.2, 0.025) < 0.05
    assert watched.alarm is not None
    assert int(watched.alarm) > 120
    assert "Alarm at" in watched.sentence
    assert co.Monitor.from_json(watched.to_json()) == watched


@pytest.mark.parametrize(
    ("sets", "options", "words"),
    [
        ([0.1], {}, "either tolerance or first"),
        ([0.1], {"tolerance": 0.1, "first": 1}, "either tolerance or first"),
        ([0.1], {"tolerance": 2.0}, "below most"),
        ([0.1], {"tolerance": 0.1, "alpha": 0}, "alpha is 0"),
        ([0.1], {"tolerance": 0.1, "most": -1}, "most is -1"),
        ([0.1], {"first": 3}, "there are 1"),
        ([1.0, 2.0], {"first": 2}, "cannot bound the mean"),
        ([-0.1], {"tolerance": 0.1}, "found -0.1"),
        ([float("nan")], {"tolerance": 0.1}, "found nan"),
        (["x"], {"tolerance": 0.1}, "found 'x'"),
        ("file.csv", {"tolerance": 0.1}, "sets must be a list"),
    ],
)
def test_what_cannot_be_watched(sets, options, words):
    with pytest.raises(co.CoherentlyError, match=words):
        co.monitor(sets, **options)


def test_a_set_counts_once():
    with pytest.raises(co.PanelError, match="there twice: a"):
        co.monitor({"a": 0.1}, tolerance=0.2).after({"a": 0.1})


def test_large_distances_are_cut_and_said():
    watched = co.monitor([0.5, 3.0], tolerance=0.2)
    assert watched.distance.tolist() == [0.5, 3.0]
    assert watched == co.monitor([0.5, 3.0], tolerance=0.2, most=1.0)
    assert "count as 1: 2" in watched.notes[0]
    np.testing.assert_array_equal(watched.e_value, co.monitor([0.5, 1.0], tolerance=0.2).e_value)


def test_bets_of_confidence_sequences_are_made_before_their_value_is_seen():
    x = draw(np.random.default_rng(9), "gamma", 0.1, (40,))
    for t in (0, 7, 39):
        other = x.copy()
        other[t:] = 1.0 - other[t:]
        np.testing.assert_array_equal(sequence_bets(other, 0.05)[: t + 1], sequence_bets(x, 0.05)[: t + 1])


def test_the_upper_limit_has_its_level():
    x = draw(np.random.default_rng(10), "gamma", 0.1, (60,))
    bets, points = sequence_bets(x, 0.04), np.linspace(0.0, 1.0, 20_001)
    capital = mean_capital(np.tile(x, (len(points), 1)), np.tile(bets, (len(points), 1)), points, above=False)
    expected = points[np.argmax(capital.max(axis=1) >= math.log(1 / 0.02))]
    assert expected - 1e-4 <= upper_limit(x, 0.02) <= expected + 2.2e-3


def test_a_distance_that_is_not_finished_counts_by_its_bound(monkeypatch):
    late = JointDistance(3.0, 1.0, np.zeros(2), is_finished=False)
    monkeypatch.setattr("coherently.scoring.monitors.joint_distance", lambda *_: late)
    panel = co.Panel.from_records([("m", "p", 0.4), ("m", "~p", 0.7)])
    watched = co.monitor([panel], tolerance=0.1)
    assert watched.distance.tolist() == [0.5]
    assert "count by proved lower bounds: 1" in watched.notes[0]
