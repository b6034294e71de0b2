"""Relations hold in every world; what breaks one is incoherent; two forecasts that break none are coherent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coherently as co
from coherently.explain.bets.bets import bets_at_forecasts
from coherently.explain.relations.broken import irreducible, violated
from coherently.solve import Budget
from tests.explain.bets.reference import CLOSE, incoherence
from tests.solve.reference import PROBABILITIES, formulas, panels, truth

PAIR = st.tuples(formulas(["p", "q", "r"], 3), formulas(["p", "q", "r"], 3), PROBABILITIES, PROBABILITIES)


def broken(panel):
    return violated(bets_at_forecasts(panel), np.arange(len(panel)), budget=Budget())


@given(panels(most=3, max_size=12))
def test_a_relation_holds_in_every_world_and_is_broken_by_what_it_says(panel):
    rows = truth(panel, panel.written.event[panel.event_index])
    for relation in broken(panel):
        literals = list(zip(relation.forecasts, relation.negated, strict=True))
        columns = [1 - rows[:, bet] if negated else rows[:, bet] for bet, negated in literals]
        prices = [1 - panel.probability[b] if negated else panel.probability[b] for b, negated in literals]
        if relation.kind == "sum":
            assert np.all(columns[0] + columns[1] == columns[2] + columns[3])
            excess = prices[0] + prices[1] - prices[2] - prices[3]
        else:
            most = 1 if relation.kind == "one" else len(columns) - 1
            assert np.all(sum(columns) <= most)
            excess = sum(prices) - most
        assert relation.violation == pytest.approx(excess)
        assert relation.violation > 0


@given(PAIR)
def test_two_forecasts_break_a_relation_if_and_only_if_they_are_incoherent(case):
    first, second, p, q = case
    panel = co.Panel.from_records([("A", first, p), ("A", second, q)])
    assert bool(broken(panel)) == (incoherence(panel) > 1e-9)


@given(panels(most=2, n_variables=3, max_size=8))
def test_irreducible_relations_of_one_or_two_bets_are_minimal_contradictions(panel):
    for relation in irreducible(broken(panel)):
        assert incoherence(panel, relation.forecasts) > 0
        if len(relation.forecasts) == 2:
            assert all(incoherence(panel, [bet]) < CLOSE for bet in relation.forecasts)


SENTENCES = {
    "P(p) = 0.60 and P(~p) = 0.60 sum to 1.20, not 1": {"p": 0.6, "~p": 0.6},
    "P(p & q) = 0.60 is above P(q) = 0.00": {"q": 0.0, "p & q": 0.6},
    "P(a & b) = 0.90 is above P(a | c) = 0.20": {"a & b": 0.9, "a | c": 0.2},
    "P(p & q) = 0.20 is below P(p) + P(q) - 1 = 0.70": {"p": 0.9, "q": 0.8, "p & q": 0.2},
    "P(p | q) = 0.90 is above P(p) + P(q) = 0.30": {"p": 0.2, "q": 0.1, "p | q": 0.9},
    "P(p & q) + P(p | q) = 0.55, but P(p) + P(q) = 0.50": {"p": 0.2, "q": 0.3, "p & q": 0.1, "p | q": 0.45},
    "P(p & q) + P(p & ~q) = 0.90 is above P(p) = 0.50": {"p & q": 0.5, "p & ~q": 0.4, "p": 0.5},
    "P(p & q) = 0.50, P(p & ~q) = 0.40 and P(~p) = 0.50 sum to 1.40, though they exclude each other": {
        "p & q": 0.5,
        "p & ~q": 0.4,
        "~p": 0.5,
    },
    "P(p & q) = 0.60 and P(p & ~q) = 0.60 sum to 1.20, though they exclude each other": {"p & q": 0.6, "p & ~q": 0.6},
    "P(p | q) = 0.30 and P(~p | q) = 0.40 sum to 0.70, though one of them must happen": {"p | q": 0.3, "~p | q": 0.4},
    "P(p | ~p) = 0.90, though that is certain": {"p | ~p": 0.9},
    "P(p & ~p) = 0.10, though that cannot happen": {"p & ~p": 0.1},
    "these 6 forecasts cannot hold together: "
    "P(a) = 0.50, P(b) = 0.50, P(c) = 0.50, P(a & b) = 0.00, P(a & c) = 0.00 and P(b & c) = 0.00": {
        **dict.fromkeys("abc", 0.5),
        **dict.fromkeys(("a & b", "a & c", "b & c"), 0.0),
    },
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_contradictions_in_words(sentence):
    panel = co.Panel.from_records([("A", event, p) for event, p in SENTENCES[sentence].items()])
    assert co.check(panel).judges["A"].contradictions == (sentence,)


def test_small_violations_are_not_rounded_away():
    # Seven decimals explain a unit of the last one between two forecasts, not three.
    panel = co.Panel.from_records([("A", "p", 0.2), ("A", "p & q", 0.2000003)])
    assert co.check(panel).contradictions == ("P(p & q) = 0.2000003 is above P(p) = 0.2000000",)


def test_repeats_that_differ():
    panel = co.Panel.from_records([("A", "p", 0.6), ("A", "p", 0.7)])
    assert co.check(panel).contradictions == ("P(p) = 0.70, but elsewhere 0.60",)
