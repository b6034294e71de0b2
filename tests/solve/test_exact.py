"""The exact method against numbers of the paper's examples, other solvers, and its own promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently.errors import MethodError
from coherently.problem import pose, split
from coherently.solve.budget import Budget
from coherently.solve.methods import auto
from coherently.solve.worlds import grounds
from coherently.solve.worlds.oracle import Oracle
from tests.panels import TABLE_2, TABLE_3
from tests.solve.exact_checks import (
    by_nnls,
    check_agreement,
    check_result,
    check_routes,
    check_time_limits,
    least_everywhere,
    mixture_of,
    random_panel,
    without_elimination,
)
from tests.solve.reference import every_world, panels, truth

FOUR = ("p", "q", "p & q", "p | q")
TRIANGLE = [("A", v, 0.5) for v in "pqr"] + [("A", pair, 0.0) for pair in ("p & q", "p & r", "q & r")]
EXAMPLES = {
    "table 2": (TABLE_2, ("p", "q", "p & q"), (0.766667, 0.183333, 0.183333), 3 * 0.013889),
    "table 3": (TABLE_3, ("p", "q", "p & q"), (0.675, 0.15, 0.15), None),
    "low singles": (
        [("A", e, v) for e, v in zip(FOUR, (0.2, 0.3, 0.5, 0.9), strict=True)],
        FOUR,
        (0.425, 0.525, 0.275, 0.675),
        None,
    ),
    "high singles": (
        [("A", e, v) for e, v in zip(FOUR, (0.9, 0.6, 0.1, 0.4), strict=True)],
        FOUR,
        (0.65, 0.35, 0.35, 0.65),
        None,
    ),
    "triangle": (TRIANGLE, ("p", "q", "r", "p & q", "p & r", "q & r"), (0.416667,) * 3 + (0.083333,) * 3, 0.041667),
    "unsatisfiable and certain": (
        [("A", "p & ~p", 0.3), ("A", "q | ~q", 0.8)],
        ("p & ~p", "q | ~q"),
        (0.0, 1.0),
        0.125,
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("method", ["exact", "auto"])
def test_examples(name, method):
    rows, events, expected, objective = EXAMPLES[name]
    result = co.aggregate(co.Panel.from_records(rows), method)
    assert [result.probability(event) for event in events] == pytest.approx(expected, abs=1e-6)
    assert (result.status, result.coherence) == ("optimal", "global")
    if objective is not None:
        assert result.objective == pytest.approx(objective, abs=2e-6)


def test_many_panels_against_another_solver():
    check_agreement(seed=1, count=150)


def test_routes_agree():
    check_routes(seed=2, count=6)


def test_forced_time_limits():
    check_time_limits(seed=3, count=3)


@given(panels("some zero", most=4, n_variables=6))
@settings(max_examples=40, deadline=None)
def test_events_without_weight_pull_nothing_and_are_coherent(panel):
    result = co.aggregate(panel, "exact")
    x = check_result(panel, result)
    weighty = result.problem.merged.weight > 0
    np.testing.assert_allclose(x[weighty], by_nnls(panel)[weighty], atol=1e-7)


@given(panels("hundred", most=3, n_variables=5))
@settings(max_examples=40, deadline=None)
def test_no_world_shows_a_nearer_mixture(panel):
    result = co.aggregate(panel, "exact")
    merged = result.problem.merged
    x = mixture_of(panel, result)
    pull = np.where(merged.weight > 0, merged.weight * np.nan_to_num(x - merged.mean), 0.0)
    assert np.max(pull @ x - truth(panel, merged.event) @ pull) <= 1e-9 * max(1, merged.weight.sum())


@given(panels("flat", most=3, n_variables=5))
@settings(max_examples=40, deadline=None)
def test_improvement_is_kept_in_every_world(panel):
    result = co.aggregate(panel, "exact")
    outcome = truth(panel, panel.written.event)[:, panel.event_index]
    before = np.sum(panel.weight * (panel.probability - outcome) ** 2, axis=1)
    after = np.sum(panel.weight * (result.solution.value[panel.event_index] - outcome) ** 2, axis=1)
    assert np.min(before - after) >= result.guaranteed_improvement - 1e-9


@given(panels("flat", most=3, n_variables=5), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_coherent_forecasts_stay(panel, seed):
    worlds = truth(panel, panel.written.event)
    share = np.random.default_rng(seed).dirichlet(np.ones(len(worlds)))
    rows = [("A", text, float(np.clip(p, 0, 1))) for text, p in zip(panel.written.text, share @ worlds, strict=True)]
    result = co.aggregate(co.Panel.from_records(rows), "exact")
    np.testing.assert_allclose(result.solution.value, result.problem.mean, atol=1e-7)
    assert result.objective <= 1e-12


@given(st.randoms(use_true_random=False), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_order_names_and_sides_change_nothing(random, seed):
    panel = random_panel(np.random.default_rng(seed), 6, 15)
    rows = list(
        zip(
            (panel.judges[j] for j in panel.judge_index),
            (panel.written.text[e] for e in panel.event_index),
            panel.probability.tolist(),
            panel.weight.tolist(),
            strict=True,
        )
    )
    expected = co.aggregate(panel, "exact")
    random.shuffle(rows)
    turned = [(j, f"~({e})", 1 - p, w) if random.random() < 0.5 else (j, e, p, w) for j, e, p, w in rows]
    renamed = [(j, e.replace("v", "name"), p, w) for j, e, p, w in turned]
    result = co.aggregate(co.Panel.from_records(renamed), "exact")
    assert result.objective == pytest.approx(expected.objective, abs=1e-9)
    for judge, event, _, _ in rows:
        assert judge
        assert result.probability(event.replace("v", "name")) == pytest.approx(expected.probability(event), abs=1e-7)


def test_independent_components_are_separate_problems():
    first, second = [("A", e.replace("v", f"{x}v"), p, w) for x in "a" for e, p, w in ROWS], ROWS
    together = co.aggregate(co.Panel.from_records(first + [("A", e, p, w) for e, p, w in second]), "exact")
    alone = co.aggregate(co.Panel.from_records([("A", e, p, w) for e, p, w in ROWS]), "exact")
    assert together.objective == pytest.approx(2 * alone.objective, abs=1e-9)
    assert len(together.components) == 2
    worlds = list(together.worlds)
    assert sum(weight for weight, _ in worlds) == pytest.approx(1)
    assert len(worlds) <= sum(len(part.weight) for part in together.worlds.parts)
    assert all(set(world) == {"av0", "av1", "v0", "v1"} for _, world in worlds)


ROWS = [("v0", 0.9, 1.0), ("v1", 0.8, 2.0), ("v0 & v1", 0.2, 3.0)]


def test_a_weight_is_as_many_copies():
    heavy = co.aggregate(co.Panel.from_records([("A", e, p, w) for e, p, w in ROWS]), "exact")
    copies = co.aggregate(co.Panel.from_records([("A", e, p) for e, p, w in ROWS for _ in range(int(w))]), "exact")
    np.testing.assert_allclose(heavy.solution.value, copies.solution.value, atol=1e-9)


def test_large_cardinalities():
    names = [f"x{i}" for i in range(20)]
    rows = [("A", name, 0.3) for name in names] + [("A", f"exactly(1; {', '.join(names)})", 0.9)]
    panel = co.Panel.from_records(rows)
    result = co.aggregate(panel, co.Exact(time_limit=2))
    x = mixture_of(panel, result)
    np.testing.assert_allclose(result.problem.as_written(x), result.solution.value, atol=1e-9)
    assert result.lower_bound <= result.objective <= 20 * (0.3 - 1 / 20) ** 2 + 0.1


def test_no_time_still_gives_a_coherent_answer():
    panel = co.simulate(variables=30, judges=47, seed=0)
    result = co.aggregate(panel, co.Exact(time_limit=0))
    assert (result.status, result.coherence) == ("time_limit", "global")
    np.testing.assert_allclose(result.problem.as_written(mixture_of(panel, result)), result.solution.value, atol=1e-9)
    assert 0 <= result.lower_bound <= result.objective


def test_an_interruption_gives_the_answer_so_far():
    def interrupt(_):
        raise KeyboardInterrupt

    panel = co.simulate(variables=30, judges=47, seed=0)
    result = co.aggregate(panel, "exact", progress=interrupt)
    assert (result.status, result.coherence) == ("interrupted", "global")
    np.testing.assert_allclose(result.problem.as_written(mixture_of(panel, result)), result.solution.value, atol=1e-9)


def test_the_paper_s_size_is_proved():
    panel = co.simulate(variables=30, judges=47, seed=0)
    result = co.aggregate(panel, "exact")
    assert (result.status, result.components[0].proof) == ("optimal", "semidefinite bound with branch and bound")
    annealed = co.aggregate(panel, co.Annealing(columns=200))
    assert result.lower_bound <= result.objective <= annealed.objective


@pytest.mark.parametrize("most", [1, 2, 3])
def test_best_worlds(most):
    rng = np.random.default_rng(most)
    for _ in range(20):
        panel = random_panel(rng, 7, 25, most)
        for part in split(pose(panel).merged):
            coefficients = rng.normal(size=len(part.merged))
            whole = np.zeros(len(pose(panel).merged))
            whole[part.coordinates] = coefficients
            expected = least_everywhere(panel, whole)
            for states in (grounds.MOST_STATES, 0):
                found = _least(part.merged, coefficients, states)
                assert found.value == pytest.approx(expected, abs=1e-9)
                assert expected - 1e-6 <= found.bound <= expected + 1e-9


def _least(part, coefficients, states):
    before, grounds.MOST_STATES = grounds.MOST_STATES, states
    try:
        return Oracle(part).least(coefficients, Budget())
    finally:
        grounds.MOST_STATES = before


def test_auto_goes_local_for_large_components_and_says_so(monkeypatch):
    monkeypatch.setattr(auto, "LARGEST", 3)
    rows = [*TRIANGLE, ("A", "x", 0.9), ("A", "x & y", 0.95)]
    result = co.aggregate(co.Panel.from_records(rows))
    assert (result.coherence, result.worlds) == ("local", None)
    assert "6 events" in result.note
    assert [(c.coherence, c.events, c.variables) for c in result.components] == [("local", 6, 3), ("global", 2, 2)]
    assert sum(c.objective for c in result.components) == pytest.approx(result.objective)
    assert result.probability("x") == pytest.approx(0.925)
    assert result.probability("p") == pytest.approx(0.5)
    assert result.lower_bound <= result.objective


def test_a_search_without_dynamic_programming_is_proved_too():
    panel = random_panel(np.random.default_rng(5), 9, 40, 2)
    with without_elimination():
        result = co.aggregate(panel, co.Exact())
    np.testing.assert_allclose(check_result(panel, result), by_nnls(panel), atol=1e-3)
    assert len(every_world(panel)) == 2**9


@pytest.mark.parametrize("options", [{"tolerance": -1}, {"time_limit": -1}, {"time_limit": float("nan")}, {"seed": -1}])
@pytest.mark.parametrize("method", [co.Exact, auto.Auto])
def test_bad_options(method, options):
    with pytest.raises(MethodError, match=next(iter(options))):
        method(**options)


def test_a_status_blames_the_clock_only_where_it_ran_out():
    rows = [("A", "p", 0.9, 1e20), ("A", "q", 0.8, 1.0), ("A", "p & q", 0.2, 1.0)]
    stalled = co.aggregate(co.Panel.from_records(rows), co.Exact(time_limit=60))
    assert stalled.status == "unproved"
    assert stalled.gap > 1e-6
    assert "More time does not help" in stalled.solution.sentence
    clash = co.Panel.from_records([("A", "p", 0.9), ("A", "q", 0.8), ("A", "p & q", 0.2)])
    for loss in ("brier", "log"):
        assert co.aggregate(clash, co.Exact(time_limit=0), loss).status == "time_limit"
    pinned = co.Panel.from_records([("A", "p", 0.9), ("A", "q", 0.8), ("A", "p & q", 0.2)], laws=["P(p) <= 0.8"])
    assert co.aggregate(pinned, co.Exact(time_limit=0)).status == "time_limit"


def test_coherent_forecasts_stay_to_the_last_bit_and_lose_nothing():
    rows = [("A", "p", 0.3), ("A", "q", 0.7), ("A", "p & q", 0.1), ("A", "p | q", 0.9), ("A", "r", 0.123456789)]
    for method in ("exact", "dykstra"):
        result = co.aggregate(co.Panel.from_records(rows), method)
        assert result.solution.value.tolist() == [row[2] for row in rows]
        assert result.guaranteed_improvement == 0.0


@pytest.mark.parametrize("method", ["exact", "dykstra", "projections"])
def test_the_clip_of_the_log_loss_is_noted(method):
    rows = [("A", "p", 0.0), ("B", "p", 1.0), ("A", "q", 0.5)]
    assert (
        "outside the clip of the loss log, moved to it: 2"
        in co.aggregate(co.Panel.from_records(rows), method, "log").note
    )
    assert co.aggregate(co.Panel.from_records(rows), method).note is None


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("loss", ["brier", "log", "spherical"])
def test_an_interval_of_one_point_is_not_forgotten(p, loss):
    interval = {"judge": "A", "event": "p & q", "probability": None, "lower": p, "upper": p}
    other = {"judge": "A", "event": "q", "probability": 0.4, "lower": None, "upper": None}
    for rows in ([interval], [interval, other]):
        panel = co.Panel.from_records(rows)
        result = co.aggregate(panel, "exact", loss)
        assert co.verify(panel, result).problems == []
        if p <= 0.4 or len(rows) == 1:
            assert result.probability("p & q") == pytest.approx(p, abs=1e-3)
