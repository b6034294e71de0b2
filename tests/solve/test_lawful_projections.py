"""Alternating projections under laws, with conditionals, intervals and pins."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently.problem import pose, settled
from tests.problem.test_terms import under
from tests.solve.lawful import nearest, panels, worlds_of
from tests.truth import holds

WHOLE = ("global", "cliques")
LOCAL = ("logical", "pairs", "triples")


def dykstra(panel, groups):
    return co.aggregate(panel, co.AlternatingProjections(groups, correction="dykstra"))


@settings(max_examples=60, deadline=None)
@given(panels(weights=(1.0, 2.5, 0.0)), st.sampled_from(WHOLE))
def test_whole_designs_reach_the_nearest_distribution(panel, groups):
    problem = pose(settled(panel))
    least, _ = nearest(problem.merged)
    result = dykstra(panel, groups)
    assert result.status == "converged"
    assert result.violation <= 1e-7
    assert result.objective == pytest.approx(least, abs=1e-6)
    assert result.lower_bound <= least + 1e-6
    assert result.lower_bound >= result.objective - 1e-6


@settings(max_examples=60, deadline=None)
@given(panels(weights=(1.0, 2.5)), st.sampled_from(LOCAL))
def test_local_designs_bound_from_below(panel, groups):
    problem = pose(settled(panel))
    least, _ = nearest(problem.merged)
    result = dykstra(panel, groups)
    assert result.status == "converged"
    assert result.objective <= least + 1e-6
    assert result.lower_bound <= result.objective + 1e-12
    assert result.objective - result.lower_bound <= 1e-6


@settings(max_examples=60, deadline=None)
@given(
    panels(given=False, intervals=False, pins=False, weights=(1.0, 2.5, 0.0)),
    st.sampled_from(("logical", "pairs", "global")),
)
def test_the_loop_is_no_worse_in_any_possible_world(panel, groups):
    problem = pose(settled(panel))
    merged = problem.merged
    result = co.aggregate(panel, co.AlternatingProjections(groups, sweeps=30))
    x = np.full(len(merged), np.nan)
    x[problem.coordinate] = np.where(problem.complemented, 1 - result.solution.value, result.solution.value)
    weighty = merged.weight > 0
    outcome = holds(merged, worlds_of(merged))[:, weighty]
    weight, start, end = merged.weight[weighty], merged.mean[weighty], x[weighty]
    before, after = ((weight * (value - outcome) ** 2).sum(axis=1) for value in (start, end))
    moved = result.guaranteed_improvement - problem.scatter
    assert np.all(after <= before - moved + 1e-9)
    assert moved >= -1e-12


@settings(max_examples=40, deadline=None)
@given(panels(), st.sampled_from(("logical", "pairs", "global")))
def test_the_loop_ends_in_its_groups(panel, groups):
    result = co.aggregate(panel, co.AlternatingProjections(groups, sweeps=20_000))
    assert result.violation <= 1e-6
    assert result.lower_bound is None
    if len(pose(panel).merged.terms):
        assert result.guaranteed_improvement is None
    known = result.solution.value[~np.isnan(result.solution.value)]
    assert np.all((known >= -1e-9) & (known <= 1 + 1e-9))


@pytest.mark.parametrize("groups", ["logical", "pairs", "triples", "cliques", "global"])
def test_the_linearised_conditional(groups):
    panel = co.Panel.from_records([("A", "p", 0.5), ("A", "q given p", 0.5), ("A", "p & q", 0.5)])
    result = dykstra(panel, groups)
    # min (x - 1/2)^2 + (y - 1/2)^2 + (y - x/2)^2 is at x = 5/9, y = 7/18: 1/36.
    np.testing.assert_allclose(result.solution.value, [5 / 9, 0.7, 7 / 18], atol=1e-9)
    assert result.objective == pytest.approx(1 / 36, abs=1e-12)
    assert "linearised" in result.note


def test_the_loop_recovers_conditionals():
    rows = [("A", "p", 0.5), ("A", "q given p", 0.9), ("A", "p & q", 0.1)]
    result = co.aggregate(co.Panel.from_records(rows), co.AlternatingProjections())
    p, given_p, both = result.solution.value
    assert given_p == pytest.approx(both / p, abs=1e-8)
    only_condition = co.aggregate(
        co.Panel.from_records([("A", "p", 0.5), ("A", "q", 0.1), ("A", "q given p", 0.9)]), co.AlternatingProjections()
    )
    p, q, given_p = only_condition.solution.value
    assert p * given_p <= q + 1e-8
    alone = co.aggregate(co.Panel.from_records([("A", "q given p", 0.9)]), co.AlternatingProjections())
    assert alone.solution.value.tolist() == [0.9]
    assert "1 of them stands as forecast" in alone.note


def test_a_pin_that_nobody_forecast():
    panel = under(co.Panel.from_records([("A", "p", 0.5), ("A", "q", 0.5)]), [], [("p & q", 0.7, 0.7)])
    np.testing.assert_allclose(dykstra(panel, "logical").solution.value, [0.7, 0.7], atol=1e-8)
    loop = co.aggregate(panel, co.AlternatingProjections())
    assert loop.solution.value.tolist() == [0.5, 0.5]
    assert "1 pin about events that nobody forecast is left out" in loop.note
    pinned = under(co.Panel.from_records([("A", "p", 0.5), ("A", "q", 0.5)]), [], [("p", 0.6, 0.9)])
    np.testing.assert_allclose(co.aggregate(pinned, co.AlternatingProjections()).solution.value, [0.6, 0.5])


def test_intervals_lose_nothing_inside():
    rows = [
        {"judge": "A", "event": "p", "probability": 0.3, "lower": 0.2, "upper": 0.4},
        {"judge": "B", "event": "p", "probability": 0.8, "lower": None, "upper": None},
    ]
    panel = co.Panel.from_records(rows)
    result = dykstra(panel, "logical")
    assert result.solution.value[0] == pytest.approx(0.6, abs=1e-9)
    assert result.objective == pytest.approx(2 * 0.2**2, abs=1e-12)
    loop = co.aggregate(panel, co.AlternatingProjections())
    assert loop.solution.value[0] == pytest.approx(0.6)
    assert "Intervals entered as points" in loop.note


def test_other_losses_refuse_terms():
    panel = co.Panel.from_records([("A", "p", 0.5), ("A", "q given p", 0.5)])
    with pytest.raises(co.errors.MethodError, match="under the loss brier, not log; use the method exact"):
        co.aggregate(panel, co.AlternatingProjections(), loss="log")


@pytest.mark.parametrize("correction", ["none", "dykstra"])
@pytest.mark.parametrize("loss", ["brier", "log", "spherical"])
def test_a_partition_of_a_thousand_values(correction, loss):
    names = [f"n{i}" for i in range(1000)]
    raw = np.random.default_rng(1).random(1000) * 0.004
    panel = co.Panel.from_records(list(zip(["A"] * 1000, names, raw, strict=True)))
    panel = under(panel, [f"exactly(1; {', '.join(names)})"])
    result = co.aggregate(panel, co.AlternatingProjections(correction=correction), loss=loss)
    assert result.status == "converged"
    assert result.solution.value.sum() == pytest.approx(1, abs=1e-9)
    assert result.solution.value.min() >= 0
    if loss == "brier":  # x = max(0, q - l), with the l that makes the sum 1
        level = raw - result.solution.value
        assert np.ptp(level[result.solution.value > 0]) <= 1e-12
        assert np.all(raw[result.solution.value == 0] <= level.max() + 1e-12)


LAWS = [
    "variable winner: Ann, Bob, Cid, ...",
    "variable due: date",
    "winner = Ann -> late",
    "P(late) <= 0.7",
    "P(winner = Bob given late) >= 0.2",
]
ROWS = [
    {"judge": "A", "event": "winner = Ann", "probability": 0.6},
    {"judge": "A", "event": "winner = Bob", "probability": 0.5, "weight": 2.0},
    {"judge": "B", "event": "winner = Cid", "probability": 0.3, "lower": 0.1, "upper": 0.3},
    {"judge": "B", "event": "winner in {Ann, Cid}", "probability": 0.5},
    {"judge": "A", "event": "due < 2030-01-01", "probability": 0.6},
    {"judge": "B", "event": "due < 2031-01-01", "probability": 0.4},
    {"judge": "C", "event": "due >= 2032-01-01", "probability": 0.2},
    {"judge": "C", "event": "late given due >= 2031-01-01", "probability": 0.9, "weight": 3.0},
    {"judge": "C", "event": "winner = Ann given late", "probability": 0.2},
    {"judge": "D", "event": "late & due < 2030-01-01", "probability": 0.35},
]


def test_all_kinds_together():
    rows = [{"weight": 1.0, "lower": None, "upper": None} | row for row in ROWS]
    panel = co.Panel.from_records(rows, laws=LAWS)
    merged = pose(panel).merged
    least, _ = nearest(merged)
    for groups in WHOLE:
        result = dykstra(panel, groups)
        assert result.objective == pytest.approx(least, abs=1e-7)
        assert result.lower_bound == pytest.approx(least, abs=1e-7)
        assert co.verify(panel, result)
        assert result.probability("late given due >= 2031-01-01") <= 1
    for groups in LOCAL:
        local = dykstra(panel, groups)
        assert local.objective <= least + 1e-7
        assert co.verify(panel, local)
    loop = co.aggregate(panel, co.AlternatingProjections())
    assert loop.violation <= 1e-7
    assert co.verify(panel, loop)
    annealed = co.aggregate(panel, co.Annealing(columns=200))
    assert annealed.violation <= 0.005
    assert co.verify(panel, annealed)
    assert annealed.conditionals == "ratio"


def test_a_partition_with_unions_is_one_group():
    names = [f"n{i}" for i in range(120)]
    rows = [("A", f"w = {name}", 0.012) for name in names]
    rows += [("A", f"w in {{{', '.join(names[i : i + 30])}}}", 0.3) for i in range(0, 120, 30)]
    panel = co.Panel.from_records(rows, laws=[f"variable w: {', '.join(names)}"])
    # By symmetry each value is x and each union 30 x, with 120 x = 1.
    for correction in ("none", "dykstra"):
        result = co.aggregate(panel, co.AlternatingProjections(correction=correction))
        np.testing.assert_allclose(result.solution.value, [1 / 120] * 120 + [1 / 4] * 4, atol=1e-10)
    assert (result.worlds, result.status) == (None, "converged")


def stars(events):
    """One group a variable: every event that mentions it."""
    variables = sorted({v for event in events for v in event})
    return [[i for i, event in enumerate(events) if v in event] for v in variables]


OTHERS = [
    co.AlternatingProjections("singletons"),
    co.AlternatingProjections("singletons", correction="dykstra"),
    co.AlternatingProjections(correction="dykstra", auxiliary=True),
    co.AlternatingProjections("pairs", correction="dykstra", auxiliary=True, trace=True),
    co.AlternatingProjections(trace=True),
    co.AlternatingProjections(stars),
    co.AlternatingProjections(stars, correction="dykstra"),
]


@settings(max_examples=30, deadline=None)
@given(panels(weights=(1.0, 2.5, 0.0)), st.sampled_from(OTHERS))
def test_any_options_go_with_laws_and_terms(panel, method):
    least, _ = nearest(pose(settled(panel)).merged)
    result = co.aggregate(panel, method)
    assert co.verify(panel, result)
    if method.correction == "dykstra":
        assert result.status == "converged"
        assert result.objective <= least + 1e-6


@settings(max_examples=20, deadline=None)
@given(panels(given=False, intervals=False, pins=False), st.sampled_from(["log", "spherical"]))
def test_laws_under_other_losses(panel, loss):
    result = co.aggregate(panel, co.AlternatingProjections("global", correction="dykstra", sweeps=20_000), loss)
    exact = co.aggregate(panel, "exact", loss)
    assert result.objective == pytest.approx(exact.objective, abs=1e-5)
    assert co.verify(panel, result)


@pytest.mark.parametrize(
    ("rows", "laws"),
    [
        ([("A", "p | r", 0.5)], ["p & q"]),
        ([("A", "p | r", 0.5), ("A", "r", 0.5)], ["p & q"]),
        ([("A", "p | r", 0.5), ("A", "r", 0.2)], ["p <-> q", "q"]),
        ([("A", "p | r", 0.5), ("A", "r", 0.2), ("A", "q & s", 0.1)], ["p <-> q", "q | s", "~s"]),
    ],
)
@pytest.mark.parametrize("groups", ["triples", "cliques", "global"])
def test_a_law_inside_which_nobody_forecast_counts(rows, laws, groups):
    panel = co.Panel.from_records(rows, laws=laws)
    assert dykstra(panel, groups).objective == pytest.approx(co.aggregate(panel, "exact").objective, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_designs_under_laws_are_ordered_up_to_the_whole_problem(seed):
    rng = np.random.default_rng(seed)
    solved = 0
    for _ in range(40):
        rows, laws = sparse_under_laws(rng)
        try:
            panel = co.Panel.from_records(rows, laws=laws)
        except co.CoherentlyError:  # the laws contradict each other, or each other's variables
            continue
        solved += 1
        least = co.aggregate(panel, "exact").objective
        found = [objective_of(panel, groups) for groups in (*LOCAL, "cliques", "global")]
        assert found[3:] == pytest.approx([least, least], abs=1e-6), (rows, laws)
        assert all(coarse <= fine + 1e-6 for coarse, fine in pairwise(found[:-1])), (rows, laws)
    assert solved > 25


def objective_of(panel, groups):
    auxiliary = groups in ("logical", "pairs")
    method = co.AlternatingProjections(groups, correction="dykstra", auxiliary=auxiliary)
    return co.aggregate(panel, method).objective


def sparse_under_laws(rng):
    """Forecasts about a few of the variables, and laws about all of them."""
    atoms, laws = [f"v{i}" for i in range(5)], []
    if rng.random() < 0.6:
        atoms += [*(f"w = {value}" for value in "abc"), "x < 1", "x < 2"]
        laws += [f"variable w: a, b, c{', ...' if rng.random() < 0.5 else ''}", "variable x: number"]
    few = rng.choice(atoms, int(rng.integers(2, 5)), replace=False)
    laws += [formula(rng, atoms) for _ in range(int(rng.integers(1, 4)))]
    texts = {formula(rng, few if rng.random() < 0.7 else atoms) for _ in range(int(rng.integers(1, 6)))}
    return [("A", text, round(float(rng.random()), 3)) for text in sorted(texts)], laws


def formula(rng, atoms):
    literals = [f"{rng.choice(['', '~'])}({rng.choice(atoms)})" for _ in range(int(rng.integers(1, 4)))]
    text = literals[0]
    for literal in literals[1:]:
        text = f"({text} {rng.choice(['&', '|', '->', '<->'])} {literal})"
    return text


@pytest.mark.parametrize("correction", ["none", "dykstra"])
def test_groups_that_pins_keep_from_agreeing_do_not_converge(correction):
    rows = [("A", "p", 0.5), ("A", "q", 0.5), ("A", "p & q", 0.3)]
    panel = co.Panel.from_records(rows, laws=["p -> q", "P(p) >= 0.9", "P(q) <= 0.2"])
    result = co.aggregate(panel, co.AlternatingProjections(correction=correction, sweeps=200))
    assert (result.status, result.violation > 0.2) == ("sweep_limit", True)


@pytest.mark.parametrize("method", ["exact", "dykstra", "projections"])
def test_an_interval_given_what_cannot_be_is_a_number(method):
    rows = [
        {"judge": "A", "event": "p given q", "lower": 0.229, "upper": 1.0},
        {"judge": "A", "event": "p", "probability": 0.3},
    ]
    rows = [{"probability": None, "lower": None, "upper": None} | row for row in rows]
    panel = co.Panel.from_records(rows, laws=["P(~q given q) >= 0.25"])
    result = co.aggregate(panel, method)
    assert np.isfinite(result.solution.value).all()
    assert co.verify(panel, result)
