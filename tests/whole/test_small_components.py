"""Components of few worlds, which are solved in one table: a slice of the campaign, and what users see of them."""

import threading

import numpy as np
import pytest

import coherently as co
from coherently.problem import find_loss, pose, settled, unit_of
from coherently.solve.budget import Budget
from tests.solve.exact_checks import one_by_one
from tests.whole.table_checks import check_shares, check_table

LAWS = ["variable w: x, y, z", "~(p & q)", "s"]
ROWS = [
    ("Ann", "w = x", 0.5),
    ("Ann", "w = y", 0.4),
    ("Bob", "w = z", 0.4),
    ("Ann", "p", 0.7),
    ("Bob", "q", 0.6),
    ("Ann", "s", 0.25),
    ("Bob", "t", 1.0),
    ("Bob", "u & v", 0.0),
    ("Ann", "u", 0.9),
    ("Ann", "v given u", 0.3),
    ("Bob", "a", 0.2),
    ("Bob", "b", 0.3),
]


def panel_of(rows=ROWS, laws=LAWS):
    return co.Panel.from_records(rows, laws=laws)


def answers_of(panel, loss, budget=None, **options):
    problem = pose(settled(panel), find_loss(loss), unit_of(panel.weight))
    return co.Exact(**options).answers(problem, budget or Budget())


def test_the_same_by_the_shares_of_all_worlds():
    found = check_shares(7_000_000, 30)
    assert found["by shares"] > 2 * found["left"]


def test_shares_that_miss_the_ninth_digit_beside_a_heavy_weight_are_left_to_the_other_solver():
    """A panel that the campaign found: its gap was small beside all weights, and not beside what is lost."""
    assert check_shares(7_013_473, 1)["left"]


@pytest.mark.parametrize("first", range(0, 300, 30))
def test_the_table_agrees_with_the_general_method_and_a_conic_solver(first):
    found = check_table(first, 30)
    assert found["tabled"] >= 15


@pytest.mark.parametrize("loss", ["brier", "log", "spherical"])
def test_certain_forecasts_and_laws_that_leave_one_world_are_as_in_the_general_method(loss):
    panel = panel_of()
    assert not answers_of(panel, loss).others
    result = co.aggregate(panel, co.Exact(), loss)
    with one_by_one():
        other = co.aggregate(panel, co.Exact(), loss)
    np.testing.assert_allclose(result.solution.value, other.solution.value, atol=1e-8)
    assert result.objective == pytest.approx(other.objective, rel=1e-10)
    if loss == "brier":
        assert result.guaranteed_improvement == pytest.approx(other.guaranteed_improvement, rel=1e-9)
    assert (result.status, result.note) == (other.status, other.note)
    assert [(c.variables, c.events, c.proof) for c in result.components] == [
        (c.variables, c.events, c.proof) for c in other.components
    ]
    assert co.verify(panel, result)
    assert co.Result.from_json(result.to_json()) == result


def test_weights_that_doubles_cannot_tell_apart_intervals_and_pins_go_to_the_general_method():
    rows = [
        {"judge": "A", "event": "p", "probability": 0.5, "weight": 1.0},
        {"judge": "A", "event": "p & q", "probability": 0.25, "weight": 1e12},
        {"judge": "A", "event": "r", "probability": 0.5, "weight": 1.0, "lower": 0.2, "upper": 0.6},
        {"judge": "A", "event": "s", "probability": 0.5, "weight": 1.0},
        {"judge": "A", "event": "t", "probability": 0.5, "weight": 1.0},
    ]
    answers = answers_of(panel_of(rows, ["P(s) <= 0.4"]), "brier")
    assert sorted(answers.others) == [0, 1, 2]
    assert [len(answers.events.of(i)) for i in range(4)] == [2, 1, 1, 1]


def test_conditions_that_may_vanish_go_to_the_general_method():
    rows = [("A", "a given h", 0.9), ("A", "b given h", 0.9), ("A", "a & b given h", 0.1), ("A", "z", 0.3)]
    answers = answers_of(panel_of(rows, []), "brier")
    assert [len(answers.variables.of(i)) for i in answers.others] == [3]
    assert len(answers) == 2


@pytest.mark.parametrize("p", [1e-5, 1 - 1e-7])
def test_conditions_near_to_impossible_or_certain_go_to_the_general_method(p):
    rows = [("A", "h", p), ("A", "a given h", 0.5), ("A", "z", 0.3), ("A", "y given z", 0.3)]
    answers = answers_of(panel_of(rows, []), "brier")
    assert [answers.events.of(i).tolist() for i in answers.others] == [[0, 2]]


def test_without_time_every_component_still_has_an_answer():
    result = co.aggregate(panel_of(), co.Exact(time_limit=0.0))
    assert result.status == "time_limit"
    assert result.coherence == "global"
    assert result.lower_bound <= co.aggregate(panel_of(), co.Exact()).objective


def test_a_stop_leaves_first_answers():
    button = threading.Event()
    button.set()
    assert co.aggregate(panel_of(), co.Exact(), cancel=button).status == "interrupted"


def test_what_the_table_proves_too_little_about_goes_to_the_general_method():
    panel = panel_of([("A", "p", 0.8), ("A", "q", 0.7), ("A", "p & q", 0.1), ("A", "p | q", 0.3)], [])
    assert not answers_of(panel, "log").others
    assert list(answers_of(panel, "log", Budget(tolerance=0.0)).others) == [0]


@pytest.mark.parametrize("loss", ["brier", "log"])
def test_neither_threads_nor_neighbours_change_an_answer(loss, monkeypatch):
    monkeypatch.setattr("coherently.solve.component.component_table.MANY", 2)
    rng = np.random.default_rng(5)
    rows = [
        ("A", text.format(i), float(p))
        for i in range(300)
        for text, p in zip(("a{0}", "b{0}", "a{0} & b{0}", "a{0} | b{0}"), rng.random(4), strict=True)
    ]
    one, two = (co.aggregate(panel_of(rows, []), co.Exact(threads=count), loss) for count in (1, 2))
    assert one == two
    for i in (0, 150, 299):
        alone = co.aggregate(panel_of(rows[4 * i : 4 * i + 4], []), co.Exact(), loss)
        assert alone.solution.value.tolist() == one.solution.value[4 * i : 4 * i + 4].tolist()
        assert alone.objective == one.components[i].objective


def test_a_block_of_more_variables_than_the_table_looks_at_is_left_to_others():
    names = [f"v{i}" for i in range(110)]
    rows = [("A", f"w = {name}", 1 / 100) for name in names] + [("A", "p", 0.3), ("A", "p & q", 0.4)]
    panel = co.Panel.from_records(rows, laws=["variable w: " + ", ".join(names)])
    result = co.aggregate(panel, "exact")
    assert {one.route for one in result.components} == {"closed form", "enumeration"}
    np.testing.assert_allclose([result.probability(f"w = {name}") for name in names], 1 / 110, atol=1e-12)
