"""Each rule of the verifier by a result that breaks it and nothing else, and by honest ones that come close."""

import copy
import json
import math

import numpy as np
import pytest

import coherently as co
from coherently.problem import BRIER
from coherently.verifier.distinct_events import merge
from coherently.verifier.enumeration import Enumeration, proved

SMALL = 1e-7
"""More than any tolerance of numbers, less than what a reader would see."""


def record(panel, method="exact", **options):
    return json.loads(co.aggregate(panel, method, **options).to_json())


def problems(panel, edited):
    return co.verify(panel, co.Result.from_json(json.dumps(edited))).problems


def check_refused(panel, edited, words):
    found = problems(panel, edited)
    assert any(words in problem for problem in found), found


def panel_of(*rows, laws=()):
    return co.Panel.from_records([("A", *row) for row in rows], laws=list(laws))


def mixture(edited, variables, weights, worlds):
    """Put one part of worlds in the place of all."""
    edited["worlds"] = [{"variables": list(variables), "weights": list(weights), "worlds": list(worlds)}]
    return edited


# ---------------------------------------------------------------- worlds


@pytest.mark.parametrize("share", [0.15, 1e-3, 1e-6])
def test_a_law_must_hold_in_every_world_however_small_its_share(share):
    # Nobody forecast both together: the probabilities are the same, and only one world tells.
    panel = panel_of(("p", 0.5), ("r", 0.3), laws=["~(p & r)"])
    edited = record(panel)
    assert not problems(panel, edited)
    worlds = mixture(edited, "pr", [share, 0.5 - share, 0.3 - share, 0.2 + share], ["11", "10", "01", "00"])
    check_refused(panel, worlds, "breaks the law '~(p & r)'")


@pytest.mark.parametrize(
    ("values", "weights", "worlds"),
    [
        ("Ann, Bob, Cal", [0.2, 0.3, 0.1, 0.2, 0.2], ["110", "100", "010", "001", "000"]),
        ("Ann, Bob, Cal", [0.5, 0.3, 0.2], ["100", "010", "000"]),
        ("Ann, Bob, Cal, ...", [0.2, 0.3, 0.1, 0.2, 0.2], ["110", "100", "010", "001", "000"]),
    ],
)
def test_a_declared_variable_has_one_value_in_every_world(values, weights, worlds):
    rows = [("winner = Ann", 0.5), ("winner = Bob", 0.3), ("winner = Cal", 0.2)]
    panel = panel_of(*rows, laws=[f"variable winner: {values}"])
    edited = record(panel)
    assert not problems(panel, edited)
    names = [event for event, _ in rows]
    assert sorted(edited["worlds"][0]["variables"]) == names
    check_refused(panel, mixture(edited, names, weights, worlds), "more or less than one value")


def test_thresholds_of_a_number_are_passed_in_their_order():
    panel = panel_of(("rate < 1", 0.2), ("rate < 3", 0.6), laws=["variable rate: number"])
    edited = record(panel)
    assert not problems(panel, edited)
    part = edited["worlds"][0]
    assert part["variables"] == ["rate < 1", "rate < 3"]
    part |= {"weights": [0.1, 0.1, 0.5, 0.3], "worlds": ["10", "11", "01", "00"]}
    check_refused(panel, edited, "more or less than one value")


@pytest.mark.parametrize("amount", [SMALL, 0.01])
@pytest.mark.parametrize("sign", [1, -1])
def test_probabilities_are_those_of_the_worlds(amount, sign):
    panel = panel_of(("p", 0.5), ("q", 0.4), ("p & q", 0.3), ("p | q", 0.7), ("q given p", 0.6))
    original = record(panel)
    assert not problems(panel, original)
    for i in range(len(original["forecasts"])):
        edited = copy.deepcopy(original)
        edited["forecasts"][i]["probability"] += sign * amount
        check_refused(panel, edited, "is not that of its worlds")


@pytest.mark.parametrize("method", ["exact", "dykstra", "projections", "linear"])
def test_complements_are_the_other_side_of_their_events(method):
    panel = panel_of(("p", 0.6), ("~p", 0.3), ("~q", 0.4), ("~(p & q)", 0.8), ("~q given p", 0.3), ("~(q & r)", 0.9))
    panel = panel if method == "exact" else panel.select(np.flatnonzero(panel.event_index != 4))
    original = record(panel, method)
    assert not problems(panel, original)
    for i in range(len(original["forecasts"])):
        edited = copy.deepcopy(original)
        edited["forecasts"][i]["probability"] = 1 - edited["forecasts"][i]["probability"]
        assert problems(panel, edited)


@pytest.mark.parametrize("change", [SMALL, -SMALL, 0.1])
def test_the_weights_of_worlds_sum_to_one_and_none_is_negative(change):
    panel = panel_of(("p", 0.5), ("q", 0.4), ("p & q", 0.3))
    edited = record(panel)
    edited["worlds"][0]["weights"][0] += change
    assert problems(panel, edited)
    edited = record(panel)
    part = edited["worlds"][0]
    part["weights"] += [-0.1, 0.1]
    part["worlds"] += [part["worlds"][0]] * 2
    assert problems(panel, edited)


def test_a_part_has_all_variables_of_what_ties_them():
    panel = panel_of(("p", 0.7), ("q", 0.6), laws=["~(p & q)"])
    edited = record(panel)
    edited["worlds"] = [
        {"variables": ["p"], "weights": [0.5, 0.5], "worlds": ["1", "0"]},
        {"variables": ["q"], "weights": [0.5, 0.5], "worlds": ["1", "0"]},
    ]
    assert problems(panel, edited)


# ---------------------------------------------------------------- pins


PINS = {
    "from above": (0.7, "P(p) <= 0.4", 0.4 + SMALL),
    "from below": (0.1, "P(p) >= 0.4", 0.4 - SMALL),
    "far above": (0.7, "P(p) <= 0.4", 0.7),
    "far below": (0.1, "P(p) >= 0.4", 0.1),
    "equal, above": (0.7, "P(p) = 0.4", 0.5),
    "equal, below": (0.1, "P(p) = 0.4", 0.3),
}


@pytest.mark.parametrize("name", PINS)
def test_pins_are_kept_from_both_sides(name):
    forecast, pin, value = PINS[name]
    panel = panel_of(("p", forecast), ("q", 0.5), laws=[pin])
    edited = record(panel)
    assert not problems(panel, edited)
    edited["forecasts"][0]["probability"] = value
    for part in edited["worlds"]:
        if "p" in part["variables"]:
            q = 0.5 if "q" in part["variables"] else None
            part["variables"] = ["p"] if q is None else ["p", "q"]
            part["worlds"] = ["1", "0"] if q is None else ["11", "01", "10", "00"]
            part["weights"] = (
                [value, 1 - value] if q is None else [value / 2, (1 - value) / 2, value / 2, (1 - value) / 2]
            )
    check_refused(panel, edited, "break the pin")


@pytest.mark.parametrize(("value", "pin"), [(0.3, "P(q given p) >= 0.5"), (0.7, "P(q given p) <= 0.5")])
def test_pins_of_conditionals_are_kept(value, pin):
    panel = panel_of(("p", 0.5), ("q", 0.4), laws=[pin])
    edited = record(panel)
    assert not problems(panel, edited)
    mixture(
        edited, "pq", [0.5 * value, 0.5 * (1 - value), 0.4 - 0.5 * value, 0.1 + 0.5 * value], ["11", "10", "01", "00"]
    )
    check_refused(panel, edited, "break the pin")


# ---------------------------------------------------------------- numbers


TRIANGLE = [("a", 0.5), ("b", 0.5), ("c", 0.5), ("a & b", 0.0), ("a & c", 0.0), ("b & c", 0.0)]


@pytest.mark.parametrize("laws", [(), ("P(a) >= 0",), ("P(a) >= 0.2",)])
@pytest.mark.parametrize("raised", [1e-7, 1e-5, 1e-2])
def test_a_bound_above_the_least_distance_is_refused(raised, laws):
    panel = panel_of(*TRIANGLE, laws=laws)
    edited = record(panel)
    assert not problems(panel, edited)
    # The objective is raised with it, by an answer that is a little worse, so that only the bound is wrong.
    edited["lower_bound"] = edited["components"][0]["lower_bound"] = edited["objective"] + raised
    edited["gap"] = edited["objective"] - edited["lower_bound"]
    assert problems(panel, edited)


def worse(panel, share):
    """The record of an answer a little off the nearest, honest but for what it says of its bound."""
    edited = record(panel)
    part = edited["worlds"][0]
    part["weights"] = [(1 - share) * w for w in part["weights"]] + [share]
    part["worlds"] = part["worlds"] + ["1" * len(part["variables"])]
    truth = [dict(zip(part["variables"], world, strict=True)) for world in part["worlds"]]
    objective = 0.0
    for forecast in edited["forecasts"]:
        names = forecast["event"].split(" & ")
        holds = [all(world[name] == "1" for name in names) for world in truth]
        forecast["probability"] = math.fsum(w for w, h in zip(part["weights"], holds, strict=True) if h)
        objective += forecast["weight"] * (forecast["probability"] - forecast["raw"]) ** 2
    edited["objective"] = edited["components"][0]["objective"] = objective
    edited["guaranteed_improvement"] = None
    edited["gap"] = objective - edited["lower_bound"]
    return edited


@pytest.mark.parametrize("laws", [(), ("P(a) >= 0",)])
@pytest.mark.parametrize("share", [1e-3, 1e-2, 0.1])
def test_an_answer_that_is_not_the_nearest_is_not_optimal(share, laws):
    panel = panel_of(*TRIANGLE, laws=laws)
    honest = worse(panel, share)
    honest["status"] = "time_limit"
    assert not problems(panel, honest)
    for bound in (honest["objective"], 0.5 * (honest["objective"] + honest["lower_bound"])):
        edited = copy.deepcopy(honest) | {"lower_bound": bound, "gap": honest["objective"] - bound}
        edited["components"][0]["lower_bound"] = bound
        assert problems(panel, edited)
    assert problems(panel, honest | {"status": "optimal"})


@pytest.mark.parametrize("tolerance", [0.2, 10.0, 1e9])
def test_a_tolerance_that_says_nothing_is_refused(tolerance):
    panel = panel_of(*TRIANGLE)
    assert problems(panel, worse(panel, 0.1) | {"tolerance": tolerance})


def test_the_guaranteed_improvement_is_what_the_worst_world_saves():
    panel = panel_of(*TRIANGLE)
    edited = record(panel)
    claim = edited["guaranteed_improvement"]
    assert not problems(panel, edited)
    assert not problems(panel, edited | {"guaranteed_improvement": 0.5 * claim})
    for more in (SMALL, 1e-3, 1.0):
        check_refused(panel, edited | {"guaranteed_improvement": claim + more}, "guaranteed improvement")
    # Of an answer off the nearest one: f - 2g and no more, which all worlds tell.
    off = worse(panel, 0.02) | {"status": "time_limit"}
    value = np.array([forecast["probability"] for forecast in off["forecasts"]])
    raw = np.array([forecast["raw"] for forecast in off["forecasts"]])
    worlds = (np.arange(8)[:, None] >> np.arange(3) & 1).astype(float)
    truth = np.column_stack(
        [worlds, worlds[:, 0] * worlds[:, 1], worlds[:, 0] * worlds[:, 2], worlds[:, 1] * worlds[:, 2]]
    )
    least = float(((truth - raw) ** 2 - (truth - value) ** 2).sum(axis=1).min())
    assert not problems(panel, off | {"guaranteed_improvement": max(0.0, least)})
    check_refused(panel, off | {"guaranteed_improvement": max(0.0, least) + 1e-4}, "guaranteed improvement")


@pytest.mark.parametrize("field", ["raw", "weight", "probability"])
@pytest.mark.parametrize("amount", [SMALL, 0.1])
def test_means_and_weights_are_those_of_the_panel(field, amount):
    panel = co.Panel.from_records([("A", "p", 0.5, 2.0), ("B", "p", 0.6, 3.0), ("A", "q", 0.2, 1.0)])
    original = record(panel)
    assert not problems(panel, original)
    for i in range(2):
        edited = copy.deepcopy(original)
        edited["forecasts"][i][field] += amount
        assert problems(panel, edited)


@pytest.mark.parametrize("amount", [SMALL, -SMALL, 0.1, -0.1])
@pytest.mark.parametrize(
    ("field", "words"),
    [("objective", "the objective is"), ("lower_bound", "the components sum to"), ("gap", "the gap is")],
)
def test_the_numbers_of_the_whole_are_those_of_the_forecasts(field, words, amount):
    panel = panel_of(*TRIANGLE)
    edited = record(panel)
    check_refused(panel, edited | {field: edited[field] + amount}, words)


def test_what_enumeration_proves_is_below_the_least_distance():
    for f in (0.1, 1.0, 7.0):
        for g in (0.0, 0.01, 0.3, 0.9, 2.0):
            # On a line the least squared distance at a shortfall of g is (f - g)^2 / f.
            assert proved(f, g * f) == pytest.approx(f * max(0.0, 1 - g) ** 2)
    assert proved(0.0, 0.0) == 0


# ---------------------------------------------------------------- groups


@pytest.mark.parametrize("loss", ["brier", "log"])
def test_raw_means_are_not_locally_coherent(loss):
    panel = panel_of(("p", 0.3), ("q", 0.4), ("p & q", 0.6))
    edited = json.loads(co.aggregate(panel, "dykstra", loss).to_json())
    assert not problems(panel, edited)
    for forecast in edited["forecasts"]:
        forecast["probability"] = forecast["raw"]
    edited |= {"objective": 0.0, "lower_bound": 0.0, "gap": 0.0, "violation": 0.0, "guaranteed_improvement": None}
    assert problems(panel, edited)


@pytest.mark.parametrize("amount", [1e-6, 0.05])
def test_a_violation_is_admitted(amount):
    panel = panel_of(("p", 0.3), ("q", 0.4), ("p & q", 0.6))
    edited = record(panel, "dykstra")
    edited["forecasts"][2]["probability"] += amount
    check_refused(panel, edited, "incoherent")


# ---------------------------------------------------------------- enumeration


@pytest.mark.parametrize("seed", range(10))
def test_least_sums_are_those_over_the_worlds_that_laws_allow(seed):
    rng = np.random.default_rng(seed)
    laws = [
        str(law) for law in rng.choice(["a -> b", "~(b & c)", "c | d", "a ^ d", "exactly(1; a, c)"], 2, replace=False)
    ]
    panel = panel_of(*((text, 0.5) for text in ("a", "b", "c", "d", "a & b", "c ^ d", "a | c | d")), laws=laws)
    distinct = merge(panel, BRIER)
    enumeration = Enumeration(panel, distinct, distinct.side, distinct.component)
    coefficients = rng.normal(size=len(distinct.side))
    every = (np.arange(16)[:, None] >> np.arange(4) & 1).astype(bool)
    every = every[panel.events.evaluate(panel.laws.side, every).all(axis=1)]
    truth = panel.events.evaluate(distinct.side, every)
    for i, least in enumerate(enumeration.least(coefficients).tolist()):
        own = distinct.component == i
        assert least == pytest.approx((truth[:, own] @ coefficients[own]).min())
        rows = {tuple(row) for row in truth[:, own].tolist()}
        assert {tuple(row) for row in enumeration.truths(i, distinct.side[own]).tolist()} == rows
