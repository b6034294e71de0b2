"""What is left out moves a result by as much as the panel without it says, whatever the panel."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently.explain.influence import changed_answers
from coherently.explain.influence.changed_answers import ChangedAnswers, asked
from coherently.explain.influence.influence_table import answers_of, parts_of
from coherently.explain.influence.plain_answers import PlainAnswers
from coherently.panel.left_out import PartKind, without_parts
from coherently.solve.budget import Budget
from coherently.solve.implied import cluster_answers
from coherently.solve.worlds.grounds import Grounds
from tests.panels import TABLE_2, TABLE_3

TIGHT = co.Exact(tolerance=1e-12)
EVENTS = ["p", "~p", "q", "p & q", "p | q", "r", "q & ~r", "p -> r", "s", "s & t", "w = a", "w = b & p"]
GIVEN = ["q given p", "r given p & q", "s given t"]
LAWS = [[], ["variable w: a, b"], ["variable w: a, b, c", "p -> q"], ["r | s"], ["P(q) <= 0.4", "q -> r"]]


@st.composite
def panels(draw, conditional=True):
    """Panels of up to four judges on events that hang together in various ways."""
    events = EVENTS + GIVEN if conditional else EVENTS
    laws = draw(st.sampled_from(LAWS))
    if not any(law.startswith("variable") for law in laws):
        events = [event for event in events if "w =" not in event]
    numbers = st.integers(1, 19).map(lambda k: k / 20)
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["Ann", "Bob", "Cid", "Dan"]),
                st.sampled_from(events),
                numbers,
                st.sampled_from([0.0, 0.5, 1.0, 3.0]),
            ),
            min_size=3,
            max_size=10,
        )
    )
    if not any(row[3] > 0 for row in rows):
        rows.append(("Ann", "p", 0.5, 1.0))
    return co.Panel.from_records(rows, laws=laws)


def holding(problem):
    """Which events are held by forecasts of weight: a conditional also needs one of its condition.

    Otherwise what is best is approached as the condition vanishes, and every method stops on the way.
    """
    given = problem.merged.terms.conditionals
    held = problem.merged.weight[given.condition.coordinate] > 0
    return np.where(
        problem.conditional, np.append(held, True)[np.where(problem.conditional, problem.coordinate, -1)], True
    )


def plainly(result, part):
    """The values of the panel without a part, for the events of the whole; NaN where nobody is asked then."""
    smaller = without_parts(result.panel, [part])
    again = co.aggregate(smaller, result.method, result.loss)
    told = asked(again.problem) & holding(again.problem)
    key = list(zip(smaller.written.event.tolist(), smaller.written.condition.tolist(), strict=True))
    known = {one: value for one, value, there in zip(key, again.solution.value.tolist(), told, strict=True) if there}
    whole = zip(result.panel.written.event.tolist(), result.panel.written.condition.tolist(), strict=True)
    return np.array([known.get(one, np.nan) for one in whole])


def steady(result, part):
    """Which events the forecasts left fix, so that any two methods agree on them."""
    again = co.aggregate(without_parts(result.panel, [part]), result.method, result.loss)
    return again.solution.standing, again.solution.degenerate


@pytest.mark.parametrize("loss", ["brier", "log"])
@settings(max_examples=20, deadline=None)
@given(panel=panels())
def test_the_answer_without_something_is_that_of_the_smaller_panel(loss, panel):
    result = co.aggregate(panel, TIGHT, loss)
    answers = answers_of(result, Budget())
    assert isinstance(answers, ChangedAnswers)
    for part in parts_of(panel):
        rows = np.ones(len(panel), bool) if part.kind is PartKind.LAW else ~answers.rows_of(part)
        if not (rows & (panel.weight > 0)).any():
            continue
        found, expected = answers.without(part), plainly(result, part)
        known = ~np.isnan(expected)
        if any(steady(result, part)):
            continue  # conditionals on what has no probability stand wherever they were stated
        # A complement that only those left out wrote is still known from its event.
        assert not np.isnan(found.value[known]).any()
        np.testing.assert_allclose(found.value[known], expected[known], atol=2e-7 if loss == "brier" else 5e-6)


@pytest.mark.parametrize("method", ["linear", "log", "median", "recipe", "dykstra"])
def test_other_methods_are_asked_again(method):
    result = co.aggregate(co.Panel.from_records(TABLE_3, laws=["q -> p"]), method)
    answers = answers_of(result, Budget())
    assert isinstance(answers, PlainAnswers)
    for part in parts_of(result.panel):
        np.testing.assert_array_equal(answers.without(part).value, plainly(result, part))
    table = result.influence()
    assert table.derivatives is None
    assert all(one.exact for one in table.left)


def test_a_law_among_coherent_forecasts_moves_nothing_and_is_not_solved_for(monkeypatch):
    rows = [("Ann", "p", 0.3), ("Ann", "q", 0.6), ("Bob", "r", 0.3), ("Bob", "s", 0.1)]
    result = co.aggregate(co.Panel.from_records(rows, laws=["p -> q", "r -> s"]), "exact")
    solved = []
    monkeypatch.setattr(co.Exact, "answers", lambda *given: solved.append(given) or pytest.fail("nothing to solve"))
    still, moving = (part for part in parts_of(result.panel) if part.kind is PartKind.LAW)
    answers = answers_of(result, Budget())
    np.testing.assert_array_equal(answers.without(still).value, result.solution.value)
    with pytest.raises(pytest.fail.Exception):
        answers.without(moving)
    assert len(solved) == 1


def test_only_the_components_of_a_judge_are_solved_again(monkeypatch):
    rows = [(f"J{k}", event, 0.7) for k in range(6) for event in (f"p{k}", f"p{k} & q{k}", f"~p{k}")]
    result = co.aggregate(co.Panel.from_records([*rows, ("Last", "p0", 0.2)]), "exact")
    sizes, table = [], changed_answers.ComponentTable

    def counted(merged, *given, **options):
        sizes.append(len(merged))
        return table(merged, *given, **options)

    monkeypatch.setattr(changed_answers, "ComponentTable", counted)
    answers = answers_of(result, Budget())
    for part in parts_of(result.panel):
        if part.kind is PartKind.JUDGE:
            answers.without(part)
    # Of the six components of two distinct events, five lose all their forecasts with their judge.
    assert sizes == [2, 2]


def test_nothing_is_measured_after_the_time():
    table = co.aggregate(co.Panel.from_records(TABLE_2), "exact").influence(time_limit=0)
    assert not any(one.exact for one in table.left)
    assert "the time was over" in table.note
    assert np.isnan(np.array([one.change for one in table.left])).all()
    assert not np.isnan(np.array([one.estimate for one in table.left if one.kind == "judge"])).any()


def test_the_largest_by_estimate_are_left_out_exactly():
    rows = [(f"J{k}", "p", 0.4) for k in range(30)] + [("Odd", "p", 0.95), ("Odd", "p & q", 0.9)]
    table = co.aggregate(co.Panel.from_records(rows), "exact").influence(2)
    exact = [one.name for one in table.of_kind("judge") if one.exact]
    assert len(exact) == 2
    assert exact[0] == table.of_kind("judge")[0].name == "Odd"
    assert "29 of 33 were not left out exactly" in table.note
    assert all(one.exact for one in co.aggregate(co.Panel.from_records(rows), "exact").influence(None).left)


def test_a_weight_of_0_leaves_out_and_is_said():
    panel = co.Panel.from_records(TABLE_2)
    table = co.aggregate(panel, "exact", weights={"Alice": 1, "Bob": 1, "Chris": 0}).influence()
    chris = next(one for one in table.left if one.name == "Chris")
    np.testing.assert_allclose(chris.change, np.zeros(3), atol=1e-15)
    assert "Left out already, by a weight of 0: Chris." in table.note


def test_results_without_forecasts_are_refused():
    panel = co.Panel.from_records(TABLE_2)
    again = co.Result.from_json(co.aggregate(panel).to_json())
    with pytest.raises(co.ResultError, match="aggregate the panel again"):
        again.influence()
    with pytest.raises(co.ResultError, match="aggregate the panel again"):
        again.why("p")
    with pytest.raises(co.MethodError, match="largest is -1"):
        co.aggregate(panel).influence(-1)
    with pytest.raises(co.EventError, match="nobody forecast 'z'"):
        co.aggregate(panel).why("z")
    with pytest.raises(co.EventError, match="nothing moves it"):
        co.aggregate(panel).why("p | ~p")


def test_intervals_count_as_forecasts():
    rows = [
        {"judge": "Ann", "event": "p", "probability": 0.3, "lower": 0.2, "upper": 0.4},
        {"judge": "Bob", "event": "p & q", "probability": 0.6, "lower": None, "upper": None},
    ]
    result = co.aggregate(co.Panel.from_records(rows), "exact")
    table = result.influence()
    bob = next(one for one in table.left if one.name == "Bob")
    assert bob.change[0] < -0.05
    np.testing.assert_allclose(result.probability("p"), 0.5, atol=1e-6)
    assert np.isnan(bob.change[1])


def test_a_panel_without_what_is_named():
    panel = co.Panel.from_records([*TABLE_2, ("p", "q", 0.5)], laws=["q -> p", "P(q) <= 0.5"])
    assert panel.without("Chris").judges == ("Alice", "Bob", "p")
    with pytest.raises(co.PanelError, match=r"write judge:p or event:p"):
        panel.without("p")
    assert "p" not in panel.without("event:~p").written.text
    assert panel.without("law:q->p").laws.statements() == ["P(q) <= 0.5"]
    assert panel.without("P(q) <= 0.5").laws.statements() == ["q -> p"]
    with pytest.raises(co.PanelError, match=r"did you mean 'Chris'"):
        panel.without("Chriss")
    with pytest.raises(co.PanelError, match="no forecast is left"):
        panel.without(*panel.judges[:3], "judge:p")
    assert panel.without() is panel
    assert replace(panel, notes=()) == replace(panel.without(), notes=())


def linked_panel():
    """Pairs of many variables, by three judges who are nearly coherent."""
    rng = np.random.default_rng(0)
    chance = rng.uniform(0.2, 0.8, 40)
    pairs = sorted({tuple(sorted(rng.choice(40, 2, replace=False).tolist())) for _ in range(60)})
    events = [(f"v{i}", chance[i]) for i in range(40)]
    events += [(f"v{a} & v{b}", chance[a] * chance[b]) for a, b in pairs]
    noise = rng.normal(0, 0.1, (3, len(events)))
    rows = [
        (f"J{k}", event, float(np.clip(p + noise[k, i], 0.02, 0.98)))
        for k in range(3)
        for i, (event, p) in enumerate(events)
    ]
    return co.Panel.from_records(rows)


def test_a_component_that_only_search_can_prove_is_solved_over_clusters_and_says_so(monkeypatch):
    panel = linked_panel()
    result = co.aggregate(panel, "exact")
    expected = [plainly(result, part) for part in parts_of(panel)[:3]]
    monkeypatch.setattr(cluster_answers, "LEAST_EVENTS", 10)
    monkeypatch.setattr(Grounds, "is_eliminable", property(lambda _: False))
    monkeypatch.setattr(changed_answers, "solve_component", lambda *_, **__: pytest.fail("the clusters are enough"))
    answers = answers_of(result, Budget())
    for part, value in zip(parts_of(panel)[:3], expected, strict=True):
        found = answers.without(part)
        assert not found.proved
        np.testing.assert_allclose(found.value, value, atol=1e-7)
    assert "not proved" in result.influence(3).note


def test_an_answer_over_clusters_that_breaks_a_cycle_is_not_used(monkeypatch):
    panel = linked_panel()
    result = co.aggregate(panel, "exact")
    monkeypatch.setattr(cluster_answers, "LEAST_EVENTS", 10)
    monkeypatch.setattr(Grounds, "is_eliminable", property(lambda _: False))
    monkeypatch.setattr(cluster_answers, "broken_cycles", lambda *_: {(0, 1, 2)})
    answers, solved = answers_of(result, Budget()), []
    monkeypatch.setattr(changed_answers, "solve_component", lambda *_, **__: solved.append(1) or pytest.fail("solved"))
    with pytest.raises(pytest.fail.Exception):
        answers.without(parts_of(panel)[0])
    assert solved


def test_a_law_that_settles_a_conditional_frees_it_when_it_is_left_out():
    rows = [("Ann", "p", 0.5), ("Ann", "q", 0.7), ("Ann", "p & q", 0.45), ("Bob", "q given p", 0.8)]
    result = co.aggregate(co.Panel.from_records(rows, laws=["p -> q"]), "exact")
    assert result.probability("q given p") == 1.0
    (law,) = result.influence().of_kind("law")
    free = co.aggregate(co.Panel.from_records(rows), "exact").solution.value
    np.testing.assert_allclose(result.solution.value + law.change, free, atol=1e-7)


def test_a_question_is_left_out_with_its_complement():
    panel = co.Panel.from_records(
        [("Ann", "p", 0.6), ("Bob", "~p", 0.3), ("Bob", "q", 0.5), ("Bob", "~q given p", 0.1)]
    )
    assert panel.without("p").written.text == ("q", "~q given p")
    assert panel.without("event:q given p").written.text == ("p", "~p", "q")
    assert [part.name for part in parts_of(panel) if part.kind is PartKind.EVENT] == ["p", "q", "~q given p"]
