"""Results that were once accepted though false, or refused though right."""

import json
from dataclasses import replace

import numpy as np
import pytest

import coherently as co
from tests.verifier.language import cases, random_panel, solve


def forged(rows, laws, probabilities, parts):
    """A record that says of any probabilities that they are coherent and at a distance of 0."""
    panel = co.Panel.from_records(rows, laws=laws)
    record = json.loads(co.aggregate(panel, "exact").to_json())
    for row in record["forecasts"]:
        row["probability"] = probabilities[row["event"]]
    record |= {"objective": 0.0, "lower_bound": 0.0, "gap": 0.0, "status": "optimal", "worlds": parts}
    record["guaranteed_improvement"] = None if record["guaranteed_improvement"] is None else 0.0
    for component in record["components"]:
        component["objective"] = component["lower_bound"] = 0.0
    return panel, co.Result.from_json(json.dumps(record))


def alone(name, p):
    return {"variables": [name], "weights": [p, 1 - p], "worlds": ["1", "0"]}


@pytest.mark.parametrize(
    ("laws", "given", "names"),
    [
        (["~(p & q)"], {"p": 0.7, "q": 0.6}, ("p", "q")),
        (["variable w: a, b, c"], {"w = a": 0.7, "w = b": 0.6}, ("w = a", "w = b")),
        (["variable x: number"], {"x < 1": 0.8, "x < 2": 0.3}, ("x < 1", "x < 2")),
        (["P(p & q) <= 0.1"], {"p": 0.7, "q": 0.6}, ("p", "q")),
    ],
)
def test_parts_that_cannot_see_each_other_are_refused(laws, given, names):
    rows = [("A", event, p) for event, p in given.items()]
    panel, result = forged(rows, laws, given, [alone(name, p) for name, p in given.items()])
    (problem, *_) = co.verify(panel, result).problems
    assert problem.startswith(f"the variables {names[0]!r} and {names[1]!r} are tied")


@pytest.mark.parametrize(
    "laws", [["p -> r", "q -> ~r"], ["r -> ~p", "~r -> ~q"], ["r | ~p | ~q", "~r | ~p | ~q"], ["P(p & r) <= 0.1"]]
)
def test_variables_of_statements_may_not_be_left_out(laws):
    rows = [("A", "p", 0.7), ("A", "q", 0.6)]
    part = {"variables": ["p", "q"], "weights": [0.3, 0.4, 0.3], "worlds": ["11", "10", "01"]}
    panel, result = forged(rows, laws, {"p": 0.7, "q": 0.6}, [part])
    # The reader of a record completes what it leaves out by a part of its own, which does not see the others.
    told = ("'p' is in several parts",) if laws[0].startswith("P(") else ("'r'", "are tied")
    assert any(all(word in problem for word in told) for problem in co.verify(panel, result).problems)


def test_the_log_loss_near_certainty_is_accepted():
    rows = [
        ("A", "winner in {Bob}", 0.5713609094146515, 1.0),
        ("A", "winner in {Ann} & i", 0.97, 0.046238403966537216),
        ("A", "~i & winner = Ann", 1.0, 0.0033500776836370653),
    ]
    panel = co.Panel.from_records(rows, laws=["variable winner: Ann, Bob"])
    result = co.aggregate(panel, "exact", "log")
    assert result.status == "optimal"
    checked = co.verify(panel, result)
    assert (checked.problems, checked.bound_rests_on) == ([], ["own enumeration"])


def test_what_is_certain_given_itself_is_accepted():
    rows = [
        ("A", "exactly(1; g & w = a, g, w = a)", 0.0, 1.0),
        ("A", "i given i", 0.47822410040423147, 0.001),
        ("A", "i <-> ~g", 0.0, 1.0),
    ]
    panel = co.Panel.from_records(rows, laws=["variable w: a, b"])
    assert co.verify(panel, co.aggregate(panel, "exact", "log")).problems == []


@pytest.mark.parametrize("laws", [["p"], None])
@pytest.mark.parametrize(("p", "upper", "weight"), [(0.6, None, 1.0), (1.0, 1.0, 1.0), (0.6, None, 1000.0)])
def test_the_inside_of_an_interval_loses_nothing_under_the_log_loss(laws, p, upper, weight):
    row = {"judge": "A", "event": "p", "probability": p, "lower": 0.3, "upper": upper, "weight": weight}
    panel = co.Panel.from_records([row], laws=laws)
    result = co.aggregate(panel, "exact", co.Log(clip=0.01))
    assert result.objective == 0
    assert co.verify(panel, result).problems == []


def test_annealing_may_miss_a_pin_by_what_it_admits():
    panel = co.Panel.from_records([("A", "p", 0.5)], laws=["P(p) = 0.6213"])
    result = co.aggregate(panel, "annealing")
    assert result.violation == pytest.approx(3e-4)
    assert co.verify(panel, result).problems == []


def test_honest_results_of_the_whole_language_are_accepted():
    for _, (_, panel, result) in zip(range(250), cases(11), strict=False):
        checked = co.verify(panel, result)
        assert checked.problems == [], (result.method, panel.laws, checked.problems)
        again = co.verify(panel, co.Result.from_json(result.to_json()))
        assert again.problems == []


def test_only_ratios_of_weights_matter():
    rng, count = np.random.default_rng(5), 0
    while count < 20:
        panel = random_panel(rng, terms=count % 2 == 0)
        if panel is None:
            continue
        count += 1
        for scale in (1e-300, 1e-12, 1e12, 1e300):
            scaled = replace(panel, weight=panel.weight * scale)
            for word in ("exact", "log loss", "dykstra"):
                result = solve(scaled, word)
                if result is not None:
                    assert co.verify(scaled, result).problems == [], (scale, word)


def test_an_interval_has_a_probability_too():
    panel = co.Panel.from_records(
        [
            {"judge": "A", "event": "p", "lower": 0.2, "upper": 0.4},
            {"judge": "A", "event": "q"} | {"lower": 0.1, "upper": 0.3},
        ]
    )
    record = json.loads(co.aggregate(panel, "exact").to_json())
    record["forecasts"][0]["probability"] = None
    assert co.verify(panel, co.Result.from_json(json.dumps(record))).problems
