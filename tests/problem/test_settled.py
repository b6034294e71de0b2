"""Conditionals that logic, laws and declarations settle, against all worlds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently.events import CERTAIN, NEVER
from coherently.problem import settled
from tests.problem.test_terms import worlds_of

EVENTS = ("a", "~b", "a & b", "a | b", "b -> c", "a ^ c", "a & ~a | c", "at_least(2; a, b, c)", "a | ~a")
LAWS = ("a -> b", "~(b & c)", "a <-> c", "b | c", "exactly(1; a, b, c)", "d", "d -> a")


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_against_all_worlds(data):
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(EVENTS), st.sampled_from(EVENTS)), min_size=1, max_size=6))
    laws = data.draw(st.lists(st.sampled_from(LAWS), max_size=2, unique=True))
    rows = [("A", f"({event}) given ({condition})", 0.3) for event, condition in pairs]
    try:
        panel = co.Panel.from_records([*rows, ("A", "a & b & c & d", 0.5)], laws=laws)
    except co.CoherentlyError:  # laws that contradict each other, or a condition that they exclude
        return
    events, found = panel.events, settled(panel).written
    worlds = worlds_of(len(events.variables))
    worlds = worlds[events.evaluate(panel.laws.side, worlds).all(axis=1)]
    joint, rest = (events.evaluate(side, worlds).any(axis=0) for side in (panel.written.event, panel.written.rest))
    given = panel.written.condition != CERTAIN
    always, never = given & joint & ~rest, given & rest & ~joint
    same = ~(always | never)
    assert found.text == panel.written.text
    assert (found.event[always] == CERTAIN).all()
    assert (found.event[never] == NEVER).all()
    assert (found.rest[~same] == found.event[~same] ^ 1).all()
    assert (found.condition[~same] == CERTAIN).all()
    for name in ("event", "condition", "rest"):
        np.testing.assert_array_equal(getattr(found, name)[same], getattr(panel.written, name)[same])


def test_declared_variables_settle_too():
    rows = [("A", "w != b given w = a", 0.6), ("A", "w = b given w = a", 0.6), ("A", "r < 4 given r < 3", 0.2)]
    panel = co.Panel.from_records(rows, laws=["variable w: a, b, c", "variable r: number"])
    assert settled(panel).written.event.tolist() == [CERTAIN, NEVER, CERTAIN]


def test_nothing_settled_is_the_same_panel():
    panel = co.Panel.from_records([("A", "p given q", 0.5), ("A", "p", 0.2)], laws=["p -> r"])
    assert settled(panel) is panel


@pytest.mark.parametrize(
    ("rows", "laws", "value", "objective", "saved"),
    [
        ([("A", "p given p", 0.7)], None, [1.0], 0.09, 0.0),
        ([("A", "p & ~q given q", 0.7), ("A", "q", 0.2)], None, [0.0, 0.2], 0.49, 0.0),
        ([("A", "q given p", 0.7), ("A", "p", 0.9)], ["p -> q"], [1.0, 0.9], 0.09, 0.0),
        ([("A", "p given p", 0.7), ("B", "~q given q", 0.1), ("B", "r | ~r", 0.8)], None, [1.0, 0.0, 1.0], 0.12, 0.04),
        ([("A", "p given p", 0.7)], ["p"], [1.0], 0.09, 0.09),
    ],
)
@pytest.mark.parametrize("method", ["exact", "dykstra", "projections", "annealing"])
def test_settled_conditionals_pull_nothing_and_count_as_constants_do(rows, laws, value, objective, saved, method):
    panel = co.Panel.from_records(rows, laws=laws)
    result = co.aggregate(panel, method)
    assert result.solution.value == pytest.approx(value, abs=1e-9)
    assert result.objective == pytest.approx(objective, abs=1e-9)
    # A bet that is called off saves nothing.
    assert result.guaranteed_improvement == (None if method == "annealing" else pytest.approx(saved, abs=1e-12))
    assert co.verify(panel, result).problems == []
    assert "0 or 1 by logic and laws, whatever was forecast" in result.note
