import numpy as np

import coherently as co
from experiments.evaluation.relations import broken_relations


def found(rows, **options):
    kinds = broken_relations(co.Panel.from_records(rows, **options))
    return {kind.name: sorted(np.round(kind.excess, 6).tolist()) for kind in kinds}


def test_relations_of_two_literals():
    rows = [
        *[("A", "p", 0.5), ("A", "~p", 0.7), ("A", "q", 0.4), ("A", "p & q", 0.45), ("A", "p | q", 0.3)],
        *[("B", "p", 0.9), ("B", "q", 0.8), ("B", "p & q", 0.5)],
    ]
    assert found(rows) == {
        "P(e) + P(~e) is not 1": [0.2],
        "P(a & b) is above P(a) or P(b)": [-0.3, 0.05],
        "P(a & b) is below P(a) + P(b) - 1": [-0.55, 0.2],
        "P(a | b) is below P(a) or P(b)": [0.2],
        "P(a | b) is above P(a) + P(b)": [-0.6],
        "P(a & b) + P(a | b) is not P(a) + P(b)": [0.15],
    }


def test_literals_may_be_negated_and_forecast_by_their_complements():
    assert found([("A", "~p", 0.9), ("A", "q", 0.2), ("A", "p & ~q", 0.3)]) == {
        "P(a & b) is above P(a) or P(b)": [0.2],
        "P(a & b) is below P(a) + P(b) - 1": [-0.4],
    }


def test_an_event_with_a_part_that_nobody_forecast_is_no_case():
    assert found([("A", "p", 0.9), ("A", "p & q", 1.0)]) == {}


def test_events_of_three_parts_are_counted_apart():
    rows = [("A", "p", 0.5), ("A", "q", 0.5), ("A", "r", 0.5), ("A", "p | q | r", 0.25)]
    assert found(rows) == {
        "P(a | b) is below P(a) or P(b), three parts or more": [0.25],
        "P(a | b) is above P(a) + P(b), three parts or more": [-1.25],
    }


def test_repeats_are_averaged():
    rows = [("A", "p", 0.4), ("A", "p", 0.6), ("A", "~p", 0.7)]
    assert found(rows) == {"P(e) + P(~e) is not 1": [0.2]}


def test_laws():
    rows = [("A", "p", 0.5), ("A", "q", 0.3), ("A", "x", 0.5), ("A", "y", 0.5), ("A", "z", 0.25)]
    assert found(rows, laws=["p -> q", "exactly(1; x, y, z)"]) == {
        "a -> b is a law, and P(a) is above P(b)": [0.2],
        "exactly one is a law, and the sum is not 1": [0.25],
    }


def test_conditionals():
    rows = [
        *[("A", "p", 0.5), ("A", "q", 0.4), ("A", "p & q", 0.3)],
        *[("A", "p given q", 0.5), ("A", "~p given q", 0.4), ("A", "p given ~q", 0.25)],
    ]
    kinds = found(rows)
    assert kinds["P(a given b) P(b) is not P(a & b)"] == [0.1]
    assert kinds["P(a given b) + P(~a given b) is not 1"] == [0.1]
    assert kinds["P(a) is outside P(a given b) and P(a given ~b)"] == [0.0]
    assert kinds["P(a) is not P(a given b) P(b) + P(a given ~b) P(~b)"] == [0.15]
