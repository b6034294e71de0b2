"""Conditionals, intervals and pins in the exact method, against enumeration with a convex solver."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently.errors import ContradictionError, MethodError
from coherently.problem import BRIER, find_loss, pose, split
from coherently.solve.budget import Budget
from coherently.solve.component.component_solver import solve_component
from coherently.solve.component.newton import newton as newton_module
from coherently.solve.component.newton.newton import Newton
from coherently.solve.component.newton.support import Blend, blend_of
from coherently.solve.component.objective import objective_of
from coherently.solve.component.planes import plane_below
from tests.problem.test_terms import under, worlds_of
from tests.solve.composite_reference import Reference, random_panel
from tests.truth import holds

THREE = [("A", "p", 0.5), ("A", "q given p", 0.5), ("A", "p & q", 0.5)]
ADRIFT = [("A", "a given h", 0.9), ("A", "b given h", 0.9), ("A", "a & b given h", 0.1)]


@pytest.mark.parametrize(
    ("loss", "expected", "value"),
    [("brier", [0.576244, 0.634420, 0.365580], 0.034294), ("log", [0.577350, 0.633975, 0.366025], 0.069336)],
)
def test_called_off_numbers(loss, expected, value):
    result = co.aggregate(co.Panel.from_records(THREE), "exact", loss)
    assert result.solution.value == pytest.approx(expected, abs=1e-6)
    assert result.objective == pytest.approx(value, abs=1e-6)
    assert (result.status, result.coherence, result.solution.conditionals) == ("optimal", "global", "called_off")
    assert result.gap < 1e-9


@given(st.integers(0, 10**6), st.sampled_from(["brier", "log", "linearised"]))
@settings(max_examples=40, deadline=None)
def test_against_a_convex_solver(seed, form):
    panel = random_panel(seed)
    loss, linearised = find_loss("log" if form == "log" else "brier"), form == "linearised"
    expected = Reference(panel, loss, linearised)
    method = co.Exact(conditionals="linearised" if linearised else "called_off")
    if expected.value is None:
        with pytest.raises(ContradictionError, match="pins"):
            co.aggregate(panel, method, loss)
        return
    result = co.aggregate(panel, method, loss)
    near = 1e-7 if expected.status == "optimal" else 1e-5
    assert abs(result.objective - expected.value) <= result.gap + near * max(1.0, expected.value)
    assert result.lower_bound <= expected.value + near * max(1.0, expected.value)
    assert result.status == "optimal"
    assert result.violation <= 1e-9
    check_worlds(result)


def check_worlds(result):
    """The answer is that of its worlds, which keep the pins."""
    merged = result.problem.merged
    x = np.empty(len(merged))
    for part in result.solution.worlds:
        assert part.weight.min() > 0
        np.testing.assert_allclose(part.weight.sum(), 1.0)
    every = np.zeros((1, merged.n_variables), np.bool_)
    total = np.zeros(len(merged))
    for part in result.solution.worlds:
        place = part.variables
        rows = np.repeat(every, len(part.weight), axis=0)
        rows[:, place] = part.truth
        own = np.isin(np.arange(len(merged)), _about(merged, place))
        total[own] = (part.weight @ holds(merged, rows))[own]
    x[:] = total
    np.testing.assert_allclose(result.problem.as_written(x), result.solution.value, atol=1e-7)
    limits = merged.terms.limits
    a, h = limits.joint.probability(x), limits.condition.probability(x)
    assert np.all(a >= limits.low * h - 1e-9)
    assert np.all(a <= limits.high * h + 1e-9)


def _about(merged, variables):
    """The coordinates about some variables."""
    inside = np.isin(merged.functions.variables, variables)
    owner = np.repeat(np.arange(len(merged)), merged.sizes())
    return np.unique(owner[inside])


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_rows_may_be_permuted_and_copied(seed):
    panel = random_panel(seed, most=5)
    rng = np.random.default_rng(seed)
    rows = [
        {"judge": f"j{i}", "event": panel.written.text[e], "probability": p, "weight": 1.0, "lower": low, "upper": high}
        for e, p, weight, low, high in zip(
            panel.event_index,
            panel.probability,
            panel.weight,
            _ends(panel.lower, panel),
            _ends(panel.upper, panel),
            strict=True,
        )
        for i in range(int(weight))
    ]
    rng.shuffle(rows)
    free = under(panel)
    one, other = co.aggregate(free, "exact"), co.aggregate(co.Panel.from_records(rows), "exact")
    assert other.objective == pytest.approx(one.objective, abs=1e-8)


def _ends(values, panel):
    found = np.full(len(panel.probability), np.nan) if values is None else values
    return [None if np.isnan(value) else value for value in found]


def test_a_conditional_and_its_complement_are_one():
    rows = [("A", "p", 0.5), ("A", "~q given p", 0.5), ("A", "p & q", 0.5)]
    result = co.aggregate(co.Panel.from_records(rows), "exact")
    assert result.solution.value == pytest.approx([0.576244, 1 - 0.634420, 0.365580], abs=1e-6)


def quarrel(seed):
    rng = np.random.default_rng(seed)
    events = ["a", "b", "a & b", "a given b", "b given a | c", "c given ~a", "a | c"]
    return co.Panel.from_records([("A", event, round(float(rng.random()), 2)) for event in events])


def check_saving(panel, result, tolerance):
    worlds = worlds_of(len(panel.events.variables))
    event, condition = (panel.events.evaluate(side, worlds) for side in (panel.written.event, panel.written.condition))
    before, after = (
        np.sum(condition * (event - values) ** 2, axis=1) for values in (panel.probability, result.solution.value)
    )
    assert result.guaranteed_improvement <= np.min(before - after) + 1e-9
    assert result.guaranteed_improvement >= result.objective - tolerance


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_the_promised_saving_holds_in_every_world(seed):
    panel = quarrel(seed)
    check_saving(panel, co.aggregate(panel, "exact"), 1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_promised_saving_rests_on_the_last_proof_where_worlds_are_many(monkeypatch, seed):
    monkeypatch.setattr("coherently.solve.worlds.grounds.MOST_STATES", 0)
    panel = quarrel(seed)
    check_saving(panel, co.aggregate(panel, "exact"), 1e-4)


def test_what_nothing_holds_is_noted():
    result = co.aggregate(co.Panel.from_records(ADRIFT), "exact")
    assert result.objective == pytest.approx(0.0, abs=1e-8)
    assert result.note.startswith("In this answer the probability of h is 0, although")
    assert result.solution.value == pytest.approx([0.9, 0.9, 0.1], abs=1e-12)
    held = co.aggregate(co.Panel.from_records([*ADRIFT, ("A", "h", 0.5)]), "exact")
    assert held.note is None
    assert held.objective > 0.01
    unheld = co.aggregate(co.Panel.from_records([("A", "p given q", 0.3), ("A", "p", 0.2)]), "exact")
    assert "Nobody forecast q" in unheld.note


def test_pins_are_kept_and_conflicts_named():
    panel = co.Panel.from_records([("A", "a", 0.2), ("A", "b given a", 0.9), ("A", "c", 0.4)])
    result = co.aggregate(under(panel, (), [("a", 0.5, 0.5), ("b given a", 0.0, 0.25)]), "exact")
    assert result.solution.value == pytest.approx([0.5, 0.25, 0.4], abs=1e-9)
    assert result.guaranteed_improvement is None
    pins = [("a", 0.5, 0.5), ("c", 0.1, 0.2), ("a & b", 0.6, 1.0), ("b", 0.0, 0.9)]
    with pytest.raises(ContradictionError, match=r"pins together with the laws: a; a & b\. Change"):
        co.aggregate(under(panel, (), pins), "exact")
    sure = co.aggregate(under(panel, (), [("a", 0.0, 0.0), ("c", 1.0, 1.0)]), "exact", "log")
    assert sure.status == "optimal"
    assert [sure.probability("a"), sure.probability("c")] == pytest.approx([0.0, 1.0], abs=1e-9)


@pytest.mark.parametrize(
    ("laws", "expected"),
    [
        (["P(~p) = 0.1"], 0.08**2),
        (["P(p) = 0.33"], 0.49**2),
        (["P(p) = 1"], 0.18**2),
        (["p", "P(p) >= 0.93"], 0.18**2),
        (["P(p) <= 0.5", "P(p) >= 0.5"], 0.32**2),
        (["p -> q", "P(q) = 0.75"], 0.07**2),
    ],
)
def test_pins_that_leave_no_choice_are_proved(laws, expected):
    result = co.aggregate(co.Panel.from_records([("A", "p", 0.82)], laws=laws), "exact")
    assert result.status == "optimal"
    assert result.objective == pytest.approx(expected, abs=1e-9)
    assert result.lower_bound == pytest.approx(expected, abs=1e-7)
    assert result.lower_bound <= expected + 1e-12


@pytest.mark.parametrize("seed", range(40))
def test_a_forecast_and_an_equality_pin_of_two_digits(seed):
    rng = np.random.default_rng(seed)
    pin, forecast = rng.random(2).round(2).tolist()
    result = co.aggregate(co.Panel.from_records([("A", "p", forecast)], laws=[f"P(p) = {pin}"]), "exact")
    assert result.status == "optimal"
    assert result.gap <= 1e-7
    assert result.probability("p") == pytest.approx(pin, abs=1e-9)


@pytest.mark.parametrize("weight", [1.0, 1e3, 1e6, 1e9, 1e-9])
@pytest.mark.parametrize(
    "rows",
    [
        [("A", "a given h", 0.778)],
        [("A", "a given h", 0.778), ("A", "a", 0.23)],
        [("A", "a given h", 0.778), ("A", "a", 0.23, 1.0)],
        [("A", "a given h", 0.9), ("A", "~a & h", 0.4), ("A", "h", 0.5)],
    ],
)
def test_no_promise_is_above_what_a_world_saves(rows, weight):
    panel = co.Panel.from_records([(*row[:3], row[3] if len(row) > 3 else weight) for row in rows])
    result = co.aggregate(panel, "exact")
    worlds = worlds_of(len(panel.events.variables))
    event, condition = (panel.events.evaluate(side, worlds) for side in (panel.written.event, panel.written.condition))
    lost = [panel.weight * condition * (event - p) ** 2 for p in (panel.probability, result.solution.value)]
    least = np.min(np.sum(lost[0] - lost[1], axis=1))
    if result.guaranteed_improvement is not None:
        assert 0 <= result.guaranteed_improvement <= least + 1e-15 * panel.weight.sum()


def test_what_is_given_the_all_but_impossible_stands_as_forecast():
    (part,) = split(pose(co.Panel.from_records([("A", "a given h", 0.52), ("A", "h", 0.5)])).merged)
    given = part.merged.terms.conditionals
    h, joint = int(given.condition.coordinate[0]), int(given.joint.coordinate[0])
    for chance, stands in ((0.0, True), (1e-9, True), (9e-7, True), (1.1e-6, False), (0.3, False)):
        x = np.zeros(len(part.merged))
        x[h], x[joint] = chance, chance  # always a where h
        assert given.standing(x).tolist() == [stands]
        assert given.value(x) == pytest.approx([0.52 if stands else 1.0])
        assert given.ratio(x) == pytest.approx([1.0 if chance else 0.52])
    rows = [("A", "a given h", 0.52), ("A", "h", 0.3), ("A", "a & h", 0.9)]
    result = co.aggregate(co.Panel.from_records(rows, laws=["P(h) <= 0.0000001"]), "exact")
    assert result.solution.value[0] == 0.52
    assert "Forecasts conditional on h are unchanged" in result.note


def test_an_interval_costs_nothing_inside():
    rows = [
        {"judge": "A", "event": "p", "probability": 0.5, "lower": 0.4, "upper": 0.6},
        {"judge": "B", "event": "p & q", "probability": 0.55, "lower": None, "upper": None},
    ]
    result = co.aggregate(co.Panel.from_records(rows), "exact")
    assert result.objective == pytest.approx(0.0, abs=1e-10)
    assert 0.55 - 1e-6 <= result.probability("p") <= 0.6 + 1e-6


def test_no_time_leaves_a_coherent_answer_with_a_bound():
    panel = under(random_panel(3), (), [("a", 0.3, 0.4)])
    result = co.aggregate(panel, co.Exact(time_limit=0))
    assert (result.status, result.coherence) == ("time_limit", "global")
    assert result.lower_bound <= Reference(panel, find_loss("brier")).value + 1e-9
    assert result.violation <= 1e-9
    check_worlds(result)


PINNED = [("A", "p", 0.9), ("A", "q given p", 0.4), ("A", "p & q", 0.8), ("A", "r | q", 0.3)]
PINS = ["P(p) <= 0.3", "P(q given r) = 0.65", "P(r) >= 0.2"]


@pytest.mark.parametrize("after", [None, 1, 2, 3, 5])
@pytest.mark.parametrize("loss", ["brier", "log", "spherical"])
def test_pins_are_kept_without_time_and_after_an_interruption(loss, after):
    calls = 0

    def interrupt(_):
        nonlocal calls
        calls += 1
        if calls == after:
            raise KeyboardInterrupt

    panel = co.Panel.from_records(PINNED, laws=PINS)
    best = co.aggregate(panel, "exact", loss)
    result = co.aggregate(panel, co.Exact(time_limit=60.0 if after else 0.0), loss, progress=interrupt)
    # The fifth call may come when all is proved.
    expected = ("interrupted",) if after else ("time_limit", "unproved")
    assert result.status in ((*expected, "optimal") if after == 5 else expected)
    assert result.status != "optimal" or result.objective <= best.objective + 1e-6
    assert result.violation <= 1e-9
    assert result.lower_bound <= best.objective + 1e-9 <= result.objective + 2e-9
    check_worlds(result)


def test_pins_that_contradict_each_other_are_found_out_without_time():
    panel = co.Panel.from_records(PINNED, laws=["P(p) <= 0.3", "P(p & q) >= 0.4"])
    with pytest.raises(ContradictionError, match="pins"):
        co.aggregate(panel, co.Exact(time_limit=0.0))


@pytest.mark.parametrize("form", ["brier", "log", "linearised"])
@pytest.mark.parametrize("seed", range(3))
def test_work_that_is_stopped_sooner_is_no_better_and_claims_no_more(seed, form):
    loss = find_loss("log" if form == "log" else "brier")
    (part, *_) = split(pose(random_panel(seed, most=12), loss).merged)
    objective = objective_of(part.merged, loss, linearised=form == "linearised")
    best = solve_component(part.merged, objective, Budget())
    before = np.inf
    for most in range(0, 60, 3):
        looks = iter(range(most))
        stop = SimpleNamespace(is_set=lambda looks=looks: next(looks, None) is None)
        answer = solve_component(part.merged, objective, Budget(cancel=stop))
        assert best.objective - 1e-9 <= answer.objective <= before + 1e-12
        assert answer.bound <= min(best.objective + 1e-9, answer.objective)
        before = answer.objective


def test_a_linearised_interval_that_is_missed_is_proved():
    rows = [
        {"judge": "A", "event": "b given ~c ^ a", "probability": 0.42, "lower": 0.177, "upper": 0.423, "weight": 30.0},
        {"judge": "A", "event": "~c -> a", "probability": 0.21, "weight": 5.0},
        {"judge": "A", "event": "~a & c", "probability": 0.08, "weight": 5.0},
        {"judge": "A", "event": "a & b given c ^ ~a -> ~d", "probability": 0.74, "weight": 1.0},
    ]
    panel = co.Panel.from_records(rows, laws=["P(c ^ ~a ^ d) = 0.88", "P(~b) <= 0.22"])
    result = co.aggregate(panel, co.Exact(conditionals="linearised"))
    assert result.objective > 0.1
    assert result.gap <= 1e-9


def test_a_loose_pin_beside_one_that_leaves_no_choice_has_no_price():
    rows = [("A", "c & a | b", 0.79, 30.0), ("A", "(a <-> c) & ~b", 0.0, 0.1)]
    records = [dict(zip(("judge", "event", "probability", "weight"), row, strict=True)) for row in rows]
    panel = co.Panel.from_records(records, laws=["P(c | b <-> ~a) >= 0.24", "P(b) >= 1"])
    result = co.aggregate(panel, "exact", "log")
    assert result.status == "optimal"
    assert result.gap <= 1e-8


UNEVEN = [
    ("~(w = Y) given ((~(b)) & (r >= 2)) | (r < 1)", 0.84, 30.0, None, None),
    ("~(b)", 0.39, 1.0, None, None),
    ("(r < 2) ^ (~(w = Y)) given ~(d)", 0.53, 2.0, None, None),
    ("((~(e)) -> (b)) ^ (~(w = Y)) given ((b) | (~(r < 2))) ^ (w = X)", 0.42, 5.0, 0.232, 0.474),
    ("e", 0.6944241174100141, 30.0, 0.682, 0.933),
    ("r >= 2", 0.8627071895609488, 5.0, None, None),
    ("((~(d)) -> (w = Y)) & (~(a))", 1.0, 1.0, 0.735, 1.0),
    ("((~(r < 2)) ^ (~(b))) | (~(r >= 2))", 0.28725911125758297, 1.0, 0.138, 0.339),
    ("((b) | (~(e))) <-> (~(w = X))", 0.5, 5.0, None, None),
]
"""A condition vanishes, so that weights of rows span 14 digits and worlds take each other's place."""


DEPENDENT = [
    ("w != Y", None, 3.9168446551217837, 0.060711623727877195, None),
    ("(((w != Z) & w != X) & w in {Z, X}) given w != Z", 0.0, 1.0, None, None),
    ("(w = Z) | due < 2027-01-20", 0.016082602440181892, 1.0, None, None),
    ("w in {Y, Z}", 0.236049, 0.0, None, None),
    ("(w != X) | due > 2027-01-15", None, 1.0, 0.015224497530982428, None),
    ("(((w in {X, Z}) | w != Y) -> w = Y) given due > 2027-01-20", 0.011039, 1.9436556138896686, None, None),
]
"""Worlds that cannot take each other's place after all, since what is left depends on them, too."""


@pytest.mark.parametrize(
    ("written", "laws", "loss", "least"),
    [
        (UNEVEN, ["variable w: X, Y, Z", "variable r: number"], "brier", 0.0367205),
        (DEPENDENT, ["variable due: date", "variable w: X, Y, Z", "(w != Z) | w in {Z, X}"], "log", None),
    ],
)
def test_the_shares_of_every_step_sum_to_1(monkeypatch, written, laws, loss, least):
    names = ("judge", "event", "probability", "weight", "lower", "upper")
    rows = [dict(zip(names, ("A", *row), strict=True)) for row in written]
    panel = co.Panel.from_records(rows, laws=laws)
    sums = []

    def noted(share, worlds, sides):
        sums.append(share.sum())
        return Blend(share, worlds, sides)

    monkeypatch.setattr(newton_module, "TUNING", replace(newton_module.TUNING, whole=np.inf))
    monkeypatch.setattr(newton_module, "Blend", noted)
    result = co.aggregate(panel, "exact", loss=loss)
    np.testing.assert_allclose(sums, 1.0, atol=1e-9)
    assert least is None or result.objective == pytest.approx(least, abs=1e-9)
    assert result.gap <= 1e-9


def test_a_condition_that_laws_make_certain_is_not_blamed_on_the_answer():
    rows = [("A", "x given b", 0.3), ("A", "a", 0.4), ("A", "x & a", 0.2)]
    by_law = co.aggregate(co.Panel.from_records(rows, laws=["a | b", "~a | b"]), "exact")
    assert by_law.solution.degenerate == ()
    assert by_law.note is None


@pytest.mark.parametrize("laws", [(), ("b -> d",)])
def test_a_condition_that_only_the_answer_makes_impossible_is_named(laws):
    """Nobody says how likely b is; that x is impossible contradicts its odds given b, unless b never happens."""
    rows = [("A", "x given b", 0.3), ("A", "y given b", 0.9), ("A", "x | y", 0.0)]
    free = co.aggregate(co.Panel.from_records(rows, laws=laws), "exact")
    assert free.solution.degenerate == (0, 1)
    assert "probability of b is 0, although no forecast, law or pin says so" in free.note


def test_options_are_checked():
    with pytest.raises(MethodError, match="called_off or linearised"):
        co.Exact(conditionals="ratio")
    with pytest.raises(MethodError, match="linearised conditionals need the loss brier"):
        co.aggregate(co.Panel.from_records(THREE), co.Exact(conditionals="linearised"), "log")


def test_no_price_is_so_high_that_rounding_proves_too_much():
    """A pin that leaves no choice has no highest price: at 1e134 the bound was above the least sum, by 6e-9."""
    given = bound_of_prices(-1e134)
    assert given <= bound_of_prices(-10.0) + 1e-9
    assert given > 0


def bound_of_prices(price):
    rows = [("A", "p", 0.7), ("A", "q given p", 0.4), ("A", "q", 0.2)]
    panel = co.Panel.from_records(rows, laws=["P(p & q & r given p) <= 0", "P(q) = 0.35"])
    (part,) = split(pose(panel).merged)
    part = part.merged
    nearest = Newton(part, objective_of(part, BRIER), Budget(tolerance=1e-9), 0)
    answer = nearest.run()
    sides = blend_of(part, answer.share, answer.worlds).sides
    prices = np.append(price, nearest.prices[1:])
    plane = plane_below(nearest.objective, nearest.objective.planes(sides, 0.0), nearest.pins, prices)
    return plane.bound(nearest.engine.minimise(plane.coefficients)[0])
