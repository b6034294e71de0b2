"""The whole is put together from answers that were proved for exactly its components."""

from dataclasses import replace

import numpy as np
import pytest

import coherently as co
from coherently.live.published.edition import is_same, scaled
from coherently.live.vocabulary import Vocabulary
from coherently.problem import pose, split

ROWS = [("Ann", "p", 0.6, 1.0), ("Bob", "p & q", 0.7, 1.0), ("Cid", "r given p", 0.4, 1.0), ("Ann", "q", 0.3, 1.0)]


def component(rows=ROWS, unit=1.0, **options):
    (part,) = split(pose(co.Panel.from_records(rows, **options), weight_unit=unit).merged)
    return part.merged


def test_a_component_is_the_same_only_if_everything_is():
    part = component()
    assert is_same(part, component(), 1.0)
    assert is_same(part, component(unit=4.0), 4.0)
    assert not is_same(part, component(unit=4.0), 1.0)
    others = [
        component([("Ann", "p", 0.5, 1.0), *ROWS[1:]]),
        component([("Ann", "p", 0.6, 2.0), *ROWS[1:]]),
        component([*ROWS[:2], ("Cid", "r given p", 0.5, 1.0), ROWS[3]]),
        component([*ROWS[:2], ("Cid", "r given p", 0.4, 2.0), ROWS[3]]),
        component([*ROWS[:2], ("Cid", "r given q", 0.4, 1.0), ROWS[3]]),
        component([ROWS[0], ("Bob", "p | q", 0.7, 1.0), *ROWS[2:]]),
        component(ROWS, laws=["p -> q"]),
        component(ROWS, laws=["P(p) <= 0.3"]),
    ]
    assert not any(is_same(part, other, 1.0) for other in others)
    pinned = component(ROWS, laws=["P(p) <= 0.3"])
    assert is_same(pinned, component(ROWS, laws=["P(p) <= 0.3"]), 1.0)
    assert not is_same(pinned, component(ROWS, laws=["P(p) <= 0.4"]), 1.0)
    assert not is_same(pinned, component(ROWS, laws=["P(q) <= 0.3"]), 1.0)


def test_answers_in_other_units_are_scaled_whole():
    with co.LivePanel(co.Panel.from_records([(*row[:3], 8.0) for row in ROWS]), background=False) as live:
        live.settle()
        (answer,) = live._workshop.shelf.find(["p"]).answers
        twice = scaled(answer, 2.0)
        assert (twice.objective, twice.bound, twice.gap) == (2 * answer.objective, 2 * answer.bound, 2 * answer.gap)
        for name in "abcdefgh":
            live.add("Dan", name, 0.5, weight=1.0)  # the median weight is 1 now
        result, scratch = live.settle().result(), co.aggregate(live.panel())
        assert result.problem.weight_unit == 1.0
        assert result.objective == pytest.approx(scratch.objective, rel=1e-6)
        assert result.lower_bound == pytest.approx(scratch.lower_bound, rel=1e-5)
        assert co.verify(live.panel(), result).problems == []


def test_what_is_not_the_same_is_solved():
    with co.LivePanel(co.Panel.from_records(ROWS), co.Exact(), background=False) as live:
        live.settle()
        edition = live._workshop.shelf.find(["p"])
        wrong = tuple(replace(one, x=np.zeros_like(one.x), objective=0.0, bound=0.0) for one in edition.answers)
        edition.answers, edition.problem = wrong, pose(co.Panel.from_records([("Ann", "p", 0.1)]))
        result = live.current().result()
        np.testing.assert_allclose(
            result.solution.value, co.aggregate(live.panel(), co.Exact()).solution.value, atol=1e-6
        )


def test_the_key_of_an_event_is_its_meaning():
    words = Vocabulary()
    words.declare("w", "variable w: a, b, c")
    words.declare("GDP-2027", "variable GDP-2027: number")
    alike = [
        ("p & q", "q and p"),
        ("p -> q", "~p | q"),
        ("r given p & q", "r given q & p"),
        ("p ^ q ^ r", "r ^ q ^ p"),
        ("w = a & p", "p & w = a"),
        ("GDP-2027 < 3 & p", "~(GDP-2027 >= 3 | ~p)"),
        ("b | a & (c | ~c)", "a | b"),
    ]
    for one, other in alike:
        assert words.read(one).key == words.read(other).key, one
        assert words.read(one).key != words.read(other).opposite, one
    keys = [words.read(one).key for one, _ in alike]
    assert len(set(keys)) == len(keys)
    assert words.read("~(p & q)").key == words.read("p & q").opposite
    assert words.read("~r given p").key == words.read("r given p").opposite
    assert set(words.read("GDP-2027 < 3 & p").variables) == {"GDP-2027", "p"}
    assert words.read("p & (w = a | w != a)").variables == ("p", "w")
    with pytest.raises(co.EventError, match="'w & p': "):
        words.read("w & p")
