"""Conditionals, intervals, pins and laws, from a panel to arrays and apart into components."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import coherently as co
from coherently.panel import Laws, Pins
from coherently.problem import pose, pose_individually, split
from tests.problem.test_problem import EVENTS, rows_about
from tests.truth import holds

GIVEN = [*EVENTS, "p given q", "~p given q", "q given p | r", "p & q given q", "~s given ~p", "p given p & q"]


def under(panel, laws=(), pins=()):
    """The panel under formulas and (text, low, high) pins."""
    formulas = panel.events.add(list(laws))
    pinned = panel.events.add([text for text, _, _ in pins])
    assert not formulas.faults
    low, high = (np.array([pin[i] for pin in pins], np.float64) for i in (1, 2))
    fixed = Pins(tuple(text for text, _, _ in pins), pinned.event, pinned.condition, low, high)
    return replace(panel, laws=Laws(tuple(laws), tuple(laws), formulas.event, fixed))


def worlds_of(n):
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.bool_)


@given(rows_about(GIVEN), st.integers(0, 2**32 - 1))
def test_a_distribution_gives_conditionals_their_ratios(rows, seed):
    panel = co.Panel.from_records(rows)
    problem = pose(panel)
    names = panel.events.variables
    worlds = worlds_of(len(names))
    share = np.random.default_rng(seed).dirichlet(np.ones(len(worlds)))
    x = share @ holds(problem.merged, worlds[:, problem.merged.origin])
    answer = problem.as_written(x)
    for event, condition, found in zip(panel.written.event, panel.written.condition, answer, strict=True):
        joint, given_ = share @ panel.events.evaluate(np.array([event, condition], np.int32), worlds)
        np.testing.assert_allclose(found, joint / given_, atol=1e-12)


@given(rows_about(GIVEN), st.booleans())
def test_components_hold_the_same_terms(rows, apart):
    panel = co.Panel.from_records(rows)
    problem = pose_individually(panel) if apart else pose(panel)
    x = np.random.default_rng(0).random(len(problem.merged))
    whole = problem.merged.terms.conditionals
    found = np.concatenate(
        [[]] + [part.merged.terms.conditionals.value(x[part.coordinates]) for part in split(problem.merged)]
    )
    np.testing.assert_allclose(np.sort(found), np.sort(whole.value(x)))
    weights = [part.merged.terms.conditionals.weight.sum() for part in split(problem.merged)]
    np.testing.assert_allclose(sum(weights), whole.weight.sum())


def test_an_impossible_condition_leaves_the_forecast():
    problem = pose(co.Panel.from_records([("A", "p given q", 0.2), ("A", "~p given q", 0.4)]))
    np.testing.assert_allclose(problem.as_written(np.zeros(2)), [0.4, 0.6])


def test_intervals_are_turned_to_the_side_of_their_coordinate():
    rows = [
        {"judge": "A", "event": "~p", "probability": 0.25, "lower": 0.1, "upper": 0.4},
        {"judge": "B", "event": "p", "probability": 0.5, "lower": None, "upper": None},
        {"judge": "B", "event": "~q given p", "probability": 0.5, "lower": 0.4, "upper": 0.6},
    ]
    merged = pose(co.Panel.from_records(rows)).merged
    intervals = merged.terms.intervals
    np.testing.assert_allclose(intervals.low, [0.6, 0.4])
    np.testing.assert_allclose(intervals.high, [0.9, 0.6])
    assert intervals.conditional.tolist() == [False, True]
    assert merged.weight.tolist()[0] == 1.0
    assert merged.mean[0] == 0.5


def test_laws_bring_the_variables_that_they_tie():
    panel = co.Panel.from_records([("A", "p", 0.6), ("A", "q", 0.5), ("B", "r", 0.3)])
    panel = under(panel, ["p -> u", "u -> r", "exactly(1; q, v, w)", "x | y"], [("v", 0.2, 0.2), ("x", 0.1, 0.9)])
    merged = pose(panel).merged
    assert {panel.events.variables[v] for v in merged.origin} == set("pqruvw")
    assert len(merged.space.laws) == 2
    assert [block.states.tolist() for block in merged.space.blocks] == [np.eye(3).tolist()]
    assert merged.terms.limits.pin.tolist() == [0]
    parts = split(merged)
    assert [part.coordinates.tolist() for part in parts] == [[0, 2], [1, 3]]
    assert [len(part.merged.space.laws) for part in parts] == [2, 0]
    assert [len(part.merged.terms.limits) for part in parts] == [0, 1]


def test_judges_apart_have_laws_of_their_own():
    panel = co.Panel.from_records([("A", "p", 0.6), ("A", "r", 0.5), ("B", "r", 0.3), ("C", "s", 0.3)])
    merged = pose_individually(under(panel, ["p -> u", "u -> r"])).merged
    assert len(merged.space.laws) == 4
    sizes = sorted((part.merged.n_variables, len(part.merged.space.laws)) for part in split(merged))
    assert sizes == [(1, 0), (3, 2), (3, 2)]


def test_only_exclusive_laws_become_blocks():
    panel = co.Panel.from_records([("A", name, 0.1) for name in "abcdefgh"])
    laws = ["exactly(1; a, b)", "at_most(1; c, d, e)", "exactly(1; b, f)", "at_least(1; g, h)"]
    space = pose(under(panel, laws)).merged.space
    assert sorted(len(block.states) for block in space.blocks) == [2, 4]
    assert len(space.laws) == 2


def test_a_large_partition_is_a_block():
    names = [f"n{i}" for i in range(40)]
    panel = co.Panel.from_records([("A", name, 0.1) for name in names])
    for law, states in ((f"exactly(1; {', '.join(names)})", 40), (f"at_most(1; {', '.join(names)})", 41)):
        space = pose(under(panel, [law])).merged.space
        assert [block.states.shape for block in space.blocks] == [(states, 40)]
        assert len(space.laws) == 0
