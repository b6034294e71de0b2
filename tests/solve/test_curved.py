"""The exact method under losses other than Brier's."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently.problem import pose, split
from coherently.solve.budget import NO_TIME, Budget
from coherently.solve.component.component_solver import solve_component
from coherently.solve.component.objective import objective_of
from coherently.solve.worlds import examples
from coherently.solve.worlds.examples import Examples, example_worlds
from coherently.solve.worlds.oracle import Oracle
from tests.panels import TABLE_2
from tests.solve.exact_checks import mixture_of, random_panel
from tests.solve.reference import panels, truth
from tests.truth import holds

FOUR = ("p", "q", "p & q", "p | q")
LOSSES = [co.Log(), co.Log(clip=0.01), co.Spherical()]


def test_kullback_leibler_rows():
    rows = [("A", event, p) for event, p in zip(FOUR, (0.2, 0.3, 0.5, 0.9), strict=True)]
    result = co.aggregate(co.Panel.from_records(rows), "exact", "log")
    expected = [0.431098, 0.565036, 0.248072, 0.748062]
    assert [result.probability(event) for event in FOUR] == pytest.approx(expected, abs=1e-6)
    result = co.aggregate(co.Panel.from_records(TABLE_2), "exact", co.Log(clip=0.01))
    assert [result.probability(event) for event in FOUR[:3]] == pytest.approx([0.815001, 0.116301, 0.116301], abs=1e-6)
    assert (result.status, result.coherence) == ("optimal", "global")


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@given(panel=panels("hundred", most=3, n_variables=4))
@settings(max_examples=25, deadline=None)
def test_no_world_shows_a_nearer_mixture(loss, panel):
    result = co.aggregate(panel, "exact", loss)
    merged = result.problem.merged
    x = mixture_of(panel, result)
    np.testing.assert_allclose(result.problem.as_written(x), result.solution.value, atol=1e-9)
    for part in result.solution.worlds:
        assert len(np.unique(part.truth, axis=0)) == len(part.truth)
    moves = merged.sizes() > 0
    gradient = np.where(moves, merged.weight * (loss.gradient(x) - loss.gradient(merged.mean)), 0.0)
    gap = np.max(gradient @ x - truth(panel, merged.event) @ gradient)
    # At probabilities that are 0 but for rounding the slope says nothing: the proof is that of a point beside. And
    # nothing is nearer than a distance of 0, whatever a slope of 1e-6 at a distance of 1e-12 says.
    beside = np.min(np.minimum(x, 1 - x)[moves], initial=1.0) < 1e-9
    assert gap <= 1e-6 * max(1, result.objective) or beside or result.objective == 0
    assert result.gap <= 1e-6 * max(1, result.objective)
    assert result.objective == pytest.approx(
        np.sum(merged.weight * loss.divergence(x, merged.mean)), rel=1e-9, abs=1e-12
    )
    assert result.objective - gap - 1e-9 <= result.lower_bound <= result.objective


@given(panels("flat", most=3, n_variables=4))
@settings(max_examples=25, deadline=None)
def test_log_pythagoras_in_every_world(panel):
    loss = co.Log()
    result = co.aggregate(panel, "exact", loss)
    merged = result.problem.merged
    moves = merged.sizes() > 0
    x, worlds = mixture_of(panel, result)[moves], truth(panel, merged.event)[:, moves]
    weight, mean = merged.weight[moves], merged.mean[moves]
    before, after = loss.divergence(worlds, mean) @ weight, loss.divergence(worlds, x) @ weight
    assert np.all(before >= after + loss.divergence(x, mean) @ weight - 1e-6 * max(1, len(mean)))


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_relaxations_are_no_further(seed):
    panel = random_panel(np.random.default_rng(seed), 5, 12, 3, weighted=False)
    exact = co.aggregate(panel, "exact", "log")
    relaxed = co.aggregate(panel, co.AlternatingProjections(correction="dykstra"), "log")
    if relaxed.lower_bound is not None:
        assert relaxed.lower_bound <= exact.objective + 1e-7


def test_weightless_and_constant_events():
    rows = [("A", "p", 0.3, 1.0), ("A", "p & q", 0.6, 1.0), ("A", "q", 0.2, 0.0), ("A", "p | ~p", 0.7, 1.0)]
    result = co.aggregate(co.Panel.from_records(rows), "auto", "log")
    assert (result.status, result.coherence) == ("optimal", "global")
    assert result.probability("p | ~p") == 1.0
    assert result.probability("p") >= result.probability("p & q") - 1e-12
    assert result.probability("q") >= result.probability("p & q") - 1e-12


def test_the_paper_s_size_under_the_log_loss():
    panel = co.simulate(variables=30, judges=10, seed=0)
    result = co.aggregate(panel, "exact", "log")
    assert result.status == "optimal"
    np.testing.assert_allclose(result.problem.as_written(mixture_of(panel, result)), result.solution.value, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("error", "ignore::coherently.CoherentlyNote")
def test_forecasts_of_0_and_1_with_any_weights_are_certified(seed):
    rng = np.random.default_rng(seed)
    for _ in range(30):
        names = [f"v{i}" for i in range(4)]
        events = [" & ".join(rng.choice([name, f"~{name}"]) for name in rng.choice(names, 2, False)) for _ in range(6)]
        events += [f"{a} -> {b}" for a, b in (rng.choice(names, 2, False) for _ in range(6))] + names
        prices = rng.choice([0.0, 0.25, 0.5, 1.0], len(events))
        weights = rng.uniform(1, 100, len(events))
        rows = [("A", str(e), float(p), float(w)) for e, p, w in zip(events, prices, weights, strict=True)]
        for loss in LOSSES:
            result = co.aggregate(co.Panel.from_records(rows), "exact", loss)
            assert result.status == "optimal"
            assert result.gap <= 1e-6 * max(1.0, result.objective)


@pytest.mark.parametrize("found", [0.0, -1.0])
def test_nothing_is_proved_where_an_event_may_hold_in_worlds_that_were_not_found(found, monkeypatch):
    part = split(pose(co.Panel.from_records([("A", "p & q", 0.8), ("A", "p", 0.5)], laws=["p | q | r"])).merged)[
        0
    ].merged
    asked = Oracle.least

    def short_sighted(self, coefficients, *rest):
        """Search as if p & q could not be shown, with a proof of that only if `found` is 0."""
        least = asked(self, np.zeros_like(coefficients), *rest)
        return replace(least, value=0.0, bound=found if coefficients.min() < 0 else least.bound)

    never = np.array([[0, 1, 0], [1, 0, 0]], np.uint8)
    assert not part.functions.hold(never)[:, 0].any()
    monkeypatch.setattr(
        examples._core,
        "NearestMixture",
        lambda *_: SimpleNamespace(search=lambda *_: True, worlds=lambda: (None, never)),
    )
    monkeypatch.setattr(Oracle, "least", short_sighted)
    assert example_worlds(part, Oracle(part), Budget()).doubtful.tolist() == [found < 0, False]


def test_an_event_that_search_does_not_show_is_asked_of_the_oracle(monkeypatch):
    monkeypatch.setattr("coherently.solve.worlds.grounds.MOST_STATES", 0)
    panel = co.Panel.from_records([("A", "p & q", 0.8), ("A", "p", 0.5)], laws=["p | q | r"])
    part = split(pose(panel).merged)[0].merged
    never = np.array([[0, 1, 0], [1, 0, 0]], np.uint8)
    monkeypatch.setattr(
        examples._core,
        "NearestMixture",
        lambda *_: SimpleNamespace(search=lambda *_: True, worlds=lambda: (None, never)),
    )
    monkeypatch.setattr(Oracle, "search", lambda *_: (never[0], 0.0))
    oracle = Oracle(part)
    assert not oracle.is_exact
    found = example_worlds(part, oracle, Budget())
    assert holds(part, found.worlds)[:, 0].any()
    assert not found.doubtful.any()


def test_without_time_no_world_is_asked_for_and_what_is_not_shown_is_doubtful(monkeypatch):
    rows = [("A", f"a{i} & b{i} & c", 0.5) for i in range(20)]
    part = split(pose(co.Panel.from_records(rows, laws=["a0 | b0 | c"])).merged)[0].merged
    oracle = Oracle(part)
    monkeypatch.setattr(Oracle, "least", None)
    monkeypatch.setattr(Oracle, "search", None)
    found = example_worlds(part, oracle, NO_TIME)
    truth = holds(part, found.worlds)
    np.testing.assert_array_equal(found.doubtful, ~(truth.any(axis=0) & ~truth.all(axis=0)))
    assert found.doubtful.any()


def test_a_doubtful_event_leaves_no_bound(monkeypatch):
    panel = co.Panel.from_records([("A", "p & q", 0.8), ("A", "p", 0.5)], laws=["p | q | r"])
    part = split(pose(panel, co.Log()).merged)[0].merged
    doubt = np.array([True, False])
    for doubtful in (~doubt & doubt, doubt):
        monkeypatch.setattr(
            "coherently.solve.component.newton.newton.example_worlds",
            lambda part, oracle, budget, doubtful=doubtful: Examples(
                example_worlds(part, oracle, budget).worlds, doubtful
            ),
        )
        answer = solve_component(part, objective_of(part, co.Log()), Budget(tolerance=1e-9))
        assert (answer.bound > 0) == (not doubtful.any())
