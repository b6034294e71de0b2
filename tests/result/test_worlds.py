"""Worlds that results list: total, lawful, and with the probabilities that the result states."""

import random

import numpy as np
import pytest

import coherently as co
from coherently.result.answer_worlds import join
from coherently.solve import Worlds
from tests.whole.language_checks import check_worlds, holds, mentioned, random_case

WINNER = "variable winner: Ann, Bob, Cid"


def chance(text, worlds):
    """The weights of the worlds where E & H holds and where H does."""
    return np.sum([np.multiply(weight, holds(text, world)) for weight, world in worlds], axis=0)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("most", [1, 9])
def test_worlds_are_total_and_lawful(seed, most):
    case = random_case(random.Random(seed))
    del case.rows[most:]
    result = co.aggregate(case.panel(), co.Exact(time_limit=20))
    check_worlds(case, result)
    plain = {name for name in mentioned(case) if case.domains[name] == (False, True)}
    assert all(set(world) == plain | set(result.panel.events.declared) for _, world in result.worlds)


PINS = ["P(winner = Ann) = 0.2", "P(winner = Bob) <= 0.5"]


@pytest.mark.parametrize(
    "laws",
    [
        [WINNER, "P(winner = Bob given winner != Ann) >= 0.33"],
        [WINNER, "P(winner = Bob given q xor q xor winner != Ann) >= 0.33"],
        [WINNER, "winner = Bob | winner = Cid", "P(winner = Bob) >= 0.33"],
        [WINNER, "winner = Ann -> q", "winner = Bob -> q", "winner = Cid -> ~q"],
        [WINNER, *PINS, "P(winner = Cid) >= 0.1"],
        ["variable winner: Ann, Bob, ...", *PINS, "P(winner = other) >= 0.1"],
    ],
)
@pytest.mark.parametrize("event", ["p", "winner in {Ann, Bob, Cid} -> p"])
@pytest.mark.parametrize("method", ["exact", co.Annealing(columns=20)])
def test_statements_about_what_nobody_forecast_hold_in_the_worlds(laws, event, method):
    if "..." in laws[0]:
        event = "p"
    result = co.aggregate(co.Panel.from_records([("A", event, 0.5)], laws=laws), method)
    for one in (result, co.Result.from_json(result.to_json())):
        worlds = list(one.worlds)
        for _, world in worlds:
            assert world["winner"] in (("Ann", "Bob", None) if "..." in laws[0] else ("Ann", "Bob", "Cid"))
            assert all(holds(law, world)[0] for law in laws[1:] if not law.startswith("P("))
        for law in laws[1:]:
            if law.startswith("P("):
                text, sign, p = law[2:].replace(")", "").rsplit(" ", 2)
                joint, given = chance(text, worlds)
                assert sign == "<=" or joint >= float(p) * given - 1e-9
                assert sign == ">=" or joint <= float(p) * given + 1e-9


def test_pins_that_contradict_each_other_are_refused_though_nobody_forecast_their_events():
    panel = co.Panel.from_records([("A", "p", 0.5)], laws=["P(q) = 0.2", "P(q & s) >= 0.3"])
    with pytest.raises(co.ContradictionError, match=r"P\(q\) = 0.2; P\(q & s\) >= 0.3"):
        co.aggregate(panel, "exact")


def test_cumulative_weights_that_rounding_lifts_above_1():
    lifted = np.array([0.1, 0.2, 0.3, 0.1, 0.3 + 2**-52, 1e-18])
    assert np.cumsum(lifted)[-2] > 1.0
    for one in (lifted, lifted[::-1], np.array([1.0]), np.array([0.0, 1.0, 0.0])):
        part = Worlds(np.array([0], np.int32), one, np.zeros((len(one), 1), np.bool_))
        other = Worlds(np.array([1], np.int32), np.array([0.25, 0.75]), np.array([[False], [True]]))
        found, rows = join([part, other])
        assert (found > 0).all()
        assert found.sum() == pytest.approx(1.0, abs=1e-15)
        for own, worlds in zip(rows, (part, other), strict=True):
            np.testing.assert_allclose(np.bincount(own, found, len(worlds.weight)), worlds.weight, atol=1e-15)


def test_a_book_says_nothing_of_a_declared_variable_that_it_is_not_about():
    rows = [("A", "rain", 0.6), ("A", "~rain", 0.6), *(("A", f"w = {value} & z", 0.2) for value in "abc")]
    book = co.dutch_book(co.Panel.from_records(rows, laws=["variable w: a, b, c"]))
    assert set(book.worst_world) == {"rain"}
    assert book.sure_profit > 0
