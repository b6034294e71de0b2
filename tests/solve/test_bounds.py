"""The intervals that results imply for events, against linear programs over all worlds."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import coherently as co
from coherently.problem import pose
from tests.panels import TABLE_2
from tests.solve.reference import every_world, formulas, panels, truth
from tests.truth import holds
from tests.whole.language_checks import check_bounds, random_case, text

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def by_enumeration(panel, result, event):
    """The least and the greatest probability over all distributions that agree with the result."""
    names = [*panel.events.variables, *(f"new{i}" for i in range(2))]
    count = len(names) - 2
    worlds = (np.arange(2 ** len(names))[:, None] >> np.arange(len(names)) & 1).astype(bool)
    merged = result.problem.merged
    known = merged.weight > 0
    rows = panel.events.evaluate(merged.event[known], worlds[:, :count]).astype(float)
    mixture = list(result.worlds)
    places = [[world.get(name, False) for name in panel.events.variables] for _, world in mixture]
    probability = [weight for weight, _ in mixture] @ panel.events.evaluate(merged.event[known], np.array(places))
    table = co.Panel.from_records([("A", name, 0.5) for name in names]).events
    side = table.add([event]).event
    cost = table.evaluate(side, worlds).ravel().astype(float)
    equal = np.vstack([rows.T, np.ones(len(worlds))])
    ends = []
    for sign in (1.0, -1.0):
        answer = linprog(sign * cost, A_eq=equal, b_eq=np.append(probability, 1.0), method="highs", options=TIGHT)
        assert answer.status == 0, answer.message
        ends.append(sign * answer.fun)
    return ends


@given(panel=st.one_of(panels(most=2), panels("some zero", most=3)), data=st.data())
@settings(max_examples=150)
def test_bounds_are_those_over_all_worlds(panel, data):
    result = co.aggregate(panel, "exact")
    event = data.draw(formulas([*panel.events.variables, "new0", "new1"], 4))
    before = panel.events.variables
    found = result.bounds(event)
    assert found.certified
    np.testing.assert_allclose(found, by_enumeration(panel, result, event), rtol=0, atol=1e-6)
    assert 0 <= found.low <= found.high <= 1
    assert panel.events.variables == before
    again = co.Result.from_json(result.to_json()).bounds(event)
    np.testing.assert_allclose(again, found, rtol=0, atol=2e-7)


@given(panel=panels("hundred"), data=st.data())
@settings(max_examples=50)
def test_bounds_of_any_mixture_are_those_over_all_worlds(panel, data):
    result = co.aggregate(panel, co.Annealing(columns=9, steps=20))
    event = data.draw(formulas(panel.events.variables, 3))
    np.testing.assert_allclose(result.bounds(event), by_enumeration(panel, result, event), rtol=0, atol=1e-6)


@pytest.mark.parametrize("loss", ["log", "spherical"])
@given(panel=panels("hundred"), data=st.data())
@settings(max_examples=25)
def test_bounds_under_other_losses_are_those_over_all_worlds(loss, panel, data):
    result = co.aggregate(panel, "exact", loss)
    event = data.draw(formulas(panel.events.variables, 3))
    np.testing.assert_allclose(result.bounds(event), by_enumeration(panel, result, event), rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_bounds_in_the_whole_language_are_those_over_all_worlds(seed):
    """Laws, pins, intervals, conditionals and declared variables, all events forecast or but one."""
    rng = random.Random(seed)
    case = random_case(rng)
    del case.rows[rng.choice((1, 9)) :]
    loss = rng.choice(("brier", "brier", "log", "spherical"))
    form = "called_off" if loss != "brier" else rng.choice(("called_off", "called_off", "linearised"))
    result = co.aggregate(case.panel(), co.Exact(conditionals=form), loss)
    again = co.Result.from_json(result.to_json())
    plain = [row["event"] for row in case.rows if " given " not in row["event"]]
    given = [row["event"] for row in case.rows if " given " in row["event"]]
    names = list(case.domains)
    others = [f"({text(rng, names, 2)}) given {text(rng, names, 2)}" for _ in range(2)]
    possible = [event for event in others if case.truth(event)[1].any()]
    for event in (*plain[:1], *given[:1], *(text(rng, names, 2) for _ in range(2)), *possible):
        check_bounds(case, result, event)
        found, other = result.bounds(event), again.bounds(event)
        np.testing.assert_allclose(found, other, rtol=0, atol=2e-7)
        assert (found.certified, found.note) == (other.certified, other.note)


@given(panel=panels("hundred"))
@settings(max_examples=30)
def test_forecast_events_have_their_probabilities(panel):
    result = co.aggregate(panel, "exact")
    for event in panel.written.text:
        np.testing.assert_allclose(result.bounds(event), [result.probability(event)] * 2, rtol=0, atol=2e-7)


@given(panel=panels(most=3))
@settings(max_examples=50)
def test_truth_of_coordinates_is_that_of_their_events(panel):
    merged = pose(panel).merged
    worlds = every_world(panel)[:, merged.origin]
    np.testing.assert_array_equal(holds(merged, worlds), truth(panel, merged.event).astype(bool))


def test_truth_of_large_cardinalities():
    names = [f"v{i}" for i in range(90)]
    mixed = [f"~{name}" if i % 3 else name for i, name in enumerate(names)]
    rows = [("A", f"at_least({k}; {', '.join(own)})", 0.5) for k, own in ((20, names), (47, mixed), (9, names[:17]))]
    panel = co.Panel.from_records([*rows, ("A", "v0 & v89", 0.1)])
    merged = pose(panel).merged
    worlds = np.random.default_rng(0).random((200, 90)) < np.linspace(0, 1, 200)[:, None]
    expected = panel.events.evaluate(merged.event, worlds)
    assert expected[:, :3].any(axis=0).all()
    np.testing.assert_array_equal(holds(merged, worlds[:, merged.origin]), expected)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ("p | q", (0.766667, 0.766667)),
        ("~p & ~q", (0.233333, 0.233333)),
        ("p & r", (0.0, 0.766667)),
        ("r", (0.0, 1.0)),
        ("p | ~p", (1.0, 1.0)),
        ("p & ~p", (0.0, 0.0)),
        ("p <-> q", (0.416667, 0.416667)),
    ],
)
def test_bounds_of_table_2(event, expected):
    result = co.aggregate(co.Panel.from_records(TABLE_2), "exact")
    np.testing.assert_allclose(result.bounds(event), expected, rtol=0, atol=1e-6)


def test_what_the_panel_does_not_have_is_noted():
    result = co.aggregate(co.Panel.from_records(TABLE_2), "exact")
    assert result.bounds('p & r & "no name"').note == 'the panel says nothing about r, "no name"'
    assert result.bounds("p & q").note is None


def test_independent_components_are_joined():
    rows = [("A", "p", 0.7), ("A", "q", 0.6), ("A", "q & r", 0.2), ("A", "s", 0.5)]
    result = co.aggregate(co.Panel.from_records(rows), "exact")
    np.testing.assert_allclose(result.bounds("p & q"), (0.3, 0.6), rtol=0, atol=1e-9)
    np.testing.assert_allclose(result.bounds("p ^ q ^ s"), (0.0, 1.0), rtol=0, atol=1e-9)
    np.testing.assert_allclose(result.bounds("p & q & ~r"), (0.1, 0.4), rtol=0, atol=1e-9)


def test_an_event_without_weight_has_a_range():
    rows = [("A", "p", 0.7, 1.0), ("A", "q", 0.6, 1.0), ("A", "p & q", 0.4, 0.0)]
    result = co.aggregate(co.Panel.from_records(rows), "exact")
    np.testing.assert_allclose(result.bounds("p & q"), (0.3, 0.6), rtol=0, atol=1e-9)


def test_at_the_time_limit_bounds_are_wider_and_say_so():
    panel = co.simulate(judges=40, variables=40, seed=2)
    result = co.aggregate(panel, co.Exact(time_limit=0.3))
    event = "v4 & v1 & v2 & v3"
    early = result.bounds(event, time_limit=0.0)
    assert not early.certified
    assert early.note == "the proof was not finished within the time limit; tighter bounds may exist"
    inside = sum(weight for weight, world in result.worlds if all(world[f"v{i}"] for i in range(1, 5)))
    assert early.low <= inside <= early.high < 1
    singles = [result.probability(f"v{i}") for i in range(1, 5)]
    assert early.high <= min(singles) + 1e-6


@pytest.mark.parametrize(("judges", "variables"), [(10, 20), (47, 30)])
def test_a_larger_component_is_certified(judges, variables):
    panel = co.simulate(judges=judges, variables=variables, seed=1)
    result = co.aggregate(panel, "exact")
    found = result.bounds("v3 & v1 & v2", time_limit=300)
    assert found.certified
    inside = sum(weight for weight, world in result.worlds if world["v3"] and world["v1"] and world["v2"])
    assert found.low - 1e-9 <= inside <= found.high + 1e-9


def test_a_conditional_in_a_larger_component_is_certified():
    result = co.aggregate(co.simulate(judges=10, variables=20, seed=1), "exact")
    found = result.bounds("v3 given v1 & v2", time_limit=300)
    assert found.certified
    joint, given = (
        sum(weight for weight, world in result.worlds if all(world[name] for name in names))
        for names in (("v1", "v2", "v3"), ("v1", "v2"))
    )
    assert found.low - 1e-9 <= joint / given <= found.high + 1e-9


@pytest.mark.parametrize("method", ["linear", "dykstra", "projections"])
def test_results_that_are_not_coherent_are_refused(method):
    result = co.aggregate(co.Panel.from_records(TABLE_2), method)
    with pytest.raises(
        co.ResultError, match=f"the coherence of these is {result.coherence}: aggregate with the method exact"
    ):
        result.bounds("p | q")


def test_bad_texts_and_impossible_conditions_are_refused():
    result = co.aggregate(co.Panel.from_records(TABLE_2), "exact")
    with pytest.raises(co.EventError, match="expected an event after '&'"):
        result.bounds("p &")
    with pytest.raises(co.EventError, match="can never be true"):
        result.bounds("p given q & ~q")
    lawful = co.aggregate(co.Panel.from_records([("A", "p", 0.5)], laws=["~(q & p)", "q -> p"]), "exact")
    with pytest.raises(
        co.EventError, match=r"'p given q': the condition after 'given' can never be true under the laws"
    ):
        lawful.bounds("p given q")


def bounds(rows, event, laws=(), **options):
    return co.aggregate(co.Panel.from_records(rows, laws=list(laws)), "exact", **options).bounds(event)


@pytest.mark.parametrize(
    ("value", "event", "expected"),
    [
        ("Ann", "winner = Ann", (0.68, 0.68)),
        ("Ann", "winner = Bob", (0.0, 0.32)),
        ("Ann", "winner != Cid", (0.68, 1.0)),
        ("Cid", "winner != Cid", (0.32, 0.32)),
        ("Cid", "winner = Cid -> winner = Ann", (0.32, 0.32)),
        ("Bob", "winner in {Ann, Cid}", (0.32, 0.32)),
    ],
)
def test_single_comparisons_are_no_plain_names(value, event, expected):
    found = bounds([("A", f"winner = {value}", 0.68)], event, ["variable winner: Ann, Bob, Cid"])
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert found.certified
    assert found.note is None


def test_thresholds_between_those_of_the_panel():
    rows = [("A", "rate < 3", 0.2), ("A", "rate < 5", 0.7)]
    found = bounds(rows, "rate < 4", ["variable rate: number"])
    np.testing.assert_allclose(found, (0.2, 0.7), atol=1e-9)
    assert found.note is None
    assert bounds(rows, "size < 4", ["variable rate: number", "variable size: number"]).note == (
        "the panel says nothing about size"
    )


@pytest.mark.parametrize(
    ("pin", "event", "expected"),
    [("P(q) = 0.2", "q", (0.2, 0.2)), ("P(q) >= 0.2", "q", (0.2, 1)), ("P(q) = 0.9", "rain & q", (0.4, 0.5))],
)
def test_pins_on_what_nobody_forecast_count(pin, event, expected):
    found = bounds([("A", "rain", 0.5)], event, [pin])
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert found.certified


QUOTES = [("btc >= 60000", 0.88, 0.90), ("btc >= 70000", 0.61, 0.66), ("btc >= 80000", 0.62, 0.67)]


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ("btc >= 60000", (0.88, 0.9)),
        ("btc >= 70000", (0.62, 0.66)),
        ("btc >= 60000 & btc < 70000", (0.22, 0.28)),
        ("btc < 65000", (0.1, 0.38)),
    ],
)
def test_intervals_that_are_met_leave_their_range(event, expected):
    rows = [{"event": name, "lower": low, "upper": high} for name, low, high in QUOTES]
    found = bounds(rows, event, ["variable btc: number"])
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert found.certified


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(0.6, 0.7, 1.0)], (0.6, 0.7)),
        ([(0.6, 0.7, 1.0), (0.65, 0.9, 1.0)], (0.65, 0.7)),  # both are met
        ([(0.6, 0.7, 1.0), (0.8, 0.9, 1.0)], (0.75, 0.75)),  # both are missed: the losses have one least point
        ([(0.6, 0.7, 1.0), (0.8, 0.9, 0.0)], (0.6, 0.7)),  # the other has no weight
        ([(0.6, None, 1.0)], (0.6, 1.0)),
        ([(0.6, 0.7, 1.0), (None, None, 1.0)], (0.65, 0.65)),  # beside a number
        ([(0.6, 0.7, 0.0)], (0.0, 1.0)),
    ],
)
def test_several_forecasts_of_one_event(rows, expected):
    records = [
        {"judge": f"j{i}", "event": "rain", "probability": 0.65, "lower": low, "upper": high, "weight": weight}
        | ({"probability": None} if (low, high) != (None, None) else {})
        for i, (low, high, weight) in enumerate(rows)
    ]
    result = co.aggregate(co.Panel.from_records(records), "exact")
    for one in (result, co.Result.from_json(result.to_json())):
        found = one.bounds("rain")
        np.testing.assert_allclose(found, expected, atol=1e-6)
        assert found.certified
        np.testing.assert_allclose(one.bounds("~rain"), [1 - found.high, 1 - found.low], atol=1e-9)


@pytest.mark.parametrize(("low", "high"), [(0.31, 0.32), (0.26, 0.27)])
def test_an_interval_that_a_mixture_misses_fixes_what_it_has(low, high):
    panel = co.Panel.from_records([{"event": "rain", "lower": low, "upper": high}])
    found = co.aggregate(panel, co.Annealing(columns=7)).bounds("rain")
    np.testing.assert_allclose(found, (2 / 7, 2 / 7), atol=1e-9)


@pytest.mark.parametrize(
    ("low", "high", "event", "p", "expected"),
    [(0.2, 0.3, "rain & wind", 0.6, 0.45), (0.3, 0.4, "rain | wind", 0.1, 0.2)],
)
def test_an_interval_that_is_missed_is_as_good_as_a_number(low, high, event, p, expected):
    rows = [{"event": "rain", "lower": low, "upper": high}, {"event": event, "probability": p}]
    found = bounds(rows, "rain")
    np.testing.assert_allclose(found, (expected, expected), atol=1e-6)
    assert found.certified


def test_an_interval_of_a_conditional():
    rows = [{"event": "rain", "lower": 0.5, "upper": 0.5}, {"event": "flood given rain", "lower": 0.2, "upper": 0.4}]
    np.testing.assert_allclose(bounds(rows, "flood & rain"), (0.1, 0.2), atol=1e-9)
    np.testing.assert_allclose(bounds(rows, "flood"), (0.1, 0.7), atol=1e-9)


def test_a_condition_that_nobody_forecast_is_bound_by_what_is_given_it():
    rows = [("A", "a", 0.3), ("A", "a given h", 0.2), ("A", "a given ~h", 0.6)]
    found = bounds(rows, "h")
    np.testing.assert_allclose(found, (0.75, 0.75), atol=1e-6)
    assert found.certified


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ("q given p", (3 / 7, 6 / 7)),  # Frechet's ends of P(p & q), divided by P(p)
        ("~q given p", (1 / 7, 4 / 7)),
        ("q given ~p", (0.0, 1.0)),
        ("p given p", (1.0, 1.0)),
        ("~p given p", (0.0, 0.0)),
        ("p & q given p | q", (0.3, 6 / 7)),  # P(p & q) / (1.3 - P(p & q)), which grows with P(p & q)
    ],
)
def test_conditionals_of_two_events(event, expected):
    found = bounds([("A", "p", 0.7), ("A", "q", 0.6)], event)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert (found.certified, found.note) == (True, None)


def test_conditionals_that_laws_settle():
    laws = ["q -> p", "~(p & r)"]
    assert tuple(bounds([("A", "p", 0.7)], "p given q", laws)) == (1, 1)
    assert tuple(bounds([("A", "p", 0.7)], "r given q", laws)) == (0, 0)


def test_a_condition_that_can_be_impossible_is_named():
    found = bounds([("A", "p", 0.7)], "p given q & p | r")
    assert tuple(found) == (0, 1)
    assert found.certified
    assert found.note == (
        "the panel says nothing about q, r; the answer allows that q & p | r is impossible; "
        "the bounds are for where it is possible"
    )
    result = co.aggregate(co.Panel.from_records([("A", "b", 0.5), ("A", "b given h", 0.8)]), "exact")
    tied = result.bounds("~b given h")
    np.testing.assert_allclose(tied, [1 - result.probability("b given h")] * 2, atol=1e-7)
    assert tied.certified
    assert tied.note == "the answer allows that h is impossible; the bounds are for where it is possible"


def test_a_condition_that_is_impossible_in_the_answer_bounds_nothing():
    found = bounds([("A", "h", 0.0), ("A", "a", 0.3)], "a given h")
    assert (tuple(found), found.certified) == ((0, 1), True)
    assert found.note == "in the answer the probability of h is below 1e-06, so that nothing bounds what is given it"


def test_what_is_given_an_impossible_event_is_left_out_and_that_is_said():
    rows = [("A", "a given h", 0.9), ("A", "b given h", 0.9), ("A", "a & b given h", 0.1), ("A", "c", 0.4)]
    result = co.aggregate(co.Panel.from_records(rows), "exact")
    found = result.bounds("~h")
    assert tuple(found) == (0, 1)
    assert not found.certified
    assert found.note == (
        "forecasts conditional on events that are impossible in the answer are left out; "
        "with them it is 1.0000 to 1.0000"
    )
    assert result.bounds("c given h").note == (
        "forecasts conditional on events that are impossible in the answer are left out; with them its condition is "
        "impossible; the answer allows that h is impossible; the bounds are for where it is possible"
    )
    unmoved = result.bounds("c & h")
    assert (unmoved.low, round(unmoved.high, 9)) == (0.0, 0.4)
    assert not unmoved.certified
    assert result.bounds("c").certified


def test_events_too_large_for_a_proof_leave_wide_bounds_and_do_not_blame_the_clock():
    rng = random.Random(0)
    counts = [sorted(rng.sample([f"v{i}" for i in range(1, 30)], 17)) for _ in range(10)]
    rows = [("A", "v0 given v0 | x", 0.9), ("A", "x", 0.2), ("A", f"exactly(9; x, v0, {', '.join(counts[0])})", 0.2)]
    rows += [("A", f"at_least({k}; {', '.join(own)})", 1 / k) for k, own in enumerate(counts, 5)]
    result = co.aggregate(co.Panel.from_records(rows), co.Annealing(columns=40))
    x, without = result.probability("x"), 1 - result.probability("v0 given v0 | x")
    # P(x & v0) = P(x) - P(x & ~v0), which is this part of P(v0 | x); that is between P(x) and 1.
    for event, expected in (("v0", (0, 1)), ("x", (x, x)), ("x & v0", (max(0, x - without), x - without * x))):
        found = result.bounds(event)
        np.testing.assert_allclose(found, expected, atol=1e-9)
        assert not found.certified
        assert found.note == "the events are too large for a proof; tighter bounds may exist"


def test_a_pair_that_remembers():
    found = co.Bounds(0.25, 0.5, certified=False, note="early")
    low, high = found
    assert (low, high) == found == (0.25, 0.5)
    assert (found.low, found.high, found.certified, found.note) == (0.25, 0.5, False, "early")


def test_an_event_that_the_answer_settles_has_one_probability():
    # The numbers are coherent but for their last digit, so that the force on the answer is hardly more than rounding.
    rows = [("Ann", "q -> p", 0.536927), ("Ann", "p", 0.158212), ("Bob", "p", 0.158212), ("Bob", "q", 0.621286)]
    rows += [("Cid", "q -> p", 0.536927), ("Cid", "q", 0.621286), ("Dee", "q -> p", 0.536927), ("Dee", "q", 0.621286)]
    result = co.aggregate(co.Panel.from_records(rows, laws=["p -> q"]), co.Exact())
    low, high = result.bounds("~p")
    assert low == pytest.approx(1 - result.probability("p"), abs=1e-12)
    assert high == pytest.approx(low, abs=1e-12)
