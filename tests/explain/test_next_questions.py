"""What to ask next, against brute force over all worlds."""

import re
import threading

import numpy as np
import pytest

import coherently as co
from tests.explain import question_checks
from tests.explain.question_checks import NAMES, ends, expected_gain, truth, width


def test_the_gain_about_one_event_is_the_mean_loss_of_width():
    assert question_checks.check_widths(1, 10) < 2e-4


def test_asking_again_removes_what_leaving_the_event_out_removes():
    assert question_checks.check_contradictions(2, 25) < 1e-5


def test_the_gain_about_all_is_the_sum_over_the_candidates():
    panel = co.Panel.from_records([("x", "a", 0.3), ("x", "b", 0.4), ("x", "c", 0.5)])
    candidates = ["a & b", "b & c", "a & b & c", "exactly(1; a, b, c)"]
    found = co.ask_next(panel, 10, candidates=candidates)
    rows, values = truth([*NAMES, *candidates]), np.array([0.3, 0.4, 0.5])
    known, places = rows[:3], rows[3:]
    widths = [width(known, values, place) for place in places]
    assert found.open == pytest.approx(sum(widths), abs=1e-6)
    for i, text in enumerate(candidates):
        others = [expected_gain(known, values, places[i], places[j]) for j in range(len(places)) if j != i]
        told = next(one for one in found.questions if one.event == text)
        assert told.gain == pytest.approx(widths[i] + sum(others), abs=1e-4)
        assert (told.low, told.high) == pytest.approx(tuple(ends(known, values, places[i])), abs=1e-6)


def test_another_answer_removes_no_more_than_is_told_and_the_best_one_all_of_it():
    rows = {"a": 0.3, "b": 0.4, "a & b": 0.7, "a | b": 0.5}
    panel = co.Panel.from_records([("x", text, value) for text, value in rows.items()])
    found = co.ask_next(panel, about="contradictions")
    best = found.questions[0]
    left = []
    for other in np.linspace(0, 1, 101):
        changed = co.Panel.from_records([("x", text, value) for text, value in {**rows, best.event: other}.items()])
        left.append(co.check(changed).means.distance ** 2)
    assert min(left) == pytest.approx(found.open - best.gain, abs=2e-3)
    assert min(left) >= found.open - best.gain - 1e-6


def test_what_nothing_ties_to_the_target_says_nothing_of_it():
    panel = co.Panel.from_records([("x", "a", 0.3), ("x", "b", 0.4), ("x", "d", 0.4), ("x", "e", 0.1)])
    found = co.ask_next(panel, about="a & b", candidates=["d & e", "a ^ b", "b | a", "true", "a & ~a"])
    assert [(one.event, round(one.gain, 6)) for one in found.questions] == [("a ^ b", 0.3), ("b | a", 0.3)]


def test_forecasts_of_the_target_are_set_aside_and_its_complement_is_the_same_question():
    panel = co.Panel.from_records([("x", "a", 0.3), ("x", "b", 0.4), ("x", "~(a & b)", 0.9)], labels={"a": "Alarm"})
    assert co.ask_next(panel, about="b & a", candidates=["a | b"]).questions[0].gain == pytest.approx(0.3)
    with pytest.raises(co.PanelError, match="nobody forecast anything but 'a'"):
        co.ask_next(panel.select(panel.event_index == 0), about="Alarm")


def test_the_panel_suggests_variables_and_pairs_that_are_not_forecast():
    panel = co.Panel.from_records(
        [("x", "a | b", 0.7), ("x", "a", 0.4), ("x", "w = u", 0.4)], laws=["variable w: u, v, t"]
    )
    found = co.ask_next(panel, 10)
    assert {one.event for one in found.questions} == {"b", "a & b"}
    many = co.Panel.from_records([("x", " | ".join(f"v{i}" for i in range(8)), 0.7)])
    noted = co.ask_next(many, 3, time_limit=20.0)
    assert len(noted.questions) == 3
    assert noted.notes == ("only the first 24 of 36 candidates were looked at; name others as candidates",)


def test_bad_questions_are_refused_in_words():
    panel = co.Panel.from_records([("x", "a", 0.3), ("x", "b", 0.4)])
    for arguments, said in (
        ({"about": "a given c"}, "'a given c': the panel leaves the probability of the condition open (0.00 to 1.00)"),
        (
            {"candidates": ["b given a & b"]},
            "open (0.00 to 0.30), and with it what an answer says of other events: ask",
        ),
        ({"candidates": ["a &"]}, "'a &': expected an event after '&'"),
        ({"k": 0}, "k is 0; ask for at least one event"),
        ({"time_limit": -1}, "time_limit is -1"),
    ):
        with pytest.raises(co.CoherentlyError, match=re.escape(said)):
            co.ask_next(panel, **arguments)
    with pytest.raises(co.PanelError, match="ask_next takes a Panel, not a list"):
        co.ask_next([])


def test_an_impossible_condition_is_refused():
    panel = co.Panel.from_records([("x", "a", 0.0), ("x", "b", 0.4)])
    with pytest.raises(co.EventError, match="the answer of the panel makes the condition impossible") as told:
        co.ask_next(panel, candidates=["b given a"])
    assert told.value.code == "conditional-question"


def test_a_conditional_says_as_much_as_its_event_and_its_own_forecasts_are_set_aside():
    panel = co.Panel.from_records([("x", "a", 0.3), ("x", "b", 0.4), ("x", "a given b", 0.5)])
    found = co.ask_next(panel, about="~a given b", candidates=["a & b", "a | b"])
    assert found.open == pytest.approx(0.75, abs=1e-5)
    assert [one.gain for one in found.questions] == pytest.approx([0.75, 0.75], abs=1e-5)
    apart = co.ask_next(panel.without("a given b"), candidates=["a given b", "a & b", "~a given b"])
    assert {one.event: round(one.gain, 4) for one in apart.questions} == {"a given b": 1.05, "a & b": 1.05}


def test_a_stop_leaves_out_what_was_not_proved_and_says_so():
    panel = co.Panel.from_records([("x", "a", 0.3), ("x", "b", 0.4)])
    stop = threading.Event()
    stop.set()
    found = co.ask_next(panel, about="a & b", candidates=["a | b"], cancel=stop)
    assert not found.questions
    assert "not proved in time" in found.notes[0]


def test_the_target_may_be_a_candidate_in_other_words():
    panel = co.Panel.from_records([("Ann", "p", 0.3), ("Ann", "q", 0.4)])
    found = co.ask_next(panel, about="q & p", candidates=["p & q", "p & q & r"])
    alone = co.ask_next(panel, about="q & p", candidates=["p & q & r"])
    assert found.open == pytest.approx(0.3)
    assert found == alone


def test_ranges_that_leave_out_a_conditional_say_so():
    told = "forecasts conditional on events that are impossible in the answer are left out"
    rows = [("A", "a given h", 0.9), ("A", "b given h", 0.9), ("A", "a & b given h", 0.1), ("A", "c", 0.4)]
    panel = co.Panel.from_records(rows)
    bounds = co.aggregate(panel, "exact").bounds("~h")
    assert bounds.note.startswith(told)
    found = co.ask_next(panel, candidates=["~h", "c & d"])
    first = next(one for one in found.questions if one.event == "~h")
    assert (first.low, first.high) == tuple(bounds)
    assert [note.startswith(told) for note in found.notes] == [True]
    assert co.ask_next(panel, about="c & d", candidates=["d"]).notes == ()
