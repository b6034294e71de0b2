"""What to ask next, against brute force over all worlds: other programs, another integral, another least square."""

import threading
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, nnls

import coherently as co

NAMES = ("a", "b", "c")
EVENTS = ("a", "b", "c", "a & b", "b | c", "a -> c", "a ^ b", "a & b & c", "~b & c", "exactly(1; a, b, c)")
LAWS = ((), ("a -> b",), ("~(a & b)",), ("a | b | c",))


def truth(texts, laws=()):
    """The truth of texts, one row each, in every world of three variables that obeys the laws."""
    panel = co.Panel.from_records([("x", text, 0.5) for text in (*texts, *laws, *NAMES)])
    events = panel.events
    order = [events.variables.index(name) for name in NAMES]
    worlds = np.zeros((8, 3), bool)
    worlds[:, order] = list(product((False, True), repeat=3))
    sides = events.find([*texts, *laws]).event
    held = events.evaluate(sides, worlds)
    return held[held[:, len(texts) :].all(axis=1), : len(texts)].T.astype(float)


def ends(rows, values, aim, extra=()):
    """The least and the greatest of an event over all distributions with these probabilities."""
    matrix = np.vstack([rows, np.ones(rows.shape[1]), *[row for row, _ in extra]])
    right = np.array([*values, 1.0, *[value for _, value in extra]])
    found = []
    for sign in (1, -1):
        done = linprog(sign * aim, A_eq=matrix, b_eq=right, bounds=(0, None), method="highs-ds")
        if done.status != 0:
            return None
        found.append(sign * done.fun)
    return found


def width(rows, values, aim, extra=()):
    found = ends(rows, values, aim, extra)
    return 0.0 if found is None else max(0.0, found[1] - found[0])


def integral(function, low, high, at_low, at_high, depth=0):
    """Of a concave function that is linear in pieces: where the middle lies on the chord, all of it does."""
    middle = 0.5 * (low + high)
    value = function(middle)
    if abs(value - 0.5 * (at_low + at_high)) < 1e-9 or depth > 12:
        return (high - low) * (at_low + 2 * value + at_high) / 4
    return integral(function, low, middle, at_low, value, depth + 1) + integral(
        function, middle, high, value, at_high, depth + 1
    )


def expected_gain(rows, values, candidate, target):
    low, high = ends(rows, values, candidate)
    if high - low < 1e-5:
        return None
    inside = 1e-7 * (high - low)  # at the ends themselves a program may be infeasible by rounding

    def section(c):
        return width(rows, values, target, [(candidate, c)])

    a, b = low + inside, high - inside
    mean = integral(section, a, b, section(a), section(b)) / (b - a)
    return width(rows, values, target) - mean


def drawn(data):
    laws = data.draw(st.sampled_from(LAWS))
    asked = data.draw(st.lists(st.sampled_from(EVENTS), min_size=1, max_size=4, unique=True))
    rows = [("x", text, data.draw(st.integers(1, 19)) / 20) for text in asked]
    return co.Panel.from_records(rows, laws=list(laws)), asked, laws


def answer(panel, asked):
    result = co.aggregate(panel, "exact", tolerance=1e-12)
    return np.array([result.probability(text) for text in asked])


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_the_gain_about_one_event_is_the_mean_loss_of_width(data):
    panel, asked, laws = drawn(data)
    others = [text for text in EVENTS if text not in asked]
    target, *candidates = data.draw(st.permutations(others))[:4]
    found = co.ask_next(panel, 10, about=target, candidates=candidates)
    values, rows = answer(panel, asked), truth([*asked, target, *candidates], laws)
    known, aim, places = rows[: len(asked)], rows[len(asked)], rows[len(asked) + 1 :]
    assert found.open == pytest.approx(width(known, values, aim), abs=1e-5)
    gains = {one.event: one.gain for one in found.questions}
    for text, place in zip(candidates, places, strict=True):
        expected = expected_gain(known, values, place, aim)
        if expected is not None and not (place == aim).all() and not (place == 1 - aim).all():
            assert gains.get(text, 0.0) == pytest.approx(expected, abs=2e-4), text
    assert [one.gain for one in found.questions] == sorted(gains.values(), reverse=True)


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


def least_square(rows, values):
    """The squared distance from the nearest coherent numbers, over all worlds."""
    if not len(values):
        return 0.0
    heavy = 1e4
    matrix = np.vstack([rows, np.full(rows.shape[1], heavy)])
    return nnls(matrix, np.append(values, heavy))[1] ** 2


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_asking_again_removes_what_leaving_the_event_out_removes(data):
    laws = data.draw(st.sampled_from(LAWS))
    asked = data.draw(st.lists(st.sampled_from((*EVENTS, "~a", "~(b | c)")), min_size=2, max_size=6, unique=True))
    values = np.array([data.draw(st.integers(0, 10)) / 10 for _ in asked])
    panel = co.Panel.from_records(
        [(judge, text, value) for judge in "xy" for text, value in zip(asked, values, strict=True)], laws=list(laws)
    )
    found = co.ask_next(panel, 20, about="contradictions")
    rows = truth(asked, laws)
    whole = least_square(rows, values)
    assert found.open == pytest.approx(whole, abs=1e-5)
    gains = {one.event: one.gain for one in found.questions}
    for i, text in enumerate(asked):
        rest = np.delete(np.arange(len(asked)), i)
        assert gains.get(text, 0.0) == pytest.approx(whole - least_square(rows[rest], values[rest]), abs=1e-5)


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
        ({"about": "a given b"}, "'a given b' is a conditional; ask_next is about events"),
        ({"candidates": ["a &"]}, "'a &': expected an event after '&'"),
        ({"k": 0}, "k is 0; ask for at least one event"),
        ({"time_limit": -1}, "time_limit is -1"),
    ):
        with pytest.raises(co.CoherentlyError, match=said.replace("(", r"\(")):
            co.ask_next(panel, **arguments)
    with pytest.raises(co.PanelError, match="ask_next takes a Panel, not a list"):
        co.ask_next([])


def test_a_stop_leaves_out_what_was_not_proved_and_says_so():
    panel = co.Panel.from_records([("x", "a", 0.3), ("x", "b", 0.4)])
    stop = threading.Event()
    stop.set()
    found = co.ask_next(panel, about="a & b", candidates=["a | b"], cancel=stop)
    assert not found.questions
    assert "not proved in time" in found.notes[0]
