"""One panel with everything: each method keeps its promises, against brute force."""

import datetime as dt

import numpy as np
import pytest

import coherently as co
from tests.whole.reference import Case, solve

DAYS = tuple(dt.date(2027, 1, day) for day in (5, 15, 25, 30))
EVERYTHING = Case(
    domains={
        "winner": ("Ann", "Bob", "other"),
        "due": DAYS,
        "rain": (False, True),
        "strike": (False, True),
        "delay": (False, True),
    },
    declarations=["variable winner: Ann, Bob, ...", "variable due: date"],
    formulas=["strike -> delay", "winner = Ann -> ~strike", "rain & strike -> due >= 2027-01-20"],
    pins=[("winner = other", "<=", 0.2), ("rain", "=", 0.35), ("delay given rain", ">=", 0.5)],
    rows=[
        {"judge": "Ada", "event": "winner = Ann", "probability": 0.6, "weight": 2.0},
        {"judge": "Ada", "event": "winner = Bob", "probability": 0.5, "weight": 2.0},
        {"judge": "Ada", "event": "due < 2027-01-10", "probability": 0.4, "weight": 2.0},
        {"judge": "Ada", "event": "due < 2027-01-20", "probability": 0.3, "weight": 2.0},
        {"judge": "Ada", "event": "strike", "probability": 0.5, "weight": 2.0},
        {"judge": "Bea", "event": "strike", "probability": 0.7, "weight": 1.0},
        {"judge": "Bea", "event": "delay", "probability": 0.4, "weight": 1.0},
        {"judge": "Bea", "event": "delay given rain", "probability": 0.3, "weight": 1.0},
        {"judge": "Bea", "event": "winner = Bob given strike", "probability": 0.2, "weight": 1.0},
        {"judge": "Bea", "event": "rain & delay", "probability": 0.3, "weight": 1.0},
        {"judge": "Cid", "event": "due < 2027-01-10 & rain", "probability": 0.2, "weight": 0.5},
        {"judge": "Cid", "event": "rain", "probability": 0.2, "weight": 0.5},
        {"judge": "Cid", "event": "delay", "probability": 0.55, "lower": 0.5, "upper": 0.6, "weight": 3.0},
        {
            "judge": "Cid",
            "event": "strike & winner = other",
            "probability": 0.05,
            "lower": 0.0,
            "upper": 0.1,
            "weight": 1.0,
        },
        {
            "judge": "Cid",
            "event": "due < 2027-01-20 given strike",
            "probability": 0.6,
            "lower": 0.5,
            "upper": 0.7,
            "weight": 1.0,
        },
    ],
)
EVENTS = [row["event"] for row in EVERYTHING.rows]


def test_exact_agrees_with_enumeration_and_a_convex_solver():
    panel, expected = EVERYTHING.panel(), solve(EVERYTHING)
    result = co.aggregate(panel, co.Exact())
    assert (result.status, result.coherence) == ("optimal", "global")
    assert result.objective == pytest.approx(expected.objective, abs=1e-8)
    assert result.lower_bound <= expected.objective + 1e-8
    found = [result.probability(event) for event in EVENTS]
    np.testing.assert_allclose(found, [expected.probability(event) for event in EVENTS], atol=1e-5)
    assert co.verify(panel, result).problems == []
    assert co.verify(panel, co.Result.from_json(result.to_json())).problems == []


def test_the_worlds_obey_declarations_laws_and_pins():
    result = co.aggregate(EVERYTHING.panel(), co.Exact())
    worlds = list(result.worlds)
    np.testing.assert_allclose(sum(weight for weight, _ in worlds), 1.0)
    for _, world in worlds:
        assert set(world) == set(EVERYTHING.domains)
        assert world["winner"] in ("Ann", "Bob", None)
        assert not (world["strike"] and not world["delay"])
        assert not (world["winner"] == "Ann" and world["strike"])
        assert not (world["rain"] and world["strike"] and world["due"] < "2027-01-20")
    rain = sum(weight for weight, world in worlds if world["rain"])
    late = sum(weight for weight, world in worlds if world["rain"] and world["delay"])
    assert rain == pytest.approx(0.35, abs=1e-9)
    assert late >= 0.5 * rain - 1e-9
    assert sum(weight for weight, world in worlds if world["winner"] is None) <= 0.2 + 1e-9


def test_dykstra_agrees_where_it_promises_the_same():
    expected = solve(EVERYTHING, form="linearised")
    method = co.AlternatingProjections(groups="global", correction="dykstra")
    result = co.aggregate(EVERYTHING.panel(), method)
    assert result.status == "converged"
    assert result.objective == pytest.approx(expected.objective, abs=1e-6)
    exact = co.aggregate(EVERYTHING.panel(), co.Exact(conditionals="linearised"))
    assert exact.objective == pytest.approx(expected.objective, abs=1e-8)
    for event in EVENTS:
        assert result.probability(event) == pytest.approx(exact.probability(event), abs=1e-4)


def test_annealing_comes_near_and_is_coherent():
    panel = EVERYTHING.panel()
    result = co.aggregate(panel, co.Annealing(columns=400, seed=1))
    assert result.coherence == "global"
    for _, world in result.worlds:
        assert not (world["strike"] and not world["delay"])
        assert not (world["winner"] == "Ann" and world["strike"])
    assert result.violation <= 0.01


def test_the_log_loss_agrees_too():
    case = Case(
        EVERYTHING.domains,
        [row for row in EVERYTHING.rows if row.get("lower") is None],
        EVERYTHING.declarations,
        EVERYTHING.formulas,
        EVERYTHING.pins,
    )
    expected = solve(case, "log")
    result = co.aggregate(case.panel(), co.Exact(), loss="log")
    assert result.status == "optimal"
    assert result.objective == pytest.approx(expected.objective, abs=1e-6)
    for event in (row["event"] for row in case.rows):
        assert result.probability(event) == pytest.approx(expected.probability(event), abs=1e-4)
