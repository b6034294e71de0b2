"""Each check of worlds on its own: with an input that only that check can refuse."""

from types import SimpleNamespace

import numpy as np
import pytest

import coherently as co
from coherently.problem import BRIER
from coherently.verifier.distinct_events import merge
from coherently.verifier.mixtures import check_mixture, check_pins, check_possible, check_worlds, probabilities
from coherently.verifier.promises import Unchecked
from tests.verifier.language import random_panel


def panel_of(events, laws=(), p=0.5):
    return co.Panel.from_records([("A", event, p) for event in events], laws=list(laws) or None)


def part(weights, worlds):
    truth = np.array([[bit == "1" for bit in world] for world in worlds], bool).reshape(len(weights), -1)
    return SimpleNamespace(weight=np.array(weights, float), truth=truth)


def laid(panel, *parts):
    """Parts (names, weights, worlds) over a panel: the support, or the problems."""
    names = [names for names, _, _ in parts]
    return check_worlds(panel, [part(w, rows) for _, w, rows in parts], names, merge(panel, BRIER))


def problems_of(panel, *parts):
    support, problems = laid(panel, *parts)
    assert (support is None) == bool(problems)
    return problems


def test_whole_worlds_are_accepted():
    panel = panel_of(["p", "q"], ["~(p & q)"])
    assert problems_of(panel, (["p", "q"], [0.5, 0.3, 0.2], ["10", "01", "00"])) == []
    assert problems_of(panel_of(["p", "q"]), (["p"], [1.0], ["1"]), (["q"], [1.0], ["0"])) == []
    assert problems_of(panel_of(["p", "q"]), (["q", "p"], [1.0], ["01"])) == []


@pytest.mark.parametrize("place", range(4))
def test_a_law_must_hold_in_every_world(place):
    worlds = ["10", "01", "00", "10"]
    worlds[place] = "11"
    panel = panel_of(["p", "q"], ["~(p & q)"])
    (problem,) = problems_of(panel, (["p", "q"], [0.25] * 4, worlds))
    assert problem == "a world of part 0 breaks the law '~(p & q)'"
    # However little the world weighs.
    weights = np.full(4, 1 / 3)
    weights[place] = 0.0
    assert problems_of(panel, (["p", "q"], weights, worlds)) == [problem]


def test_a_law_must_hold_in_every_part():
    panel = panel_of(["p", "q", "r"], ["p | q", "~r"])
    good = (["p", "q"], [0.5, 0.5], ["10", "01"])
    assert problems_of(panel, good, (["r"], [1.0], ["0"])) == []
    assert problems_of(panel, good, (["r"], [0.5, 0.5], ["0", "1"])) == ["a world of part 1 breaks the law '~r'"]
    assert len(problems_of(panel, (["p", "q"], [1.0], ["00"]), (["r"], [1.0], ["1"]))) == 2


@pytest.mark.parametrize(
    ("declaration", "events", "good", "bad"),
    [
        ("variable w: a, b, c", ["w = a", "w = b", "w = c"], ["100", "010", "001"], ["000", "110", "111"]),
        ("variable w: a, b, c", ["w = a", "w = b"], ["10", "01", "00"], ["11"]),
        ("variable x: number", ["x < 1", "x < 2", "x < 3"], ["111", "011", "001", "000"], ["100", "110", "010", "101"]),
        ("variable x: date", ["x < 2027-01-01", "x < 2027-02-01"], ["11", "01", "00"], ["10"]),
    ],
)
def test_a_declared_variable_has_one_value(declaration, events, good, bad):
    panel = panel_of(events, [declaration])
    even = np.full(len(good), 1 / len(good))
    assert problems_of(panel, (events, even, good)) == []
    for world in bad:
        for place in range(len(good)):
            worlds = [*good[:place], world, *good[place + 1 :]]
            (problem,) = problems_of(panel, (events, even, worlds))
            assert problem == f"a world of part 0 gives {declaration.split()[1][0]!r} more or less than one value"


@pytest.mark.parametrize(
    ("events", "laws"),
    [
        (["p", "q"], ["~(p & q)"]),
        (["p", "q"], ["P(p & q) <= 0.1"]),
        (["p", "q"], ["P(p given q) >= 0.1"]),
        (["p & q"], []),
        (["p given q"], []),
        (["p", "q"], ["p -> r", "r -> q"]),
    ],
)
def test_what_is_tied_is_in_one_part(events, laws):
    panel = panel_of(events, laws)
    names = list(panel.events.variables)
    split = [([name], [0.5, 0.5], ["1", "0"]) for name in names]
    found = problems_of(panel, *split)
    assert len(found) == len(names) - 1
    assert all("are tied" in problem for problem in found)
    assert problems_of(panel, *split[1:]) == [f"no part assigns the variable {names[0]!r}"]
    assert problems_of(panel, (names, [1.0], ["1" * len(names)]), split[0])[0] == (
        f"the variable {names[0]!r} is in several parts"
    )


@pytest.mark.parametrize("laws", [["p -> r"], ["P(p & r) <= 0.9"], ["variable w: a, b", "p -> w = a"]])
def test_variables_that_only_statements_have_are_not_left_out(laws):
    panel = panel_of(["p"], laws)
    (problem,) = problems_of(panel, (["p"], [0.5, 0.5], ["1", "0"]))
    assert problem.startswith("no part assigns the variable")


def test_statements_that_no_forecast_reaches_need_no_worlds():
    panel = panel_of(["p"], ["q -> r", "P(s) = 0.3"])
    assert problems_of(panel, (["p"], [1.0], ["1"])) == []
    whole = (["p", "q", "r"], [1.0], ["110"])
    assert problems_of(panel, whole) == ["a world of part 0 breaks the law 'q -> r'"]
    assert "are tied" in problems_of(panel, (["p", "q"], [1.0], ["10"]))[0]


def test_weights_are_a_distribution():
    panel = panel_of(["p"])
    for weights, message in (
        ([0.5, 0.5 + 1e-8], "sum to"),
        ([0.5, 0.5 - 1e-8], "sum to"),
        ([1.5, -0.5], "of the weight -0.5"),
        ([0.5, np.nan], "of the weight nan"),
    ):
        (problem,) = problems_of(panel, (["p"], weights, ["1", "0"]))
        assert message in problem
    short = check_worlds(
        panel, [SimpleNamespace(weight=np.ones(1), truth=np.ones((2, 1), bool))], [["p"]], merge(panel, BRIER)
    )
    assert "not as many worlds" in short[1][0]
    assert problems_of(panel) == ["there are no worlds"]
    assert "which is not in the panel" in problems_of(panel, (["z"], [1.0], ["1"]))[0]


def test_probabilities_are_those_of_the_worlds():
    panel = panel_of(["p & q", "p | q", "q given p", "~p"])
    support, _ = laid(panel, (["p", "q"], [0.1, 0.2, 0.3, 0.4], ["11", "10", "01", "00"]))
    joint, given = probabilities(support)
    x = joint / given
    written = np.where(support.distinct.turned, 1 - x[support.distinct.home], x[support.distinct.home])
    np.testing.assert_allclose(written, [0.1, 0.6, 1 / 3, 0.7])
    assert check_mixture(support, x) == ([], [])
    for i in range(len(x)):
        for amount in (1e-8, -1e-8, 0.2):
            moved = x.copy()
            moved[i] += amount
            (problem,), _ = check_mixture(support, moved)
            assert "is not that of its worlds" in problem
    assert len(check_mixture(support, np.full(len(x), np.nan))[0]) == len(x)


def test_what_is_given_the_impossible_may_stand_as_forecast():
    panel = panel_of(["q given p"], p=0.3)
    support, _ = laid(panel, (["q", "p"], [1 - 4e-7, 4e-7], ["00", "11"]))
    assert check_mixture(support, np.array([0.3]))[0] == []
    assert check_mixture(support, np.array([1.0]))[0] == []
    assert len(check_mixture(support, np.array([0.5]))[0]) == 1
    likely, _ = laid(panel, (["q", "p"], [1 - 4e-6, 4e-6], ["00", "11"]))
    assert len(check_mixture(likely, np.array([0.3]))[0]) == 1
    never, _ = laid(panel, (["q", "p"], [1.0], ["00"]))
    assert check_mixture(never, np.array([0.3])) == ([], [])
    (problem,), unchecked = check_mixture(never, np.array([0.3 + 1e-8]))
    assert "whose condition has none in the worlds" in problem
    assert unchecked == []
    words = "the probability of 'q given p': in the worlds, its condition has none"
    assert check_mixture(never, np.array([0.5]), pooled=True) == ([], [Unchecked(("forecasts.probability",), words)])


@pytest.mark.parametrize(
    ("pin", "low", "high"),
    [
        ("P(p) <= 0.3", -1.0, 0.3),
        ("P(p) >= 0.3", 0.3, 2.0),
        ("P(p) = 0.3", 0.3, 0.3),
        ("P(~p) >= 0.7", -1.0, 0.3),
        ("P(p given q) <= 0.6", -1.0, 0.3),
        ("P(p given q) >= 0.6", 0.3, 2.0),
        ("P(p given q) = 0.6", 0.3, 0.3),
    ],
)
def test_pins_hold_from_above_and_from_below(pin, low, high):
    panel = panel_of(["p", "q"], [pin])
    for p in (0.0, 0.1, 0.299, 0.3 - 1e-8, 0.3, 0.3 + 1e-8, 0.301, 0.4, 0.5):
        # p is only true with q, which has the probability 0.5
        support, _ = (
            laid(panel, (["p", "q"], [p, 0.5 - p, 0.5], ["11", "01", "00"]))
            if "given" in pin
            else laid(panel, *[(["p"], [p, 1 - p], ["1", "0"]), (["q"], [1.0], ["1"])])
        )
        missed = max(low - p, p - high, 0.0)
        found = check_pins(support, 0.0)
        assert bool(found) == (missed > 1e-9), (p, found)
        if missed > 1e-9:
            assert "the worlds break the pin" in found[0]
            assert check_pins(support, missed) == []
            assert "the violation is" in check_pins(support, missed + 0.01)[0]
            assert "the worlds break the pin" in check_pins(support, missed / 2)[0]
            assert check_pins(support, None) == found


def test_a_pin_on_what_is_given_the_impossible_is_kept():
    panel = panel_of(["p", "q"], ["P(p given q) >= 0.6"])
    support, _ = laid(panel, (["p", "q"], [1.0], ["00"]))
    assert check_pins(support, 0.0) == []


def test_every_pin_is_looked_at():
    panel = panel_of(["p", "q"], ["P(p) <= 0.5", "P(q) >= 0.5", "P(p) >= 0.25"])
    for p, q, count in ((0.4, 0.6, 0), (0.6, 0.6, 1), (0.4, 0.4, 1), (0.2, 0.2, 2)):
        support, _ = laid(panel, (["p"], [p, 1 - p], ["1", "0"]), (["q"], [q, 1 - q], ["1", "0"]))
        assert len(check_pins(support, None)) == count


def test_laws_and_declarations_against_all_worlds():
    """Of random panels, a part with any one world is refused exactly where the world breaks a statement."""
    rng, looked = np.random.default_rng(0), 0
    while looked < 60:
        panel = random_panel(rng, terms=False)
        if panel is None or not len(panel.laws) or len(panel.events.variables) > 7:
            continue
        looked += 1
        count = len(panel.events.variables)
        rows = (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(bool)
        obeys = panel.events.evaluate(panel.laws.side, rows).all(axis=1)
        for choice in panel.events.choices():
            own = rows[:, choice.atoms]
            one = own.sum(axis=1) == 1 if choice.complete else own.sum(axis=1) <= 1
            obeys &= (np.diff(own.astype(int), axis=1) >= 0).all(axis=1) if choice.ordered else one
        good = np.flatnonzero(obeys)
        for i in range(len(rows)):
            both = SimpleNamespace(weight=np.full(2, 0.5), truth=rows[[good[0], i]])
            assert (check_possible(panel, [both], [np.arange(count)]) == []) == obeys[i]
