"""Dempster-Shafer against the definition, over all worlds."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently.solve.methods import evidence
from coherently.solve.methods.evidence import combine, pignistic
from tests.panels import TABLE_2
from tests.solve.reference import every_world, panels, truth

MASSES = st.dictionaries(st.integers(1, 15), st.floats(0.01, 1), min_size=1, max_size=5).map(
    lambda masses: {s: m / sum(masses.values()) for s, m in masses.items()}
)


def test_zadeh():
    a, b, c = 1, 2, 4
    combined, conflict = combine({a: 0.99, b: 0.01}, {c: 0.99, b: 0.01})
    assert combined == {b: pytest.approx(1.0)}
    assert conflict == pytest.approx(0.9999)


@given(MASSES, MASSES, MASSES)
def test_the_rule_is_commutative_associative_and_has_a_neutral_element(one, two, three):
    assert combine(one, {15: 1.0})[0] == {s: pytest.approx(m) for s, m in one.items()}
    assert combine(one, {15: 1.0})[1] == 0.0
    try:
        left = combine(combine(one, two)[0], three)[0]
        right = combine(one, combine(two, three)[0])[0]
        turned = combine(two, one)[0]
    except co.MethodError:
        return
    assert left == {s: pytest.approx(m) for s, m in right.items()}
    assert turned == {s: pytest.approx(m) for s, m in combine(one, two)[0].items()}


@given(MASSES)
def test_pignistic_probability_lies_between_belief_and_plausibility(masses):
    probability = pignistic(masses, np.ones(4))
    assert probability.sum() == pytest.approx(1.0)
    for event in range(16):
        own = probability[[i for i in range(4) if event >> i & 1]].sum()
        belief = sum(m for s, m in masses.items() if s & ~event == 0)
        plausible = sum(m for s, m in masses.items() if s & event)
        assert belief - 1e-12 <= own <= plausible + 1e-12


def by_definition(panel, reliability):
    """Combine forecast by forecast over all worlds of the panel, whatever its components."""
    holds = truth(panel, panel.written.event).astype(bool)
    every = frozenset(range(len(holds)))
    masses, kept = {every: 1.0}, 1.0
    heaviest = panel.weight.max()
    for event, p, w in zip(panel.event_index, panel.probability, panel.weight, strict=True):
        r = reliability * w / heaviest
        inside = frozenset(np.flatnonzero(holds[:, event]).tolist())
        opinion = [(inside, r * p), (every - inside, r * (1 - p)), (every, 1 - r)]
        found = {}
        for (one, m), (other, n) in itertools.product(masses.items(), opinion):
            found[one & other] = found.get(one & other, 0.0) + m * n
        conflict = found.pop(frozenset(), 0.0)
        masses = {s: m / (1 - conflict) for s, m in found.items() if m > 0}
        kept *= 1 - conflict
    worlds = np.zeros(len(holds))
    for s, m in masses.items():
        worlds[list(s)] += m / len(s)
    return worlds @ holds, 1 - kept


@settings(max_examples=60)
@given(panels("some zero", n_variables=3, max_size=7), st.sampled_from([0.3, 0.8, 0.95]))
def test_answers_are_those_of_the_definition(panel, reliability):
    if not panel.weight.any() or len(every_world(panel)) > 8:
        return
    expected, conflict = by_definition(panel, reliability)
    result = co.aggregate(panel, co.DempsterShafer(reliability))
    np.testing.assert_allclose(result.solution.value, expected, atol=1e-9)
    apart = [c.conflict for c in result.components]
    assert 1 - math.prod(1 - k for k in apart) == pytest.approx(conflict, abs=1e-5)
    checked = co.verify(panel, result)
    assert checked, checked.problems


def test_agreement_adds_up_and_abstaining_changes_nothing():
    one = co.aggregate(co.Panel.from_records([("A", "p", 0.8)]), co.DempsterShafer(0.5))
    assert one.probability("p") == pytest.approx(0.4 + 0.5 / 2)
    rows = [("A", "p", 0.8, 1.0), ("B", "p", 0.8, 1.0), ("C", "p", 0.1, 0.0)]
    two = co.aggregate(co.Panel.from_records(rows), co.DempsterShafer(0.5))
    conflict = 2 * 0.4 * 0.1
    both = (0.4 * 0.4 + 2 * 0.4 * 0.5 + 0.25 / 2) / (1 - conflict)
    assert two.probability("p") == pytest.approx(both)
    assert two.note == f"Conflict between the forecasts (K): {conflict:.6g}."


def test_judges_have_reliabilities_of_their_own():
    panel = co.Panel.from_records(TABLE_2)
    trusted = co.aggregate(panel, co.DempsterShafer({"Alice": 1.0, "Bob": 0.0, "Chris": 0.0}))
    alone = co.aggregate(panel.judge("Alice"), co.DempsterShafer(1.0))
    np.testing.assert_allclose(trusted.solution.value, alone.solution.value)
    with pytest.raises(co.MethodError, match="there is no reliability for Bob, Chris"):
        co.aggregate(panel, co.DempsterShafer({"Alice": 1.0}))


def test_a_thousand_judges_do_not_underflow():
    rows = [(str(i), event, p) for i in range(1000) for event, p in (("p", 0.6), ("~p", 0.6), ("p & q", 0.3))]
    result = co.aggregate(co.Panel.from_records(rows), co.DempsterShafer(0.9))
    assert np.isfinite(result.solution.value).all()
    assert result.note == "Conflict between the forecasts (K): 1."


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("A", "p", 1.0), ("B", "p", 0.0)], "the forecasts are in total conflict"),
        ([("A", "p", 1.0), ("B", "p & q", 0.0), ("B", "q", 1.0)], "the forecasts are in total conflict"),
        ([("A", "p & ~p", 1.0)], "the forecasts are in total conflict"),
        ([("A", "p given q", 0.5)], "a conditional forecast is evidence about no set of worlds"),
        ([("A", " | ".join(f"v{i}" for i in range(11)), 0.5)], "a component of 11 variables has 2,048 possible worlds"),
        ([("A", f"exactly(1; {', '.join(f'v{i}' for i in range(30))})", 0.5)], "has too many possible worlds"),
    ],
)
def test_errors(rows, message):
    with pytest.raises(co.MethodError) as caught:
        co.aggregate(co.Panel.from_records(rows), co.DempsterShafer(1.0))
    assert message in str(caught.value)


def test_too_many_sets_are_refused(monkeypatch):
    monkeypatch.setattr(evidence, "MOST_SETS", 5)
    rows = [("A", f"{x} & {y}", 0.5) for x, y in itertools.combinations("abcd", 2)]
    with pytest.raises(co.MethodError, match="more than 5 sets of worlds"):
        co.aggregate(co.Panel.from_records(rows), "dempster-shafer")


def test_options_are_validated_on_construction():
    for value in (1.5, {"A": -0.1}, math.nan):
        with pytest.raises(co.MethodError, match="it must be a number from 0 to 1"):
            co.DempsterShafer(value)


def test_only_possible_worlds_have_mass():
    """Exactly one of a, b and c, and c only with d: five possible worlds, found by hand."""
    rows = [("A", "a", 0.5), ("B", "b", 0.5), ("B", "d", 0.1)]
    panel = co.Panel.from_records(rows, laws=["exactly(1; a, b, c)", "c -> d"])
    result = co.aggregate(panel, co.DempsterShafer(0.5))
    worlds = {("a", "d"), ("a",), ("b", "d"), ("b",), ("c", "d")}
    assert {tuple(name for name, true in sorted(world.items()) if true) for _, world in result.worlds} == worlds
    assert sum(weight for weight, _ in result.worlds) == pytest.approx(1.0)
    checked = co.verify(panel, result)
    assert checked, checked.problems


def test_intervals_are_refused():
    panel = co.Panel.from_records([{"judge": "A", "event": "p", "probability": 0.5, "lower": 0.4, "upper": 0.6}])
    with pytest.raises(co.MethodError, match="dempster-shafer takes numbers for events"):
        co.aggregate(panel, "dempster-shafer")
    pooled = co.aggregate(panel, "median")
    assert pooled.note == "Intervals, of which pools use only the number: 1."


def test_values_of_a_declared_variable_exclude_each_other():
    rows = [("A", "winner = Ann", 0.5), ("B", "winner = Bob", 0.5)]
    panel = co.Panel.from_records(rows, laws=["variable winner: Ann, Bob, Cid"])
    result = co.aggregate(panel, co.DempsterShafer(1.0))
    np.testing.assert_allclose(result.solution.value, [1 / 3, 1 / 3])
    assert result.note == "Conflict between the forecasts (K): 0.25."
    checked = co.verify(panel, result)
    assert checked, checked.problems


@pytest.mark.parametrize(
    ("rows", "declared", "expected"),
    [
        ([("A", "w = a", 0.6)], "a, b, c, d", [0.25]),
        ([("A", "w = a", 0.6), ("A", "w = b", 0.3)], "a, b, c, d", [0.25, 0.25]),
        ([("A", "w = a", 0.6), ("A", "w in {b, c, d}", 0.4)], "a, b, c, d", [0.25, 0.75]),
        ([("A", "w = a", 0.6), ("A", "w = b", 0.3)], "a, b, c, ...", [0.25, 0.25]),
        ([("A", "w = a & p", 0.6)], "a, b, c", [1 / 6]),
        ([("A", "w < 1", 0.6), ("A", "w < 2", 0.6)], "number", [1 / 3, 2 / 3]),
    ],
)
def test_the_frame_has_all_declared_values(rows, declared, expected):
    """Without evidence, every value is as likely as any other."""
    panel = co.Panel.from_records(rows, laws=[f"variable w: {declared}"])
    result = co.aggregate(panel, co.DempsterShafer(reliability=0.0))
    assert [result.probability(text) for _, text, _ in rows] == pytest.approx(expected)
    checked = co.verify(panel, result)
    assert checked, checked.problems


@pytest.mark.parametrize("seed", range(5))
def test_values_that_nobody_mentions_count_as_if_they_were_mentioned(seed):
    """A forecast of weight 0 mentions a value and says nothing of it."""
    rng = np.random.default_rng(seed)
    texts = ["w = a", "p", "w in {a, b} & p", "v = x | w = a"]
    rows = [(judge, text, float(rng.random()), 1.0) for judge in "AB" for text in texts]
    idle = [("C", text, 0.5, 0.0) for text in ("w = c", "w = d", "v = y")]  # the other value of v has no name
    laws = ["variable w: a, b, c, d", "variable v: x, y, ...", "~(w = b & p)"]
    panels = [co.Panel.from_records(some, laws=laws) for some in (rows, rows + idle)]
    found = [co.aggregate(panel, "dempster-shafer") for panel in panels]
    first, second = ([result.probability(text) for text in texts] for result in found)
    assert first == pytest.approx(second)
    assert found[0].note == found[1].note
