"""Panels put together, without judges, and their events one by one."""

import pickle

import numpy as np
import pytest

import coherently as co

ONE = [("Ann", "p", 0.7), ("Ann", "p & q", 0.4), ("Bob", "p", 0.6)]
TWO = [("Bob", "q", 0.5), ("Cem", "q & p", 0.3)]


def test_two_panels_have_all_forecasts_of_both():
    one = co.Panel.from_records(ONE, laws=["variable r: a, b"], labels={"p": "the first"}, outcomes={"p": True})
    two = co.Panel.from_records([*TWO, ("Cem", "r = a", 0.2)], laws=["variable r: a, b", "q -> p"])
    both = one | two
    whole = co.Panel.from_records(
        [*ONE, *TWO, ("Cem", "r = a", 0.2)],
        laws=["variable r: a, b", "q -> p"],
        labels={"p": "the first"},
        outcomes={"p": True},
    )
    assert both == whole
    assert co.aggregate(both) == co.aggregate(whole)
    assert both.judges == ("Ann", "Bob", "Cem")


def test_weights_quotes_and_times_are_kept():
    first = {"judge": "A", "event": "p", "probability": 0.4, "weight": 2.0, "time": 1.0}
    second = {"judge": "B", "event": "q", "probability": 0.5, "lower": 0.4, "upper": 0.6, "time": 3.0}
    one, two = (co.Panel.from_records([row]) for row in (first, second))
    for both, order in ((one | two, [0, 1]), (two | one, [1, 0])):
        assert both.weight[order].tolist() == [2.0, 1.0]
        np.testing.assert_array_equal(both.lower[order], [np.nan, 0.4])
        assert both.time[order].tolist() == [1.0, 3.0]
    with pytest.raises(co.PanelError, match="one panel has times, the other has none"):
        one | co.Panel.from_records(TWO)


def test_what_contradicts_itself_is_refused():
    labelled = [co.Panel.from_records(ONE, labels={"p": label}) for label in ("this", "that")]
    with pytest.raises(co.PanelError, match="the label of 'p' is 'this' in one panel and 'that' in the other"):
        labelled[0] | labelled[1]
    came = [co.Panel.from_records(ONE, outcomes={"p": value}) for value in (True, False)]
    with pytest.raises(co.PanelError, match="the outcome of 'p' is True in one panel and False in the other"):
        came[0] | came[1]
    with pytest.raises(TypeError):
        came[0] | 3


def test_names_beside_formulas_stay_names():
    plain = co.Panel.from_records([("Ann", "p & q?", 0.3), ("Ann", "r", 0.2)], plain_events=True)
    both = plain | co.Panel.from_records(ONE)
    assert list(both.written.text) == ['"p & q?"', "r", "p", "p & q"]
    assert (plain | plain.drop_judges([])).written.text == plain.written.text


def test_judges_are_left_out():
    panel = co.Panel.from_records([*ONE, *TWO])
    kept = panel.drop_judges(["Ann", "Cem"])
    assert kept == co.Panel.from_records([ONE[2], TWO[0]])
    with pytest.raises(co.PanelError, match=r"unknown judge 'Anne' \(did you mean 'Ann'\?\)"):
        panel.drop_judges("Anne")
    with pytest.raises(co.PanelError, match="no forecast is left: every judge would be left out"):
        panel.drop_judges(panel.judges)


def test_events_are_given_one_by_one():
    panel = co.Panel.from_records(ONE, laws=["p -> q | r"], outcomes={"q": True})
    assert list(iter(panel.events)) == ["p", "p & q", "q"]
    assert "q and p" in panel.events
    assert "~p" in panel.events
    assert "r & p" not in panel.events
    assert "p &" not in panel.events
    assert list(pickle.loads(pickle.dumps(panel)).events) == list(panel.events)
    plain = co.Panel.from_records([("Ann", "p & q", 0.3)], plain_events=True)
    assert list(plain.events) == ["p & q"]
