import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently.problem import BRIER, pose
from coherently.result.record import Claimed
from coherently.solve import Coherence, Status
from coherently.verifier.distinct_events import merge
from coherently.verifier.enumeration import Enumeration
from tests.panels import APART, METHODS, TABLE_2, TRIANGLE
from tests.solve.reference import panels, truth


def solve(records, method="exact"):
    panel = co.Panel.from_records(records)
    return panel, co.aggregate(panel, method)


def tampered(result, **changes):
    return replace(result, solution=replace(result.solution, **changes))


def with_component(result, number, **changes):
    components = list(result.components)
    components[number] = replace(components[number], **changes)
    return tampered(result, components=tuple(components), lower_bound=sum(c.lower_bound for c in components))


def with_part(result, number, **changes):
    worlds = list(result.solution.worlds)
    worlds[number] = replace(worlds[number], **changes)
    return tampered(result, worlds=tuple(worlds))


def refused(panel, result, message):
    checked = co.verify(panel, result)
    assert not checked
    assert any(message in problem for problem in checked.problems), checked.problems


@pytest.mark.parametrize("method", METHODS)
@given(panel=st.one_of(panels("some zero", most=3), panels("hundred"), panels(most=1)))
@settings(max_examples=40)
def test_honest_results_are_accepted(method, panel):
    checked = co.verify(panel, co.aggregate(panel, method))
    assert checked.problems == []
    assert bool(checked)


@pytest.mark.parametrize("loss", ["log", "spherical"])
@given(panel=panels("hundred"))
@settings(max_examples=20)
def test_honest_local_results_of_other_losses_are_accepted(loss, panel):
    result = co.aggregate(panel, "dykstra", loss)
    checked = co.verify(panel, result)
    assert checked.problems == []
    left = {"method", "tolerance", "note", "groups", "sweeps", "forecasts.probability", "violation", "clip"}
    left |= {"status", "guaranteed_improvement", "loss"}
    if checked.bound_rests_on not in (["own relaxation to groups"], ["no distance is below 0"]):
        left.add("lower_bound")  # the own search ended at rounding, and that is said
        assert "the lower bound of the relaxed problem" in checked.unchecked
    assert left >= set(checked.unchecked_fields) >= left - {"clip", "loss", "lower_bound", "guaranteed_improvement"}
    refused(panel, tampered(result, objective=result.objective + 0.01), "the objective is")


@pytest.mark.parametrize("loss", ["log", "spherical"])
def test_bounds_of_local_results_of_other_losses_are_recomputed_as_a_rule(loss):
    rng = np.random.default_rng(3)
    events = ("v0", "v0 & v1", "v1 | ~v2", "~v2", "~v0 & ~v2")
    own = 0
    for _ in range(30):
        rows = [("A", event, float(rng.random()), float(rng.uniform(1, 100))) for event in events]
        panel = co.Panel.from_records(rows)
        checked = co.verify(panel, co.aggregate(panel, "dykstra", loss))
        assert checked.problems == []
        own += checked.bound_rests_on in (["own relaxation to groups"], ["no distance is below 0"])
    assert own >= 27


@pytest.mark.parametrize("loss", ["log", "spherical"])
@given(panel=panels("some zero", most=3))
@settings(max_examples=40)
def test_exact_results_of_other_losses_are_proved_by_enumeration(loss, panel):
    result = co.aggregate(panel, "exact", loss)
    checked = co.verify(panel, co.Result.from_json(result.to_json()))
    assert checked.problems == []
    assert set(checked.bound_rests_on) == {"own enumeration"}
    early = co.aggregate(panel, co.Exact(time_limit=0), loss)
    assert co.verify(panel, early).problems == []
    if early.objective > result.objective + 1e-3:
        claimed = [replace(component, lower_bound=component.objective) for component in early.components]
        lie = tampered(early, components=tuple(claimed), lower_bound=sum(c.lower_bound for c in claimed))
        refused(panel, tampered(lie, status=Status.OPTIMAL), "coherent forecasts reach")


@given(panel=panels("some zero", most=3))
@settings(max_examples=50)
def test_merging_is_that_of_the_problem(panel):
    own, merged = merge(panel, BRIER), pose(panel).merged
    np.testing.assert_array_equal(own.side, merged.event)
    np.testing.assert_array_equal(own.component, merged.components())
    np.testing.assert_allclose(own.weight * own.unit, merged.weight, rtol=1e-12)
    np.testing.assert_allclose(own.mean, merged.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(own.scatter * own.unit, pose(panel).scatter, rtol=0, atol=1e-9)


@given(panel=panels(most=3), seed=st.integers(0, 99))
@settings(max_examples=50)
def test_least_sums_are_those_over_all_worlds(panel, seed):
    distinct = merge(panel, BRIER)
    coefficients = np.random.default_rng(seed).normal(size=len(distinct.side))
    holds = truth(panel, distinct.side)
    expected = [
        (holds[:, distinct.component == c] @ coefficients[distinct.component == c]).min()
        for c in range(distinct.n_components)
    ]
    worlds = Enumeration(panel, distinct, distinct.side, distinct.component)
    np.testing.assert_allclose(worlds.least(coefficients), expected, rtol=0, atol=1e-12)


def test_a_large_component_rests_on_the_word_of_its_proof():
    panel = co.simulate(judges=8, variables=20, seed=3)
    result = co.aggregate(panel, "exact")
    checked = co.verify(panel, result)
    assert checked.problems == []
    assert checked.bound_rests_on == [component.proof for component in result.components]


@pytest.mark.parametrize("variables", [10, 20])
def test_a_changed_probability_is_noticed(variables):
    panel = co.simulate(judges=8, variables=variables, seed=3)
    result = co.aggregate(panel, "exact")
    for i in range(0, len(result.solution.value), 7):
        value = result.solution.value.copy()
        value[i] += 1e-6 if value[i] < 0.5 else -1e-6
        refused(panel, tampered(result, value=value), "the probabilit")


def test_a_changed_weight_is_noticed():
    panel, result = solve(APART)
    for part, worlds in enumerate(result.solution.worlds):
        for i in range(len(worlds.weight)):
            changed = worlds.weight.copy()
            changed[i] += 1e-6
            refused(panel, with_part(result, part, weight=changed), "sum to 1")
            changed[i - 1] -= 1e-6
            if len(changed) > 1:
                refused(panel, with_part(result, part, weight=changed), "is not that of its worlds")
    negative = np.append(result.solution.worlds[0].weight, [-0.5, 0.5])
    rows = np.vstack([result.solution.worlds[0].truth, np.zeros((2, 3), bool)])
    refused(panel, with_part(result, 0, weight=negative, truth=rows), "a world of the weight -0.5")


def test_a_flipped_bit_is_noticed():
    panel, result = solve([*TABLE_2, *TRIANGLE])
    for part, worlds in enumerate(result.solution.worlds):
        for place in np.ndindex(worlds.truth.shape):
            flipped = worlds.truth.copy()
            flipped[place] ^= True
            refused(panel, with_part(result, part, truth=flipped), "is not that of its worlds")


def test_worlds_must_assign_every_variable_once():
    panel, result = solve(APART)
    worlds = result.solution.worlds
    refused(panel, tampered(result, worlds=worlds[1:]), "no part assigns the variable 'a'")
    refused(panel, tampered(result, worlds=(*worlds, worlds[0])), "the variable 'a' is in several parts")
    refused(panel, with_part(result, 0, truth=worlds[0].truth[1:]), "not as many worlds")
    split = [
        replace(worlds[0], variables=worlds[0].variables[v : v + 1], truth=worlds[0].truth[:, v : v + 1])
        for v in range(3)
    ]
    refused(panel, tampered(result, worlds=(*split, *worlds[1:])), "'a' and 'b' are tied")


@pytest.mark.parametrize("method", ["projections", "dykstra", "exact", co.Annealing(columns=60, steps=2000)])
def test_a_changed_objective_is_noticed(method):
    panel, result = solve(TRIANGLE, method)
    refused(panel, tampered(result, objective=result.objective + 1e-6), "the objective is")


def test_a_bound_above_the_objective_or_the_optimum_is_noticed():
    panel, result = solve(APART)
    assert co.verify(panel, result).bound_rests_on == ["own enumeration"] * 3
    refused(panel, tampered(result, lower_bound=result.lower_bound + 0.01), "is not between 0 and the objective")
    refused(panel, tampered(result, lower_bound=result.lower_bound - 0.01), "those of the components sum to")
    for i, component in enumerate(result.components):
        refused(panel, with_component(result, i, lower_bound=component.lower_bound + 1e-6), "coherent forecasts reach")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_bound_between_the_optimum_and_a_worse_answer_is_noticed(monkeypatch, share):
    monkeypatch.setattr("coherently.solve.component.component_solver.FIRST", 0.0)
    panel = co.simulate(judges=5, variables=6, basic=6, seed=1)
    least = co.aggregate(panel, "exact").objective
    early, rough = co.aggregate(panel, co.Exact(time_limit=0)), co.aggregate(panel, co.Annealing(columns=7, steps=0))
    for result in (early, rough):
        assert least + 1e-3 < result.objective
        between = least + share * (result.objective - least)
        changed = with_component(result, 0, lower_bound=between) if result.components else None
        refused(panel, changed or tampered(result, lower_bound=between), "coherent forecasts reach")
    assert co.verify(panel, tampered(rough, lower_bound=0.9 * least))


def test_components_must_be_those_of_the_panel():
    panel, result = solve(APART)
    refused(panel, tampered(result, components=result.components[1:]), "2 components, the panel 3")
    refused(panel, with_component(result, 0, events=5), "component 0 has 5 events, in the panel 6")
    refused(panel, with_component(result, 0, objective=0.0), "the objective of component 0")


@pytest.mark.parametrize(
    ("method", "status", "coherence"),
    [
        ("exact", "TIME_LIMIT", "global"),
        ("exact", "CONVERGED", "global"),
        ("exact", "INTERRUPTED", "global"),
        ("exact", "SWEEP_LIMIT", "global"),
        ("exact", "OPTIMAL", "local"),
        ("exact", "CONVERGED", "local"),
        ("exact", "AVERAGED", "none"),
        (co.Exact(time_limit=0), "OPTIMAL", "global"),
        (co.Annealing(columns=10, steps=10), "OPTIMAL", "global"),
        (co.Annealing(columns=10, steps=10), "CONVERGED", "local"),
        (co.Annealing(columns=10, steps=10), "AVERAGED", "none"),
        ("dykstra", "CONVERGED", "global"),
        ("dykstra", "OPTIMAL", "global"),
        ("dykstra", "OPTIMAL", "local"),
        ("dykstra", "AVERAGED", "none"),
        ("linear", "CONVERGED", "local"),
        ("linear", "OPTIMAL", "global"),
        ("linear", "OPTIMAL", "none"),
        ("linear", "AVERAGED", "sound"),
    ],
)
def test_changed_words_are_noticed(method, status, coherence):
    panel, result = solve(TRIANGLE, method)
    assert co.verify(panel, result)
    record = json.loads(result.to_json()) | {"status": status.lower(), "coherence": coherence}
    try:
        again = co.Result.from_json(json.dumps(record))
    except co.ResultError as error:
        assert coherence != result.coherence  # which goes with worlds and groups
        assert "must be" in str(error)
        return
    checked = co.verify(panel, again)
    assert not checked, checked


def test_an_optimum_must_be_confirmed_by_enumeration(monkeypatch):
    monkeypatch.setattr("coherently.solve.component.component_solver.FIRST", 0.0)
    panel, result = solve(TRIANGLE, co.Exact(time_limit=0))
    claimed = with_component(result, 0, lower_bound=result.objective)
    refused(panel, tampered(claimed, status=Status.OPTIMAL), "coherent forecasts reach")


@pytest.mark.parametrize("method", ["exact", "dykstra", "projections"])
def test_a_guaranteed_improvement_must_hold_in_every_world(method):
    panel, result = solve(TRIANGLE, method)
    high = max(result.guaranteed_improvement, 1 / 24) + 1e-6
    refused(panel, tampered(result, guaranteed_improvement=high), "the guaranteed improvement is")
    assert co.verify(panel, tampered(result, guaranteed_improvement=0.0))
    large = co.simulate(judges=8, variables=20, seed=3)
    answer = co.aggregate(large, "exact")
    higher = answer.guaranteed_improvement + 1e-3
    refused(large, tampered(answer, guaranteed_improvement=higher), "the guaranteed improvement is")


def test_results_of_other_panels_are_refused():
    _, result = solve(TABLE_2)
    others = {
        "no probability for 'r'": [*TABLE_2, ("Alice", "r", 0.5)],
        "nobody in the panel forecast 'p & q'": [row for row in TABLE_2 if row[1] != "p & q"],
        "the raw of 'q'": [*TABLE_2[:-4], ("Chris", "q", 0.5), *TABLE_2[-3:]],
        "the weight of 'p'": [*TABLE_2, ("Dora", "p", 0.7)],
    }
    for message, records in others.items():
        refused(co.Panel.from_records(records), result, message)
    renamed = [(judge, event.replace("q", "s"), p) for judge, event, p in TABLE_2]
    refused(co.Panel.from_records(renamed), result, "nobody in the panel forecast 'q'")
    moved = [(judge, event, p * 0.9) for judge, event, p in TABLE_2]
    refused(co.Panel.from_records(moved), result, "the raw of 'p'")


def test_the_same_events_in_other_words_are_the_same():
    _, result = solve(TABLE_2)
    reworded = [(judge, event.replace("p & q", "not (q -> ~p)"), p) for judge, event, p in reversed(TABLE_2)]
    other = co.Panel.from_records(reworded)
    untied = replace(result, claimed=Claimed(result.gap, None))
    checked = co.verify(other, untied)
    assert checked.problems == []
    assert "panel_sha256" in checked.unchecked_fields
    (problem,) = co.verify(other, result).problems
    assert problem.startswith("the result was made from another panel: the digest is ")


def test_what_averages_and_local_answers_promise():
    panel, result = solve([("A", "p", 0.2), ("B", "~p", 0.6), ("B", "p & q", 0.5)], "linear")
    value = result.solution.value.copy()
    value[0] = 0.3
    refused(panel, tampered(result, value=value), "is not the mean")
    value[0] = 1.3
    refused(panel, tampered(result, value=value), "the probability of 'p' is 1.3")
    local = co.aggregate(panel, "dykstra")
    apart = local.solution.value + np.array([0.01, 0, 0])
    refused(panel, tampered(local, value=apart), "the probabilities of '~p' and its complement do not sum to 1")
    unknown = local.solution.value * [1, 1, np.nan]
    refused(panel, tampered(local, value=unknown), "the probability of 'p & q' is nan")
    constant, answer = solve([("A", "p & ~p", 0.2), ("A", "p", 0.5)], "dykstra")
    refused(constant, tampered(answer, value=np.array([0.2, 0.5])), "an event that cannot happen")


def test_a_list_is_no_panel():
    _, result = solve(TABLE_2)
    with pytest.raises(co.PanelError, match="takes a Panel first, not a list"):
        co.verify(TABLE_2, result)


def test_many_independent_components():
    rng = np.random.default_rng(0)
    rows = [("A", f"x{i} {op} y{i}", rng.random()) for i in range(700) for op in ("&", "|", "^", "->")]
    panel, result = solve(rows)
    checked = co.verify(panel, result)
    assert checked.problems == []
    assert checked.bound_rests_on == ["own enumeration"] * 700


def test_a_component_beyond_the_limit_weakens_the_promise(monkeypatch):
    monkeypatch.setattr("coherently.solve.methods.auto.LARGEST", 5)
    panel, result = solve([("B", "x", 0.3), ("B", "x & y", 0.9), *TRIANGLE], "auto")
    again = co.Result.from_json(result.to_json())
    assert again.coherence == "local"
    checked = co.verify(panel, again)
    assert checked.problems == []
    assert checked.bound_rests_on == [component.proof for component in result.components]
    assert "the lower bound of the relaxed problem" in checked.unchecked
    assert {"components", "lower_bound", "groups"} <= set(checked.unchecked_fields)
    components = tuple(replace(component, coherence=Coherence.GLOBAL) for component in result.components)
    refused(panel, tampered(result, components=components), "the weakest of its components global")
    refused(panel, tampered(result, objective=result.objective + 1e-6), "the objective is")
