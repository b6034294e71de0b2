"""The intervals that results imply for events, against linear programs over all worlds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import coherently as co
from coherently.problem import holds, pose
from tests.panels import TABLE_2
from tests.solve.reference import every_world, formulas, panels, truth

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


@given(panel=panels("hundred"))
@settings(max_examples=30)
def test_forecast_events_have_their_probabilities(panel):
    result = co.aggregate(panel, "exact")
    for text in panel.written.text:
        np.testing.assert_allclose(result.bounds(text), [result.probability(text)] * 2, rtol=0, atol=2e-7)


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
    assert result.bounds('p & r & "no name"').note == 'the panel says nothing of r, "no name"'
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
    assert early.note == "the time limit came before the proof; tighter bounds may exist"
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


@pytest.mark.parametrize("method", ["linear", "dykstra", "projections"])
def test_results_that_are_not_coherent_are_refused(method):
    result = co.aggregate(co.Panel.from_records(TABLE_2), method)
    with pytest.raises(co.ResultError, match=f"these are {result.coherence}: aggregate with the method exact"):
        result.bounds("p | q")


def test_conditionals_and_bad_texts_are_refused():
    result = co.aggregate(co.Panel.from_records(TABLE_2), "exact")
    with pytest.raises(co.EventError, match=r"'p given q' is conditional.*the conjunction and the condition"):
        result.bounds("p given q")
    with pytest.raises(co.EventError, match="expected an event after '&'"):
        result.bounds("p &")


def test_a_pair_that_remembers():
    found = co.Bounds(0.25, 0.5, certified=False, note="early")
    low, high = found
    assert (low, high) == found == (0.25, 0.5)
    assert (found.low, found.high, found.certified, found.note) == (0.25, 0.5, False, "early")
