"""Options mean the same in every call: they reach the method, weights are those of the weighted panel, stops stop."""

import threading

import numpy as np
import pytest

import coherently as co

ROWS = [
    ("Ann", "p", 0.2), ("Ann", "q", 0.3), ("Ann", "p & q", 0.5), ("Bob", "p", 0.7), ("Bob", "q", 0.1),
    ("Bob", "p | q", 0.6),    ("Cid", "r", 0.4), ("Cid", "p & r", 0.6),
]  # fmt: skip
PANEL = co.Panel.from_records(ROWS)
RESOLVED = co.Panel.from_records(ROWS, outcomes={"p": 1, "q": 0, "r": 1})
HARD = co.simulate(judges=40, variables=40, seed=1)
WEIGHTS = {"Ann": 1, "Bob": 4, "Cid": 2}
OVER = threading.Event()
OVER.set()


@pytest.mark.parametrize(
    "method", ["auto", "exact", co.Exact(), "recipe", co.Recipe("median"), co.Pool("log", then=co.Exact())]
)
def test_options_reach_the_method_or_the_one_that_follows(method):
    result = co.aggregate(PANEL, method, time_limit=5, tolerance=1e-3, seed=7)
    used = getattr(result.method, "then", result.method)
    assert (used.time_limit, used.tolerance, used.seed) == (5, 1e-3, 7)
    assert type(co.aggregate(PANEL, method).method) is type(result.method)


def test_a_method_refuses_options_that_it_does_not_have():
    for call in (co.aggregate, co.individual):
        for method in ("linear", co.LinearAverage(), co.Recipe(then=None)):
            with pytest.raises(co.MethodError, match=r"has no option tolerance; .* exact") as caught:
                call(PANEL, method, tolerance=1e-3)
            assert caught.value.code == "unknown-option"


def test_over_is_that_of_lindley():
    covariance = {event: 0.01 * (i + 1) for i, event in enumerate(PANEL.written.text)}
    asked = co.aggregate(PANEL, co.Lindley(covariance=covariance, over="events"))
    same = co.aggregate(PANEL, co.Lindley(covariance=covariance), over="events")
    assert asked.columns()["probability"].tolist() == same.columns()["probability"].tolist()


def test_weights_mean_the_weighted_panel_in_every_call():
    heavy = co.weighted(PANEL, WEIGHTS)
    assert co.check(PANEL, weights=WEIGHTS).distance == co.check(heavy).distance != co.check(PANEL).distance
    assert co.dutch_book(PANEL, weights=WEIGHTS).stakes == co.dutch_book(heavy).stakes
    resolved = co.weighted(RESOLVED, WEIGHTS)
    mine, theirs = co.compare(RESOLVED, weights=WEIGHTS), co.compare(resolved)
    assert np.array_equal(mine.value, theirs.value)
    note = heavy.notes[-1]
    assert note in co.check(PANEL, weights=WEIGHTS).notes
    assert note in co.dutch_book(PANEL, weights=WEIGHTS).notes
    assert note in mine.notes


def test_intervals_of_a_comparison_are_over_what_was_asked():
    panel = co.simulate(judges=8, variables=12, seed=2)
    for over in ("judges", "events", "both"):
        found = co.compare(panel, over=over)
        assert found.frame().equals(found.frame(over))
        assert found.difference("Raw", "Linear average").over == over
    with pytest.raises(co.MethodError, match="over is 'days'"):
        co.compare(panel, over="days")


def test_a_stop_before_the_start_ends_every_call_with_what_there_is():
    assert co.aggregate(HARD, "exact", cancel=OVER).status == "interrupted"
    assert len(co.individual(HARD, cancel=OVER)) == len(HARD)
    found = co.compare(RESOLVED, cancel=OVER)
    assert found.interrupted
    assert any("interrupted" in note for note in found.notes)
    scores = co.consistency(HARD, cancel=OVER)
    assert any("only upper bounds" in note for note in scores.notes)
    bounds = co.aggregate(HARD, co.Exact(time_limit=0.0)).bounds("v0 & v3 & v5 & v7", cancel=OVER)
    assert not bounds.certified
    tuned = co.tune(co.simulate(judges=8, variables=40, compound=0, basic=20, seed=3), cancel=OVER)
    assert tuned.scores.interrupted
    assert any("stopped" in note for note in tuned.scores.notes)


def test_draws_of_a_comparison_end_when_somebody_stops_them():
    stop = threading.Event()

    def tell(done):
        if done > 0.1:
            stop.set()

    found = co.compare(RESOLVED, remake=True, bootstrap=200, threads=1, progress=tell, cancel=stop)
    assert found.interrupted
    assert 0 < found.resamples < 200


def test_progress_is_told_fractions_that_rise_to_the_end():
    for call in (
        lambda tell: co.individual(HARD, "exact", time_limit=0.2, progress=tell),
        lambda tell: co.consistency(PANEL, progress=tell),
        lambda tell: co.dutch_book(HARD, time_limit=0.2, progress=tell),
    ):
        told = []
        call(told.append)
        assert told
        assert all(0 <= share <= 1 for share in told)
