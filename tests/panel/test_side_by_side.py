"""Panels about different things as one: nothing of one is tied to another, and each stays what it was."""

import numpy as np
import pytest

import coherently as co
from coherently.panel.joined_panels import side_by_side
from coherently.problem import pose

ODD = [
    ("Ann", 'winner = Ann | a-b & "rain, or so"', 0.4),
    ("Bob", "winner = Bob given rate >= 2.5", 0.3),
    ("Ann", "rate < 2.5 -> a.b", 0.7),
    ("Bob", "exactly(1; a-b, a.b, a)", 0.5),
    ("Ann", "a", 0.2),
]
LAWS = ["variable winner: Ann, Bob, a, ...", "variable rate: number", "a->a.b", "P(a) <= 0.9"]


def odd(**options):
    return co.Panel.from_records(ODD, laws=LAWS, **options)


def test_panels_of_the_same_names_are_not_tied():
    one = odd(outcomes={"winner": "Ann", "rate": 3, "a": True, "a-b": False})
    both = side_by_side([one, odd(), one])
    assert both.events.n_variables == 3 * one.events.n_variables
    assert len(both) == 3 * len(one)
    assert both.judges == one.judges
    apart = pose(one).merged.components().max() + 1
    assert pose(both).merged.components().max() + 1 == 3 * apart
    assert both.written.outcome.reshape(3, -1)[[0, 2]].tolist() == [one.written.outcome.tolist()] * 2
    assert (both.written.outcome.reshape(3, -1)[1] == -1).all()


def test_each_panel_is_answered_as_if_it_were_alone():
    other = co.Panel.from_records([("Ann", "a", 0.9), ("Cid", "a & rate", 0.95), ("Cid", "rate", 0.3)])
    alone = [co.aggregate(each).columns()["probability"] for each in (odd(), other)]
    together = co.aggregate(side_by_side([odd(), other])).columns()["probability"]
    np.testing.assert_allclose(together, np.concatenate(alone), atol=1e-6)


def test_outcomes_that_differ_between_panels_are_both_kept():
    wet, dry = (co.Panel.from_records([("Ann", "rain", 0.5)], outcomes={"rain": value}) for value in (True, False))
    assert side_by_side([wet, dry]).written.outcome.tolist() == [1, 0]
    with pytest.raises(co.PanelError, match="outcome of 'rain'"):
        _ = wet | dry


def test_plain_names_are_quoted():
    plain = co.Panel.from_records([("Ann", "will it rain?", 0.5)], plain_events=True)
    assert list(side_by_side([plain, plain]).written.text) == ['"will it rain? (1)"', '"will it rain? (2)"']
