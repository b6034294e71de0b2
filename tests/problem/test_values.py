"""Panels and problems are values: pickled or copied, they are equal to what they were."""

import pickle
from copy import copy, deepcopy
from dataclasses import replace

import numpy as np
import pytest

import coherently as co
from coherently.events import Events
from coherently.problem import pose, pose_individually

ROWS = [
    {"judge": "A", "event": "p given q", "probability": 0.3, "weight": 2.0, "lower": None, "upper": None},
    {"judge": "B", "event": "p | q", "probability": 0.4, "weight": 1.0, "lower": 0.2, "upper": 0.6},
    {"judge": "B", "event": "rate < 3 & w = a", "probability": 0.9, "weight": 0.0, "lower": None, "upper": None},
    {"judge": "A", "event": "~rain", "probability": 0.1, "weight": 1.0, "lower": None, "upper": None},
]
LAWS = ["variable w: a, b, c, ...", "variable rate: number", "p -> rain", "P(rain) <= 0.9"]
COPIES = {"pickle": lambda x: pickle.loads(pickle.dumps(x)), "deepcopy": deepcopy, "copy": copy}
every_copy = pytest.mark.parametrize("again", COPIES.values(), ids=COPIES)


def panel():
    return co.Panel.from_records(ROWS, laws=LAWS, outcomes={"rain": True}, labels={"p": "the first"})


@every_copy
def test_a_panel_is_equal_to_its_copy_and_answers_alike(again):
    one = panel()
    other = again(one)
    assert one == other
    assert not other.probability.flags.writeable
    assert co.aggregate(one, "exact").to_json() == co.aggregate(other, "exact").to_json()
    assert (
        other.events.find(["q | p", "rate < 3"]).event.tolist() == one.events.find(["q | p", "rate < 3"]).event.tolist()
    )


@every_copy
@pytest.mark.parametrize("loss", [co.Brier(), co.Log(0.01)], ids=lambda loss: loss.name)
def test_a_problem_is_equal_to_its_copy(loss, again):
    for problem in (pose(panel(), loss), pose_individually(panel(), loss), pose(co.simulate(seed=1), loss)):
        assert again(problem) == problem


def test_one_changed_entry_makes_a_difference():
    one = panel()
    changed = one.probability.copy()
    changed[-1] += 0.5
    assert replace(one, probability=changed) != one
    assert replace(one, judges=("A", "C")) != one
    assert pose(replace(one, probability=changed)) != pose(one)
    assert one != "a panel"


def test_a_copied_table_grows_apart():
    events = Events()
    events.declare(["variable rate: number", "broken"])
    events.add(["p & rate < 3", "p | ~p | silent", "("])
    events.add_names(["a & b"])
    other = deepcopy(events)
    assert other == events
    assert other.variables == events.variables == ["p", "rate < 3", "silent", "a & b"]
    assert other.add(["rate < 4 & new"]).event.tolist() == [2 * len(events)]
    assert other != events
    assert len(events.variables) == 4
    assert Events() != "no table"


def test_what_is_known_already_is_not_kept_twice():
    events = Events()
    for _ in range(100):
        events.add(["p & q"])
    assert len(pickle.dumps(events)) < 300


def test_the_table_is_asked_for_new_events_only_by_copies():
    one = panel()
    before, size = one.events.variables, len(one.events)
    result = co.aggregate(one, "exact")
    low, high = result.bounds("rate < 5 & brand_new")
    assert (low, high) == pytest.approx((0, 1))
    assert (one.events.variables, len(one.events)) == (before, size)
    np.testing.assert_allclose(result.bounds("~rain"), result.probability("~rain"), atol=1e-6)


@every_copy
@pytest.mark.parametrize("method", ["exact", "projections", "dykstra", "linear"])
def test_a_result_is_equal_to_its_copy(again, method):
    one = co.aggregate(co.simulate(judges=3, variables=12, seed=1), method)
    other = again(one)
    assert other == one
    assert other.solution == one.solution
    assert other.to_json() == one.to_json()
    assert one != replace(one, solution=replace(one.solution, value=one.solution.value / 2))
