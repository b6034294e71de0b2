"""Components that are solved by their structure: recognised rightly, and as near as by any other way."""

import pickle
import time
from dataclasses import replace
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest

import coherently as co
from coherently.problem import find_loss, pose, split
from coherently.solve import lazy_table
from coherently.solve.budget import Budget
from coherently.solve.component.answer import Answer, Ended
from coherently.solve.component.component_solver import solve_by_worlds, solve_component
from coherently.solve.component.objective import goal_of
from coherently.solve.component.structure import barrier_path, structure_rules, world_shares
from coherently.solve.component.structure import literal_order as literal_order_room
from coherently.solve.component.structure.exclusive_values import exclusive_values
from coherently.solve.component.structure.limited_values import solve_limited
from coherently.solve.component.structure.listed_worlds import listed_worlds
from coherently.solve.component.structure.literal_order import literal_order
from coherently.solve.component.structure.structure_rules import solve_by_structure
from coherently.solve.component.structure.world_shares import solve_shares
from coherently.solve.lazy_table import LazyTable
from coherently.solve.worlds import lawful
from tests.solve import structure_checks as checks

ROUTES = {"closed form", "Newton's method on levels"}
WHO = ["variable who: Ann, Bob, Cid"]


class Quartic:
    """The divergence of u^2 + u^4, where u = x - 1/2: a user's own loss."""

    name, is_quadratic = "quartic", False

    def clipped(self, p):
        return np.asarray(p, float)

    def gradient(self, x):
        u = np.asarray(x, float) - 0.5
        return 2 * u + 4 * u**3

    def curvature(self, x):
        return 2 + 12 * (np.asarray(x, float) - 0.5) ** 2

    def inverse(self, g):
        half = np.asarray(g, float) / 8
        root = np.sqrt(half**2 + 1 / 216)
        return 0.5 + np.cbrt(half + root) + np.cbrt(half - root)

    def divergence(self, x, p):
        u, v = np.asarray(x, float) - 0.5, np.asarray(p, float) - 0.5
        return (u - v) ** 2 * (1 + (u + v) ** 2 + 2 * v**2)


class Coarse(Quartic):
    """The same with an inverse of three digits."""

    def inverse(self, g):
        grid = np.linspace(0, 1, 300)
        return np.interp(g, self.gradient(grid), grid)


def only_part(rows, laws, loss="brier"):
    (part,) = split(pose(co.Panel.from_records(rows, laws=laws), find_loss(loss)).merged)
    return part.merged


def solved(rows, laws, loss="brier"):
    """The answer for a component by its structure, with the probabilities of the events in the order of the rows."""
    part = only_part(rows, laws, loss)
    answer = solve_by_structure(part, goal_of(part, find_loss(loss)), Budget())
    assert answer is not None
    return answer


def nearest(forecasts, laws, loss="brier"):
    """The probabilities of events with a forecast each; none is a complement."""
    return solved([("A", *one) for one in forecasts.items()], laws, loss).x


@pytest.mark.parametrize("kind", checks.STRUCTURED)
def test_components_of_a_structure_are_recognised_and_solved_as_by_other_ways(kind):
    assert checks.check_structure(kind, 1, 60) <= 1e-9


@pytest.mark.parametrize("loss", ["brier", "log"])
@pytest.mark.parametrize("kind", ["values", "rungs", "bins"])
def test_structures_tied_to_other_events_are_solved_over_all_worlds_at_once(kind, loss, monkeypatch):
    monkeypatch.setattr(structure_rules, "MANY_SQUARES", 150)
    monkeypatch.setattr(structure_rules, "MANY_WORLDS", 150)
    rng, count = np.random.default_rng(8), 200
    rows, laws = tied(kind, rng, count)
    panel = co.Panel.from_records(rows, laws=laws)
    result = co.aggregate(panel, "exact", loss)
    (component,) = result.components
    assert component.route == "Newton's method on worlds"
    assert component.proof == "dynamic programming over all worlds"
    assert result.status == "optimal"
    part = only_part(rows, laws, loss)
    goal = goal_of(part, find_loss(loss))
    answer = solve_shares(part, goal, Budget())
    np.testing.assert_allclose(answer.objective, result.objective, rtol=1e-12)
    checks.check_answer(part, goal, answer)


def tied(kind, rng, count):
    """Values with a compound event, a ladder with two events that share a rung, bins with one more law."""
    masses = rng.dirichlet(np.ones(count)) * 1.2
    if kind == "values":
        rows = [("A", f"w = v{i}", p) for i, p in enumerate(masses)]
        rows += [("A", "w = v1 | w = v2 & x", 0.1), ("A", "x", 0.4)]
        return rows, ["variable w: " + ", ".join(f"v{i}" for i in range(count))]
    if kind == "rungs":
        levels = np.sort(rng.random(count))[::-1]
        rows = [("A", f"r >= {i}", p) for i, p in enumerate(levels)]
        return [*rows, ("A", f"r >= {count // 2} & x", 0.6), ("A", f"r >= {count // 2} & y", 0.7)], [
            "variable r: number"
        ]
    rows = [("A", f"r >= {i} & r < {i + 1}", p) for i, p in enumerate(masses)]
    return [*rows, ("A", "x", 0.3)], ["variable r: number", f"r >= {count // 3} & r < {count // 2} -> x"]


@pytest.mark.parametrize("kind", ["values", "rungs", "pooled rungs"])
def test_worlds_are_counted_before_they_are_solved_all_at_once(kind):
    """What the answer mixes is nearly known before: rungs out of order are pooled."""
    rows, laws = tied(kind.split()[-1], np.random.default_rng(8), 60)
    if kind.startswith("pooled"):
        rows = [(judge, text, 0.5 + 0.4 * (-1) ** i) for i, (judge, text, _) in enumerate(rows)]
    part = only_part(rows, laws)
    answer = solve_by_worlds(part, goal_of(part, find_loss("brier")), checks.CLOSELY)
    np.testing.assert_allclose(structure_rules.likely_worlds(part), len(answer.worlds), rtol=0.3, atol=4)


def test_shares_that_are_almost_nothing_have_all_their_digits_under_the_log_loss():
    """Heavy forecasts that contradict each other leave 1e-9 and less to lighter ones, and as little to complements."""
    rows = [("A", "who = Ann", 0.98, 20.0), ("A", "who = Bob", 0.99, 30.0), ("B", "who = Cid", 0.5, 0.8)]
    rows += [("B", "who = Cid & z", 0.9, 0.3), ("B", "z", 0.4, 1.0), ("B", "who = Ann | who = Bob", 0.2, 0.1)]
    part = only_part(rows, WHO, "log")
    goal = goal_of(part, find_loss("log"))
    answer = solve_shares(part, goal, Budget())
    x = np.minimum(answer.x, 1 - answer.x)
    assert 0 < x.min() < 1e-9
    assert answer.gap <= 1e-12 * goal.terms(part).total
    checks.check_answer(part, goal, answer)


def test_conditionals_on_rungs_and_values_are_solved_over_all_worlds_at_once():
    rng = np.random.default_rng(9)
    levels = np.sort(rng.random(420))[::-1]
    rows = [("A", f"r >= {i}", p) for i, p in enumerate(levels)]
    rows += [("A", f"r >= {i + 40} given r >= {i}", 0.5) for i in range(10, 100, 10)]
    part = only_part(rows, ["variable r: number"], "log")
    goal = goal_of(part, find_loss("log"))
    answer = solve_by_structure(part, goal, Budget())
    checks.check_answer(part, goal, answer)


@pytest.mark.parametrize("loss", ["brier", "log"])
def test_conditionals_on_many_values_are_solved_over_all_worlds_at_once(loss):
    """The condition of each is a value of the same variable: as many terms with a condition as there are values."""
    rng, count = np.random.default_rng(10), 150
    rows = [("A", f"w = v{i}", p) for i, p in enumerate(1.2 * rng.uniform(0.5, 1.5, count) / count)]
    rows += [("A", f"x given w = v{i}", p) for i, p in enumerate(rng.uniform(0.2, 0.4, count))] + [("A", "x", 0.3)]
    part = only_part(rows, ["variable w: " + ", ".join(f"v{i}" for i in range(count))], loss)
    goal = goal_of(part, find_loss(loss))
    program = world_shares.world_shares(part, goal, listed_worlds(part, 1_000))
    assert (program.arranged.width, len(program.arranged.edge)) == (1, 1)
    answer = solve_shares(part, goal, Budget())
    assert answer is not None
    checks.check_answer(part, goal, answer)


def test_what_conditionals_save_holds_in_every_world():
    rows = [("A", f"who = {name}", p) for name, p in (("Ann", 0.6), ("Bob", 0.5), ("Cid", 0.0), ("Dan", 0.4))]
    rows.append(("A", "who = Ann given who = Ann | who = Bob", 0.3))
    part = only_part(rows, ["variable who: Ann, Bob, Cid, Dan"])
    goal = goal_of(part, find_loss("brier"))
    assert solve_shares(part, goal, Budget()).x[2] == 0
    checks.check_shares(part, goal)


def test_shares_that_are_only_as_good_as_the_tolerance_are_left_to_the_other_solver(monkeypatch):
    rows, laws = tied("bins", np.random.default_rng(8), 30)
    part = only_part(rows, laws)
    goal = goal_of(part, find_loss("brier"))
    assert solve_shares(part, goal, Budget(tolerance=0.1)) is not None
    monkeypatch.setattr(barrier_path, "TUNING", replace(barrier_path.TUNING, finished=1e-5))
    monkeypatch.setattr(world_shares, "_candidates", lambda _, point: [point.z])
    assert solve_shares(part, goal, Budget(tolerance=0.1)) is None


def test_a_condition_that_vanishes_is_left_to_the_other_solver():
    rows = [("A", "who = Ann", 1.0), ("A", "who = Bob", 0.0), ("A", "who = Bob given who = Bob | who = Cid", 0.5)]
    part = only_part(rows, WHO)
    assert solve_shares(part, goal_of(part, find_loss("brier")), Budget()) is None


def test_intervals_and_pins_of_exclusive_values_are_kept_as_by_other_ways():
    assert checks.check_limited(3, 150) <= 1e-9


def test_intervals_stay_in_their_middle_while_values_without_a_forecast_take_the_rest():
    columns = ("judge", "event", "probability", "lower", "upper")
    known = [("A", "who = Ann", 0.3, 0.2, 0.4), ("A", "who = Bob", 0.2, 0.1, 0.3)]
    rows = [dict(zip(columns, row, strict=True)) for row in known]

    def shares(*laws):
        result = co.aggregate(co.Panel.from_records(rows, laws=laws), "exact", "log")
        assert {one.route for one in result.components} == {"closed form"}
        return [result.probability("who = Ann"), result.probability("who = Bob")]

    np.testing.assert_allclose(shares("variable who: Ann, Bob, Cid, Dan"), [0.3, 0.2], atol=1e-14)
    np.testing.assert_allclose(shares(*WHO, "P(who = Cid) <= 0.4"), [0.35, 0.25], atol=1e-14)
    outside = np.array(shares(*WHO, "P(who = Cid) <= 0.25"))
    np.testing.assert_allclose(outside.sum(), 0.75, atol=1e-12)
    up = find_loss("log").gradient(outside) - find_loss("log").gradient(np.array([0.4, 0.3]))
    np.testing.assert_allclose(up[0], up[1], atol=1e-9)
    assert up[0] > 0


@pytest.mark.parametrize("loss", ["brier", "log"])
def test_a_pin_on_a_value_moves_all_others_alike(loss):
    """Ann's share is pinned from 0.5 to 0.2: what Bob and Cid gain has the same slope."""
    rows = [("A", "who = Ann", 0.5), ("A", "who = Bob", 0.3), ("A", "who = Cid", 0.2)]
    panel = co.Panel.from_records(rows, laws=[*WHO, "P(who = Ann) = 0.2"])
    result = co.aggregate(panel, "exact", loss)
    x = np.array([result.probability(f"who = {name}") for name in ("Ann", "Bob", "Cid")])
    slope = find_loss(loss).gradient(x) - find_loss(loss).gradient(np.array([0.5, 0.3, 0.2]))
    np.testing.assert_allclose(x[0], 0.2, atol=1e-12)
    np.testing.assert_allclose(slope[1], slope[2], atol=1e-9)
    assert co.verify(panel, result)


def test_a_pin_leaves_the_only_other_value_what_is_left_of_1():
    """Rounding makes the rest 0.30000000000000004, which the pinned value may not have."""
    rows = [("A", "who = Ann", 0.5), ("A", "who = Bob", 0.6)]
    part = only_part(rows, ["variable who: Ann, Bob", "P(who = Ann) <= 0.3"], "log")
    answer = solve_limited(part, goal_of(part, find_loss("log")), Budget())
    np.testing.assert_allclose(answer.x, [0.3], atol=1e-15)


def test_a_pin_on_a_complement_is_one_on_the_value():
    rows = [("A", "who = Ann", 0.5), ("A", "who = Bob", 0.3), ("A", "who = Cid", 0.2)]
    part = only_part(rows, [*WHO, "P(~(who = Ann)) >= 0.8"], "log")
    answer = solve_limited(part, goal_of(part, find_loss("log")), Budget())
    np.testing.assert_allclose(answer.x[0], 0.2, atol=1e-12)


def test_nothing_is_claimed_that_worlds_do_not_show():
    assert checks.check_near_misses(2, 200) > 10


def test_losses_pool_different_rungs_of_a_ladder():
    """x >= 3, x >= 2 and x >= 1: under the Brier loss all three have their mean, under the log loss the first two.

    The events of the component are the complements, x < 3 and so on.
    """
    rungs, laws = {"x >= 3": 0.9, "x >= 2": 0.001, "x >= 1": 0.3}, ["variable x: number"]
    np.testing.assert_allclose(1 - nearest(rungs, laws), np.full(3, 1.201 / 3), atol=1e-15)
    np.testing.assert_allclose(1 - nearest(rungs, laws, "log"), [0.08669, 0.08669, 0.3], atol=5e-6)


def test_exclusive_values_lose_the_same_and_none_is_below_0():
    def masses(*values):
        return nearest(dict(zip(("who = Ann", "who = Bob", "who = Cid"), values, strict=True)), WHO)

    np.testing.assert_allclose(masses(0.5, 0.4, 0.3), [13 / 30, 1 / 3, 7 / 30], atol=1e-15)
    np.testing.assert_allclose(masses(0.7, 0.1, 0.05), [0.75, 0.15, 0.1], atol=1e-15)
    np.testing.assert_allclose(masses(1.0, 0.8, 0.1), [0.6, 0.4, 0.0], atol=1e-15)


def test_values_without_a_forecast_leave_the_others_as_they_are():
    np.testing.assert_array_equal(nearest({"who = Ann": 0.2, "who = Bob": 0.3}, WHO), [0.2, 0.3])
    np.testing.assert_allclose(nearest({"who = Ann": 0.9, "who = Bob": 0.3}, WHO), [0.8, 0.2], atol=1e-15)
    rows = [("A", "who = Ann", 0.2, 1.0), ("A", "who = Bob", 0.3, 1.0), ("A", "who = Cid", 0.9, 0.0)]
    answer = solved(rows, WHO)
    assert answer.objective == 0
    np.testing.assert_allclose(answer.x, [0.2, 0.3, 0.5], atol=1e-15)


def test_a_star_of_implications_pools_its_middle_with_what_it_exceeds():
    """Peak below 350 implies that both weeks are."""
    known = {"peak": 0.55, "first": 0.5125, "second": 0.3444}
    x = nearest(known, ["peak -> first", "peak -> second"])
    np.testing.assert_allclose(x, [0.4472, 0.5125, 0.4472], atol=1e-12)


def test_a_forecast_that_is_met_at_its_edge_has_its_last_digits():
    """A light forecast that c < 2 is impossible is met exactly: neither its slack nor a multiplier says that it holds.

    An interior point comes within the root of what is left to gain, 7e-6.
    """
    rows = [
        ("A", "a < 1", 0.000276, 15.8),
        ("A", "a >= 2 & a < 3", 0.000341, 0.249),
        ("A", "a >= 4", 0.9066, 9.47),
        ("A", "c >= 4", 0.15, 1.1),
        ("A", "c < 2", 0.0, 0.048),
        ("A", "c < 3", 0.4657, 3.23),
        ("A", "c < 1 | c >= 2 & c < 3", 0.9557, 35.0),
    ]
    part = only_part(rows, ["variable a: number", "variable c: number", "a >= 1 -> c >= 1", "a >= 2 -> c >= 2"])
    goal = goal_of(part, find_loss("brier"))
    answer = solve_by_structure(part, goal, Budget())
    assert answer.route == "Newton's method on levels"
    checks.check_answer(part, goal, answer)
    np.testing.assert_allclose(answer.x, solve_by_worlds(part, goal, checks.CLOSELY).x, atol=1e-12)


def test_exclusion_of_pairs_is_no_order():
    """Three exclusive events at 0.5 break no pair's order after complementing; the answer is a third each."""
    laws = ["p -> ~q", "q -> ~r", "p -> ~r"]
    part = only_part([("A", event, 0.5) for event in "pqr"], laws)
    assert literal_order(part) is None
    result = co.aggregate(co.Panel.from_records([("A", event, 0.5) for event in "pqr"], laws=laws), "exact")
    np.testing.assert_allclose([result.probability(event) for event in "pqr"], 1 / 3, atol=1e-9)


LADDER = ["variable x: number"]


@pytest.mark.parametrize(
    ("rows", "laws"),
    [
        pytest.param(
            [("A", "who = Ann | who = Bob", 0.5), ("A", "who = Cid", 0.2)],
            ["variable who: Ann, Bob, Cid, Dan"],
            id="a union of values",
        ),
        pytest.param([("A", "who = Ann", 0.5), ("A", "who = Ann & z", 0.2)], WHO, id="a value and something else"),
        pytest.param([("A", "who = Ann", 0.5), ("A", "who = Bob given z", 0.2)], WHO, id="a conditional"),
        pytest.param([("A", "who = Ann", 0.5), ("A", "who = Bob", 0.2)], [*WHO, "who = Bob -> z"], id="a law"),
        pytest.param([("A", "who = Ann", 0.5), ("A", "who = Bob", 0.2)], [*WHO, "P(who = Bob) <= 0.1"], id="a pin"),
    ],
)
def test_near_exclusive_values_are_not_claimed(rows, laws):
    assert exclusive_values(only_part(rows, laws)) is None


@pytest.mark.parametrize(
    ("rows", "laws"),
    [
        pytest.param([("A", "p", 0.5), ("A", "q", 0.4), ("A", "r", 0.2)], ["p -> q | r"], id="a law of three"),
        pytest.param([("A", "p", 0.5), ("A", "p & r", 0.4)], ["p -> q", "q -> r"], id="literals two steps apart"),
        pytest.param([("A", "p", 0.5), ("A", "q & r", 0.4)], ["p -> q", "p -> r"], id="literals side by side"),
        pytest.param([("A", "p & q", 0.5), ("A", "q & r", 0.4)], ["p -> q", "p -> r"], id="only some side by side"),
        pytest.param([("A", "p", 0.5), ("A", "q", 0.4)], ["p -> q", "P(q) <= 0.3"], id="a pin"),
        pytest.param([("A", "x >= 1", 0.5), ("A", "x >= 2 & z", 0.4)], LADDER, id="a rung and something else"),
        pytest.param(
            [("A", "x >= 1", 0.5), *(("A", f"who = {name}", 0.4) for name in ("Ann", "Bob", "Cid"))],
            [*LADDER, *WHO, "x >= 1 -> who = Ann"],
            id="exclusive values",
        ),
    ],
)
def test_near_orders_are_not_claimed(rows, laws):
    assert literal_order(only_part(rows, laws)) is None


def test_a_law_of_several_implications_is_an_order():
    part = only_part([("A", "p", 0.5), ("A", "q", 0.4), ("A", "r", 0.2)], ["p -> q & r"])
    order = literal_order(part)
    assert order is not None
    assert order.is_single


@pytest.mark.parametrize("loss", ["brier", "log", "spherical", Quartic()])
@pytest.mark.parametrize("kind", ["exclusive", "ladder", "tree", "bins"])
def test_large_components_are_verified(kind, loss):
    rng = np.random.default_rng(3)
    rows, laws = large(kind, rng)
    panel = co.Panel.from_records(rows, laws=laws)
    result = co.aggregate(panel, "exact", loss)
    assert {one.route for one in result.components} <= ROUTES
    assert result.status == "optimal"
    assert result.gap <= 1e-9 * max(1.0, result.objective)
    assert co.verify(panel, result)


def large(kind, rng):
    if kind == "exclusive":
        texts, laws = [f"x = v{i}" for i in range(120)], ["variable x: " + ", ".join(f"v{i}" for i in range(120))]
        p = rng.dirichlet(np.ones(120)) * 1.5
    elif kind == "ladder":
        texts, laws = [f"x >= {i}" for i in range(150)], LADDER
        p = np.linspace(0.9, 0.1, 150) + 0.2 * rng.normal(size=150)
    elif kind == "tree":
        texts = [f"e{i}" for i in range(200)]
        laws = [f"e{i} -> e{rng.integers(i)}" if i % 3 else f"e{rng.integers(i)} -> e{i}" for i in range(1, 200)]
        p = rng.random(200)
    else:
        names, texts = "abc", []
        for name in names:
            texts += [f"{name} < 1", *(f"{name} >= {i} & {name} < {i + 1}" for i in range(1, 30)), f"{name} >= 30"]
        laws = [f"variable {name}: number" for name in names]
        laws += [f"{name} >= {i} -> c >= {i}" for name in "ab" for i in range(1, 31)]
        p = np.concatenate([rng.dirichlet(np.ones(31)) for _ in names]) * rng.uniform(0.5, 1.5, 93)
    weight = 10 ** rng.uniform(-0.5, 0.5, len(texts))
    return [("A", *one) for one in zip(texts, p.clip(0, 1), weight, strict=True)], laws


def test_a_loss_whose_inverse_is_coarse_is_left_to_the_other_solver():
    rows = [("A", f"who = {name}", p) for name, p in (("Ann", 0.61), ("Bob", 0.503), ("Cid", 0.311))]
    part = only_part(rows, WHO)
    assert solve_by_structure(part, goal_of(part, Coarse()), Budget()) is None
    assert solve_by_structure(part, goal_of(part, Quartic()), Budget()) is not None


def test_a_value_may_be_driven_to_almost_nothing_under_the_log_loss():
    """One judge against fifty whose forecasts sum to 2: her value has a share of about exp(-345)."""
    rows = [("A", "who = Ann", 0.999, 50.0), ("A", "who = Bob", 0.999, 50.0), ("B", "who = Cid", 0.5, 1.0)]
    result = co.aggregate(co.Panel.from_records(rows, laws=WHO), "exact", "log")
    assert result.components[0].route == "closed form"
    assert 0 < result.probability("who = Cid") < 1e-80
    assert result.status == "optimal"


@pytest.mark.parametrize("kind", ["exclusive", "ladder", "tree", "bins"])
def test_answers_depend_neither_on_worlds_to_begin_with_nor_on_the_run(kind):
    rows, laws = large(kind, np.random.default_rng(4))
    part = only_part(rows, laws)
    goal = goal_of(part, find_loss("brier"))
    first = solve_component(part, goal, Budget())
    again = solve_component(part, goal, Budget(), start=first.worlds[::-1].copy())
    assert first == again


def test_closed_forms_need_no_time():
    rows, laws = large("tree", np.random.default_rng(5))
    part = only_part(rows, laws)
    over = Budget(deadline=time.monotonic() - 1)
    assert solve_component(part, goal_of(part, find_loss("brier")), over).route == "closed form"


@pytest.mark.parametrize("kind", ["exclusive", "tree", "bins", "values"])
def test_tables_of_worlds_are_made_for_those_who_ask(kind, monkeypatch):
    """A table has the square of as many entries as there are values: writing it takes longer than a limit allows."""
    made, asked = [], LazyTable.__array__
    monkeypatch.setattr(
        LazyTable, "__array__", lambda self, *rest, **more: made.append(1) or asked(self, *rest, **more)
    )
    monkeypatch.setattr(structure_rules, "MANY_SQUARES", 150)
    rng = np.random.default_rng(5)
    rows, laws = tied(kind, rng, 200) if kind == "values" else large(kind, rng)
    panel = co.Panel.from_records(rows, laws=laws)
    result = co.aggregate(panel, "exact")
    assert not made
    assert co.verify(panel, result)
    assert made
    part = only_part(rows, laws)
    answer = solve_by_structure(part, goal_of(part, find_loss("brier")), Budget())
    assert isinstance(answer.rows, LazyTable)
    checks.check_mixture(part, goal_of(part, find_loss("brier")), answer)
    for again in (Answer.from_bytes(answer.to_bytes()), pickle.loads(pickle.dumps(answer))):
        assert again == answer == again
        assert isinstance(again.rows, np.ndarray)
    assert replace(answer, rows=answer.worlds[::-1]) != answer != replace(answer, rows=answer.worlds[::-1])


@pytest.mark.parametrize("kind", ["exclusive", "tree"])
def test_a_table_of_worlds_that_is_too_large_is_refused_but_not_the_answer(kind, monkeypatch):
    rows, laws = large(kind, np.random.default_rng(5))
    panel = co.Panel.from_records(rows, laws=laws)
    whole = co.aggregate(panel, "exact")
    monkeypatch.setattr(lazy_table, "MOST_ENTRIES", 2_000)
    result = co.aggregate(panel, "exact")
    assert result.objective == whole.objective
    assert result.lower_bound == whole.lower_bound
    with pytest.raises(co.ResultError, match=r"mixes \d+ worlds of \d+ variables, more than the 2,000 entries"):
        result.to_json()


def test_states_that_memory_cannot_list_are_refused_before_they_are_listed(monkeypatch):
    rows, laws = tied("rungs", np.random.default_rng(8), 60)
    part = only_part(rows, laws)
    monkeypatch.setattr(lawful, "MOST_ENTRIES", 61 * 60 - 1)
    with pytest.raises(co.MethodError, match=r"a variable of 61 values is tied .* with 3,660 entries; at most 3,659"):
        solve_by_worlds(part, goal_of(part, find_loss("brier")), Budget())
    monkeypatch.setattr(lawful, "MOST_ENTRIES", 61 * 60)
    solve_by_worlds(part, goal_of(part, find_loss("brier")), Budget())


def test_worlds_may_be_more_where_variables_are(monkeypatch):
    """Listed worlds are no table: rungs beside a few variables have some worlds per rung, however many rungs."""
    rows, laws = tied("rungs", np.random.default_rng(8), 200)
    part = only_part(rows, laws)
    goal = goal_of(part, find_loss("brier"))
    monkeypatch.setattr(world_shares, "TUNING", replace(world_shares.TUNING, most_worlds=16))
    assert solve_shares(part, goal, Budget()) is not None
    monkeypatch.setattr(world_shares, "TUNING", replace(world_shares.TUNING, most_worlds=16, worlds_a_variable=1))
    assert solve_shares(part, goal, Budget()) is None


def test_the_proof_of_levels_ends_with_the_time(monkeypatch):
    """The flow of a bound that ends early proves less, but what it proves is true."""
    rows, laws = large("bins", np.random.default_rng(6))
    panel = co.Panel.from_records(rows, laws=laws)
    whole = co.aggregate(panel, "exact", "log")
    monkeypatch.setattr(literal_order_room, "LARGE", 0)
    assert co.aggregate(panel, "exact", "log").lower_bound == whole.lower_bound
    part = only_part(rows, laws, "log")
    order, goal = literal_order(part), goal_of(part, find_loss("log"))
    costs = np.random.default_rng(7).normal(size=len(part))
    least = order.least(costs)
    assert order.least_within(Budget(), costs) == least
    over, noticed = Budget(deadline=time.monotonic() - 1), Event()
    slow = replace(order, order=SimpleNamespace(is_forest=False, n_nodes=9, stop=noticed.set))
    assert slow.watched(over, lambda: noticed.wait(30))
    order.order.stop()
    assert order.least_within(over, costs) < least - 1e-3
    answer = solve_by_structure(part, goal, over)
    assert answer.ended is Ended.TIME
    assert answer.bound <= whole.objective
    checks.check_mixture(part, goal, answer)


def test_a_stop_ends_the_method_on_levels():
    rows, laws = large("bins", np.random.default_rng(6))
    button = Event()
    button.set()
    result = co.aggregate(co.Panel.from_records(rows, laws=laws), "exact", "log", cancel=button)
    assert result.status == "interrupted"
    assert co.verify(co.Panel.from_records(rows, laws=laws), result)


@pytest.mark.parametrize("kind", ["values", "rungs"])
def test_an_answer_over_all_worlds_at_once_that_ends_early_is_coherent_and_bounded(kind, monkeypatch):
    monkeypatch.setattr(structure_rules, "MANY_WORLDS", 150)
    rows, laws = tied(kind, np.random.default_rng(8), 200)
    panel = co.Panel.from_records(rows, laws=laws)
    result = co.aggregate(panel, co.Exact(time_limit=0.0), "log")
    assert result.status == "time_limit"
    whole = co.aggregate(panel, "exact", "log")
    assert result.lower_bound <= whole.objective * (1 + 1e-12) <= result.objective * (1 + 1e-9)
    assert result.lower_bound >= 0
    assert co.verify(panel, result)


def test_weights_that_doubles_cannot_tell_apart_go_layer_by_layer():
    rows = [("A", "x >= 2", 0.9, 1e30), ("A", "x >= 1", 0.3, 1e30), ("A", "x >= 3", 0.95, 1e-10)]
    panel = co.Panel.from_records(rows, laws=LADDER)
    result = co.aggregate(panel, "exact")
    np.testing.assert_allclose([result.probability(f"x >= {i}") for i in (1, 2, 3)], 0.6, atol=1e-9)
    assert co.verify(panel, result)
